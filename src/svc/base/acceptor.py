"""Accepts connections and gives each a slot in the connection table (`connections`).

The `opener` determines a connection's protocol. The opener is called once the peer has sent something and a
fair loop is ready to serve the connection. Until then, the connection only occupies a slot. If accepting
fails because no descriptor is free, the listener makes room and retries after a pause. Such failures are
logged at most once a minute, whereas asyncio's own servers log each with a traceback.
"""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Sequence

from svc.base.addresses import rate_limit_key
from svc.base.connections import ConnectionTable, Slot
from svc.base.fair_loop import FairLoop
from svc.base.logs import OncePerMinute

# The maximum number of connections to accept in one iteration of the event loop, because accepting one takes
# up to 0.05 ms on a slow core. The rest wait for the next iteration.
ACCEPTED_AT_ONCE = 64
# Limits unsent data in the kernel's buffer to the size of a media chunk. The buffer would otherwise accept
# megabytes for a peer that reads nothing, and filling hundreds of such buffers takes seconds.
UNSENT_BYTES = 256 * 1024
# The pause after the process has run out of descriptors. Some of them soon become free.
FULL_PAUSE_S = 0.2
# The timeout for a peer's first byte. The header or handshake that follows has a timeout of the same length.
FIRST_BYTE_DEADLINE_S = 10.0
# The minimum time between two checks of the deadlines, which are all several seconds long.
SWEEP_INTERVAL_S = 1.0

logger = logging.getLogger(__name__)

# A function that serves an accepted connection. The slot's `close` cancels the function while it is running.
Opener = Callable[[socket.socket, Slot], Awaitable[object]]


class Listener:
    """A listener that owns `sockets` and accepts connections on them between `start` and `stop`.

    `clock` is the time source for connection deadlines.
    """

    def __init__(
        self,
        sockets: Sequence[socket.socket],
        table: ConnectionTable,
        opener: Opener,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._sockets = sockets
        self._table = table
        self._opener = opener
        self._clock = clock or self._loop.time
        self._opening: set[asyncio.Future[object]] = set()
        # The slots of peers that have sent nothing yet or have not been served yet.
        self._silent: set[Slot] = set()
        table.on_check_due = self._sweep_soon
        self._sweeping: asyncio.TimerHandle | None = None
        self._sweeps_soon = False
        self._full = OncePerMinute()
        self._failing = OncePerMinute()
        # The number of closed and refused connections that have been logged.
        self._logged = 0

    def start(self) -> None:
        for listening in self._sockets:
            self._loop.add_reader(listening, self._accept, listening)

    async def stop(self) -> None:
        """Stop accepting connections. Established connections stay open. Idempotent."""
        for listening in self._sockets:
            if listening.fileno() >= 0:
                self._loop.remove_reader(listening)
                listening.close()
        for slot in list(self._silent):
            slot.leave()
            slot.close()
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
            self._admit(connection, rate_limit_key(peer[0]) if isinstance(peer, tuple) else "")
        self._log_closed()

    def _admit(self, connection: socket.socket, address: str) -> None:
        slot = self._table.enter(address)
        if slot is None:
            connection.close()
        elif isinstance(self._loop, FairLoop):
            self._wait(self._loop, connection, slot)
        else:
            self._open(connection, slot)

    def _wait(self, loop: FairLoop, connection: socket.socket, slot: Slot) -> None:
        """Wait until the peer has sent something and the loop is ready to serve the connection."""
        deadline = self._clock() + FIRST_BYTE_DEADLINE_S
        descriptor = connection.fileno()

        def settle() -> None:
            if slot.open:
                loop.put_first(descriptor, connection, None if self._table.limits.shared else slot.owner)
            else:
                loop.forget(descriptor, connection)

        def close() -> None:
            self._silent.discard(slot)
            connection.close()

        def check(now: float) -> float:
            if now >= deadline:
                slot.leave()
                close()
            return now

        def begin() -> None:
            self._silent.discard(slot)
            slot.check = None
            self._open(connection, slot)

        self._silent.add(slot)
        slot.on_settled, slot.close = settle, close
        slot.watch(check)
        loop.put_last(connection, slot.belongs_to, begin)

    def _open(self, connection: socket.socket, slot: Slot) -> None:
        task = asyncio.ensure_future(self._opener(connection, slot))
        slot.close = task.cancel
        self._opening.add(task)

        def opened(task: asyncio.Future[object]) -> None:
            # Clean up here rather than in the coroutine, which never runs if its task is cancelled
            # immediately.
            self._opening.discard(task)
            fault = None if task.cancelled() else task.exception()
            if task.cancelled() or fault is not None:
                connection.close()
                slot.leave()
            if isinstance(fault, OSError):  # OSError includes TimeoutError and ssl.SSLError.
                logger.debug(
                    "opening a connection failed", extra={"fault": str(fault) or type(fault).__name__}
                )
            elif fault is not None:
                logger.error("opening a connection failed", exc_info=fault)

        task.add_done_callback(opened)

    def _pause(self, listening: socket.socket, fault: OSError) -> None:
        """Stop accepting connections for a while, because the system has run out of descriptors or memory."""
        if times := self._failing.due(self._loop.time()):
            logger.error("connections cannot be accepted", extra={"fault": str(fault), "times": times})
        self._table.make_room()
        self._loop.remove_reader(listening)
        self._loop.call_later(FULL_PAUSE_S, self._accept_again, listening)

    def _accept_again(self, listening: socket.socket) -> None:
        if listening.fileno() >= 0:
            self._loop.add_reader(listening, self._accept, listening)

    def _sweep_soon(self) -> None:
        """Sweep after the minimum interval.

        Called for every request, so it must be cheap if a sweep is already scheduled.
        """
        if not self._sweeps_soon:
            self._sweeps_soon = True
            self._sweep_after(SWEEP_INTERVAL_S)

    def _sweep_after(self, wait_s: float) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()
        self._sweeping = self._loop.call_later(wait_s, self._sweep)

    def _sweep(self) -> None:
        """Check the deadlines that are due, and set a timer for the next deadline."""
        self._sweeping, self._sweeps_soon = None, False
        due = self._table.sweep(self._clock())
        if due is not None and not self._sweeps_soon:
            self._sweep_after(max(SWEEP_INTERVAL_S, due - self._clock()))

    def _log_closed(self) -> None:
        given_up = self._table.closed + self._table.refused
        if given_up == self._logged:
            return
        if times := self._full.due(self._loop.time(), given_up - self._logged):
            logger.warning(
                "too many connections: closing those idle for longest",
                extra={"times": times, "open": len(self._table), "strangers": self._table.strangers},
            )
        self._logged = given_up


def _hold_little(connection: socket.socket) -> None:
    if connection.family != getattr(socket, "AF_UNIX", None) and hasattr(socket, "TCP_NOTSENT_LOWAT"):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)
