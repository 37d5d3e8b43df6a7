"""Defines the messages between an owner and its relays: numbered events over NATS, and requests over a link.

The link is a WebSocket from the relay to the owner's URL. Messages are typed and encoded as msgpack. Tags and
field names are part of the protocol and must not change, so that nodes of different versions can communicate.
Contains no state.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from svc.chat.access.directory import Channel, Member
from svc.chat.access.permissions import Override, Overrides, Role, from_store, to_store
from svc.chat.access.tokens import Session
from svc.chat.live.hub import (
    EVERYONE,
    Audience,
    Everyone,
    PermissionHolders,
    Presence,
    Recipients,
    Viewers,
)

LINK_PATH = "/cluster/relay"
# A link to a relay with a different version of this protocol is rejected.
PROTOCOL = 1
# The close codes of a link, in addition to the usual ones.
REFUSED, NAME_IN_USE = 4001, 4002
# The owner is handing over, and has replied to every request that it processed.
HANDED_OVER = 4003


def events_subject(name: str) -> str:
    """Return the NATS subject of a community's events."""
    return f"{name}.events"


def key_digest(key: str) -> bytes:
    """Return a digest of a link's key, for comparison in constant time."""
    return hashlib.sha256(key.encode()).digest()


# Audiences. Permissions are sent by name, because their numbers differ between versions.


class EveryoneRecord(Struct, frozen=True, array_like=True, tag="e"):
    pass


class ViewersRecord(Struct, frozen=True, array_like=True, tag="v"):
    channel_id: str


class RecipientsRecord(Struct, frozen=True, array_like=True, tag="o"):
    member_ids: Sequence[str]
    channel_id: str | None = None


class PermissionHoldersRecord(Struct, frozen=True, array_like=True, tag="h"):
    permission: str
    channel_id: str | None


AudienceRecord = EveryoneRecord | ViewersRecord | RecipientsRecord | PermissionHoldersRecord
_EVERYONE_RECORD = EveryoneRecord()


def pack_audience(audience: Audience) -> AudienceRecord:
    match audience:
        case Viewers(channel_id):
            return ViewersRecord(channel_id)
        case Recipients(member_ids, channel_id):
            return RecipientsRecord(list(member_ids), channel_id)
        case PermissionHolders(permission, channel_id):
            return PermissionHoldersRecord(to_store(permission), channel_id)
        case Everyone():
            return _EVERYONE_RECORD


def unpack_audience(record: AudienceRecord) -> Audience:
    match record:
        case ViewersRecord(channel_id):
            return Viewers(channel_id)
        case RecipientsRecord(member_ids, channel_id):
            return Recipients(frozenset(member_ids), channel_id)
        case PermissionHoldersRecord(permission, channel_id):
            return PermissionHolders(from_store(permission), channel_id)
        case EveryoneRecord():
            return EVERYONE


# The parts of the directory that determine who gets an event. Relays get no names or other text.


class MemberRecord(Struct, frozen=True, array_like=True, tag="m"):
    id: str
    role_ids: tuple[str, ...]
    timeout_until: float

    @classmethod
    def of(cls, member: Member) -> "MemberRecord":
        return cls(member.id, member.role_ids, member.timeout_until)

    def member(self) -> Member:
        return Member(self.id, "", self.role_ids, timeout_until=self.timeout_until)


class RoleRecord(Struct, frozen=True, array_like=True, tag="r"):
    id: str
    rank: int
    permissions: str

    @classmethod
    def of(cls, role: Role) -> "RoleRecord":
        return cls(role.id, role.rank, to_store(role.permissions))

    def role(self) -> Role:
        return Role(self.id, "", self.rank, from_store(self.permissions))


# Maps the id of a role or member to the allowed and the denied permissions.
_Overrides = dict[str, tuple[str, str]]


class ChannelRecord(Struct, frozen=True, array_like=True, tag="c"):
    id: str
    kind: str
    archived: bool
    roles: _Overrides
    members: _Overrides

    @classmethod
    def of(cls, channel: Channel) -> "ChannelRecord":
        own = channel.overrides
        return cls(
            channel.id,
            channel.kind,
            channel.archived,
            _pack_overrides(own.roles),
            _pack_overrides(own.members),
        )

    def channel(self) -> Channel:
        overrides = Overrides(_unpack_overrides(self.roles), _unpack_overrides(self.members))
        return Channel(self.id, "", self.kind, overrides=overrides, archived=self.archived)


def _pack_overrides(overrides: Mapping[str, Override]) -> _Overrides:
    return {key: (to_store(override.allow), to_store(override.deny)) for key, override in overrides.items()}


def _unpack_overrides(records: _Overrides) -> dict[str, Override]:
    return {key: Override(from_store(allow), from_store(deny)) for key, (allow, deny) in records.items()}


class TokenMaker(Struct, frozen=True, array_like=True, tag="t"):
    bot_id: str
    maker_id: str | None


class Removal(Struct, frozen=True, array_like=True, tag="d"):
    """A member, role or channel that was removed."""

    kind: str
    id: str


DirectoryRecord = MemberRecord | RoleRecord | ChannelRecord | TokenMaker | Removal
MEMBER, ROLE, CHANNEL = "member", "role", "channel"


class PresenceRecord(Struct, frozen=True, array_like=True):
    """A member's presence as other members see it."""

    member_id: str
    is_online: bool
    idle: bool
    do_not_disturb: bool

    @classmethod
    def of(cls, member_id: str, presence: Presence | None) -> "PresenceRecord":
        idle, do_not_disturb = presence or (False, False)
        return cls(member_id, presence is not None, idle, do_not_disturb)

    def presence(self) -> Presence | None:
        return Presence(self.idle, self.do_not_disturb) if self.is_online else None


