"""Handles requests for voice rooms, all of which use the live socket."""

import time
from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta

from svc.base.emoji import MAX_EMOJI_CHARACTERS
from svc.chat.access.endpoint_permissions import MEMBER, PERSON, in_channel
from svc.chat.access.permissions import Permission as P
from svc.chat.access.tokens import Session
from svc.chat.endpoints import Endpoints, Request, describe_feature, endpoint
from svc.chat.errors import ChatError
from svc.chat.schemas import Event, Id
from svc.chat.voice import responses
from svc.chat.voice.call_activity import Hand, SentMedia
from svc.chat.voice.moderation import VoiceModeration
from svc.chat.voice.occupancy import MuteState
from svc.chat.voice.pass_through import SignallingPassThrough
from svc.chat.voice.rules import Voice

_IN_CALL, _MUTER, _MOVER = in_channel(P.JOIN_VOICE), in_channel(P.MUTE_MEMBERS), in_channel(P.MOVE_MEMBERS)
_VIEWERS = "members who may view the channel, or the members of the private conversation"
_ACT = ("unknown_member", "rank_too_low")
_THERE = ("unknown_channel", "not_in_voice")
_PUT_OUT = (*_ACT, "not_in_voice", "voice_unavailable")


class NewJoin(Request):
    """A request to join a voice room.

    `sealed` means that the client encrypts its media end to end, as encrypted channels and private calls
    require.
    """

    sealed: bool = False


class NewMute(Request):
    muted: bool | None = None
    deafened: bool | None = None

    def flags(self) -> tuple[bool | None, bool | None]:
        """Return both fields as a pair. Raises ChatError if neither is set."""
        if self.muted is None and self.deafened is None:
            raise ChatError("invalid_request", "muted or deafened is missing")
        return self.muted, self.deafened


