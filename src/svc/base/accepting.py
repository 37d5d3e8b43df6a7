"""Accepts connections, and gives each its place in the table (`connections`).

What is spoken on a connection is for the `opener` to say. On a fair loop it is asked only when the peer has
said something and its turn has come: until then a connection costs a place and nothing else. An accept that
fails, because no descriptor is free, makes room and is tried again after a pause. Both are logged once a
minute at most. asyncio's own servers log every failure with a traceback.
"""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from svc.base.addresses import customer
from svc.base.connections import Place, Table
from svc.base.fair_loop import FairLoop
from svc.base.logs import Seldom

# In one turn of the event loop: each takes 0.2 ms where it is opened at once. The others wait for the next.
ACCEPTED_AT_ONCE = 64
# What the system holds for a peer before it is sent: as much as a reader of media is sent at a time. It would
# take megabytes for one that reads nothing, and to hand them over for hundreds of those takes seconds.
UNSENT_BYTES = 256 * 1024
# No descriptor is free: some are, in a moment.
FULL_PAUSE_S = 0.2
# A peer that says nothing: then it has as long for its header, or its handshake.
FIRST_BYTE_DEADLINE_S = 10.0
# The least time between two checks of deadlines; all deadlines are several seconds.
SWEEP_INTERVAL_S = 1.0

logger = logging.getLogger(__name__)

# Makes something of an accepted connection; the place's `close` cancels it for as long as it runs.
Opener = Callable[[socket.socket, Place], Awaitable[object]]


class Listener:
    """Accepts on `sockets`, which are its own from now on, between `start` and `stop`.

    `clock` is what the deadlines of connections are compared with.
    """

    def __init__(
        self,
        sockets: Sequence[socket.socket],
        table: Table,
        opener: Opener,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._sockets = sockets
        self._table = table
        self._opener = opener
        self._clock = clock or self._loop.time
        self._opening: set[asyncio.Future[object]] = set()
        # Whose peer has said nothing so far, or not had its turn.
        self._silent: set[Place] = set()
        table.on_check_due = self._sweep_soon
        self._sweeping: asyncio.TimerHandle | None = None
        self._sweeps_soon = False
        self._full = Seldom()
        self._failing = Seldom()
        # What the log knows of.
        self._said = 0

    def start(self) -> None:
        for listening in self._sockets:
            self._loop.add_reader(listening, self._accept, listening)

    async def stop(self) -> None:
        """Stop accepting connections; keep the established ones. Stopping twice is stopping once."""
        for listening in self._sockets:
            if listening.fileno() >= 0:
                self._loop.remove_reader(listening)
                listening.close()
        for place in list(self._silent):
            place.close()
            place.leave()
        opening = list(self._opening)
        for task in opening:
            task.cancel()
        await asyncio.gather(*opening, return_exceptions=True)

    def _accept(self, listening: socket.socket) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                connection, peer = listening.accept()
            except BlockingIOError:
                break
            except ConnectionError:
                continue
            except OSError as fault:
                self._pause(listening, fault)
                break
            connection.setblocking(False)
            _hold_little(connection)
            self._admit(connection, customer(peer[0]) if isinstance(peer, tuple) else "")
        self._say_what_was_closed()

    def _admit(self, connection: socket.socket, address: str) -> None:
        place = self._table.enter(address)
        if place is None:
            connection.close()
            return
        if isinstance(self._loop, FairLoop):
            self._loop.put_last(connection, place.belongs_to)
            place.on_settled = partial(self._loop.put_first, connection.fileno())
            self._wait(connection, place)
        else:
            self._open(connection, place)

    def _wait(self, connection: socket.socket, place: Place) -> None:
        """Until the peer has said something."""
        deadline = self._clock() + FIRST_BYTE_DEADLINE_S
        # A number, for asyncio writes out what it does not know yet: of a socket, both addresses.
        descriptor = connection.fileno()

        def heard() -> None:
            self._silent.discard(place)
            self._loop.remove_reader(descriptor)

        def close() -> None:
            heard()
            connection.close()

        def check(now: float) -> float:
            if now >= deadline:
                place.leave()
                close()
            return now

        def begin() -> None:
            heard()
            place.check = None
            self._open(connection, place)

        self._silent.add(place)
        place.close = close
        place.watch(check)
        self._loop.add_reader(descriptor, begin)

    def _open(self, connection: socket.socket, place: Place) -> None:
        task = asyncio.ensure_future(self._opener(connection, place))
        place.close = task.cancel
        self._opening.add(task)

        def opened(task: asyncio.Future[object]) -> None:
            # Not in a coroutine: a task that is cancelled at once never begins.
            self._opening.discard(task)
            fault = None if task.cancelled() else task.exception()
            if task.cancelled() or fault is not None:
                connection.close()
                place.leave()
            if isinstance(fault, OSError):  # TimeoutError and ssl.SSLError are.
                logger.debug(
                    "opening a connection failed", extra={"fault": str(fault) or type(fault).__name__}
                )
            elif fault is not None:
                logger.error("opening a connection failed", exc_info=fault)

        task.add_done_callback(opened)

    def _pause(self, listening: socket.socket, fault: OSError) -> None:
        """Descriptors have run out, or the system's memory."""
        if times := self._failing.due(self._loop.time()):
            logger.error("connections cannot be accepted", extra={"fault": str(fault), "times": times})
        self._table.make_room()
        self._loop.remove_reader(listening)
        self._loop.call_later(FULL_PAUSE_S, self._accept_again, listening)

    def _accept_again(self, listening: socket.socket) -> None:
        if listening.fileno() >= 0:
            self._loop.add_reader(listening, self._accept, listening)

    def _sweep_soon(self) -> None:
        """Sweep after the least time. Called for every request, so it must cost little when already due."""
        if not self._sweeps_soon:
            self._sweeps_soon = True
            self._sweep_after(SWEEP_INTERVAL_S)

    def _sweep_after(self, wait_s: float) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()
        self._sweeping = self._loop.call_later(wait_s, self._sweep)

    def _sweep(self) -> None:
        """Check the deadlines that are due, and set a timer only for the next one."""
        self._sweeping, self._sweeps_soon = None, False
        due = self._table.sweep(self._clock())
        if due is not None and not self._sweeps_soon:
            self._sweep_after(max(SWEEP_INTERVAL_S, due - self._clock()))

    def _say_what_was_closed(self) -> None:
        given_up = self._table.closed + self._table.refused
        if given_up == self._said:
            return
        if times := self._full.due(self._loop.time(), given_up - self._said):
            logger.warning(
                "too many connections: closing those idle for longest",
                extra={"times": times, "open": len(self._table), "strangers": self._table.strangers},
            )
        self._said = given_up


def _hold_little(connection: socket.socket) -> None:
    if connection.family != getattr(socket, "AF_UNIX", None) and hasattr(socket, "TCP_NOTSENT_LOWAT"):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)