# Events. Numbering starts over in each epoch.


class EventFrame(Struct, frozen=True, array_like=True, tag="p"):
    """An event, encoded as a WebSocket frame for clients."""

    frame: bytes
    to: AudienceRecord
    but_not: str | None
    # The event's number for clients that resume, or None if the event is not replayed.
    seq: int | None
    # The content of an event about a member's presence.
    presence: PresenceRecord | None = None


class ClientRevocation(Struct, frozen=True, array_like=True, tag="x"):
    """An event for a client that has lost access."""

    # The session id of the client's relay.
    relay: str
    page: int
    code: int
    reason: str


FeedItem = EventFrame | DirectoryRecord | ClientRevocation


class Batch(Struct, frozen=True, array_like=True):
    """Consecutive items, numbered from `first`."""

    epoch: int
    first: int
    items: Sequence[FeedItem]


# Messages from a relay to the owner. The first message is `AttachRequest`.


class SessionRecord(Struct, frozen=True, array_like=True):
    member_id: str
    session_id: str
    expires_at: float
    epoch: int
    lasting: bool

    @classmethod
    def of(cls, session: Session) -> "SessionRecord":
        return cls(session.member_id, session.session_id, session.expires_at, session.epoch, session.lasting)

    def session(self) -> Session:
        return Session(self.member_id, self.session_id, self.expires_at, self.epoch, self.lasting)


class AttachedClient(Struct, frozen=True, array_like=True):
    page: int
    session: SessionRecord
    in_sight: bool
    idle: bool


class AttachRequest(Struct, frozen=True, tag="attach"):
    protocol: int
    relay: str
    session: str
    url: str
    # The relay has applied all events of this epoch up to this number.
    epoch: int
    number: int
    pages: Sequence[AttachedClient]
    # The members that the relay's clients show as online, for an owner in a different epoch.
    online: Sequence[PresenceRecord] = ()


class SignInRequest(Struct, frozen=True, tag="sign_in"):
    request: int
    page: int
    event: str
    id: int | str
    data: dict[str, Any]
    # Whether the relay can send the events that the client has missed.
    is_resumed: bool


class RelayedRequest(Struct, frozen=True, tag="ask"):
    request: int
    page: int
    event: str
    id: int | str
    data: dict[str, Any]


class StateRequest(Struct, frozen=True, tag="greet"):
    """A request for the full state of a client. Sent when the relay lacks some of the client's events."""

    request: int
    page: int
    # Whether the state includes the online members.
    with_online: bool = True


class OriginNotice(Struct, frozen=True, tag="opened"):
    """A notice that somebody has opened the web client from this origin."""

    origin: str | None


class ClientClosed(Struct, frozen=True, tag="closed"):
    page: int


class ReplayRequest(Struct, frozen=True, tag="repair"):
    """A request for the events after number `after`."""

    after: int


FromRelay = (
    AttachRequest
    | SignInRequest
    | RelayedRequest
    | StateRequest
    | OriginNotice
    | ClientClosed
    | ReplayRequest
)


# Messages from the owner to a relay.


class AttachResponse(Struct, frozen=True, tag="attached"):
    """The response to `AttachRequest`. Events follow. Unless `goes_on` is set, the parts of the directory are
    sent before them.
    """

    epoch: int
    # The number of the last event that is part of the state.
    number: int
    seq: int
    goes_on: bool
    server_id: str
    allowed_origins: Sequence[str]
    # The URLs to which web clients may connect, in addition to the relay's.
    media_urls: Sequence[str]
    media_services: int
    # The numbers of the relay's clients that the owner no longer accepts.
    refused: Sequence[int]
    # Whether the owner sends the online members with the directory, and can leave them out of states.
    shares_online: bool = False


class DirectoryPart(Struct, frozen=True, tag="directory"):
    records: Sequence[DirectoryRecord]
    is_last: bool
    online: Sequence[PresenceRecord] = ()


class StateResponse(Struct, frozen=True, tag="signed_in"):
    """The response to `SignInRequest` and `StateRequest`, with the full state of a client."""

    request: int
    # The number of the last event that is included in the frame.
    number: int
    session: SessionRecord
    frame: bytes


class ErrorResponse(Struct, frozen=True, tag="refusal"):
    request: int
    code: str
    message: str
    more: dict[str, Any]


class RelayedResponse(Struct, frozen=True, tag="answered"):
    request: int
    frame: bytes
    # The client's state at the owner, after the request.
    session: SessionRecord
    in_sight: bool
    idle: bool


class NotProcessed(Struct, frozen=True, tag="not_begun"):
    """The response to a request that this owner did not process. The next owner may process it."""

    request: int


class ReplayResponse(Struct, frozen=True, tag="repaired"):
    """The response to `ReplayRequest`, with encoded batches, or None if the owner no longer has the
    events.
    """

    batches: Sequence[bytes] | None


class Heartbeat(Struct, frozen=True, tag="pulse"):
    """A periodic message with the number of the last event, so that relays notice lost events."""

    number: int


FromOwner = (
    AttachResponse
    | DirectoryPart
    | StateResponse
    | ErrorResponse
    | RelayedResponse
    | NotProcessed
    | ReplayResponse
    | Heartbeat
)

encode = msgspec.msgpack.Encoder().encode
decode_batch = msgspec.msgpack.Decoder(Batch).decode
decode_from_relay = msgspec.msgpack.Decoder(FromRelay).decode
decode_from_owner = msgspec.msgpack.Decoder(FromOwner).decode
