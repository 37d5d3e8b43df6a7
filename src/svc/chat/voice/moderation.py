"""Lets moderators mute, deafen, disconnect and move members in voice channels, and stop their screen shares.

Each action requires the corresponding permission in the channel, and a higher rank than the member's. Muting
and deafening apply to every channel, so they also require the server-wide permission. If the actor cannot see
the channel, the error is `not_in_voice`. This module contains no HTTP code.
"""

import time
from collections.abc import Sequence

from svc.base.database import Connection, Write
from svc.base.tables import Table
from svc.chat.access.checked_writes import exclusive_write, shared_write
from svc.chat.access.permissions import Permission
from svc.chat.errors import ChatError
from svc.chat.live.hub import only
from svc.chat.services import Services
from svc.chat.voice.occupancy import Mute, MuteState
from svc.chat.voice.responses import VoiceMoved, VoiceScreenStopped
from svc.chat.voice.rules import Voice
from svc.chat.voice.sfu_pool import SfuLinks

_MUTES = Table("voice_mutes", Mute)
# The longest time that a former member can remain in a call.
_MAX_CALL_MS = 24 * 60 * 60 * 1000
_LEFT_SINCE = "SELECT id FROM members WHERE left_at_ms > ? ORDER BY left_at_ms DESC LIMIT 10000"


def silences(connection: Connection, person_id: str, now_ms: int) -> bool:
    """Return whether a moderator has muted or deafened a person. Call this within a write transaction."""
    sql = "SELECT 1 FROM voice_mutes WHERE person_id = ? AND (muted OR deafened)"
    return connection.execute(sql, (person_id,)).fetchone() is not None


