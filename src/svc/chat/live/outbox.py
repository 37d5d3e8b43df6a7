"""Queues frames for clients and writes them to the transports in batches.

Frames are written at the end of the event loop iteration in which they were queued. Under load, each batch
waits for as long as the previous one took to write, so more frames share a write, and writing takes at most
half of the process's time. If a client falls too far behind, in bytes or in time, a callback is called.
Frames are never dropped silently, because the client would then show a wrong state. This module does not
close sockets.
"""

import asyncio
from collections.abc import Callable, Sequence

# The maximum size of a client's queue. Above this size, reloading the page is faster than catching up.
MAX_WAITING_BYTES = 1024 * 1024
# A client is too slow if it has not acknowledged a single byte for this long.
STALL_DEADLINE_S = 10.0
# The longest pause between writes. It is imperceptible, and equals the time it takes to write to about 2,500
# clients. With that many clients and a shorter pause, writing would take more than half of the time.
MAX_PAUSE_S = 0.02
# The interval for retrying a client whose transport was full.
RETRY_S = 0.02


class WriteScheduler:
    """The schedule of writes to all clients. Every client gets its frames in the order they were queued."""

    def __init__(self) -> None:
        self._due: list[Outbox] = []
        self._shared: list[tuple[bytes, Sequence[Outbox]]] = []
        self._scheduled = False
        self._not_before = 0.0

    def add(self, outbox: "Outbox") -> None:
        """Schedule an outbox that has queued frames."""
        self._due.append(outbox)
        if not self._scheduled:
            self._schedule()

    def share(self, frame: bytes, outboxes: "Sequence[Outbox]") -> None:
        """Schedule a frame for many outboxes. Frames for the same list object are joined at no cost."""
        self._shared.append((frame, outboxes))
        if not self._scheduled:
            self._schedule()

    def write(self) -> None:
        """Write all scheduled frames now."""
        # The frames of the outboxes in `_due` were queued before the first shared frame (see `Outbox.send`),
        # so write them first.
        due, self._due = self._due, []
        shared, self._shared = self._shared, []
        behind = [outbox for outbox in due if not outbox.write()]
        if shared:
            _write_shared(shared)
        if behind:
            asyncio.get_running_loop().call_later(RETRY_S, self._retry, behind)

    @property
    def has_shared(self) -> bool:
        """Whether shared frames are scheduled."""
        return bool(self._shared)

    def _schedule(self) -> None:
        self._scheduled = True
        loop = asyncio.get_running_loop()
        if self._not_before <= loop.time():
            loop.call_soon(self._round, loop)
        else:
            loop.call_at(self._not_before, self._round, loop)

    def _round(self, loop: asyncio.AbstractEventLoop) -> None:
        started = loop.time()
        self._scheduled = False
        self.write()
        ended = loop.time()
        self._not_before = ended + min(ended - started, MAX_PAUSE_S)

    def _retry(self, behind: "list[Outbox]") -> None:
        for outbox in behind:
            self.add(outbox)


def _write_shared(shared: "Sequence[tuple[bytes, Sequence[Outbox]]]") -> None:
    everywhere = max((outboxes for _, outboxes in shared), key=len)
    # Outboxes that get frames other than those for `everywhere`, and all frames for each of them.
    apart: dict[Outbox, list[bytes]] = {
        outbox: [] for _, outboxes in shared if outboxes is not everywhere for outbox in outboxes
    }
    together = b"".join([frame for frame, outboxes in shared if outboxes is everywhere])
    both = []
    for outbox in everywhere:
        if outbox in apart:
            both.append(outbox)
        else:
            outbox.write_now(together)
    for frame, outboxes in shared if apart else ():
        for outbox in both if outboxes is everywhere else outboxes:
            apart[outbox].append(frame)
    for outbox, frames in apart.items():
        outbox.write_now(b"".join(frames))


class Outbox:
    """A client's queue of outgoing frames. `too_slow` is called once, when the client has fallen too far
    behind.
    """

    __slots__ = (
        *("_moved_at", "_scheduler", "_seen", "_too_slow"),
        *("_transport", "_waiting", "_waiting_bytes", "_written"),
    )

    def __init__(
        self, transport: asyncio.Transport, scheduler: WriteScheduler, too_slow: Callable[[], None]
    ) -> None:
        self._transport = transport
        self._scheduler = scheduler
        self._too_slow = too_slow
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._written = 0
        # The number of bytes that the client had accepted at the last check, and the time of the last
        # progress.
        self._seen = 0
        self._moved_at: float | None = None

    def send(self, frame: bytes) -> None:
        """Queue an encoded frame. Never waits."""
        if self._scheduler.has_shared:
            # The reply to a request must follow the events that were queued before it.
            self._scheduler.share(frame, (self,))
            return
        if not self._waiting:
            self._scheduler.add(self)
        elif self._waiting_bytes > MAX_WAITING_BYTES:
            self._give_up()
            return
        self._waiting.append(frame)
        self._waiting_bytes += len(frame)

    def write(self) -> bool:
        """Write the queue. Return False if the transport still holds earlier data."""
        waiting, transport = self._waiting, self._transport
        # Check this first: the next call fails on a TLS transport that was closed twice.
        if transport.is_closing():
            self._forget()
            return True
        if transport.get_write_buffer_size():
            return False
        if waiting:
            transport.write(waiting[0] if len(waiting) == 1 else b"".join(waiting))
            self._written += self._waiting_bytes
        self._forget()
        return True

    def write_now(self, data: bytes) -> None:
        """Write complete frames without queueing, unless frames are already queued."""
        transport = self._transport
        if transport.is_closing():
            return
        if self._waiting or transport.get_write_buffer_size():
            self.send(data)
        else:
            transport.write(data)
            self._written += len(data)

    def finish(self) -> None:
        """Stop writing, because a close frame is being sent and no data may follow it."""
        self._forget()
        self._transport = _ENDED

    def check(self, now: float) -> None:
        """Check whether the client is still making progress. Call this periodically."""
        held = 0 if self._transport.is_closing() else self._transport.get_write_buffer_size()
        taken = self._written - held
        if not held or self._moved_at is None or taken > self._seen:
            self._seen = taken
            self._moved_at = now if held else None
        elif now - self._moved_at >= STALL_DEADLINE_S:
            self._give_up()

    def _forget(self) -> None:
        self._waiting.clear()
        self._waiting_bytes = 0

    def _give_up(self) -> None:
        self._forget()
        too_slow, self._too_slow = self._too_slow, _do_nothing
        too_slow()


def _do_nothing() -> None:
    pass


class _ClosedTransport(asyncio.Transport):
    """A stand-in for the transport of a client that is being disconnected. It always reports that it is
    closing.
    """

    def is_closing(self) -> bool:
        return True


_ENDED = _ClosedTransport()
