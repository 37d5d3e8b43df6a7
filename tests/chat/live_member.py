"""Provides a member who sends requests and waits for events on a live socket."""

import asyncio
import json
from typing import Any

from aiohttp import ClientWebSocketResponse

from tests.chat.described_frames import check


def abort(ws: ClientWebSocketResponse) -> None:
    """Close a connection without a close frame."""
    connection = ws._response.connection
    assert connection is not None and isinstance(connection.transport, asyncio.Transport)
    connection.transport.abort()


class LiveMember:
    """A member's live socket. Frames are the JSON that clients receive."""

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
        """Send a request. Return the reply, and store events that arrive before it."""
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
        """Wait for the next event about a voice channel's participants. Return the participants' names."""
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
