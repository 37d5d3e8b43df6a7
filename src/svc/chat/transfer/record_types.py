"""The kinds of records in an export, and the valid values of their fields.

One line of JSON each, in an order in which references point backwards. The names are those of the database's
columns. Validates single records; the database's constraints validate the references between them.
`docs/operations.md` has the same table for people.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Literal

from msgspec import NODEFAULT, Meta, Struct, ValidationError, convert, structs

from svc.base.emoji import stored_emoji
from svc.base.validation import problem_of
from svc.chat.transfer.record_parts import (
    NO_NUL,
    Attachments,
    Cards,
    Mentions,
    PartText,
    Previews,
    Whole,
)

FORMAT, VERSION = "svc-export", 1
MAX_LINE_BYTES = 1024 * 1024
_Text = Annotated[str, Meta(max_length=64 * 1024, pattern=NO_NUL)]
_Id = Annotated[str, Meta(min_length=1, max_length=256, pattern=NO_NUL)]
_Flag = Annotated[int, Meta(ge=0, le=1)]


class BadRecord(Exception):
    """Not a valid record of an export. The message gives the fault."""


class _Setting(Struct):
    name: _Id
    value: bool | PartText | Whole


class _Role(Struct):
    id: _Id
    name: _Text
    rank: Whole
    permissions: _Text
    color: Whole | None


class _Object(Struct):
    key: _Id
    content_type: _Id
    bytes: Whole
    width: Whole | None
    height: Whole | None
    duration_ms: Whole | None
    placeholder: _Text
    colour: _Text
    created_at_ms: Whole
    idle_since_ms: Whole


class _Fact(Struct):
    name: Literal["icon_key"]
    value: _Id


class _Emoji(Struct):
    id: _Id
    name: _Id
    key: _Id
    animated: Whole
    created_by: _Id | None
    created_at_ms: Whole


class _Member(Struct):
    id: _Id
    nickname: _Text
    timeout_until_ms: Whole
    joined_at_ms: Whole
    left_at_ms: Whole | None
    avatar_key: _Id | None
    status_text: _Text | None = None
    bot: _Flag = 0


class _MemberRole(Struct):
    member_id: _Id
    role_id: _Id


class _Identity(Struct):
    issuer: _Text
    subject: _Id
    member_id: _Id
    added_at_ms: Whole


class _Device(Struct):
    id: _Id
    member_id: _Id
    thumbprint: _Id
    name: _Text
    added_at_ms: Whole
    last_seen_at_ms: Whole


class _Ban(Struct):
    member_id: _Id
    nickname: _Text
    reason: _Text
    banned_by: _Id | None
    banned_at_ms: Whole


class _Channel(Struct):
    id: _Id
    name: _Id
    kind_of_channel: _Id
    position: Whole
    topic: _Text
    slow_mode_s: Whole
    created_at_ms: Whole
    parent_id: _Id | None = None
    archived: _Flag = 0
    user_limit: Annotated[int, Meta(ge=0, le=1000)] = 0
    bitrate_kbps: Annotated[int, Meta(ge=0, le=510)] = 0
    encrypted: _Flag = 0


class _Override(Struct):
    channel_id: _Id
    of: _Id
    target_id: _Id
    allow: _Text
    deny: _Text


class _Message(Struct, kw_only=True):
    n: Whole
    id: _Id
    channel_id: _Id
    author_kind: _Id
    author_id: _Id
    display_name: _Text
    avatar: _Id | None
    text: _Text
    reply_to: _Id | None
    mentions: Mentions
    mention_groups: Mentions = None
    cards: Cards
    attachments: Attachments
    flagged: Whole
    edited_at_ms: Whole | None
    posted_at_ms: Whole | None = None
    thread: _Id | None = None
    expired_attachments: Whole = 0
    previews: Previews = None
    author_bot: _Flag = 0

    def __post_init__(self) -> None:
        if self.previews is True:
            raise ValueError("previews are a list or false")


class _Edit(Struct):
    n: Whole
    number: Whole
    text: _Text
    replaced_at_ms: Whole


class _Reaction(Struct):
    n: Whole
    emoji: _Id
    member_id: _Id
    reacted_at_ms: Whole


class _Pin(Struct):
    n: Whole
    channel_id: _Id
    member_id: _Id
    pinned_at_ms: Whole


class _MentionOrRead(Struct):
    member_id: _Id
    channel_id: _Id
    n: Whole


class _ThreadFollow(Struct):
    member_id: _Id
    thread: _Id
    channel_id: _Id
    n: Whole


class _Reference(Struct):
    owner_kind: _Id
    owner_id: _Id
    key: _Id


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of record. `json` columns hold JSON text, which a record contains as JSON.

    A field with a default may be missing: older exports lack it.
    """

    name: str
    table: str
    fields: type[Struct]
    order: str
    json: frozenset[str] = frozenset()
    # Excludes rows that do not belong to the community.
    where: str = ""
    # Converts fields that older exports write differently. Rows that become equal merge.
    respelt: Mapping[str, Callable[[str], str]] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        return self.fields.__struct_fields__

    @property
    def defaults(self) -> Mapping[str, object]:
        return _defaults(self.fields)

    def checked(self, record: Mapping[str, object]) -> Mapping[str, object]:
        """Return the record if it is valid. Raises BadRecord."""
        if unknown := sorted(record.keys() - {"kind", *self.columns}):
            raise BadRecord(f"{self.name} has {unknown[0][:100]!r}, which is not known")
        try:
            convert(record, self.fields)
        except ValidationError as error:
            raise BadRecord(f"{self.name}: {problem_of(error, self.fields)}") from None
        return {**self.defaults, **record}


