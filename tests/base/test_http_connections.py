"""HTTP connections that miss a deadline are closed. The sockets are real, and the tests advance the clock."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from aiohttp import web

from svc.base import http_connections
from svc.base.acceptor import Listener
from svc.base.connections import ConnectionTable, Limits
from svc.base.http_connections import (
    HEADER_DEADLINE_S,
    IDLE_DEADLINE_S,
    MEMBER_READ_BYTES,
    MIN_BYTES_PER_S,
    STALL_DEADLINE_S,
    STRANGER_READ_BYTES,
    http_opener,
)
from svc.base.http_server import Runner
from svc.base.listeners import bound
from tests.kit.raw_http import RawConnection, raw_connection
from tests.kit.wait import eventually

WITHIN_S = 20.0
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Served:
    address: str
    table: ConnectionTable
    now: float = 1000.0

    def pass_(self, seconds: float) -> None:
        """Advance the clock, and run the sweep every second as the listener does."""
        for _ in range(int(seconds)):
            self.now += 1.0
            self.table.sweep(self.now)

    async def received(self, count: int) -> None:
        """Wait until this many bytes have arrived."""
        await self.reached(lambda connection: connection._received == count)

    async def reached(self, what: Callable[[http_connections.HttpConnection], bool]) -> None:
        """Wait until the server's side of the only connection meets the given condition."""

        def is_so() -> bool:
            checks = [slot.check for slot in self.table._slots if slot.check]
            return len(checks) == 1 and what(checks[0].__self__)  # type: ignore[attr-defined]

        await eventually("the server has read the request", is_so, within_s=WITHIN_S)


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[Served]:
    application = web.Application(client_max_size=1 << 30)
    application.router.add_route("*", "/", handler)
    runner = Runner(application, shutdown_timeout=1.0)
    await runner.setup()
    assert runner.server is not None
    sockets = bound("127.0.0.1", 0)
    served = Served(f"http://127.0.0.1:{sockets[0].getsockname()[1]}", ConnectionTable(Limits(16)))
    # The test calls the sweep itself.
    listener = Listener(sockets, served.table, http_opener(runner.server, lambda: served.now))
    listener._sweep = lambda: None  # type: ignore[method-assign]
    listener.start()
    try:
        yield served
    finally:
        await listener.stop()
        await runner.cleanup()


async def hello(_: web.Request) -> web.Response:
    return web.Response(text="hello")


def is_open(served: Served) -> bool:
    return len(served.table) == 1


async def test_a_header_that_arrives_byte_by_byte_has_one_deadline() -> None:
    async with serving(hello) as served, raw_connection(served.address) as raw:
        for count in range(1, int(HEADER_DEADLINE_S)):
            await raw.send(b"GET /slowly"[count - 1 : count])
            await served.received(count)
            served.pass_(1)
            assert is_open(served)
        served.pass_(1)
        await raw.ended()


async def test_a_kept_alive_connection_may_be_idle_before_its_next_request() -> None:
    async with serving(hello) as served, raw_connection(served.address) as raw:
        assert (await raw.ask("GET", "/")).status == 200
        await served.reached(lambda connection: connection._serving is None)
        served.pass_(IDLE_DEADLINE_S - 1)
        assert (await raw.ask("GET", "/")).status == 200
        await served.reached(lambda connection: connection._serving is None)
        await raw.send(b"G")
        await served.reached(lambda connection: connection._received > connection._mark)
        served.pass_(HEADER_DEADLINE_S + 1)
        await raw.ended()


async def test_a_connection_idle_for_too_long_is_closed() -> None:
    async with serving(hello) as served, raw_connection(served.address) as raw:
        assert (await raw.ask("GET", "/")).status == 200
        await served.reached(lambda connection: connection._serving is None)
        served.pass_(IDLE_DEADLINE_S)
        await raw.ended()


async def body(request: web.Request) -> web.Response:
    return web.Response(text=str(len(await request.read())))


async def body_of_member(request: web.Request) -> web.Response:
    http_connections.recognise(request, "Ada")
    return await body(request)


