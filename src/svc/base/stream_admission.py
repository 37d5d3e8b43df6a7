"""Admits a limited number of stream readers, shares the slots fairly, and closes streams to make room.

A reader is stalled while it accepts no data. If there is no slot for a new reader, the holder with the most
streams loses the stream that has been stalled longest. A slow reader therefore costs no other reader a slot.
This module does not send anything.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from svc.base.fair_shares import fits

# A client that is still reading accepts chunks at shorter intervals than this.
STALLED_AFTER_S = 2.0


class Reader:
    """One of a holder's streams. `close` ends it immediately."""

    def __init__(self, holder: str, close: Callable[[], None], now: Callable[[], float]) -> None:
        self.holder = holder
        self.close = close
        self._now = now
        self._waits_since: float | None = None

    @contextmanager
    def taking(self) -> Iterator[None]:
        """Measure how long a chunk waits for the reader."""
        self._waits_since = self._now()
        try:
            yield
        finally:
            self._waits_since = None

    @property
    def waits_s(self) -> float:
        """How long the current chunk has been waiting for the reader."""
        return 0.0 if self._waits_since is None else self._now() - self._waits_since


class Readers:
    """Open streams. `now` is a monotonic clock in seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._readers: set[Reader] = set()

    def admit(self, holder: str, maximum: int, close: Callable[[], None]) -> Reader | None:
        """Return one of `maximum` slots. Return None if the holder has its share and no reader can be closed
        instead. The caller must give up the slot with `leave`.
        """
        counts = Counter(reader.holder for reader in self._readers)
        if not fits(counts[holder], len(self._readers), maximum):
            if (slowest := self._slowest(holder, counts)) is None:
                return None
            self.leave(slowest)
            slowest.close()
        reader = Reader(holder, close, self._now)
        self._readers.add(reader)
        return reader

    def leave(self, reader: Reader) -> None:
        """Give up a slot. Do nothing if the slot has already been given up."""
        self._readers.discard(reader)

    def _slowest(self, newcomer: str, counts: Counter[str]) -> Reader | None:
        """Return the reader to close, if any.

        A reader can be closed if its stream is stalled and belongs to the new reader's holder (`newcomer`) or
        to a holder with more streams. It can also be closed if its holder has at least two more streams than
        the new reader's holder.
        """
        own = counts[newcomer]

        def may_go(reader: Reader) -> bool:
            stalled = reader.waits_s >= STALLED_AFTER_S
            has = counts[reader.holder]
            return (stalled and (has > own or reader.holder == newcomer)) or has > own + 1

        candidates = [reader for reader in self._readers if may_go(reader)]
        return max(candidates, key=lambda reader: (counts[reader.holder], reader.waits_s), default=None)
