"""Adds deadlines to HTTP connections, for all our HTTP servers.

aiohttp waits an hour for the next request. It waits forever for the rest of a header or a body, and for a
client that does not read. Here each wait has a deadline, and a connection that misses its deadline is closed
without a response:

| the connection                                | may take                                             |
|-----------------------------------------------|------------------------------------------------------|
| sends the first request's line and headers    | HEADER_DEADLINE_S, from the start                    |
| waits for the next request                    | IDLE_DEADLINE_S                                      |
| sends that request's line and headers         | HEADER_DEADLINE_S, which no byte extends             |
| sends a body                                  | STALL_DEADLINE_S, and a second per KB received       |
| reads a response, or our closing bytes        | STALL_DEADLINE_S, and a second per KB accepted       |

Handlers have no time limit. Neither do upgraded connections, which use pings instead. The table calls `check`
about once a second, so the deadlines add almost nothing to the cost of a request.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from svc.base import open_file_limit
from svc.base.acceptor import Listener, Opener
from svc.base.connections import ConnectionTable, Limits, Slot, room_for
from svc.base.fair_loop import FairLoop

# The timeout for a header. A slow phone needs two seconds for a handshake and a header.
HEADER_DEADLINE_S = 10.0
# The timeout for an idle connection. It is longer than a proxy's (nginx closes an idle connection after 60
# s), so that the proxy closes the connection first.
IDLE_DEADLINE_S = 75.0
# The timeout for a peer that stalls, longer than a train ride through a tunnel. A fast connection cannot
# accumulate more time than this.
STALL_DEADLINE_S = 30.0
MIN_BYTES_PER_S = 1024
# The maximum number of bytes that one iteration of the event loop reads from a connection. In the smallest
# chunks or frames, 16 KiB take up to 2 ms, and 16 unauthenticated connections are read in one iteration.
STRANGER_READ_BYTES = 16 * 1024
MEMBER_READ_BYTES = 64 * 1024
# The interval between checks of a connection while its handler is running.
_AT_WORK_INTERVAL_S = 5.0


class HttpConnection(web.RequestHandler):
    """aiohttp's protocol, with deadlines once the connection has a slot (`watch`)."""

    __slots__ = (
        *("_clock", "_deadline", "_mark", "_slot", "_read", "_received", "_serving", "_unsent", "_watched"),
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._slot: Slot | None = None
        self._clock: Callable[[], float] = self._loop.time
        self._watched: asyncio.Transport | None = None
        self._deadline = 0.0
        # The number of bytes received so far, and the number received when the deadline was set.
        self._received = 0
        self._mark = 0
        # The number of bytes received when the previous request began.
        self._read = 0
        # The request that is being served.
        self._serving: web.BaseRequest | None = None
        # The number of unsent bytes at the last check, or None while the peer reads fast enough.
        self._unsent: int | None = None

    def watch(self, slot: Slot, clock: Callable[[], float]) -> None:
        """Watch the deadlines of this connection's slot. Call this before the connection is made."""
        self._slot = slot
        self._clock = clock

    def belongs_to(self, owner: str) -> None:
        """Mark the connection as authenticated, so that it is not closed to make room for others."""
        if self._slot is not None:
            self._slot.belongs_to(owner)
        self._read_at_most(MEMBER_READ_BYTES)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        assert isinstance(transport, asyncio.Transport)
        self._watched = transport
        self._read_at_most(STRANGER_READ_BYTES)
        # The header deadline counts from the start of the connection.
        self._mark = -1
        self._deadline = self._clock() + HEADER_DEADLINE_S
        if self._slot is not None:
            self._slot.close = transport.abort
            self._slot.watch(self.check)

    def connection_lost(self, exc: BaseException | None) -> None:
        super().connection_lost(exc)
        self._watched = None
        if self._slot is not None:
            self._slot.leave()

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._unsent = None

    async def _handle_request(
        self,
        request: web.BaseRequest,
        start_time: float | None,
        request_handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]],
    ) -> tuple[web.StreamResponse, bool]:
        await self._turn()
        self._serving = request
        self._mark = self._received
        self._deadline = self._clock() + STALL_DEADLINE_S
        if self._slot is not None:
            self._slot.set_idle(idle=False)
        try:
            return await super()._handle_request(request, start_time, request_handler)
        finally:
            _forget_how_it_broke(request)
            self._serving = None
            self._mark = self._received
            self._deadline = self._clock() + IDLE_DEADLINE_S
            if self._slot is not None:
                self._slot.set_idle(idle=True)
                self._slot.check_soon()

    async def _turn(self) -> None:
        """Wait until the loop serves the connection again, if an unauthenticated client has pipelined several
        requests.
        """
        together, self._read = self._read == self._received, self._received
        stranger = self._slot is not None and self._slot.owner is None
        if together and stranger and isinstance(self._loop, FairLoop):
            await self._loop.turn()
            if self._watched is None:
                raise ConnectionResetError("closed while its next request waited")

    def _read_at_most(self, size: int) -> None:
        # `max_size` is an internal attribute of asyncio's plain transport. With TLS, all connections share
        # one buffer size.
        transport: Any = self._watched
        if hasattr(transport, "max_size"):
            transport.max_size = size

    def check(self, now: float) -> float:
        """End the connection if it has missed its deadline. Return the time of the next check."""
        transport = self._watched
        assert transport is not None, "a connection that is lost has left its slot"
        if transport.is_closing() or self.writing_paused:
            self._check_writing(transport, now)
        elif self._serving is None:
            self._look_at_header(now)
        elif self._serving.content.is_eof() or not transport.is_reading():
            # The handler is working or has stopped reading the body, so the client is not at fault.
            self._deadline = now + STALL_DEADLINE_S
            self._mark = self._received
            return now + _AT_WORK_INTERVAL_S
        else:
            self._extend_deadline(self._received - self._mark, now)
            self._mark = self._received
        if now >= self._deadline:
            transport.abort()
        return now

    def _look_at_header(self, now: float) -> None:
        """Start the header deadline if a header has begun to arrive since the last response. Nothing resets
        this deadline.
        """
        if 0 <= self._mark < self._received:
            self._mark = -1
            self._deadline = now + HEADER_DEADLINE_S

    def _check_writing(self, transport: asyncio.Transport, now: float) -> None:
        unsent = _unsent(transport)
        if self._unsent is None:
            self._deadline = now + STALL_DEADLINE_S
        else:
            self._extend_deadline(max(0, self._unsent - unsent), now)
        self._unsent = unsent

    def _extend_deadline(self, progress: int, now: float) -> None:
        self._deadline = min(self._deadline + progress / MIN_BYTES_PER_S, now + STALL_DEADLINE_S)


