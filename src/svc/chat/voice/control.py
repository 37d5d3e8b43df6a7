"""Keeping the people in voice rooms to what they may do there, whenever that or they change.

Tells the media service: whom to silence, what somebody may send, whom to put out. Grants
nothing and pushes nothing. docs/signalling.md, "From the chat server".
"""

from collections.abc import Collection

from svc.chat.access.directory import VOICE, Channel, Directory
from svc.chat.access.permissions import Permission
from svc.chat.access.tokens import Asker
from svc.chat.direct.rules import PrivateConversations
from svc.chat.errors import ChatError
from svc.chat.live.hub import Audience, Only, Viewers
from svc.chat.voice.occupancy import Occupancy, States
from svc.chat.voice.sfu_links import SfuLinks

# What each permission lets a member send (`svc.base.grants`).
_CAPS = {
    "speak": Permission.SPEAK,
    "share_video": Permission.SHARE_VIDEO,
    "share_screen": Permission.SHARE_SCREEN,
}
# Grants that nobody has used may be forgotten when there are so many: they have expired.
MAX_GRANTED = 4096

Place = tuple[str, str]  # room and user


class Rooms:
    """What a room is of, a voice channel or a private conversation, and who may do what there.

    A private conversation's room has its id, and exists for its members alone. What they may send there is
    what their roles allow them on the server.
    """

    def __init__(self, directory: Directory, conversations: PrivateConversations) -> None:
        self._directory = directory
        # The members of a private conversation; nobody for another room.
        self.people_of = conversations.people_of

    def is_private(self, room_id: str) -> bool:
        return bool(self.people_of(room_id))

    def channel(self, room_id: str) -> Channel | None:
        """None where it is of a private conversation, or of nothing any more."""
        return self._directory.channels.get(room_id)

    def audience(self, room_id: str) -> Audience:
        """Who hears of what happens there."""
        people = self.people_of(room_id)
        return Only(people) if people else Viewers(room_id)

    def permissions(self, member_id: str, room_id: str) -> Permission:
        people = self.people_of(room_id)
        if not people:
            return self._directory.permissions(member_id, room_id)
        return self._directory.permissions(member_id) if member_id in people else Permission(0)

    def may(self, member_id: str, permission: Permission, room_id: str) -> bool:
        return permission in self.permissions(member_id, room_id)

    def require(self, member_id: str, permission: Permission, room_id: str) -> None:
        """Raises ChatError. Who may not see a room is told that there is none."""
        people = self.people_of(room_id)
        if member_id in people:
            self._directory.require(member_id, permission)
        elif people or self._directory.channel(member_id, room_id).kind != VOICE:
            raise ChatError("unknown_channel")
        else:
            self._directory.require(member_id, permission, room_id)


