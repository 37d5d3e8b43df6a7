"""Admits members to voice rooms, and pushes events when members join, leave or are muted.

The media service knows who is in a room. This module issues grants and reports changes. It contains no HTTP
code. See docs/signalling.md and, for grants, `svc.base.grants`.
"""

import time
from collections.abc import Collection, Iterable
from dataclasses import asdict

from msgspec import UNSET

from svc.base.grants import client_credential, issue_user_token
from svc.base.media_services import MediaConfig
from svc.base.turn_server import IceServer
from svc.chat.access.directory import VOICE, Channel
from svc.chat.access.permissions import Permission
from svc.chat.access.tokens import Session
from svc.chat.errors import ChatError
from svc.chat.live.hub import Recipients, only
from svc.chat.private_conversations.feature import PrivateFeature
from svc.chat.services import Changes, Services
from svc.chat.voice.call_activity import CallActivity, Speakers
from svc.chat.voice.enforcement import MediaControl, Rooms, Seat
from svc.chat.voice.occupancy import Mute, MuteState, MuteStates, Occupancy, differences
from svc.chat.voice.pass_through import pass_through_url
from svc.chat.voice.responses import (
    ClientJoin,
    PrivateCallDeclined,
    VoiceGrant,
    VoiceJoined,
    VoiceLeft,
    VoiceMember,
    VoiceMoved,
    VoiceState,
    VoiceUpdated,
)
from svc.chat.voice.sfu_pool import SfuLinks

# The lifetime of a grant. It is long enough for a slow phone to connect, and short enough to stay within the
# permitted five minutes even if the two machines' clocks differ by minutes.
GRANT_LIFETIME_S = 120
# The maximum number of participants in an encrypted call. Everyone needs new keys whenever somebody joins or
# leaves, as in a private conversation.
MAX_SEALED = 25
# How long a seat is reserved after the grant. The media service may take a few seconds to report a slow
# phone. A member who arrives later still gets a seat if one is free.
RESERVED_S = 20.0