def _forget_how_it_broke(request: web.BaseRequest) -> None:
    """Clear the exception that an incomplete body caused.

    The exception refers to the received data, which would otherwise stay in memory until the garbage
    collector runs.
    """
    fault = request.content.exception()
    if fault is not None:
        fault.__cause__ = fault.__context__ = fault.__traceback__ = None


def recognise(request: web.BaseRequest, owner: str) -> None:
    """Mark a request's connection as authenticated, so that it is not closed to make room for others."""
    protocol = request.protocol
    if isinstance(protocol, HttpConnection):
        protocol.belongs_to(owner)


def http_opener(server: web.Server, clock: Callable[[], float] | None = None) -> Opener:
    """Return an opener that serves accepted connections with `server`, over plain HTTP."""
    loop = asyncio.get_running_loop()

    async def open_connection(connection: socket.socket, slot: Slot) -> None:
        await loop.connect_accepted_socket(lambda: protocol_of(server, slot, clock), connection)

    return open_connection


def protocol_of(server: web.Server, slot: Slot, clock: Callable[[], float] | None = None) -> HttpConnection:
    """Return the HTTP protocol object for the connection that occupies this slot."""
    protocol = server()
    assert isinstance(protocol, HttpConnection), "the server was created by http_server"
    protocol.watch(slot, clock or asyncio.get_running_loop().time)
    return protocol


@asynccontextmanager
async def serve_http(
    runner: web.AppRunner, sockets: Sequence[socket.socket], maximum: int
) -> AsyncIterator[Listener]:
    """Accept clients while the block runs, `maximum` at a time. `runner` must be set up."""
    assert runner.server is not None, "the runner has been set up"
    table = ConnectionTable(Limits(room_for(open_file_limit.limit(), maximum)))
    listener = Listener(sockets, table, http_opener(runner.server))
    listener.start()
    try:
        yield listener
    finally:
        await listener.stop()


def _unsent(transport: asyncio.Transport) -> int:
    try:
        return transport.get_write_buffer_size()
    except AttributeError:
        # After being closed twice, asyncio's TLS transport no longer refers to the transport that owns the
        # buffer.
        return 0