class MediaControl:
    """Its methods are called when something has changed."""

    def __init__(
        self, directory: Directory, rooms: Rooms, occupancy: Occupancy, states: States, link: SfuLinks
    ) -> None:
        self._directory = directory
        self._rooms = rooms
        self._occupancy = occupancy
        self._states = states
        self._link = link
        # What we have allowed whom to send, by grant or in mid-call.
        self._granted: dict[Place, frozenset[str]] = {}
        # The session in which each grant was asked for. After a restart it is unknown until a page shows
        # itself in the call.
        self._session: dict[Place, str] = {}
        # Former members. One who was removed while there was no connection is put out when it is back.
        self._gone: set[str] = set()
        # Whose screen a moderator has stopped; they may share none until they leave the room.
        self._screen_stopped: set[Place] = set()

    def caps(self, member_id: str, room_id: str) -> frozenset[str]:
        """What a member may send in a room."""
        permitted = self._rooms.permissions(member_id, room_id)
        caps = frozenset(cap for cap, permission in _CAPS.items() if permission in permitted)
        return caps - {"share_screen"} if (room_id, member_id) in self._screen_stopped else caps

    def grant(self, asker: Asker, room_id: str) -> frozenset[str]:
        """The caps for a grant, remembered; and any mute is there before its bearer is."""
        member_id = asker.member_id
        if max(len(self._granted), len(self._session)) >= MAX_GRANTED:
            present = set(self._occupancy.everybody())
            self._granted = {place: caps for place, caps in self._granted.items() if place in present}
            self._session = {place: session for place, session in self._session.items() if place in present}
        self._session[room_id, member_id] = asker.session_id
        caps = self._granted[room_id, member_id] = self.caps(member_id, room_id)
        self.apply_mute(room_id, member_id)
        return caps

    def put_out(self, room_id: str, user_id: str) -> None:
        self._link.tell("disconnect_user", {"room_id": room_id, "user_id": user_id})

    def stop_screen(self, room_id: str, user_id: str) -> None:
        """End what somebody shows of their screen. They may share one again once they have left the room."""
        if user_id in self._occupancy.users(room_id):
            self._screen_stopped.add((room_id, user_id))
            self._apply_caps(room_id, user_id)

    def apply_mute(self, room_id: str, user_id: str) -> None:
        """Nothing is said of those whom moderators have always left alone."""
        if (mute := self._states.moderated(user_id)) is not None:
            said = {
                "room_id": room_id,
                "user_id": user_id,
                "is_muted": mute.muted,
                "is_deafened": mute.deafened,
            }
            self._link.tell("user_audio_control", said)

    # Of the occupancy.

    def joined(self, room_id: str, user_id: str) -> None:
        """A grant may be older than what has been taken from its bearer."""
        if self._keep_or_put_out(room_id, user_id):
            self._apply_caps(room_id, user_id)
            self.apply_mute(room_id, user_id)

    def left(self, room_id: str, user_id: str, lost: bool) -> None:
        self._granted.pop((room_id, user_id), None)
        self._screen_stopped.discard((room_id, user_id))

    def in_step(self) -> None:
        """What was said while there was no connection is said now."""
        for room_id, user_id in self._occupancy.everybody():
            self._granted.pop((room_id, user_id), None)
            self.joined(room_id, user_id)

    # Of other features.

    def channel_added(self, channel: Channel) -> None:
        if channel.kind == VOICE:
            self._link.register(channel.id)

    def channel_removed(self, channel: Channel) -> None:
        for user_id in self._occupancy.users(channel.id):
            self.put_out(channel.id, user_id)

    def permissions_changed(self, member_ids: Collection[str]) -> None:
        concerned = frozenset(member_ids)
        for room_id, user_id in self._occupancy.everybody():
            if user_id in concerned and self._keep_or_put_out(room_id, user_id):
                self._apply_caps(room_id, user_id)

    def sessions_ended(self, member_id: str, session_ids: Collection[str]) -> None:
        """A call ends with the session in which it was joined, and with any where that is not known."""
        for room_id in self._occupancy.rooms_of(member_id):
            if self._session.get((room_id, member_id)) in {*session_ids, None}:
                self.put_out(room_id, member_id)

    def claim(self, asker: Asker, room_id: str) -> None:
        """Note in which session somebody is in a call that this server has found under way."""
        self._session.setdefault((room_id, asker.member_id), asker.session_id)

    def private_left(self, room_id: str, member_id: str) -> None:
        """A member has left a private conversation, and its call."""
        if member_id in self._occupancy.users(room_id):
            self.put_out(room_id, member_id)

    def load(self, gone: Collection[str]) -> None:
        """Former members who may have been in a call when the server stopped."""
        self._gone.update(gone)

    def member_gone(self, member_id: str) -> None:
        self._gone.add(member_id)
        for room_id in self._occupancy.rooms_of(member_id):
            self.put_out(room_id, member_id)
        self._states.forget(member_id)

    def _keep_or_put_out(self, room_id: str, user_id: str) -> bool:
        """May somebody be there? Who came with the control secret itself and is no member, may."""
        granted = (room_id, user_id) in self._granted
        known = granted or user_id in self._directory.members or user_id in self._gone
        session_id = self._session.get((room_id, user_id))
        ended = session_id is not None and not self._directory.has_session(user_id, session_id)
        if known and (ended or not self._rooms.may(user_id, Permission.JOIN_VOICE, room_id)):
            self.put_out(room_id, user_id)
            return False
        return known

    def _apply_caps(self, room_id: str, user_id: str) -> None:
        caps = self.caps(user_id, room_id)
        if self._granted.get((room_id, user_id)) != caps:
            self._granted[room_id, user_id] = caps
            self._link.tell("user_caps", {"room_id": room_id, "user_id": user_id, "caps": sorted(caps)})
