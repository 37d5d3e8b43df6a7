"""Defines the events that the SFU and participants exchange over `/client`. See docs/signalling.md."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from svc.base.server_events import Id, RoomUser
from svc.base.signalling_codec import EnvelopeError, Payload

ALL_LAYERS = -1
MAX_TEMPORAL_LAYER = 2
MAX_SPATIAL_LAYER = 2
MAX_PRIORITY, DEFAULT_PRIORITY = 100, 50
# The maximum width of a tile in pixels: wider than any video that browsers encode.
MAX_WIDTH_PX = 16_384
_TemporalLayer = Annotated[int, Meta(ge=ALL_LAYERS, le=MAX_TEMPORAL_LAYER)]
_SpatialLayer = Annotated[int, Meta(ge=ALL_LAYERS, le=MAX_SPATIAL_LAYER)]

# Events from participants.


class ClientJoin(Payload):
    event = "client_join"
    room_id: Id
    server_id: Id
    user_id: Id
    server_password: str
    user_token: str = ""  # Not needed if the client presents the raw secret.
    # Only `true` turns the following options on. Any other value is ignored.
    resumable: object = False  # The client can resume its session over another connection.
    simulcast: object = False  # The client may send a video in several encodings.
    bandwidth: object = False  # The client wants bandwidth estimates of its downlink.
    redundancy: object = False  # The client accepts audio as RED.

    def __repr__(self) -> str:
        """Return a representation without the secrets."""
        return f"ClientJoin({self.server_id!r}, {self.room_id!r}, {self.user_id!r})"


class ClientResume(Payload):
    event = "client_resume"
    credential: str


class Answer(Payload):
    event = "answer"
    type: Literal["answer"]
    sdp: str


class IceCandidate(Payload):
    """An RTCIceCandidateInit, in either direction. An empty candidate ends the list."""

    event = "candidate"
    candidate: str = ""
    sdpMid: object = None
    sdpMLineIndex: object = None
    usernameFragment: object = None


class Renegotiate(Payload):
    event = "renegotiate"
    lenient = True
    ice_restart: object = False


class LayerRequest(Payload):
    """A receiver's request for certain layers of a track. A receiver that sends no request gets every
    layer.
    """

    max_temporal_layer: _TemporalLayer = ALL_LAYERS
    max_spatial_layer: _SpatialLayer = ALL_LAYERS
    # The width of the tile that shows the track, in screen pixels, or 0 if unknown.
    width: Annotated[int, Meta(ge=0, le=MAX_WIDTH_PX)] = 0
    paused: bool = False
    # Tracks with a higher priority keep their quality longer.
    priority: Annotated[int, Meta(ge=0, le=MAX_PRIORITY)] = DEFAULT_PRIORITY
    adaptive: bool = False  # The service may lower the track further if the downlink requires it.

    @property
    def target(self) -> int:
        """The largest encoding that the receiver wants."""
        return self.max_spatial_layer if self.max_spatial_layer != ALL_LAYERS else MAX_SPATIAL_LAYER


class SetLayer(LayerRequest, kw_only=True):
    event = "set_layer"
    max_temporal_layer: _TemporalLayer
    track_id: Id | None = None
    mid: Id | None = None

    @property
    def key(self) -> str:
        """The track's id, or else the mid of its media section. Raises EnvelopeError if both are missing."""
        if (key := self.track_id or self.mid) is None:
            raise EnvelopeError("track_id is missing")
        return key


# Events to participants.


class _OwnPlace(RoomUser):
    peers: list[str]


class RoomJoined(_OwnPlace):
    event = "room_joined"
    message: str = "Joined"


class Resumable(Payload):
    event = "resumable"
    credential: str
    within_s: float


class SessionResumed(_OwnPlace):
    event = "session_resumed"


class OfferedTrack(Struct):
    """The track in a media section of an offer."""

    track_id: str
    user_id: str
    source: str


class Offer(Payload):
    event = "offer"
    sdp: str
    tracks: dict[str, OfferedTrack]
    type: str = "offer"


class ActiveSpeakers(Payload):
    event = "active_speakers"
    user_ids: list[str]


class LayersWanted(Payload):
    """The demand of a track's receivers, sent to its publisher. The track is named by id and by source,
    because the publisher's browser may use a different id for it than the room does.
    """

    event = "layers_wanted"
    track_id: str
    source: str
    width: int
    watched: bool
    # Sent only for a track with several encodings. A single encoding cannot be switched off.
    encodings: list[bool] | UnsetType = UNSET


class Bandwidth(Payload):
    event = "bandwidth"
    estimate_bps: int
    reason: str


class LayerState(Struct):
    """The layers that a client receives for one track."""

    track_id: str
    mid: str
    spatial: int
    temporal: int
    paused: bool
    reason: str


class Layers(Payload):
    event = "layers"
    tracks: list[LayerState]


class PathLost(Payload):
    event = "path_lost"


class PathBack(Payload):
    event = "path_back"


class TrackUnavailable(Payload):
    event = "track_unavailable"
    track_id: str
    user_id: str
    source: str
    reason: str


class TrackAvailable(Payload):
    event = "track_available"
    track_id: str
