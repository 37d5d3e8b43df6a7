"""Defines the kinds of records in an export, and the valid values for their fields.

Each record is one line of JSON, and follows the records to which it refers. Fields are named after the
database's columns. This module validates single records, and the database's constraints validate references.
See also the table in docs/operations.md.
"""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal

from msgspec import NODEFAULT, Meta, Struct, ValidationError, convert, structs

from svc.base.emoji import stored_emoji
from svc.base.validation import problem_of
from svc.chat.access.channel_properties import with_properties
from svc.chat.import_export.record_fields import (
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
    """The data is not a valid record of an export. The message describes the fault."""


class Record(Struct):
    """Base class for the kinds of records. The fields of a kind are columns of `table`.

    A field with a default may be missing, because older exports do not contain it.
    """

    kind: ClassVar[str]
    table: ClassVar[str]
    order: ClassVar[str]
    # The columns that contain encoded JSON, which is not encoded again in a record.
    json: ClassVar[frozenset[str]] = frozenset()
    # An SQL condition that selects the rows to export.
    where: ClassVar[str] = ""
    # Functions that convert fields to their current spelling. Rows that become identical are merged.
    respelt: ClassVar[Mapping[str, Callable[[str], str]]] = MappingProxyType({})


class Setting(Record):
    kind, table, order = "setting", "settings", "name"
    json = frozenset({"value"})
    name: _Id
    value: bool | PartText | Whole


class Role(Record):
    kind, table, order = "role", "roles", "id"
    id: _Id
    name: _Text
    rank: Whole
    permissions: _Text
    color: Whole | None


class Object(Record):
    kind, table, order = "object", "objects", "key"
    where = "state = 'stored'"
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


class Fact(Record):
    kind, table, order = "fact", "facts", "name"
    where = "name = 'icon_key'"
    name: Literal["icon_key"]
    value: _Id


class Emoji(Record):
    kind, table, order = "emoji", "emoji", "id"
    id: _Id
    name: _Id
    key: _Id
    animated: Whole
    created_by: _Id | None
    created_at_ms: Whole


class Member(Record):
    kind, table, order = "member", "members", "id"
    id: _Id
    nickname: _Text
    timeout_until_ms: Whole
    joined_at_ms: Whole
    left_at_ms: Whole | None
    avatar_key: _Id | None
    status_text: _Text | None = None
    bot: _Flag = 0


class MemberRole(Record):
    kind, table, order = "member_role", "member_roles", "member_id, role_id"
    member_id: _Id
    role_id: _Id


class Identity(Record):
    kind, table, order = "identity", "identities", "issuer, subject"
    issuer: _Text
    subject: _Id
    member_id: _Id
    added_at_ms: Whole


class Device(Record):
    kind, table, order = "device", "devices", "id"
    id: _Id
    member_id: _Id
    thumbprint: _Id
    name: _Text
    added_at_ms: Whole
    last_seen_at_ms: Whole


class Ban(Record):
    kind, table, order = "ban", "bans", "member_id"
    member_id: _Id
    nickname: _Text
    reason: _Text
    banned_by: _Id | None
    banned_at_ms: Whole


@with_properties(lambda kind, default: (_Flag if kind.__origin__ is bool else kind, default))
class Channel(Record):
    kind, table, order = "channel", "channels", "position, id"
    id: _Id
    name: _Id
    kind_of_channel: _Id
    position: Whole
    created_at_ms: Whole
    parent_id: _Id | None = None
    archived: _Flag = 0


class Override(Record):
    kind, table, order = "override", "channel_overrides", "channel_id, kind, target_id"
    channel_id: _Id
    of: _Id
    target_id: _Id
    allow: _Text
    deny: _Text


class Message(Record, kw_only=True):
    kind, table, order = "message", "messages", "n"
    json = frozenset({"mentions", "mention_groups", "cards", "attachments", "previews"})
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
            raise ValueError("previews must be a list or false")


class Edit(Record):
    kind, table, order = "edit", "message_edits", "n, number"
    n: Whole
    number: Whole
    text: _Text
    replaced_at_ms: Whole


class Reaction(Record):
    kind, table, order = "reaction", "reactions", "n, emoji, reacted_at_ms, member_id"
    respelt = MappingProxyType({"emoji": stored_emoji})
    n: Whole
    emoji: _Id
    member_id: _Id
    reacted_at_ms: Whole


class Pin(Record):
    kind, table, order = "pin", "pins", "n"
    n: Whole
    channel_id: _Id
    member_id: _Id
    pinned_at_ms: Whole


class Mention(Record):
    kind, table, order = "mention", "mentions", "n, member_id"
    member_id: _Id
    channel_id: _Id
    n: Whole


class Read(Record):
    kind, table, order = "read", "reads", "member_id, channel_id"
    member_id: _Id
    channel_id: _Id
    n: Whole


class ThreadFollow(Record):
    kind, table, order = "thread_follow", "thread_follows", "member_id, thread"
    member_id: _Id
    thread: _Id
    channel_id: _Id
    n: Whole


class Reference(Record):
    kind, table, order = "reference", "object_references", "kind, owner_id, key"
    # Webhooks, drafts and jobs are not exported.
    where = "kind IN ('message', 'member', 'emoji', 'server', 'preview')"
    owner_kind: _Id
    owner_id: _Id
    key: _Id


# All kinds of records, in the order of an export. A decorated kind replaces the class that it extends.
KINDS: Mapping[str, type[Record]] = {
    kind.kind: kind for base in Record.__subclasses__() for kind in (base, *base.__subclasses__())
}


@cache
def defaults(kind: type[Record]) -> Mapping[str, object]:
    return {part.name: part.default for part in structs.fields(kind) if part.default is not NODEFAULT}


def validate(kind: type[Record], record: Mapping[str, object]) -> Mapping[str, object]:
    """Return the record if it is valid. Raises BadRecord."""
    if unknown := sorted(record.keys() - {"kind", *kind.__struct_fields__}):
        raise BadRecord(f"{kind.kind} has {unknown[0][:100]!r}, which is not a field of it")
    try:
        convert(record, kind)
    except ValidationError as error:
        raise BadRecord(f"{kind.kind}: {problem_of(error, kind)}") from None
    return {**defaults(kind), **record}


# In a record, `kind` is the record's kind, so columns called `kind` get a different field name.
COLUMN_OF: Mapping[tuple[str, str], str] = {
    ("channel", "kind_of_channel"): "kind",
    ("override", "of"): "kind",
    ("reference", "owner_kind"): "kind",
}


def column(kind: type[Record], name: str) -> str:
    """Return the database column of a record's field."""
    return COLUMN_OF.get((kind.kind, name), name)
