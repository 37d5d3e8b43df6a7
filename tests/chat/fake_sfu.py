"""Provides a fake media service that forwards no media. Tests control its WebSockets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import WSMsgType, web

from svc.base.signalling_codec import Envelope, parse, payload, serialise


class FakeSfu:
    """A fake SFU that accepts one server's credentials. It answers each sync_request with `people`."""

    def __init__(self, server_id: str = "s1", server_password: str = "p1") -> None:
        self.server_id = server_id
        self.server_password = server_password
        self.people: dict[str, list[str]] = {}
        self.received: list[Envelope] = []
        self.rooms: set[str] = set()
        self.participants: asyncio.Queue[web.WebSocketResponse] = asyncio.Queue()
        self.answers_sync = True
        self.port = 0
        self._changed = asyncio.Condition()
        self._control: web.WebSocketResponse | None = None
        self._runner: web.AppRunner | None = None
        self._participants_may_go = asyncio.Event()

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Start listening. A restart after `stop` uses the same port."""
        application = web.Application()
        application.router.add_get("/server", self._serve_server)
        application.router.add_get("/client", self._serve_client)
        self._participants_may_go.clear()
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Stop and lose all state, as a killed process would."""
        self._participants_may_go.set()
        self.rooms.clear()
        self.people.clear()
        if self._runner is not None:
            await self.drop_control()
            await self._runner.cleanup()
            self._runner = None

    async def drop_control(self) -> None:
        if self._control is not None:
            await self._control.close()

    async def send_event(self, event: str, room_id: str, user_id: str, **more: object) -> None:
        assert self._control is not None
        await self._control.send_str(serialise(event, {"room_id": room_id, "user_id": user_id, **more}))

    async def send_text(self, text: str) -> None:
        assert self._control is not None
        await self._control.send_str(text)

    async def answer_sync(self) -> None:
        rooms = [{"room_id": room, "user_ids": self.people.get(room, [])} for room in self.rooms]
        await self.send_text(serialise("sync_response", {"rooms": rooms}))

    async def until(self, event: str, count: int = 1) -> None:
        """Wait until the given event has been received this many times."""
        async with asyncio.timeout(30), self._changed:
            await self._changed.wait_for(lambda: self.count(event) >= count)

    def count(self, event: str) -> int:
        return sum(envelope.event == event for envelope in self.received)

    async def _serve_server(self, request: web.Request) -> web.WebSocketResponse:
        ws = web.WebSocketResponse()
        await ws.prepare(request)
        self._control = ws
        async for message in ws:
            assert message.type is WSMsgType.TEXT
            await self._hear(parse(message.data))
        return ws

    async def _hear(self, envelope: Envelope) -> None:
        data = payload(envelope)
        if envelope.event != "keep_alive":
            assert (data["server_id"], data["server_password"]) == (self.server_id, self.server_password)
        if envelope.event == "server_register":
            self.rooms.add(str(data["room_id"]))
        if envelope.event == "sync_request" and self.answers_sync:
            await self.answer_sync()
        async with self._changed:
            self.received.append(envelope)
            self._changed.notify_all()

    async def _serve_client(self, request: web.Request) -> web.WebSocketResponse:
        """Hand the socket to the test, which reads from it and writes to it. Keep it open until `stop`."""
        ws = web.WebSocketResponse(autoping=False, autoclose=False, max_msg_size=0)
        await ws.prepare(request)
        self.participants.put_nowait(ws)
        await self._participants_may_go.wait()
        return ws


@asynccontextmanager
async def fake_sfu() -> AsyncIterator[FakeSfu]:
    sfu = FakeSfu()
    await sfu.start()
    try:
        yield sfu
    finally:
        await sfu.stop()
