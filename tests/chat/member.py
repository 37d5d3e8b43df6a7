"""Members in tests: they join, sign in on the live socket, send requests and wait for events."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse, web_app

from svc.chat.app import serving
from svc.chat.config import read
from tests.chat.described_frames import check
from tests.kit import new_databases, page_files
from tests.kit.device import Device


@dataclass
class ChatServer:
    """A running server from its clients' point of view."""

    address: str
    http: ClientSession
    invite: str

    async def join(self, nickname: str) -> str:
        """Join as a new member on a new device. Return the access token."""
        return str((await self.sign_in(Device(), nickname=nickname, invite_code=self.invite))["access_token"])

    async def sign_in(self, device: Device, **fields: object) -> dict[str, Any]:
        """Sign in with a device. Return the server's response."""
        proof = await device.proof(self.http, self.address)
        async with self.http.post("/api/auth/join", json=proof | fields) as response:
            answer: dict[str, Any] = await response.json()
            assert response.status == 200, answer
            return answer

    async def metrics(self) -> str:
        async with self.http.get("/metrics") as response:
            return await response.text()

    @asynccontextmanager
    async def member(self, nickname: str, token: str | None = None) -> AsyncIterator["LiveMember"]:
        """Sign in as a new member, or as the member who owns `token`."""
        token = token or await self.join(nickname)
        async with self.http.ws_connect("/live", max_msg_size=0) as ws:
            member = LiveMember(ws, token)
            member.hello = (await member.receive())["data"]
            member.welcome = (await member.ask("authenticate", access_token=token))["data"]
            yield member


@asynccontextmanager
async def chat_server(variables: Mapping[str, str]) -> AsyncIterator[ChatServer]:
    config = read(variables)
    page_files.reuse()
    new_databases.reuse()
    async with serving(config) as address, ClientSession(address) as http:
        invite = (config.data_dir / "invite-code").read_text().strip()
        yield ChatServer(address, http, invite)
    # aiohttp keeps references to a thousand handlers, even those of stopped applications. These references
    # would keep a hundred servers alive, using 4 GB.
    web_app._cached_build_middleware.cache_clear()


def abort(ws: ClientWebSocketResponse) -> None:
    """Close a connection without a close frame."""
    connection = ws._response.connection
    assert connection is not None and isinstance(connection.transport, asyncio.Transport)
    connection.transport.abort()


class LiveMember:
    """A member's live socket. Frames are plain JSON, as clients see them."""

    def __init__(self, ws: ClientWebSocketResponse, token: str) -> None:
        self.ws = ws
        self.token = token
        self.hello: dict[str, Any] = {}
        self.welcome: dict[str, Any] = {}
        self._pushes: list[dict[str, Any]] = []
        self._last_id = 0

    @property
    def id(self) -> str:
        return str(self.welcome["member"]["id"])

    async def ask(self, event: str, **data: object) -> dict[str, Any]:
        """Return the reply to a request. Events that arrive before it are stored."""
        self._last_id += 1
        await self.ws.send_json({"event": event, "id": self._last_id, "data": data})
        while (frame := await self.receive()).get("id") != self._last_id:
            self._pushes.append(frame)
        return frame

    def kept_events(self) -> list[str]:
        """Return the names of the events that have arrived but have not been read yet."""
        return [frame["event"] for frame in self._pushes]

    async def pushed(self, event: str) -> Any:
        """Return the data of the next event with this name, skipping other events."""
        while (frame := await self._next_push())["event"] != event:
            pass
        return frame["data"]

    async def people(self, channel_id: str) -> list[str]:
        """Return the names of the people in a voice channel, from the next event about its participants."""
        while True:
            frame = await self._next_push()
            is_voice = frame["event"] in ("voice_joined", "voice_left", "voice_state")
            if is_voice and frame["data"]["channel_id"] == channel_id:
                return [member["nickname"] for member in self.welcome["voice"][channel_id]]

    async def _next_push(self) -> dict[str, Any]:
        frame = self._pushes.pop(0) if self._pushes else await self.receive()
        voice, data = self.welcome.get("voice", {}), frame["data"]
        match frame["event"]:
            case "voice_joined":
                voice.setdefault(data["channel_id"], []).append(data["member"])
            case "voice_left":
                room = voice[data["channel_id"]]
                room[:] = [member for member in room if member["id"] != data["member_id"]]
            case "voice_state":
                voice[data["channel_id"]] = data["members"]
        return frame

    async def receive(self) -> dict[str, Any]:
        async with asyncio.timeout(30):
            text = await self.ws.receive_str()
        frame: dict[str, Any] = json.loads(text)
        check(frame)
        return frame