@cache
def _defaults(kind: type[Struct]) -> Mapping[str, object]:
    return {part.name: part.default for part in structs.fields(kind) if part.default is not NODEFAULT}


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("setting", "settings", _Setting, "name", frozenset({"value"})),
        Kind("role", "roles", _Role, "id"),
        Kind("object", "objects", _Object, "key", where="state = 'stored'"),
        Kind("fact", "facts", _Fact, "name", where="name = 'icon_key'"),
        Kind("emoji", "emoji", _Emoji, "id"),
        Kind("member", "members", _Member, "id"),
        Kind("member_role", "member_roles", _MemberRole, "member_id, role_id"),
        Kind("identity", "identities", _Identity, "issuer, subject"),
        Kind("device", "devices", _Device, "id"),
        Kind("ban", "bans", _Ban, "member_id"),
        Kind("channel", "channels", _Channel, "position, id"),
        Kind("override", "channel_overrides", _Override, "channel_id, kind, target_id"),
        Kind(
            "message",
            "messages",
            _Message,
            "n",
            frozenset({"mentions", "mention_groups", "cards", "attachments", "previews"}),
        ),
        Kind("edit", "message_edits", _Edit, "n, number"),
        Kind(
            "reaction",
            "reactions",
            _Reaction,
            "n, emoji, reacted_at_ms, member_id",
            respelt={"emoji": stored_emoji},
        ),
        Kind("pin", "pins", _Pin, "n"),
        Kind("mention", "mentions", _MentionOrRead, "n, member_id"),
        Kind("read", "reads", _MentionOrRead, "member_id, channel_id"),
        Kind("thread_follow", "thread_follows", _ThreadFollow, "member_id, thread"),
        Kind(
            "reference",
            "object_references",
            _Reference,
            "kind, owner_id, key",
            # Webhooks, drafts and jobs are not exported.
            where="kind IN ('message', 'member', 'emoji', 'server', 'preview')",
        ),
    )
}
# `kind` names the kind of record, so columns with that name get another one.
COLUMN_OF: Mapping[tuple[str, str], str] = {
    ("channel", "kind_of_channel"): "kind",
    ("override", "of"): "kind",
    ("reference", "owner_kind"): "kind",
}


def column(kind: Kind, name: str) -> str:
    """Return the database's column for a record's field."""
    return COLUMN_OF.get((kind.name, name), name)
