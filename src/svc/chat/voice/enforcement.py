"""Enforces permissions in voice rooms whenever permissions or participants change.

This module sends mutes, disconnects and caps to the media service. It grants no permissions and pushes no
events. See docs/signalling.md, "From the chat server".
"""

from collections.abc import Collection

from svc.base.server_events import DisconnectUser, UserAudioControl, UserCaps
from svc.chat.access.directory import VOICE, Channel, Directory
from svc.chat.access.permissions import Permission
from svc.chat.access.tokens import Session
from svc.chat.errors import ChatError
from svc.chat.live.hub import Audience, Recipients, Viewers
from svc.chat.private_conversations.rules import PrivateConversations
from svc.chat.voice.occupancy import MuteStates, Occupancy
from svc.chat.voice.sfu_pool import SfuLinks

# The permission that each cap requires (`svc.base.grants`).
_CAPS = {
    "speak": Permission.SPEAK,
    "share_video": Permission.SHARE_VIDEO,
    "share_screen": Permission.SHARE_SCREEN,
}
# Once there are this many grants, those of members who are not in a room are dropped.
MAX_GRANTED = 4096

Seat = tuple[str, str]  # A room and a user.


class Rooms:
    """The channel or private conversation of each room, and the members' permissions in it.

    A private conversation's room has the conversation's id and exists only for its members. In this room,
    they may send whatever their roles permit server-wide.
    """

    def __init__(self, directory: Directory, conversations: PrivateConversations) -> None:
        self._directory = directory
        # Returns the members of a private conversation's room, or an empty set for any other room.
        self.people_of = conversations.people_of

    def is_private(self, room_id: str) -> bool:
        return bool(self.people_of(room_id))

    def channel(self, room_id: str) -> Channel | None:
        """Return a room's channel, or None for the room of a private conversation or a deleted channel."""
        return self._directory.channels.get(room_id)

    def audience(self, room_id: str) -> Audience:
        people = self.people_of(room_id)
        return Recipients(people) if people else Viewers(room_id)

    def permissions(self, member_id: str, room_id: str) -> Permission:
        people = self.people_of(room_id)
        if not people:
            return self._directory.permissions(member_id, room_id)
        return self._directory.permissions(member_id) if member_id in people else Permission(0)

    def has_permission(self, member_id: str, permission: Permission, room_id: str) -> bool:
        return permission in self.permissions(member_id, room_id)

    def require(self, member_id: str, permission: Permission, room_id: str) -> None:
        """Raise ChatError unless the member has the permission in the room. If the room is hidden from the
        member, the error is `unknown_channel`.
        """
        people = self.people_of(room_id)
        if member_id in people:
            self._directory.require(member_id, permission)
        elif people or self._directory.channel(member_id, room_id).kind != VOICE:
            raise ChatError("unknown_channel")
        else:
            self._directory.require(member_id, permission, room_id)


