"""Which member's job comes next. Members take turns, however many jobs each of them has waiting.

Jobs that are known to take long wait in a line of their own, so that short ones never wait for
them. No SQL, no clock.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from svc.chat.uploads import limits

# Members whose last turn is remembered. One who is forgotten comes first once.
_MAX_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Waiting:
    """The job of a member that has waited longest."""

    job_id: str
    member_id: str
    due_at_ms: int


def takes_long(kind: str, length: int) -> bool:
    """Is that to be expected of a file? What takes long against expectation is moved later."""
    return kind == "video" and length > limits.SHORT_VIDEO_BYTES


class Turns:
    """When each member's last turn was, as a number that rises."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        self._turn = 0

    def next_of(self, waiting: Iterable[Waiting], in_hand: Mapping[str, int]) -> Waiting | None:
        """First who has the fewest jobs in the workers' hands, then whose last turn is longest ago."""

        def order(job: Waiting) -> tuple[int, int, int, str]:
            last = self._last.get(job.member_id, -1)
            return in_hand.get(job.member_id, 0), last, job.due_at_ms, job.job_id

        return min(waiting, key=order, default=None)

    def had(self, member_id: str) -> None:
        """A job of the member's has begun."""
        self._turn += 1
        self._last.pop(member_id, None)
        self._last[member_id] = self._turn
        if len(self._last) > _MAX_REMEMBERED:
            del self._last[next(iter(self._last))]