@pytest.mark.parametrize(
    ("handler", "maximum"), [(body, STRANGER_READ_BYTES), (body_of_member, MEMBER_READ_BYTES)]
)
async def test_only_a_limited_part_of_a_body_is_read_in_one_iteration(
    handler: Handler, maximum: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Parsing 256 KiB of tiny chunks takes 30 ms, and one iteration serves 16 unauthenticated connections.
    sizes: list[int] = []
    receive = http_connections.HttpConnection.data_received

    def note(connection: http_connections.HttpConnection, data: bytes) -> None:
        sizes.append(len(data))
        receive(connection, data)

    monkeypatch.setattr(http_connections.HttpConnection, "data_received", note)
    async with serving(handler) as served, raw_connection(served.address) as raw:
        answer = await raw.ask("POST", "/", ["Content-Length: 1000000"], b"x" * 1_000_000)
        assert answer.body == b"1000000"
    assert max(sizes) == maximum


async def test_a_stalled_body_is_cut_off_and_a_slow_one_is_not() -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"
    minutes, chunk = 3, b"x" * (MIN_BYTES_PER_S * 10)
    async with serving(body) as served, raw_connection(served.address) as raw:
        await raw.send(head)
        for count in range(1, minutes * 6):
            await raw.send(chunk)
            await served.received(len(head) + count * len(chunk))
            served.pass_(10)
        assert is_open(served)
    await trickled(head)


async def trickled(head: bytes) -> None:
    async with serving(body) as served, raw_connection(served.address) as raw:
        await raw.send(head)
        for count in range(1, int(STALL_DEADLINE_S / 10) + 1):
            await raw.send(b"x")
            await served.received(len(head) + count)
            assert is_open(served)
            served.pass_(10)
        served.pass_(1)
        await raw.ended()


async def test_a_slow_handler_has_no_deadline() -> None:
    may_answer = asyncio.Event()

    async def slow(_: web.Request) -> web.Response:
        await may_answer.wait()
        return web.Response(text="done")

    async with serving(slow) as served, raw_connection(served.address) as raw:
        await raw.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await served.reached(lambda connection: connection._serving is not None)
        served.pass_(3600)
        may_answer.set()
        assert (await raw.answer()).body == b"done"


async def test_a_client_is_not_blamed_for_a_body_that_the_handler_does_not_read() -> None:
    may_read = asyncio.Event()

    async def slow(request: web.Request) -> web.Response:
        await may_read.wait()
        return await body(request)

    size = 4_000_000
    async with serving(slow) as served, raw_connection(served.address) as raw:
        raw.writer.write(
            f"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n".encode() + b"x" * size
        )
        await served.reached(
            lambda connection: bool(connection._watched and not connection._watched.is_reading())
        )
        served.pass_(3600)
        may_read.set()
        assert (await raw.answer()).body == str(size).encode()


async def large(_: web.Request) -> web.Response:
    return web.Response(body=b"x" * 20_000_000)


async def test_a_client_that_does_not_read_is_disconnected() -> None:
    async with serving(large) as served, unread(served) as raw:
        served.pass_(STALL_DEADLINE_S + 1)
        await eventually("the connection is gone", lambda: not len(served.table), within_s=WITHIN_S)
        assert raw.writer is not None


async def test_a_client_that_reads_slowly_is_served() -> None:
    async with serving(large) as served, unread(served) as raw:
        for _ in range(5):
            served.pass_(STALL_DEADLINE_S - 1)
            before = unsent(served)
            while unsent(served) > before - STALL_DEADLINE_S * MIN_BYTES_PER_S:
                await raw.reader.read(1 << 20)
            assert is_open(served)


def unsent(served: Served) -> int:
    (slot,) = served.table._slots
    assert slot.check is not None
    transport = slot.check.__self__._watched  # type: ignore[attr-defined]
    return int(transport.get_write_buffer_size())


@asynccontextmanager
async def unread(served: Served) -> AsyncIterator[RawConnection]:
    """Send a request and do not read the response, so that it stays in the server's buffers."""
    async with raw_connection(served.address) as raw:
        await raw.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await served.reached(lambda connection: connection.writing_paused)
        yield raw


async def test_an_upgraded_connection_is_subject_only_to_ping_deadlines() -> None:
    async def chatting(request: web.Request) -> web.WebSocketResponse:
        ws = web.WebSocketResponse()
        await ws.prepare(request)
        async for message in ws:
            await ws.send_str(message.data)
        return ws

    async with serving(chatting) as served, raw_connection(served.address) as raw:
        await raw.upgrade("/")
        served.pass_(3600)
        assert is_open(served)


@pytest.mark.parametrize("close", [True, False])
async def test_a_closed_connection_frees_its_slot(close: bool) -> None:
    async with serving(hello) as served:
        async with raw_connection(served.address) as raw:
            headers = ["Connection: close"] if close else []
            assert (await raw.ask("GET", "/", headers)).status == 200
        await eventually("its slot is free", lambda: not len(served.table), within_s=WITHIN_S)
