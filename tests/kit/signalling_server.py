"""Runs a media service without media: real HTTP and WebSockets on loopback, over a recorded media plane."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from svc.sfu.app import Flags, serving
from svc.sfu.config import Config
from svc.sfu.sfu import Clocks, Sfu
from tests.kit.metrics import metrics_of
from tests.kit.negotiation import certificate, hosts
from tests.kit.recorded_plane import RecordedPlane
from tests.kit.sdp_answers import AnsweringClient

SECRET = "the control secret"


class SignallingServer:
    """The SFU under test, and methods to connect clients to it."""

    def __init__(self, sfu: Sfu, plane: RecordedPlane, http: aiohttp.ClientSession, port: int) -> None:
        self.sfu = sfu
        self.plane = plane
        self.http = http
        self.url = f"http://127.0.0.1:{port}"
        self._sockets: list[Socket] = []

    async def connect(self, path: str, **options: Any) -> "Socket":
        # Keep references to the client and its connection, which would otherwise be garbage-collected.
        self._sockets.append(Socket(await self.http.ws_connect(self.url + path, **options)))
        return self._sockets[-1]

    async def control(self, server_id: str = "home", *room_ids: str) -> "Socket":
        """Connect a chat server that has registered its rooms."""
        socket = await self.connect("/server")
        for room_id in room_ids or ("lobby",):
            await socket.send(
                "server_register", {"server_id": server_id, "server_password": SECRET, "room_id": room_id}
            )
        await socket.sync(server_id)
        return socket

    async def join(self, user_id: str, room_id: str = "lobby", server_id: str = "home") -> "Socket":
        """Connect a participant and wait for the first offer."""
        socket = await self.ask_to_join(user_id, room_id=room_id, server_id=server_id)
        await socket.hear("room_joined")
        socket.offer = await socket.hear("offer")
        return socket

    async def ask_to_join(self, user_id: str, path: str = "/client", **changes: Any) -> "Socket":
        socket = await self.connect(path)
        join = {
            "room_id": "lobby",
            "server_id": "home",
            "server_password": SECRET,
            "user_token": "",
            "user_id": user_id,
        }
        await socket.send("client_join", join | changes)
        return socket

    async def metrics(self) -> dict[str, float]:
        """Return every sample of /metrics, keyed by name and labels."""
        return await metrics_of(self.http, self.url)


class Socket:
    """The client's end of a WebSocket to the service."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.offer: Any = None

    async def send(self, event: str, data: object) -> None:
        await self.raw(
            json.dumps({"event": event, "data": data if isinstance(data, str) else json.dumps(data)})
        )

    async def raw(self, text: str) -> None:
        await self.socket.send_str(text)

    async def answer(self, answering: AnsweringClient | None = None) -> None:
        sdp = (answering or AnsweringClient()).answer(self.offer["sdp"])
        await self.send("answer", {"type": "answer", "sdp": sdp})

    async def hear(self, event: str) -> Any:
        """Return the data of the next event, which must have this name."""
        message = await self.socket.receive(timeout=600)
        assert message.type is aiohttp.WSMsgType.TEXT, f"{message} instead of {event}"
        frame = json.loads(message.data)
        assert frame["event"] == event, frame
        return frame["data"] if event == "room_error" else json.loads(frame["data"])

    async def sync(self, server_id: str = "home", *, epoch: int = 0) -> Any:
        """Return the response to a sync_request that is sent after all earlier events have been handled."""
        await self.send("sync_request", {"server_id": server_id, "server_password": SECRET, "epoch": epoch})
        return (await self.hear("sync_response"))["rooms"]

    async def ending(self) -> tuple[int | None, str]:
        """Wait until the service closes the connection. Return its code and reason."""
        message = await self.socket.receive(timeout=600)
        assert message.type is aiohttp.WSMsgType.CLOSE, message
        return message.data, message.extra or ""

    async def close(self, code: int = 1000) -> None:
        await self.socket.close(code=code)

    def vanish(self) -> None:
        """Cut the connection without a close frame, like a client that crashes."""
        connection = self.socket._conn
        assert connection is not None and connection.transport is not None
        connection.transport.abort()


@asynccontextmanager
async def signalling_server(
    variables: dict[str, str] | None = None, flags: Flags | None = None
) -> AsyncIterator[SignallingServer]:
    """Serve on loopback. The STUN probe is off by default."""
    config = Config.read({"SFU_PORT": "0", "DISABLE_STUN": "true"} | (variables or {}))
    loop = asyncio.get_running_loop()
    plane = RecordedPlane()
    sfu = Sfu(
        max_peers=config.max_peers,
        plane=plane,
        certificate=certificate(),
        host_candidates=hosts,
        fixed_addresses=lambda: tuple(host.address for host in hosts()),
        chance=random.Random(1),
        clocks=Clocks(loop.time, lambda: 1_750_000_000.0 + loop.time()),
    )
    async with (
        serving(sfu, plane, config, flags or Flags(host="127.0.0.1")) as front,
        aiohttp.ClientSession() as http,
    ):
        yield SignallingServer(sfu, plane, http, front.port)
