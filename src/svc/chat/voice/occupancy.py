"""Who is in which voice room, as the media service tells it.

Holds the picture and says when it changes; asks nobody and knows no names.
Spec: media document section 6.1, `sync_response`, `peer_joined`, `peer_left`.
"""

from collections.abc import Callable, Mapping, Sequence


class Occupancy:
    """`on_change` is called with the id of a room whose people have changed."""

    def __init__(self, on_change: Callable[[str], None]) -> None:
        # Dictionaries without values: sets that remember who came first.
        self._rooms: dict[str, dict[str, None]] = {}
        self._on_change = on_change

    def users(self, room_id: str) -> tuple[str, ...]:
        return tuple(self._rooms.get(room_id, ()))

    def rooms_of(self, user_id: str) -> list[str]:
        return [room_id for room_id, users in self._rooms.items() if user_id in users]

    def joined(self, room_id: str, user_id: str) -> None:
        users = self._rooms.setdefault(room_id, {})
        if user_id not in users:
            users[user_id] = None
            self._on_change(room_id)

    def left(self, room_id: str, user_id: str) -> None:
        users = self._rooms.get(room_id, {})
        if user_id in users:
            del users[user_id]
            self._on_change(room_id)

    def synchronise(self, actual: Mapping[str, Sequence[str]]) -> None:
        """Take over who is really there; a room that is not mentioned is empty."""
        before = self._rooms
        self._rooms = {room_id: dict.fromkeys(users) for room_id, users in actual.items()}
        for room_id in before | self._rooms:
            if before.get(room_id, {}).keys() != self._rooms.get(room_id, {}).keys():
                self._on_change(room_id)