class VoiceModeration:
    def __init__(self, services: Services, voice: Voice, link: SfuLinks) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._audit = services.audit
        self._voice = voice
        self._link = link

    async def load(self) -> None:
        rows = await self._database.rows(f"SELECT person_id, {_MUTES.select()} FROM voice_mutes")
        self._voice.states.load({person_id: _MUTES.read(mute) for person_id, *mute in rows})
        gone = await self._database.rows(_LEFT_SINCE, (int(time.time() * 1000) - _MAX_CALL_MS,))
        self._voice.control.load([row["id"] for row in gone])

    @exclusive_write
    def mute(
        self, actor_id: str, member_id: str, muted: bool | None, deafened: bool | None, now: float
    ) -> Write[None, MuteState]:
        """Mute or deafen a member in all channels until a moderator reverses it."""
        self._directory.member(member_id)
        for same_id in self._directory.same_person(member_id):
            self._directory.require_above(actor_id, same_id)
        room_ids = self._visible_rooms(actor_id, member_id)
        # A mute applies in every channel, so the permission in this channel is not enough.
        self._directory.require(actor_id, Permission.MUTE_MEMBERS)
        if room_ids:
            self._directory.require(actor_id, Permission.MUTE_MEMBERS, room_ids[0])
        was = self._voice.states.moderator_mute(member_id) or Mute()
        mute = Mute(was.muted if muted is None else muted, was.deafened if deafened is None else deafened)
        details = {"muted": mute.muted, "deafened": mute.deafened}

        def change(connection: Connection) -> None:
            # Store a lifted mute too, so that the change is resent if the media service has not received it.
            _MUTES.put(connection, mute, person_id=self._directory.person_of(member_id))
            self._audit.record(connection, actor_id, "voice_mute", member_id, details, now)

        return Write(change, lambda _: self._mute_state(member_id, mute))

    @shared_write
    def disconnect(self, actor_id: str, member_id: str, now: float) -> Write[None, None]:
        """Disconnect a member from all voice channels where the actor may do so. The member can join
        again.
        """
        room_ids = self._rooms_with_permission(actor_id, member_id, Permission.MOVE_MEMBERS)

        def follow(_: None) -> None:
            for room_id in room_ids:
                self._voice.control.disconnect(room_id, member_id)

        return Write(
            lambda c: self._record(c, actor_id, "voice_disconnect", member_id, room_ids, now), follow
        )

    @shared_write
    def stop_screen(self, actor_id: str, member_id: str, now: float) -> Write[None, None]:
        """Stop a member's screen share. The member cannot share again until they leave the channel."""
        room_ids = self._rooms_with_permission(actor_id, member_id, Permission.MUTE_MEMBERS)

        def follow(_: None) -> None:
            for room_id in room_ids:
                self._hub.push("voice_screen_stopped", VoiceScreenStopped(room_id), only(member_id))
                self._voice.control.stop_screen(room_id, member_id)

        return Write(
            lambda c: self._record(c, actor_id, "voice_stop_screen", member_id, room_ids, now), follow
        )

    @shared_write
    def move(self, actor_id: str, member_id: str, channel_id: str, now: float) -> Write[None, None]:
        """Move a member to another voice channel, which the member must be allowed to join.

        The member is disconnected from the current channel, and their client is asked to join the new one. If
        it does not, the member is in no channel.
        """
        rooms = self._rooms_with_permission(actor_id, member_id, Permission.MOVE_MEMBERS)
        room_ids = [room_id for room_id in rooms if room_id != channel_id]
        self._voice.require_voice_channel(actor_id, channel_id, Permission.MOVE_MEMBERS)
        if not self._directory.has_permission(member_id, Permission.JOIN_VOICE, channel_id):
            raise ChatError("forbidden", "This member is not allowed to join this channel")
        if room_ids:
            self._voice.reserve(member_id, channel_id, now)

        def follow(_: None) -> None:
            for room_id in room_ids:
                event = VoiceMoved(room_id, channel_id)
                self._hub.push("voice_moved", event, only(member_id))
                self._voice.control.disconnect(room_id, member_id)

        # The audit entry contains only the destination, because its readers may not be allowed to see the
        # previous channel.
        channel_ids = [channel_id] if room_ids else []
        return Write(lambda c: self._record(c, actor_id, "voice_move", member_id, channel_ids, now), follow)

    def _record(
        self,
        connection: Connection,
        actor_id: str,
        action: str,
        member_id: str,
        channel_ids: Sequence[str],
        now: float,
    ) -> None:
        """Write an audit entry for each of the given channels."""
        for channel_id in channel_ids:
            self._audit.record(connection, actor_id, action, member_id, {"channel_id": channel_id}, now)

    def _rooms_with_permission(self, actor_id: str, member_id: str, permission: Permission) -> list[str]:
        """Return the member's rooms in which the actor has the permission. Raises ChatError if there are
        none.
        """
        self._directory.require_above(actor_id, member_id)
        visible = self._visible_rooms(actor_id, member_id)
        if not visible:
            raise ChatError("not_in_voice")
        has_permission = self._directory.has_permission
        room_ids = [room for room in visible if has_permission(actor_id, permission, room)]
        if not room_ids:
            self._directory.require(actor_id, permission, visible[0])
        if not all(self._link.reaches(room) for room in room_ids):
            raise ChatError("voice_unavailable")
        return room_ids

    def _visible_rooms(self, actor_id: str, member_id: str) -> list[str]:
        has_permission = self._directory.has_permission
        rooms = self._voice.occupancy.rooms_of(member_id)
        return [room_id for room_id in rooms if has_permission(actor_id, Permission.VIEW_CHANNEL, room_id)]

    def _mute_state(self, member_id: str, mute: Mute) -> MuteState:
        states = self._voice.states
        before = {same_id: states.of(same_id) for same_id in self._directory.same_person(member_id)}
        states.moderate(member_id, mute)
        for same_id, was in before.items():
            for room_id in self._voice.occupancy.rooms_of(same_id):
                self._voice.control.apply_mute(room_id, same_id)
            self._voice.state_changed(same_id, was)
        return states.of(member_id)
