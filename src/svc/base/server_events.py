"""Defines the events that a chat server and the SFU exchange over `/server`. See docs/signalling.md."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from svc.base.signalling_codec import Payload

# Ids are opaque to the SFU. A UUID has 36 characters.
MAX_ID_CHARACTERS = 256
Ssrc = Annotated[int, Meta(gt=0, lt=1 << 32)]
Id = Annotated[str, Meta(min_length=1, max_length=MAX_ID_CHARACTERS)]


class KeepAlive(Payload):
    """A keep-alive, in either direction. Also used on `/client`."""

    event = "keep_alive"
    lenient = True
    timestamp: object = None


# Events from the chat server.


class ServerRequest(Payload, kw_only=True, omit_defaults=True):
    server_id: Id
    server_password: Id
    # The database owner's epoch in a cluster. An SFU rejects a request whose epoch is older than the newest
    # epoch it has seen.
    epoch: Annotated[int, Meta(ge=0)] = 0


class SyncRequest(ServerRequest):
    event = "sync_request"


class RoomRequest(ServerRequest):
    room_id: Id


class ServerRegister(RoomRequest):
    event = "server_register"


class UserRequest(RoomRequest):
    user_id: Id


class DisconnectUser(UserRequest):
    event = "disconnect_user"


class UserAudioControl(UserRequest):
    event = "user_audio_control"
    is_muted: bool
    is_deafened: bool


class UserCaps(UserRequest):
    event = "user_caps"
    caps: list[str]


class SpeakersWanted(RoomRequest):
    event = "speakers_wanted"
    wanted: bool


# Rooms that span several SFUs (docs/signalling.md, "A room over several SFUs").


class SpanRoom(RoomRequest):
    event = "span_room"
    spans: bool
    # The room's relays, as recorded by the chat server. The SFU ends any other relays in the room.
    relays: list[Id]


class RelayRequest(RoomRequest):
    relay_id: Id
    track_id: Id


class RelayLink(Payload):
    """One end of a relay's connection between two SFUs: addresses, SRTP keys and SSRCs. Part of other
    payloads.
    """

    local: str  # The IP address of the SFU at this end.
    remote: tuple[str, Annotated[int, Meta(gt=0, lt=65536)]]
    local_key: Annotated[str, Meta(min_length=56, max_length=56)]  # master key and salt, in hexadecimal
    remote_key: Annotated[str, Meta(min_length=56, max_length=56)]
    # Each encoding's media SSRC and RTX SSRC, smallest encoding first.
    ssrcs: Annotated[list[Ssrc], Meta(min_length=2, max_length=6)]
    rtcp_ssrc: Ssrc  # The SSRC that the receiving SFU uses in its reports.


class SendRelay(RelayRequest):
    event = "send_relay"
    line: RelayLink


class RelayedTrack(Payload):
    """A track as receivers see it. Part of other payloads."""

    track_id: Id
    stream_id: Id
    cname: Annotated[str, Meta(max_length=64)]
    user_id: Id
    source: Annotated[str, Meta(pattern="^(mic|camera|screen|screen_audio)$")]
    kind: Annotated[str, Meta(pattern="^(audio|video)$")]
    rids: Annotated[list[str], Meta(max_length=3)]


class ReceiveRelay(RelayRequest):
    event = "receive_relay"
    line: RelayLink
    track: RelayedTrack


class EndRelay(RoomRequest):
    event = "end_relay"
    relay_id: Id


class RelayDemand(Payload):
    """The combined demand of one SFU's receivers for a track from another SFU. Part of other payloads."""

    relay_id: Id
    width: int
    watched: bool
    encodings: Annotated[int, Meta(ge=0, le=7)]  # One bit for each encoding.


class SetRelayDemand(RoomRequest):
    event = "set_relay_demand"
    demand: RelayDemand


class SetCodecsElsewhere(RoomRequest):
    event = "set_codecs_elsewhere"
    payload_types: list[int] | None


# Events to the chat server.


class RoomTracks(Payload):
    """All tracks that participants on this SFU publish in a room. Sent after `span_room`."""

    event = "room_tracks"
    room_id: str
    tracks: list[RelayedTrack]


class TrackPublished(Payload):
    event = "track_published"
    room_id: str
    track: RelayedTrack


class TrackEnded(Payload):
    event = "track_ended"
    room_id: str
    track_id: str


class RelayDemandChanged(Payload):
    event = "relay_demand_changed"
    room_id: str
    demand: RelayDemand


class CodecsChanged(Payload):
    """The video codecs that all of a room's participants on this SFU can decode, or None for all codecs."""

    event = "codecs_changed"
    room_id: str
    payload_types: list[int] | None


class RoomMembers(Payload):
    """The users of one room. Part of other payloads."""

    room_id: str
    user_ids: list[str]


class HeldRelay(Payload):
    """One end of a relay on an SFU. Part of other payloads."""

    room_id: str
    relay_id: str
    track_id: str
    sends: bool


class SyncResponse(Payload):
    event = "sync_response"
    rooms: list[RoomMembers]
    # The addresses at which other SFUs can reach this SFU.
    addresses: Sequence[tuple[str, int]] = ()
    # The relays that a chat server has started on this SFU. A node that has just become the database owner
    # needs this list.
    relays: Sequence[HeldRelay] = ()


class RoomUser(Payload):
    room_id: str
    user_id: str


class PeerJoined(RoomUser):
    event = "peer_joined"


class PeerLeft(RoomUser):
    event = "peer_left"
    # Sent only if true: the peer lost its connection and may reconnect soon.
    lost: bool | UnsetType = UNSET


class Speakers(RoomMembers):
    event = "speakers"
