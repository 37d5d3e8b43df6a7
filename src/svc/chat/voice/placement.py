"""Which media service each room is at, where there are several; decides, and connects to nothing.

An empty room has its place by rendezvous hashing (Thaler and Ravishankar, 1998): each service has a
rank for each room, the highest that is there has it, and when one comes or goes only its own rooms
move. A room with people in it stays where they are for as long as that service does.
"""

import hashlib
from collections.abc import Callable, Sequence

# Grants that nobody has used by now have expired (`voice.rules`), and with them the room's place.
PROMISED_S = 120.0


class Placement:
    """`names` tell the services apart, and stay theirs across restarts; `there` says which can be used."""

    def __init__(
        self, names: Sequence[str], there: Callable[[int], bool], occupied: Callable[[str], bool]
    ) -> None:
        self._names = names
        self._there = there
        self._occupied = occupied
        # Of each room, and until when it has been promised to somebody.
        self._places: dict[str, tuple[int, float]] = {}

    def of(self, room_id: str) -> int | None:
        """Where a room is; None where nobody is in it, nor has been let in lately."""
        place = self._places.get(room_id)
        return place[0] if place else None

    def promise(self, room_id: str, now: float) -> int:
        """Where somebody is to go who wants to join a room; it stays there until they have come."""
        index = self._kept(room_id, now)
        if index is None:
            index = self._best(room_id)
        self._places[room_id] = index, now + PROMISED_S
        return index

    def found(self, room_id: str, index: int) -> bool:
        """Somebody is in the room at this service: is that where it is?"""
        return self._places.setdefault(room_id, (index, 0.0))[0] == index

    def rooms_at(self, index: int) -> list[str]:
        return [room_id for room_id, (place, _) in self._places.items() if place == index]

    def forget(self, room_id: str) -> None:
        self._places.pop(room_id, None)

    def forget_empty(self, now: float) -> None:
        """Keep the places of rooms that somebody is in, or on the way to."""
        for room_id, (_, until) in list(self._places.items()):
            if now >= until and not self._occupied(room_id):
                del self._places[room_id]

    def _kept(self, room_id: str, now: float) -> int | None:
        index, until = self._places.get(room_id, (None, 0.0))
        if index is None or not self._there(index):
            return None
        return index if now < until or self._occupied(room_id) else None

    def _best(self, room_id: str) -> int:
        everyone = range(len(self._names))
        # Where none is there, the first choice may be back first.
        usable = [index for index in everyone if self._there(index)] or everyone
        return max(usable, key=lambda index: rank(self._names[index], room_id))


def rank(name: str, room_id: str) -> bytes:
    """The same everywhere and always."""
    return hashlib.sha256(f"{name}\n{room_id}".encode()).digest()
