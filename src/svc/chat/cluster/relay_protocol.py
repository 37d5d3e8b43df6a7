"""Messages between an owner and its relays: numbered events over NATS, and requests over a link.

The link is a WebSocket from the relay to the owner's own address. Everything is msgpack with types. Holds no
state.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from svc.chat.access.directory import Channel, Member
from svc.chat.access.permissions import Override, Overrides, Role, from_store, to_store
from svc.chat.access.tokens import Session
from svc.chat.live.hub import EVERYONE, Audience, Everyone, PermissionHolders, Recipients, Viewers

LINK_PATH = "/cluster/relay"
# A link between other versions of this protocol is refused.
PROTOCOL = 1
# The close codes of a link, besides the usual ones.
REFUSED, NAME_IN_USE = 4001, 4002


def events_subject(name: str) -> str:
    """Return the NATS subject of a community's events."""
    return f"{name}.events"


def key_digest(shown: str) -> bytes:
    """Return a digest of a link's key, to compare two in constant time."""
    return hashlib.sha256(shown.encode()).digest()


# Audiences. Permissions travel by name, because their numbers differ between versions.


class ToEveryone(Struct, frozen=True, array_like=True, tag="e"):
    pass


class ToViewers(Struct, frozen=True, array_like=True, tag="v"):
    channel_id: str


class ToOnly(Struct, frozen=True, array_like=True, tag="o"):
    member_ids: Sequence[str]
    channel_id: str | None = None


class ToHolders(Struct, frozen=True, array_like=True, tag="h"):
    permission: str
    channel_id: str | None


ToAudience = ToEveryone | ToViewers | ToOnly | ToHolders
_TO_EVERYONE = ToEveryone()


def packed(audience: Audience) -> ToAudience:
    match audience:
        case Viewers(channel_id):
            return ToViewers(channel_id)
        case Recipients(member_ids, channel_id):
            return ToOnly(list(member_ids), channel_id)
        case PermissionHolders(permission, channel_id):
            return ToHolders(to_store(permission), channel_id)
        case Everyone():
            return _TO_EVERYONE


def unpacked(audience: ToAudience) -> Audience:
    match audience:
        case ToViewers(channel_id):
            return Viewers(channel_id)
        case ToOnly(member_ids, channel_id):
            return Recipients(frozenset(member_ids), channel_id)
        case ToHolders(permission, channel_id):
            return PermissionHolders(from_store(permission), channel_id)
        case ToEveryone():
            return EVERYONE


# The directory, as far as it decides who gets an event. Names and texts stay with the owner.


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


# By the id of a role or member: the allowed and the denied permissions.
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
        return cls(channel.id, channel.kind, channel.archived, _named(own.roles), _named(own.members))

    def channel(self) -> Channel:
        overrides = Overrides(_overrides(self.roles), _overrides(self.members))
        return Channel(self.id, "", self.kind, overrides=overrides, archived=self.archived)


def _named(overrides: Mapping[str, Override]) -> _Overrides:
    return {key: (to_store(each.allow), to_store(each.deny)) for key, each in overrides.items()}


def _overrides(records: _Overrides) -> dict[str, Override]:
    return {key: Override(from_store(allow), from_store(deny)) for key, (allow, deny) in records.items()}


class TokenMaker(Struct, frozen=True, array_like=True, tag="t"):
    bot_id: str
    maker_id: str | None


class Dropped(Struct, frozen=True, array_like=True, tag="d"):
    """A member, role or channel that was removed."""

    kind: str
    id: str


DirectoryRecord = MemberRecord | RoleRecord | ChannelRecord | TokenMaker | Dropped
MEMBER, ROLE, CHANNEL = "member", "role", "channel"


# Events. Each has a number, which counts from the beginning of the epoch.


class Pushed(Struct, frozen=True, array_like=True, tag="p"):
    """An event as it goes to pages, encoded as a frame of their sockets."""

    frame: bytes
    to: ToAudience
    but_not: str | None
    # The number for pages that resume; None if the event is not kept.
    seq: int | None


