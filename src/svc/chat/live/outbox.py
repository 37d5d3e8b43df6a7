"""Frames on their way to one page, and the one place that writes them: prepared bytes go
straight to the transport, all that waits for a page in a single write.

Frames are written at the end of the turn of the event loop in which they were queued. Under
load the next round waits as long as the last one took: more frames then share a write, and
writing never takes more than half of the time. While there is time, nothing is delayed.
A reader who does not keep up is reported, by bytes or by time; frames are never dropped
in silence, for the page would show a state that is not true. Closes no socket.
"""

import asyncio
from collections.abc import Callable, Sequence

# A page that is this far behind reloads faster than it catches up.
MAX_WAITING_BYTES = 1024 * 1024
# The peer's system has not acknowledged a byte for this long.
STALL_DEADLINE_S = 10.0
# Nobody sees it, and a thousand pages take about that long to write to.
MAX_PAUSE_S = 0.005
# How often a page whose transport was full is looked at again.
RETRY_S = 0.02


class Rounds:
    """When to write what to whom. Each page's own frames go before those that it shares with others."""

    def __init__(self) -> None:
        self._due: list[Outbox] = []
        self._shared: list[tuple[bytes, Sequence[Outbox]]] = []
        self._scheduled = False
        self._not_before = 0.0

    def add(self, outbox: "Outbox") -> None:
        """Write this one's own frames soon."""
        self._due.append(outbox)
        if not self._scheduled:
            self._schedule()

    def share(self, frame: bytes, outboxes: "Sequence[Outbox]") -> None:
        """Write a frame to many soon. Who gives the same list again saves us the sorting."""
        self._shared.append((frame, outboxes))
        if not self._scheduled:
            self._schedule()

    def write(self) -> None:
        """Write everything now."""
        due, self._due = self._due, []
        shared, self._shared = self._shared, []
        behind = [outbox for outbox in due if not outbox.write()]
        if shared:
            _write_shared(shared)
        if behind:
            asyncio.get_running_loop().call_later(RETRY_S, self._retry, behind)

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
    everywhere = shared[0][1]
    if all(outboxes is everywhere for _, outboxes in shared):
        together = b"".join([frame for frame, _ in shared])
        for outbox in everywhere:
            outbox.write_now(together)
        return
    by_outbox: dict[Outbox, list[bytes]] = {}
    for frame, outboxes in shared:
        for outbox in outboxes:
            by_outbox.setdefault(outbox, []).append(frame)
    for outbox, frames in by_outbox.items():
        outbox.write_now(b"".join(frames))


class Outbox:
    """`too_slow` is called once, when the page has fallen too far behind."""

    __slots__ = (
        *("_moved_at", "_rounds", "_seen", "_too_slow"),
        *("_transport", "_waiting", "_waiting_bytes", "_written"),
    )

    def __init__(self, transport: asyncio.Transport, rounds: Rounds, too_slow: Callable[[], None]) -> None:
        self._transport = transport
        self._rounds = rounds
        self._too_slow = too_slow
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._written = 0
        # How many bytes the peer's system had taken when we last looked, and since when.
        self._seen = 0
        self._moved_at: float | None = None

    def send(self, frame: bytes) -> None:
        """Queue a frame, ready for the wire; it never waits."""
        if not self._waiting:
            self._rounds.add(self)
        elif self._waiting_bytes > MAX_WAITING_BYTES:
            self._give_up()
            return
        self._waiting.append(frame)
        self._waiting_bytes += len(frame)

    def write(self) -> bool:
        """Write what waits; False while the transport still holds what was written before."""
        waiting, transport = self._waiting, self._transport
        # Asked first: a TLS transport that is closed twice has no answer to the other question.
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
        """Write whole frames without queueing them, unless there is a queue already."""
        transport = self._transport
        if transport.is_closing():
            return
        if self._waiting or transport.get_write_buffer_size():
            self.send(data)
        else:
            transport.write(data)
            self._written += len(data)

    def finish(self) -> None:
        """Write nothing more: a close is being said, and the transport may take no data after it."""
        self._forget()
        self._transport = _ENDED

    def check(self, now: float) -> None:
        """To be called now and then: has the peer taken anything lately?"""
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
        too_slow, self._too_slow = self._too_slow, _nothing
        too_slow()


def _nothing() -> None:
    pass


class _Ended(asyncio.Transport):
    """Stands in for the transport of a page that is being closed."""

    def is_closing(self) -> bool:
        return True


_ENDED = _Ended()
