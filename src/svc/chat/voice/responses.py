"""Response types and events for voice. `MuteState`, `Hand` and `SentMedia` are defined where they are
used.
"""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from svc.base.turn_server import IceServer
from svc.chat.schemas import Id, Natural, Response


class ClientJoin(Response):
    room_id: str
    server_id: str
    server_password: str
    user_token: str
    user_id: str


class VoiceGrant(Response):
    urls: Sequence[str]
    stun_servers: Sequence[str]
    # Includes a temporary user name and password if the operator has a TURN server.
    ice_servers: Sequence[IceServer]
    # The maximum bitrate for a microphone, or 0 for no limit.
    bitrate_kbps: Natural
    client_join: ClientJoin


class VoiceMember(Response):
    """A participant in a call, as other members see them."""

    id: Id
    nickname: str
    muted: bool
    deafened: bool
    self_muted: bool
    self_deafened: bool
    hand: Natural
    camera: bool
    screen: bool
    # Whether the member has the permission `speak` in this room. Clients show members without it as a stage's
    # audience.
    may_speak: bool


class VoiceJoined(Response):
    channel_id: Id
    member: VoiceMember


class VoiceLeft(Response):
    channel_id: Id
    member_id: Id
    lost: bool | UnsetType = UNSET


class VoiceUpdated(Response):
    """The changes to a participant's state."""

    channel_id: Id
    member_id: Id
    muted: bool | UnsetType = UNSET
    deafened: bool | UnsetType = UNSET
    self_muted: bool | UnsetType = UNSET
    self_deafened: bool | UnsetType = UNSET
    hand: Natural | UnsetType = UNSET
    camera: bool | UnsetType = UNSET
    screen: bool | UnsetType = UNSET
    may_speak: bool | UnsetType = UNSET


class VoiceReacted(Response):
    channel_id: Id
    member_id: Id
    emoji: str


class VoiceSpeaking(Response):
    channel_id: Id
    member_ids: Sequence[Id]


class VoiceScreenStopped(Response):
    channel_id: Id


class PrivateCallDeclined(Response):
    conversation_id: Id
    member_id: Id


class VoiceState(Response):
    channel_id: Id
    members: Sequence[VoiceMember]


class VoiceMoved(Response):
    from_channel_id: Id
    channel_id: Id
