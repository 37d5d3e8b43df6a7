"""The records of an export: which kinds there are, what each holds, and what may stand there.

One line of JSON each, in this order, so that nothing is named before it is there. The names are
those of the database's columns. Checks one record at a time; that they fit together is the
database's to say. `docs/operations.md` has the same table for people.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from svc.chat.transfer import shapes

FORMAT, VERSION = "svc-export", 1
MAX_LINE_BYTES = 1024 * 1024
_MAX_ID_CHARACTERS = 256
_MAX_TEXT_CHARACTERS = 64 * 1024
_LARGEST = 2**63 - 1

Check = Callable[[object], bool]


class BadRecord(Exception):
    """This is no record of an export; the message says what is wrong with it."""


def _text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _MAX_TEXT_CHARACTERS and "\0" not in value


def _id(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _MAX_ID_CHARACTERS and "\0" not in value


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST


def _up_to(most: int) -> Check:
    return lambda value: isinstance(value, int) and _whole(value) and value <= most


def _or_null(check: Check) -> Check:
    return lambda value: value is None or check(value)


@dataclass(frozen=True, slots=True)
class Kind:
    """`json` columns hold JSON as text; in a record it stands as itself."""

    name: str
    table: str
    columns: Mapping[str, Check]
    order: str
    json: frozenset[str] = frozenset()
    # Rows that are not the community's.
    where: str = ""
    # What older exports lack, and what stands for it then.
    newer: Mapping[str, object] = field(default_factory=dict)

    def checked(self, record: Mapping[str, object]) -> Mapping[str, object]:
        """The record, if it is one of these. Raises BadRecord."""
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
    "bytes": _whole,
    **dict.fromkeys(("width", "height", "duration_ms"), _or_null(_whole)),
    **dict.fromkeys(("placeholder", "colour"), _text),
    "created_at_ms": _whole,
    "idle_since_ms": _whole,
}
_MESSAGE: Mapping[str, Check] = {
    "n": _whole,
    **dict.fromkeys(("id", "channel_id", "author_kind", "author_id"), _id),
    "display_name": _text,
    "avatar": _or_null(_id),
    "text": _text,
    "reply_to": _or_null(_id),
    "mentions": shapes.mentions,
    "mention_groups": shapes.mentions,
    "cards": shapes.cards,
    "attachments": shapes.attachments,
    "flagged": _whole,
    "edited_at_ms": _or_null(_whole),
    "posted_at_ms": _or_null(_whole),
    "thread": _or_null(_id),
    "expired_attachments": _whole,
    "previews": shapes.previews,
    "author_bot": _up_to(1),
}

KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("setting", "settings", {"name": _id, "value": shapes.setting}, "name", frozenset({"value"})),
        Kind(
            "role",
            "roles",
            {"id": _id, "name": _text, "rank": _whole, "permissions": _text, "color": _or_null(_whole)},
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
                "animated": _whole,
                "created_by": _or_null(_id),
                "created_at_ms": _whole,
            },
            "id",
        ),
        Kind(
            "member",
            "members",
            {
                "id": _id,
                "nickname": _text,
                "timeout_until_ms": _whole,
                "joined_at_ms": _whole,
                "left_at_ms": _or_null(_whole),
                "avatar_key": _or_null(_id),
                "status_text": _or_null(_text),
                "bot": _up_to(1),
            },
            "id",
            newer={"status_text": None, "bot": 0},
        ),
        Kind("member_role", "member_roles", {"member_id": _id, "role_id": _id}, "member_id, role_id"),
        Kind(
            "identity",
            "identities",
            {"issuer": _text, "subject": _id, "member_id": _id, "added_at_ms": _whole},
            "issuer, subject",
        ),
        Kind(
            "device",
            "devices",
            {
                **dict.fromkeys(("id", "member_id", "thumbprint"), _id),
                "name": _text,
                **dict.fromkeys(("added_at_ms", "last_seen_at_ms"), _whole),
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
                "banned_by": _or_null(_id),
                "banned_at_ms": _whole,
            },
            "member_id",
        ),
        Kind(
            "channel",
            "channels",
            {
                **dict.fromkeys(("id", "name", "kind_of_channel"), _id),
                "position": _whole,
                "topic": _text,
                "slow_mode_s": _whole,
                "created_at_ms": _whole,
                "parent_id": _or_null(_id),
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
            {"n": _whole, "number": _whole, "text": _text, "replaced_at_ms": _whole},
            "n, number",
        ),
        Kind(
            "reaction",
            "reactions",
            {"n": _whole, "emoji": _id, "member_id": _id, "reacted_at_ms": _whole},
            "n, emoji, reacted_at_ms, member_id",
        ),
        Kind(
            "pin",
            "pins",
            {"n": _whole, "channel_id": _id, "member_id": _id, "pinned_at_ms": _whole},
            "n",
        ),
        Kind("mention", "mentions", {"member_id": _id, "channel_id": _id, "n": _whole}, "n, member_id"),
        Kind("read", "reads", {"member_id": _id, "channel_id": _id, "n": _whole}, "member_id, channel_id"),
        Kind(
            "thread_follow",
            "thread_follows",
            {**dict.fromkeys(("member_id", "thread", "channel_id"), _id), "n": _whole},
            "member_id, thread",
        ),
        Kind(
            "reference",
            "object_references",
            {"owner_kind": _id, "owner_id": _id, "key": _id},
            "kind, owner_id, key",
            # Webhooks, drafts and jobs stay where they are.
            where="kind IN ('message', 'member', 'emoji', 'server', 'preview')",
        ),
    )
}
# `kind` says which record it is, so columns of that name are called otherwise there.
COLUMN_OF: Mapping[tuple[str, str], str] = {
    ("channel", "kind_of_channel"): "kind",
    ("override", "of"): "kind",
    ("reference", "owner_kind"): "kind",
}


def column(kind: Kind, name: str) -> str:
    """The database's name for what a record calls `name`."""
    return COLUMN_OF.get((kind.name, name), name)
