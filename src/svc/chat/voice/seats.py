"""How many people this server's voice channels hold, counting those who are on their way in.

Counts only; the media service has a limit of its own, over all servers.
docs/configuration.md, "Chat server", VOICE_MAX_USERS.
"""

from collections.abc import Iterable

from svc.chat.errors import ChatError

# From the grant until the media service says that its bearer is there; a slow phone
# takes some seconds. Who comes later takes a seat if there is one.
RESERVED_S = 20.0

Seat = tuple[str, str]  # room and user


class Seats:
    """`limit` 0 means no limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._reserved: dict[Seat, float] = {}

    def reserve(self, seat: Seat, taken: Iterable[Seat], now: float, of_room: int = 0) -> None:
        """Keep a seat for somebody; their own is theirs already. Raises ChatError when all are taken.

        `of_room` is the limit of the room alone; 0 for none.
        """
        # Also what a clock has reserved that has been set back since is over.
        self._reserved = {
            seat: until for seat, until in self._reserved.items() if 0 < until - now <= RESERVED_S
        }
        others = {*taken, *self._reserved} - {seat}
        if self._limit and len(others) >= self._limit:
            raise ChatError("voice_full")
        if of_room and sum(room == seat[0] for room, _ in others) >= of_room:
            raise ChatError("channel_full")
        self._reserved[seat] = now + RESERVED_S

    def occupied(self, seat: Seat) -> None:
        self._reserved.pop(seat, None)

    def exceeded_by(self, taken: Iterable[Seat]) -> int:
        """How many too many are there; a grant may be used when its seat has gone to somebody else."""
        return max(0, len(set(taken)) - self._limit) if self._limit else 0
