"""Who is in which voice room, as the media service tells it.

Holds the picture and says when it changes; asks nobody and knows no names.
Spec: media document section 6.1, `sync_response`, `peer_joined`, `peer_left`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence


class Occupancy:
    """`on_change` is called with the id of a room whose people have changed."""

    def __init__(self, room_ids: Iterable[str], on_change: Callable[[str], None]) -> None:
        # Dictionaries without values: sets that remember who came first.
        self._rooms: dict[str, dict[str, None]] = {room_id: {} for room_id in room_ids}
        self._on_change = on_change

    def users(self, room_id: str) -> tuple[str, ...]:
        return tuple(self._rooms[room_id])

    def rooms_of(self, user_id: str) -> list[str]:
        return [room_id for room_id, users in self._rooms.items() if user_id in users]

    def joined(self, room_id: str, user_id: str) -> None:
        users = self._rooms.get(room_id)
        if users is not None and user_id not in users:
            users[user_id] = None
            self._on_change(room_id)

    def left(self, room_id: str, user_id: str) -> None:
        users = self._rooms.get(room_id)
        if users is not None and user_id in users:
            del users[user_id]
            self._on_change(room_id)

    def synchronise(self, actual: Mapping[str, Sequence[str]]) -> None:
        """Take over who is really there; a room that is not mentioned is empty."""
        for room_id, users in self._rooms.items():
            present = dict.fromkeys(actual.get(room_id, ()))
            if present.keys() != users.keys():
                self._rooms[room_id] = present
                self._on_change(room_id)
