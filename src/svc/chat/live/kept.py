"""The pushes of the last minutes, kept for pages that lost their connection and come back.

Bounded by number and by bytes: whoever was away for longer reloads. Sends nothing and asks
nobody whom a push is for.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import dropwhile

from svc.chat.live.audience import Audience

# A busy community pushes some fifty times a second: minutes, longer than a train in a tunnel.
MAX_KEPT = 8192
MAX_KEPT_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Push:
    seq: int
    frame: bytes
    audience: Audience
    but_not: str | None


class Kept:
    """Pushes in the order of their `seq`, which starts at `now_us`.

    The clock makes it rise across restarts too, so that a `seq` of an earlier run is always
    older than what is kept. Gaps mean nothing.
    """

    def __init__(self, now_us: int, max_count: int = MAX_KEPT, max_bytes: int = MAX_KEPT_BYTES) -> None:
        self.seq = now_us
        # Everything after this one is still here.
        self._complete_after = now_us
        self._pushes: deque[Push] = deque()
        self._bytes = 0
        self._max_count = max_count
        self._max_bytes = max_bytes

    def next_seq(self, now_us: int) -> int:
        self.seq = max(self.seq + 1, now_us)
        return self.seq

    def add(self, push: Push) -> None:
        self._pushes.append(push)
        self._bytes += len(push.frame)
        while len(self._pushes) > self._max_count or self._bytes > self._max_bytes:
            dropped = self._pushes.popleft()
            self._bytes -= len(dropped.frame)
            self._complete_after = dropped.seq

    def after(self, seq: int) -> Iterator[Push] | None:
        """What was pushed after `seq`; None where not all of it is here, or `seq` is none of ours."""
        if not self._complete_after <= seq <= self.seq:
            return None
        return dropwhile(lambda push: push.seq <= seq, self._pushes)
