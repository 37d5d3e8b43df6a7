"""Who is in which voice room, as the media service tells it, and what is shown beside them: silent or deaf.

Holds the picture and says what changes in it; asks nobody and knows no names. What moderators did is held by
person, so that leaving and joining again changes nothing.
docs/signalling.md, "To the chat server", `sync_response`, `peer_joined`, `peer_left`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mute:
    """Muted: is not heard. Deafened: hears nobody."""

    muted: bool = False
    deafened: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """By moderators, and of their own will."""

    muted: bool
    deafened: bool
    self_muted: bool
    self_deafened: bool


class States:
    """`person_of` says which person a member is."""

    def __init__(self, person_of: Callable[[str], str]) -> None:
        self._person_of = person_of
        self._by_moderators: dict[str, Mute] = {}
        self._own: dict[str, Mute] = {}

    def load(self, by_moderators: Mapping[str, Mute]) -> None:
        self._by_moderators.update(by_moderators)

    def moderated(self, member_id: str) -> Mute | None:
        """None for somebody whom moderators have always left alone."""
        return self._by_moderators.get(self._person_of(member_id))

    def moderate(self, member_id: str, mute: Mute) -> None:
        self._by_moderators[self._person_of(member_id)] = mute

    def own(self, member_id: str) -> Mute:
        return self._own.get(member_id, Mute())

    def choose(self, member_id: str, mute: Mute) -> None:
        self._own[member_id] = mute

    def forget(self, member_id: str) -> None:
        """Somebody has gone; what moderators did waits for them."""
        self._own.pop(member_id, None)

    def of(self, member_id: str) -> State:
        moderated, own = self.moderated(member_id) or Mute(), self.own(member_id)
        return State(moderated.muted, moderated.deafened, own.muted, own.deafened)


def differences(before: Mapping[str, object], now: Mapping[str, object]) -> dict[str, object]:
    """What is different now."""
    return {name: value for name, value in now.items() if value != before[name]}


class Occupancy:
    def __init__(self) -> None:
        # Dictionaries without values: sets that remember who came first.
        self._rooms: dict[str, dict[str, None]] = {}
        # Told of a room and a user: each difference, once.
        self.on_joined: list[Callable[[str, str], None]] = []
        # And whether they may be back: their connection has broken, or another one takes its place.
        self.on_left: list[Callable[[str, str, bool], None]] = []
        # The media service is there, perhaps a new one; the differences to what was known have been told.
        self.on_in_step: list[Callable[[], None]] = []
        # Told of a room and a user: somebody is in it at another service than the others.
        self.on_astray: list[Callable[[str, str], None]] = []
        # Told who speaks in a room that was asked about.
        self.on_speaking: list[Callable[[str, Sequence[str]], None]] = []

    def users(self, room_id: str) -> tuple[str, ...]:
        return tuple(self._rooms.get(room_id, ()))

    def rooms_of(self, user_id: str) -> list[str]:
        return [room_id for room_id, users in self._rooms.items() if user_id in users]

    def everybody(self) -> list[tuple[str, str]]:
        """All rooms and users that belong together."""
        return [(room_id, user_id) for room_id, users in self._rooms.items() for user_id in users]

    def joined(self, room_id: str, user_id: str) -> None:
        users = self._rooms.setdefault(room_id, {})
        if user_id not in users:
            users[user_id] = None
            for tell in self.on_joined:
                tell(room_id, user_id)

    def left(self, room_id: str, user_id: str, *, lost: bool) -> None:
        users = self._rooms.get(room_id, {})
        if user_id in users:
            del users[user_id]
            if not users:
                del self._rooms[room_id]
            for tell in self.on_left:
                tell(room_id, user_id, lost)

    def synchronise(self, actual: Mapping[str, Sequence[str]]) -> None:
        """Take over who is really there; a room that is not mentioned is empty."""
        there = {(room_id, user_id) for room_id, users in actual.items() for user_id in users}
        for room_id, user_id in self.everybody():
            if (room_id, user_id) not in there:
                self.left(room_id, user_id, lost=True)
        for room_id, users in actual.items():
            for user_id in users:
                self.joined(room_id, user_id)

    def in_step(self) -> None:
        for tell in self.on_in_step:
            tell()