class Seats:
    """The seats in this server's voice channels, including those reserved for members who are joining.

    A `limit` of 0 means no limit. The media service has a separate limit for all servers together. See
    docs/configuration.md, "Chat server", VOICE_MAX_USERS.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._reserved: dict[Seat, float] = {}

    def reserve(self, seat: Seat, taken: Iterable[Seat], now: float, of_room: int = 0) -> None:
        """Reserve a seat for a member, or renew the member's reservation. Raises ChatError if all seats are
        taken.

        `of_room` is the room's own limit, or 0 if it has none.
        """
        # Also drop reservations that end too far in the future: the clock has been set back since.
        self._reserved = {
            seat: until for seat, until in self._reserved.items() if 0 < until - now <= RESERVED_S
        }
        others = {*taken, *self._reserved} - {seat}
        if self._limit and len(others) >= self._limit:
            raise ChatError("voice_full")
        if of_room and sum(room == seat[0] for room, _ in others) >= of_room:
            raise ChatError("channel_full")
        self._reserved[seat] = now + RESERVED_S

    def is_reserved_in(self, room_id: str, now: float) -> bool:
        return any(room == room_id and until > now for (room, _), until in self._reserved.items())

    def occupied(self, seat: Seat) -> None:
        self._reserved.pop(seat, None)

    def exceeded_by(self, taken: Iterable[Seat]) -> int:
        """Return the number of members above the limit. A member who arrives after their seat was given away
        can exceed the limit.
        """
        return max(0, len(set(taken)) - self._limit) if self._limit else 0


def ways_of_members(media: MediaConfig) -> list[list[str]]:
    """Return each media service's URLs, in the order in which clients should try them.

    The last URL passes through this server and always works.
    """
    return [
        [*(f"{url}/client" for url in service.public_urls), pass_through_url(at)]
        for at, service in enumerate(media.services)
    ]


class Voice:
    """Voice rooms, including those of private conversations. The class reacts to changes in the given
    occupancy.
    """

    def __init__(
        self,
        services: Services,
        media: MediaConfig,
        occupancy: Occupancy,
        link: SfuLinks,
        private: PrivateFeature,
        max_users: int,
    ) -> None:
        self._directory, self._hub, self._new_id = services.directory, services.hub, services.new_id
        self._media, self._ways = media, ways_of_members(media)
        self._link = link
        self._conversations, self._calls = private.conversations, private.calls
        self._seats = Seats(max_users)
        # Whether each participant may speak, as last pushed.
        self._may_speak: dict[Seat, bool] = {}
        self.occupancy = occupancy
        self.rooms = Rooms(services.directory, private.conversations)
        self.states = MuteStates(services.directory.person_of)
        self.control = MediaControl(services.directory, self.rooms, occupancy, self.states, link)
        self.activity = CallActivity(services.hub, self.rooms, occupancy)
        self.speaking = Speakers(services, occupancy, link)
        occupancy.on_astray.append(self._astray)
        # The order matters: a member's arrival must be announced before the member can be disconnected.
        occupancy.on_joined += [self.joined, self.control.joined, private.calls.joined]
        occupancy.on_left += [self.left, self.control.left, self.activity.left, private.calls.left]
        occupancy.on_synchronised += [self.control.synchronised, private.calls.synchronised]
        private.conversations.on_left.append(self.control.private_left)
        private.calls.on_unsealed.append(self.control.disconnect)
        self._follow(services.changes)

    def _follow(self, changes: Changes) -> None:
        control = self.control
        changes.channel_added.append(control.channel_added)
        changes.channel_removed.append(control.channel_removed)
        changes.channel_shown.append(self.channel_shown)
        changes.channel_sealing.append(lambda channel_id: self.require_unused(channel_id, time.time()))
        changes.permissions_changed.extend((control.permissions_changed, self.permissions_changed))
        changes.member_gone.append(control.member_gone)
        changes.sessions_ended.append(control.sessions_ended)

    def welcome(self, session: Session) -> dict[str, object]:
        """Return the participants in all voice channels and private calls that a member can see."""
        seen = self._directory.visible_channels(session.member_id)
        channels = [channel.id for channel in seen if channel.kind == VOICE]
        occupied = {room_id for room_id, _ in self.occupancy.all_participants()}
        private = [
            room_id for room_id in sorted(occupied) if session.member_id in self.rooms.people_of(room_id)
        ]
        return {"voice": {room_id: self._people(room_id) for room_id in [*channels, *private]}}

    async def join(
        self, session: Session, channel_id: str, now: float, *, sealed: bool = False
    ) -> VoiceGrant:
        """Admit a member to a channel or a private call. Return the media service's URLs and the credentials.

        `sealed` means that the client encrypts its media end to end, as encrypted channels and private calls
        require.
        """
        member_id = session.member_id
        self._require_entry(member_id, channel_id)
        await self._calls.require_sealing(session, channel_id, sealed)
        if not self._media.server_id:
            raise ChatError("voice_unavailable")
        self.reserve(member_id, channel_id, now)
        service = await self._link.confirm_room(channel_id)
        # Confirming the room can take several seconds, so check again.
        if not self._directory.has_session(member_id, session.session_id):
            raise ChatError("token_invalid")
        self._require_entry(member_id, channel_id)
        self._calls.require_same(channel_id, sealed)
        channel = self.rooms.channel(channel_id)
        if self.rooms.is_private(channel_id) and not self.occupancy.users(channel_id):
            self._conversations.ring_if_first(channel_id, member_id)
        return VoiceGrant(
            urls=self._ways[service],
            stun_servers=self._media.stun_servers,
            ice_servers=self._ice_servers(member_id, now),
            bitrate_kbps=channel.bitrate_kbps if channel else 0,
            client_join=self._client_join(session, channel_id, now),
        )

    def reserve(self, member_id: str, channel_id: str, now: float) -> None:
        """Reserve a seat on the server and in the channel. Raises ChatError if none is free."""
        limit = self._limit(member_id, channel_id)
        self._seats.reserve((channel_id, member_id), self.occupancy.all_participants(), now, limit)

    def _limit(self, member_id: str, channel_id: str) -> int:
        """Return a channel's user limit for this member, or 0 for no limit.

        Members who may move others can also join a full channel, to moderate it.
        """
        moves = self.rooms.has_permission(member_id, Permission.MOVE_MEMBERS, channel_id)
        channel = self.rooms.channel(channel_id)
        limit = 0 if channel is None or moves else channel.user_limit
        return min(limit or MAX_SEALED, MAX_SEALED) if channel and channel.encrypted else limit

    def require_unused(self, channel_id: str, now: float) -> None:
        """Raise ChatError if anyone is in the channel or is joining it."""
        if self.occupancy.users(channel_id) or self._seats.is_reserved_in(channel_id, now):
            raise ChatError("channel_in_use")

    def require_voice_channel(self, member_id: str, channel_id: str, permission: Permission) -> None:
        """Raise ChatError unless the member has the permission in this voice channel."""
        if self._directory.channel(member_id, channel_id).kind != VOICE:
            raise ChatError("unknown_channel")
        self._directory.require(member_id, permission, channel_id)

    def _require_entry(self, member_id: str, room_id: str) -> None:
        self.rooms.require(member_id, Permission.JOIN_VOICE, room_id)
        if self.rooms.is_private(room_id):
            self._conversations.require_writable(member_id, room_id)

    def decline(self, member_id: str, conversation_id: str) -> None:
        """Notify a private conversation's members that one of them has declined its call. Raises
        ChatError.
        """
        if member_id not in (people := self.rooms.people_of(conversation_id)):
            raise ChatError("unknown_conversation")
        declined = PrivateCallDeclined(conversation_id, member_id)
        self._hub.push("private_call_declined", declined, Recipients(people), kept=False)

    def choose(self, member_id: str, muted: bool | None, deafened: bool | None) -> MuteState:
        """Set whether a member mutes or deafens themselves. Other members see this state, and the member's
        client enforces it.
        """
        own, before = self.states.own(member_id), self.states.of(member_id)
        own = Mute(own.muted if muted is None else muted, own.deafened if deafened is None else deafened)
        self.states.choose(member_id, own)
        self.state_changed(member_id, before)
        return self.states.of(member_id)

    def state_changed(self, member_id: str, before: MuteState) -> None:
        """Push a change in a member's mute state to every room that the member is in."""
        if new := differences(asdict(before), asdict(self.states.of(member_id))):
            for room_id in self.occupancy.rooms_of(member_id):
                update = VoiceUpdated(room_id, member_id, **new)
                self._hub.push("voice_updated", update, self.rooms.audience(room_id))

    def permissions_changed(self, member_ids: Collection[str]) -> None:
        """Announce which of the given members in calls have gained or lost the permission to speak."""
        concerned = frozenset(member_ids)
        for room_id, user_id in self.occupancy.all_participants():
            before = self._may_speak.get((room_id, user_id))
            if user_id in concerned and self._note_may_speak(room_id, user_id) != before:
                update = VoiceUpdated(room_id, user_id, may_speak=not before)
                self._hub.push("voice_updated", update, self.rooms.audience(room_id))

    def _note_may_speak(self, room_id: str, user_id: str) -> bool:
        may_speak = self._may_speak[room_id, user_id] = self.rooms.has_permission(
            user_id, Permission.SPEAK, room_id
        )
        return may_speak

    def _astray(self, room_id: str, user_id: str) -> None:
        """Ask a user to rejoin the room, because they are on a different media service than the rest of the
        room.
        """
        self._hub.push("voice_moved", VoiceMoved(room_id, room_id), only(user_id))

    # Methods that `occupancy` calls.

    def joined(self, room_id: str, user_id: str) -> None:
        self._seats.occupied((room_id, user_id))
        self._note_may_speak(room_id, user_id)
        newcomer = VoiceJoined(room_id, self._person(room_id, user_id))
        self._hub.push("voice_joined", newcomer, self.rooms.audience(room_id))
        limit = self._limit(user_id, room_id)
        over = limit and len(self.occupancy.users(room_id)) > limit
        if over or self._seats.exceeded_by(self.occupancy.all_participants()):
            self.control.disconnect(room_id, user_id)

    def left(self, room_id: str, user_id: str, lost: bool) -> None:
        self._may_speak.pop((room_id, user_id), None)
        event = VoiceLeft(room_id, user_id, lost or UNSET)
        self._hub.push("voice_left", event, self.rooms.audience(room_id))

    def channel_shown(self, channel: Channel, member_ids: frozenset[str]) -> None:
        """Send a channel's participants to members who can now see the channel."""
        if channel.kind == VOICE and (people := self._people(channel.id)):
            state = VoiceState(channel.id, people)
            self._hub.push("voice_state", state, Recipients(member_ids, channel.id))

    def _client_join(self, session: Session, channel_id: str, now: float) -> ClientJoin:
        member_id = session.member_id
        server_id, password = self._media.server_id, self._media.server_password
        token = issue_user_token(
            password,
            server_id,
            user_id=member_id,
            room_id=channel_id,
            caps=sorted(self.control.grant(session, channel_id)),
            now=now,
            jti=self._new_id(),
            lifetime_s=GRANT_LIFETIME_S,
        )
        return ClientJoin(channel_id, server_id, client_credential(password, server_id), token, member_id)

    def _ice_servers(self, member_id: str, now: float) -> list[IceServer]:
        media = self._media
        stun = [IceServer(urls=[url]) for url in media.stun_servers]
        return [*stun, media.turn.ice_server(member_id, now)] if media.turn else stun

    def _people(self, channel_id: str) -> list[VoiceMember]:
        return [self._person(channel_id, user_id) for user_id in self.occupancy.users(channel_id)]

    def _person(self, room_id: str, user_id: str) -> VoiceMember:
        member = self._directory.members.get(user_id)
        nickname = member.nickname if member else "Someone"
        state, sent = self.states.of(user_id), self.activity.sent_media(room_id, user_id)
        hand = self.activity.hand(room_id, user_id).hand
        may_speak = self.rooms.has_permission(user_id, Permission.SPEAK, room_id)
        return VoiceMember(user_id, nickname, **asdict(state), hand=hand, **asdict(sent), may_speak=may_speak)
