"""Tracks the online members that a relay's clients show, and the changes that the clients have missed.

After a takeover, the state for a client leaves out the online members: with 10,000 members online, they make
up 290 KB of its 299 KB. The client keeps the members that it shows, and receives the differences as events.
"""

from collections.abc import Mapping, Sequence
from weakref import WeakSet

from svc.chat.cluster.relay_protocol import PresenceRecord
from svc.chat.live import frames
from svc.chat.live.hub import Presence
from svc.chat.messages import responses

_Presences = Mapping[str, Presence]


class MissedPresences:
    """The differences between the online members that some clients show and the current ones."""

    def __init__(self, shown: _Presences) -> None:
        self._shown = shown
        # The event for each member who differs.
        self._frames: dict[str, bytes] = {}
        # All events joined, or None after a change. Thousands of clients get the same events.
        self._joined: bytes | None = None

    def frames_for(self, member_id: str) -> bytes:
        """Return the events to send to one of this member's clients, excluding the member's own presence."""
        if member_id in self._frames:
            return b"".join(frame for changed, frame in self._frames.items() if changed != member_id)
        if self._joined is None:
            self._joined = b"".join(self._frames.values())
        return self._joined

    def compare(self, online: _Presences) -> None:
        """Recompute the differences between the shown members and a complete state."""
        self._joined = None
        self._frames = {
            member_id: _frame(member_id, online.get(member_id))
            for member_id in {**self._shown, **online}
            if online.get(member_id) != self._shown.get(member_id)
        }

    def change(self, member_id: str, presence: Presence | None, frame: bytes) -> None:
        self._joined = None
        if presence == self._shown.get(member_id):
            self._frames.pop(member_id, None)
        else:
            self._frames[member_id] = frame


class OnlineMembers:
    """The online members. They are unknown at first, and also if the owner's version is too old to send
    them.
    """

    def __init__(self) -> None:
        self._online: dict[str, Presence] | None = None
        self._missed: WeakSet[MissedPresences] = WeakSet()

    def records(self) -> list[PresenceRecord]:
        online = self._online or {}
        return [PresenceRecord.of(member_id, presence) for member_id, presence in online.items()]

    def replace(self, records: Sequence[PresenceRecord] | None) -> None:
        """Replace the members with those of a new state. If `records` is None, the members are unknown."""
        if records is None:
            self._online = None
            return
        online = {record.member_id: Presence(record.idle, record.do_not_disturb) for record in records}
        self._online = online
        for missed in self._missed:
            missed.compare(online)

    def change(self, record: PresenceRecord, frame: bytes) -> None:
        """Apply a change in a member's presence."""
        if self._online is None:
            return
        member_id, presence = record.member_id, record.presence()
        if presence is None:
            self._online.pop(member_id, None)
        else:
            self._online[member_id] = presence
        for missed in self._missed:
            missed.change(member_id, presence, frame)

    def track_missed(self) -> MissedPresences | None:
        """Return an object that records the changes from now on, or None if the members are unknown. Call
        this before `replace`.
        """
        if self._online is None:
            return None
        missed = MissedPresences(self._online)
        self._missed.add(missed)
        return missed


def _frame(member_id: str, presence: Presence | None) -> bytes:
    return frames.push("presence", responses.presence(member_id, presence))