class MediaControl:
    """The component that sends permission changes to the media service. Call its methods after each
    change.
    """

    def __init__(
        self, directory: Directory, rooms: Rooms, occupancy: Occupancy, states: MuteStates, link: SfuLinks
    ) -> None:
        self._directory = directory
        self._rooms = rooms
        self._occupancy = occupancy
        self._states = states
        self._link = link
        # Each member's current caps, from the grant or a later change.
        self._granted: dict[Seat, frozenset[str]] = {}
        # The session that requested each grant. After a restart, it is unknown until the member's client
        # sends a request about the call.
        self._session: dict[Seat, str] = {}
        # Former members. Those removed while the media service was unreachable are disconnected when it is
        # reachable again.
        self._gone: set[str] = set()
        # Members whose screen share a moderator has stopped. They cannot share again until they leave the
        # room.
        self._screen_stopped: set[Seat] = set()

    def caps(self, member_id: str, room_id: str) -> frozenset[str]:
        """Return a member's caps in a room. They define the media that the member may send."""
        permitted = self._rooms.permissions(member_id, room_id)
        caps = frozenset(cap for cap, permission in _CAPS.items() if permission in permitted)
        return caps - {"share_screen"} if (room_id, member_id) in self._screen_stopped else caps

    def grant(self, session: Session, room_id: str) -> frozenset[str]:
        """Store and return the caps for a grant. Apply the member's mute before the member arrives."""
        member_id = session.member_id
        if max(len(self._granted), len(self._session)) >= MAX_GRANTED:
            present = set(self._occupancy.all_participants())
            self._granted = {seat: caps for seat, caps in self._granted.items() if seat in present}
            self._session = {seat: session for seat, session in self._session.items() if seat in present}
        self._session[room_id, member_id] = session.session_id
        caps = self._granted[room_id, member_id] = self.caps(member_id, room_id)
        self.apply_mute(room_id, member_id)
        return caps

    def disconnect(self, room_id: str, user_id: str) -> None:
        self._link.send(DisconnectUser, room_id, user_id=user_id)

    def stop_screen(self, room_id: str, user_id: str) -> None:
        """Stop a member's screen share. The member can share again only after leaving the room."""
        if user_id in self._occupancy.users(room_id):
            self._screen_stopped.add((room_id, user_id))
            self._apply_caps(room_id, user_id)

    def apply_mute(self, room_id: str, user_id: str) -> None:
        """Send a member's mute to the media service, if a moderator has ever muted the member."""
        if (mute := self._states.moderator_mute(user_id)) is not None:
            states = {"is_muted": mute.muted, "is_deafened": mute.deafened}
            self._link.send(UserAudioControl, room_id, user_id=user_id, **states)

    # Methods that `occupancy` calls.

    def joined(self, room_id: str, user_id: str) -> None:
        """Apply the current permissions to a new participant, because they may have changed since the
        grant.
        """
        if self._disconnect_unless_permitted(room_id, user_id):
            self._apply_caps(room_id, user_id)
            self.apply_mute(room_id, user_id)

    def left(self, room_id: str, user_id: str, lost: bool) -> None:
        self._granted.pop((room_id, user_id), None)
        self._screen_stopped.discard((room_id, user_id))

    def synchronised(self) -> None:
        """Resend all state that may have been lost while the media service was disconnected."""
        for room_id, user_id in self._occupancy.all_participants():
            self._granted.pop((room_id, user_id), None)
            self.joined(room_id, user_id)

    # Methods that other features call.

    def channel_added(self, channel: Channel) -> None:
        if channel.kind == VOICE:
            self._link.register(channel.id)

    def channel_removed(self, channel: Channel) -> None:
        for user_id in self._occupancy.users(channel.id):
            self.disconnect(channel.id, user_id)

    def permissions_changed(self, member_ids: Collection[str]) -> None:
        concerned = frozenset(member_ids)
        for room_id, user_id in self._occupancy.all_participants():
            if user_id in concerned and self._disconnect_unless_permitted(room_id, user_id):
                self._apply_caps(room_id, user_id)

    def sessions_ended(self, member_id: str, session_ids: Collection[str]) -> None:
        """Disconnect a member from calls that they joined from the ended sessions or an unknown session."""
        for room_id in self._occupancy.rooms_of(member_id):
            if self._session.get((room_id, member_id)) in {*session_ids, None}:
                self.disconnect(room_id, member_id)

    def claim(self, session: Session, room_id: str) -> None:
        """Remember the session of a member whose call was already running when this server started."""
        self._session.setdefault((room_id, session.member_id), session.session_id)

    def private_left(self, room_id: str, member_id: str) -> None:
        """Disconnect a member from the call of a private conversation that they have left."""
        if member_id in self._occupancy.users(room_id):
            self.disconnect(room_id, member_id)

    def load(self, departed: Collection[str]) -> None:
        """Add former members who may still have been in a call when the server stopped."""
        self._gone.update(departed)

    def member_gone(self, member_id: str) -> None:
        self._gone.add(member_id)
        for room_id in self._occupancy.rooms_of(member_id):
            self.disconnect(room_id, member_id)
        self._states.forget(member_id)

    def _disconnect_unless_permitted(self, room_id: str, user_id: str) -> bool:
        """Disconnect a user who is not permitted in a room. Return whether the user is known and may stay.

        An unknown user has joined with the control secret and is not disconnected.
        """
        granted = (room_id, user_id) in self._granted
        known = granted or user_id in self._directory.members or user_id in self._gone
        session_id = self._session.get((room_id, user_id))
        ended = session_id is not None and not self._directory.has_session(user_id, session_id)
        if known and (ended or not self._rooms.has_permission(user_id, Permission.JOIN_VOICE, room_id)):
            self.disconnect(room_id, user_id)
            return False
        return known

    def _apply_caps(self, room_id: str, user_id: str) -> None:
        caps = self.caps(user_id, room_id)
        if self._granted.get((room_id, user_id)) != caps:
            self._granted[room_id, user_id] = caps
            self._link.send(UserCaps, room_id, user_id=user_id, caps=sorted(caps))