class VoiceEndpoints(Endpoints):
    def __init__(self, voice: Voice, moderation: VoiceModeration) -> None:
        self._voice = voice
        self._moderation = moderation

    @endpoint(
        _IN_CALL,
        "Request a grant for a voice channel, or for the call of a private conversation by its "
        "id, which needs `join_voice` on the server",
        live="voice_join",
        refusals=(
            *("channel_archived", "channel_full", "no_device", "private_refused", "sealing_differs"),
            *("unknown_channel", "voice_full", "voice_unavailable"),
        ),
    )
    async def join(self, session: Session, channel_id: Id, body: NewJoin) -> responses.VoiceGrant:
        return await self._voice.join(session, channel_id, time.time(), sealed=body.sealed)

    @endpoint(
        PERSON,
        "Decline a ringing private call. The caller is notified",
        live="private_call_decline",
        refusals=("unknown_conversation",),
    )
    async def decline(self, session: Session, conversation_id: Id) -> None:
        self._voice.decline(session.member_id, conversation_id)

    @endpoint(
        MEMBER, "Show yourself as muted or deafened, until you leave the server", live="voice_mute_self"
    )
    async def mute_self(self, session: Session, body: NewMute) -> MuteState:
        return self._voice.choose(session.member_id, *body.flags())

    @endpoint(
        _MUTER, "Mute or deafen a member in every channel, or undo it", live="voice_mute", refusals=_ACT
    )
    async def mute(self, session: Session, member_id: Id, body: NewMute) -> MuteState:
        return await self._moderation.mute(session.member_id, member_id, *body.flags(), time.time())

    @endpoint(
        _IN_CALL,
        "Raise your hand in a call until you leave it, or lower it",
        live="voice_hand",
        refusals=_THERE,
    )
    async def hand(self, session: Session, channel_id: Id, raised: bool) -> Hand:
        return self._voice.activity.raise_hand(session.member_id, channel_id, raised)

    @endpoint(
        _MUTER,
        "Lower a member's raised hand in a call. They can raise it again. Not in the audit log",
        live="voice_lower_hand",
        refusals=_THERE,
    )
    async def lower_hand(self, session: Session, member_id: Id, channel_id: Id) -> None:
        self._voice.activity.lower_hand(session.member_id, member_id, channel_id)

    @endpoint(
        _IN_CALL,
        "Show that you send a camera or a screen, until you leave the call",
        live="voice_send",
        refusals=_THERE,
    )
    async def send(self, session: Session, channel_id: Id, camera: bool, screen: bool) -> SentMedia:
        sent = self._voice.activity.send(session.member_id, channel_id, SentMedia(camera, screen))
        self._voice.control.claim(session, channel_id)
        return sent

    @endpoint(
        in_channel(P.ADD_REACTIONS),
        "Show an emoji to everybody in the call for a moment. You can send 8 at once and 1.5 a "
        "second in the long run",
        live="voice_react",
        refusals=(*_THERE, "invalid_emoji", "rate_limited"),
    )
    async def react(
        self,
        session: Session,
        channel_id: Id,
        emoji: Annotated[str, Meta(min_length=1, max_length=2 * MAX_EMOJI_CHARACTERS)],
    ) -> None:
        self._voice.activity.react(session.member_id, channel_id, emoji)

    @endpoint(
        _MUTER,
        "Stop a member's screen share for as long as they stay in the channel",
        live="voice_stop_screen",
        refusals=_PUT_OUT,
    )
    async def stop_screen(self, session: Session, member_id: Id) -> None:
        await self._moderation.stop_screen(session.member_id, member_id, time.time())

    @endpoint(_MOVER, "Disconnect a member from voice", live="voice_disconnect", refusals=_PUT_OUT)
    async def disconnect(self, session: Session, member_id: Id) -> None:
        await self._moderation.disconnect(session.member_id, member_id, time.time())

    @endpoint(
        _MOVER,
        "Move a member to another voice channel that they may join. Needs the permission in both channels",
        live="voice_move",
        refusals=(*_PUT_OUT, "channel_archived", "channel_full", "unknown_channel", "voice_full"),
    )
    async def move(self, session: Session, member_id: Id, channel_id: Id) -> None:
        await self._moderation.move(session.member_id, member_id, channel_id, time.time())


DESCRIPTION = describe_feature(
    VoiceEndpoints,
    SignallingPassThrough,
    pushes=[
        Event(
            "voice_joined",
            "A member joined a voice channel",
            responses.VoiceJoined,
            to=_VIEWERS,
        ),
        Event(
            "voice_left",
            "A member left a voice channel. `lost` means that the connection broke, so they may "
            "return in a moment",
            responses.VoiceLeft,
            to=_VIEWERS,
        ),
        Event(
            "voice_updated",
            "The state of a member in voice changed",
            responses.VoiceUpdated,
            to=_VIEWERS,
        ),
        Event(
            "voice_reacted",
            "A member in the call reacted",
            responses.VoiceReacted,
            to="members in the call",
            kept=False,
        ),
        Event(
            "voice_speaking",
            "The speakers in a call changed. Sent at most twice a second",
            responses.VoiceSpeaking,
            to="members who may view the channel, have a visible page, and are not in the call",
            kept=False,
        ),
        Event(
            "voice_screen_stopped",
            "A moderator stopped your screen share. Leave the channel to share again",
            responses.VoiceScreenStopped,
            to="the member who shared the screen",
        ),
        Event(
            "private_call_declined",
            "A member of a private conversation declined its call",
            responses.PrivateCallDeclined,
            to="members of the conversation",
            kept=False,
        ),
        Event(
            "voice_state",
            "The participants of a channel that became visible",
            responses.VoiceState,
            to="members who can newly view the channel",
        ),
        Event(
            "voice_moved",
            "A moderator moved you to another channel. You leave the present one",
            responses.VoiceMoved,
            to="the member who is moved",
        ),
    ],
    welcome={"voice": Mapping[str, Sequence[responses.VoiceMember]]},
)