class PageCutOff(Struct, frozen=True, array_like=True, tag="x"):
    """A page that has lost access."""

    # The session of its relay.
    relay: str
    page: int
    code: int
    reason: str


Item = Pushed | DirectoryRecord | PageCutOff


class Batch(Struct, frozen=True, array_like=True):
    """Consecutive items, with the numbers `first`, `first + 1`, and so on."""

    epoch: int
    first: int
    items: Sequence[Item]


# From a relay to the owner. The first message is `Attach`.


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


class OpenPage(Struct, frozen=True, array_like=True):
    page: int
    session: SessionRecord
    in_sight: bool
    idle: bool


class Attach(Struct, frozen=True, tag="attach"):
    protocol: int
    relay: str
    session: str
    url: str
    # The relay has applied all events of this epoch up to this number.
    epoch: int
    number: int
    pages: Sequence[OpenPage]


class SignIn(Struct, frozen=True, tag="sign_in"):
    request: int
    page: int
    event: str
    id: int | str
    data: dict[str, Any]
    # Whether the relay can send the events that the page has missed.
    is_resumed: bool


class Ask(Struct, frozen=True, tag="ask"):
    request: int
    page: int
    event: str
    id: int | str
    data: dict[str, Any]


class Greet(Struct, frozen=True, tag="greet"):
    """A request for the whole state of a page, sent when the relay does not have all events for the page."""

    request: int
    page: int


class Opened(Struct, frozen=True, tag="opened"):
    """The address at which somebody has opened the page."""

    origin: str | None


class Closed(Struct, frozen=True, tag="closed"):
    page: int


class Repair(Struct, frozen=True, tag="repair"):
    """A request for the events after a number."""

    after: int


FromRelay = Attach | SignIn | Ask | Greet | Opened | Closed | Repair


# From the owner to a relay.


class Attached(Struct, frozen=True, tag="attached"):
    """The answer to `Attach`. `Directory` follows in parts, unless `goes_on`: then events follow."""

    epoch: int
    # The number of the last event that is part of the state.
    number: int
    seq: int
    goes_on: bool
    server_id: str
    allowed_origins: Sequence[str]
    # The addresses that pages may connect to, besides the relay's own.
    media_urls: Sequence[str]
    media_services: int
    # The relay's pages that the owner no longer accepts.
    refused: Sequence[int]


class DirectoryPart(Struct, frozen=True, tag="directory"):
    records: Sequence[DirectoryRecord]
    is_last: bool


class SignedIn(Struct, frozen=True, tag="signed_in"):
    """The answer to `SignIn` and `Greet`."""

    request: int
    # The number of the last event that is part of the frame's state.
    number: int
    session: SessionRecord
    frame: bytes


class Refusal(Struct, frozen=True, tag="refusal"):
    request: int
    code: str
    message: str
    more: dict[str, Any]


class Answered(Struct, frozen=True, tag="answered"):
    request: int
    frame: bytes
    # The page's state as the owner knows it after the request.
    session: SessionRecord
    in_sight: bool
    idle: bool


class NotBegun(Struct, frozen=True, tag="not_begun"):
    """A request that this owner did not begin, because the owner is stopping."""

    request: int


class Repaired(Struct, frozen=True, tag="repaired"):
    """Encoded batches; None if the owner no longer has the events."""

    batches: Sequence[bytes] | None


class Pulse(Struct, frozen=True, tag="pulse"):
    """The number of the last event, so that a relay notices lost events."""

    number: int


FromOwner = Attached | DirectoryPart | SignedIn | Refusal | Answered | NotBegun | Repaired | Pulse

encode = msgspec.msgpack.Encoder().encode
decode_batch = msgspec.msgpack.Decoder(Batch).decode
decode_from_relay = msgspec.msgpack.Decoder(FromRelay).decode
decode_from_owner = msgspec.msgpack.Decoder(FromOwner).decode
