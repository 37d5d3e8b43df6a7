"""The events on `/server`, between a chat server and the SFU, as documented in docs/signalling.md."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from svc.base.envelope import Payload

# Ids are opaque to the SFU. A UUID has 36 characters.
MAX_ID_CHARACTERS = 256
Id = Annotated[str, Meta(min_length=1, max_length=MAX_ID_CHARACTERS)]


class KeepAlive(Payload):
    """A sign of life in either direction, on `/client` too."""

    event = "keep_alive"
    lenient = True
    timestamp: object = None


# From the chat server.


class ServerRequest(Payload, kw_only=True):
    server_id: Id
    server_password: Id
    # The owner's epoch in a cluster. An SFU refuses requests of an epoch older than the newest it has seen.
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


# To the chat server.


class RoomMembers(Payload):
    """The users of one room. Part of other payloads."""

    room_id: str
    user_ids: list[str]


class SyncResponse(Payload):
    event = "sync_response"
    rooms: list[RoomMembers]


class RoomUser(Payload):
    room_id: str
    user_id: str


class PeerJoined(RoomUser):
    event = "peer_joined"


class PeerLeft(RoomUser):
    event = "peer_left"
    # Sent only if true: the peer may return in a moment.
    lost: bool | UnsetType = UNSET


class Speakers(RoomMembers):
    event = "speakers"
