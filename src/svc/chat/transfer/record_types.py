"""The kinds of records in an export, and the valid values of their fields.

One line of JSON each, in an order in which references point backwards. The names are those of the database's
columns. Validates single records; the database's constraints validate the references between them.
`docs/operations.md` has the same table for people.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from svc.base.emoji import stored_emoji
from svc.chat.transfer import record_checks
from svc.chat.transfer.record_checks import Check, or_null, whole

FORMAT, VERSION = "svc-export", 1
MAX_LINE_BYTES = 1024 * 1024
_MAX_ID_CHARACTERS = 256
_MAX_TEXT_CHARACTERS = 64 * 1024


class BadRecord(Exception):
    """Not a valid record of an export. The message gives the fault."""


def _text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _MAX_TEXT_CHARACTERS and "\0" not in value


def _id(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _MAX_ID_CHARACTERS and "\0" not in value


def _up_to(most: int) -> Check:
    return lambda value: isinstance(value, int) and whole(value) and value <= most


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of record. `json` columns hold JSON text, which a record contains as JSON."""

    name: str
    table: str
    columns: Mapping[str, Check]
    order: str
    json: frozenset[str] = frozenset()
    # Excludes rows that do not belong to the community.
    where: str = ""
    # Fields that older exports lack, with their defaults.
    newer: Mapping[str, object] = field(default_factory=dict)
    # Converts fields that older exports write differently. Rows that become equal merge.
    respelt: Mapping[str, Callable[[str], str]] = field(default_factory=dict)

    def checked(self, record: Mapping[str, object]) -> Mapping[str, object]:
        """Return the record if it is valid. Raises BadRecord."""
        given = record.keys() - {"kind"}
        if missing := sorted(self.columns.keys() - given - self.newer.keys()):
            raise BadRecord(f"{self.name} lacks {missing[0]}")
        if unknown := sorted(given - self.columns.keys()):
            raise BadRecord(f"{self.name} has {unknown[0][:100]!r}, which is not known")
        record = {**self.newer, **record}
        for name, check in self.columns.items():
            if not check(record[name]):
                raise BadRecord(f"{self.name}: {name} is not what it should be")
        return record


_OBJECT = {
    **dict.fromkeys(("key", "content_type"), _id),
    "bytes": whole,
    **dict.fromkeys(("width", "height", "duration_ms"), or_null(whole)),
    **dict.fromkeys(("placeholder", "colour"), _text),
    "created_at_ms": whole,
    "idle_since_ms": whole,
}
_MESSAGE: Mapping[str, Check] = {
    "n": whole,
    **dict.fromkeys(("id", "channel_id", "author_kind", "author_id"), _id),
    "display_name": _text,
    "avatar": or_null(_id),
    "text": _text,
    "reply_to": or_null(_id),
    "mentions": record_checks.mentions,
    "mention_groups": record_checks.mentions,
    "cards": record_checks.cards,
    "attachments": record_checks.attachments,
    "flagged": whole,
    "edited_at_ms": or_null(whole),
    "posted_at_ms": or_null(whole),
    "thread": or_null(_id),
    "expired_attachments": whole,
    "previews": record_checks.previews,
    "author_bot": _up_to(1),
}

KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            "setting", "settings", {"name": _id, "value": record_checks.setting}, "name", frozenset({"value"})
        ),
        Kind(
            "role",
            "roles",
            {"id": _id, "name": _text, "rank": whole, "permissions": _text, "color": or_null(whole)},
            "id",
        ),
        Kind("object", "objects", _OBJECT, "key", where="state = 'stored'"),
        Kind(
            "fact",
            "facts",
            {"name": lambda name: name == "icon_key", "value": _id},
            "name",
            where="name = 'icon_key'",
        ),
        Kind(
            "emoji",
            "emoji",
            {
                **dict.fromkeys(("id", "name", "key"), _id),
                "animated": whole,
                "created_by": or_null(_id),
                "created_at_ms": whole,
            },
            "id",
        ),
        Kind(
            "member",
            "members",
            {
                "id": _id,
                "nickname": _text,
                "timeout_until_ms": whole,
                "joined_at_ms": whole,
                "left_at_ms": or_null(whole),
                "avatar_key": or_null(_id),
                "status_text": or_null(_text),
                "bot": _up_to(1),
            },
            "id",
            newer={"status_text": None, "bot": 0},
        ),
        Kind("member_role", "member_roles", {"member_id": _id, "role_id": _id}, "member_id, role_id"),
        Kind(
            "identity",
            "identities",
            {"issuer": _text, "subject": _id, "member_id": _id, "added_at_ms": whole},
            "issuer, subject",
        ),
        Kind(
            "device",
            "devices",
            {
                **dict.fromkeys(("id", "member_id", "thumbprint"), _id),
                "name": _text,
                **dict.fromkeys(("added_at_ms", "last_seen_at_ms"), whole),
            },
            "id",
        ),
        Kind(
            "ban",
            "bans",
            {
                "member_id": _id,
                "nickname": _text,
                "reason": _text,
                "banned_by": or_null(_id),
                "banned_at_ms": whole,
            },
            "member_id",
        ),
        Kind(
            "channel",
            "channels",
            {
                **dict.fromkeys(("id", "name", "kind_of_channel"), _id),
                "position": whole,
                "topic": _text,
                "slow_mode_s": whole,
                "created_at_ms": whole,
                "parent_id": or_null(_id),
                "archived": _up_to(1),
                "user_limit": _up_to(1000),
                "bitrate_kbps": _up_to(510),
                "encrypted": _up_to(1),
            },
            "position, id",
            newer={"parent_id": None, "archived": 0, "user_limit": 0, "bitrate_kbps": 0, "encrypted": 0},
        ),
        Kind(
            "override",
            "channel_overrides",
            {**dict.fromkeys(("channel_id", "of", "target_id"), _id), "allow": _text, "deny": _text},
            "channel_id, kind, target_id",
        ),
        Kind(
            "message",
            "messages",
            _MESSAGE,
            "n",
            frozenset({"mentions", "mention_groups", "cards", "attachments", "previews"}),
            newer={
                **dict.fromkeys(("posted_at_ms", "mention_groups", "thread", "previews")),
                "expired_attachments": 0,
                "author_bot": 0,
            },
        ),
        Kind(
            "edit",
            "message_edits",
            {"n": whole, "number": whole, "text": _text, "replaced_at_ms": whole},
            "n, number",
        ),
        Kind(
            "reaction",
            "reactions",
            {"n": whole, "emoji": _id, "member_id": _id, "reacted_at_ms": whole},
            "n, emoji, reacted_at_ms, member_id",
            respelt={"emoji": stored_emoji},
        ),
        Kind(
            "pin",
            "pins",
            {"n": whole, "channel_id": _id, "member_id": _id, "pinned_at_ms": whole},
            "n",
        ),
        Kind("mention", "mentions", {"member_id": _id, "channel_id": _id, "n": whole}, "n, member_id"),
        Kind("read", "reads", {"member_id": _id, "channel_id": _id, "n": whole}, "member_id, channel_id"),
        Kind(
            "thread_follow",
            "thread_follows",
            {**dict.fromkeys(("member_id", "thread", "channel_id"), _id), "n": whole},
            "member_id, thread",
        ),
        Kind(
            "reference",
            "object_references",
            {"owner_kind": _id, "owner_id": _id, "key": _id},
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
