"""Tracks the participants that the media service reports for each voice room, and who is muted or deafened.

This module stores the current state in memory and reports changes. It makes no requests. A moderator's mute
applies to the person, so it still applies after they leave and rejoin the server. See docs/signalling.md, "To
the chat server", `sync_response`, `peer_joined`, `peer_left`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Mute:
    """A member's mute. A muted member cannot be heard, and a deafened member hears nobody."""

    muted: bool = False
    deafened: bool = False


@dataclass(frozen=True, slots=True)
class MuteState:
    """A member's mutes: those imposed by moderators and the member's own."""

    muted: bool
    deafened: bool
    self_muted: bool
    self_deafened: bool


class MuteStates:
    """The mutes imposed by moderators, and the members' own. `person_of` returns the id of the person behind
    a member id.
    """

    def __init__(self, person_of: Callable[[str], str]) -> None:
        self._person_of = person_of
        self._by_moderators: dict[str, Mute] = {}
        self._own: dict[str, Mute] = {}

    def load(self, by_moderators: Mapping[str, Mute]) -> None:
        self._by_moderators.update(by_moderators)

    def moderator_mute(self, member_id: str) -> Mute | None:
        """Return the moderators' mute for a member, or None if there has never been one."""
        return self._by_moderators.get(self._person_of(member_id))

    def moderate(self, member_id: str, mute: Mute) -> None:
        self._by_moderators[self._person_of(member_id)] = mute

    def own(self, member_id: str) -> Mute:
        return self._own.get(member_id, Mute())

    def choose(self, member_id: str, mute: Mute) -> None:
        self._own[member_id] = mute

    def forget(self, member_id: str) -> None:
        """Forget a former member's own mute. A moderator's mute stays."""
        self._own.pop(member_id, None)

    def of(self, member_id: str) -> MuteState:
        moderated, own = self.moderator_mute(member_id) or Mute(), self.own(member_id)
        return MuteState(moderated.muted, moderated.deafened, own.muted, own.deafened)


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in now.items() if value != before[name]}


class Occupancy:
    def __init__(self) -> None:
        # Dictionaries without values serve as sets that preserve the order of arrival.
        self._rooms: dict[str, dict[str, None]] = {}
        # Called once for each user who joins, with the room and the user.
        self.on_joined: list[Callable[[str, str], None]] = []
        # Called with the room, the user who left, and whether the user may return, because the connection was
        # lost or is being replaced.
        self.on_left: list[Callable[[str, str, bool], None]] = []
        # Called when a media service, possibly a new one, is in sync and all changes have been reported.
        self.on_synchronised: list[Callable[[], None]] = []
        # Called with a room and a user who is on a different media service than the rest of the room.
        self.on_astray: list[Callable[[str, str], None]] = []
        # Called with a room and its speakers, if they were requested.
        self.on_speaking: list[Callable[[str, Sequence[str]], None]] = []

    def users(self, room_id: str) -> tuple[str, ...]:
        return tuple(self._rooms.get(room_id, ()))

    def rooms_of(self, user_id: str) -> list[str]:
        return [room_id for room_id, users in self._rooms.items() if user_id in users]

    def all_participants(self) -> list[tuple[str, str]]:
        return [(room_id, user_id) for room_id, users in self._rooms.items() for user_id in users]

    def joined(self, room_id: str, user_id: str) -> None:
        users = self._rooms.setdefault(room_id, {})
        if user_id not in users:
            users[user_id] = None
            for notify in self.on_joined:
                notify(room_id, user_id)

    def left(self, room_id: str, user_id: str, *, lost: bool) -> None:
        users = self._rooms.get(room_id, {})
        if user_id in users:
            del users[user_id]
            if not users:
                del self._rooms[room_id]
            for notify in self.on_left:
                notify(room_id, user_id, lost)

    def synchronise(self, actual: Mapping[str, Sequence[str]]) -> None:
        """Replace the state with the actual participants. Rooms not in `actual` are empty."""
        present = {(room_id, user_id) for room_id, users in actual.items() for user_id in users}
        for room_id, user_id in self.all_participants():
            if (room_id, user_id) not in present:
                self.left(room_id, user_id, lost=True)
        for room_id, users in actual.items():
            for user_id in users:
                self.joined(room_id, user_id)

    def synchronised(self) -> None:
        for notify in self.on_synchronised:
            notify()
