"""Stores private conversations, their groups and their logs. Contains only SQL."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from svc.base.database import Connection, Database, Row
from svc.base.tables import Table, number, value
from svc.chat.private_conversations.devices_store import PrivateDevice, Thumbprint
from svc.chat.private_conversations.franking import TAG_BYTES
from svc.chat.schemas import Id, Natural, Response, TimeMs

MAX_PEOPLE = 25
# The maximum size of an encrypted message, enough for 4,000 characters of text, the message it replies to,
# and padding.
MAX_MESSAGE_BYTES = 32 * 1024
# The maximum size of a commit, enough for a group of 200 devices with a blank tree, where a path contains a
# secret for each device.
MAX_COMMIT_BYTES = 96 * 1024
# The maximum size of a Welcome, enough for a tree with 200 leaves, each with a statement.
MAX_WELCOME_BYTES = 512 * 1024
MAX_MISSED = 100
# Entries are added to a response until it has this size, because all pending entries together can be tens of
# megabytes.
MAX_READ_BYTES = 1024 * 1024

Kind = Literal["commit", "message"]
COMMIT: Kind = "commit"
MESSAGE: Kind = "message"
Tag = Annotated[bytes, Meta(min_length=TAG_BYTES, max_length=TAG_BYTES)]
WelcomeBytes = Annotated[bytes, Meta(min_length=1, max_length=MAX_WELCOME_BYTES)]


@dataclass(frozen=True, slots=True)
class PrivateGroup:
    epoch: Natural
    seq: Natural


@dataclass(frozen=True, slots=True)
class PrivateLeaf:
    """A device in a group. `gone` is set if it no longer belongs to the group."""

    id: Id
    member_id: Id
    thumbprint: Thumbprint
    gone: bool = False


class PrivateConversation(Response):
    id: Id
    between_two: bool
    members: Annotated[Sequence[Id], Meta(max_length=MAX_PEOPLE)]
    epoch: Natural
    seq: Natural
    first_seq: Natural
    created_at_ms: TimeMs
    devices: Sequence[PrivateLeaf]
    lacking: Sequence[PrivateDevice]


@dataclass(frozen=True, slots=True)
class PrivateEntry:
    """A log entry. A report about a message must contain the message's `tag`."""

    seq: Natural
    epoch: Natural
    kind: Kind
    sent_at_ms: TimeMs
    body: Annotated[bytes, Meta(max_length=MAX_COMMIT_BYTES)]
    tag: Tag | None


@dataclass(frozen=True, slots=True)
class PrivateWelcome:
    id: Id
    conversation_id: Id
    seq: Natural
    welcome: WelcomeBytes


GROUPS = Table("private_conversations", PrivateGroup)
LEAVES = Table("private_leaves", PrivateLeaf, names={"id": "device_id"})
_LOG = Table("private_entries", PrivateEntry)
_WELCOMES = Table("private_welcomes", PrivateWelcome, names={"welcome": "body"})


def digest(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()


# Functions for conversations and their members.


async def load(database: Database) -> dict[str, tuple[bool, frozenset[str]]]:
    """Load all conversations. Return for each id whether the conversation is between two people, and the ids
    of its members.
    """
    conversations: dict[str, tuple[bool, frozenset[str]]] = {}
    for row in await database.rows(
        "SELECT id, pair IS NOT NULL AS is_pair, member_id FROM private_conversations"
        " JOIN private_members ON conversation_id = id WHERE channel_id IS NULL"
    ):
        _, others = conversations.get(row["id"], (False, frozenset()))
        conversations[row["id"]] = (bool(row["is_pair"]), others | {row["member_id"]})
    return conversations


async def load_calls(database: Database) -> dict[str, frozenset[str]]:
    """Load the members in each encrypted channel's call."""
    calls: dict[str, frozenset[str]] = {}
    for row in await database.rows(
        "SELECT conversation_id, member_id FROM private_members WHERE device_id IS NOT NULL"
    ):
        channel_id = row["conversation_id"]
        calls[channel_id] = calls.get(channel_id, frozenset()) | {row["member_id"]}
    return calls


def of_pair(connection: Connection, pair: str) -> str | None:
    sql = "SELECT id FROM private_conversations WHERE pair = ?"
    return value(connection.execute(sql, (pair,)), str)


def put(connection: Connection, conversation_id: str, pair: str | None, now_ms: int) -> None:
    connection.execute(
        "INSERT INTO private_conversations (id, pair, created_at_ms) VALUES (?, ?, ?)",
        (conversation_id, pair, now_ms),
    )


def add_members(connection: Connection, conversation_id: str, member_ids: Collection[str]) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO private_members (conversation_id, member_id) VALUES (?, ?)",
        [(conversation_id, member_id) for member_id in sorted(member_ids)],
    )


def count_of(connection: Connection, member_id: str) -> int:
    sql = "SELECT count(*) FROM private_members WHERE member_id = ? AND device_id IS NULL"
    return number(connection.execute(sql, (member_id,)))


def remove_member(connection: Connection, conversation_id: str, member_id: str) -> None:
    """Remove a member from a conversation. Delete the conversation if nobody is left in it."""
    where = (conversation_id, member_id)
    connection.execute("DELETE FROM private_members WHERE conversation_id = ? AND member_id = ?", where)
    connection.execute(
        "UPDATE private_leaves SET gone = 1 WHERE conversation_id = ? AND member_id = ?", where
    )
    connection.execute(
        "DELETE FROM private_conversations WHERE id = ?1 AND channel_id IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM private_members WHERE conversation_id = ?1)",
        (conversation_id,),
    )


def conversations_of(connection: Connection, member_id: str) -> list[str]:
    sql = "SELECT conversation_id FROM private_members WHERE member_id = ? ORDER BY conversation_id"
    return [conversation_id for (conversation_id,) in connection.execute(sql, (member_id,))]


# This is a single statement, so that all values are from the same snapshot. Otherwise, a device in the group
# could be listed as missing.
_DEVICE = "json_object('id', device_id, 'member_id', member_id, 'thumbprint', thumbprint"
_CONVERSATIONS = f"""
    SELECT c.*,
      (SELECT min(seq) FROM private_entries e WHERE e.conversation_id = c.id) AS first_seq,
      (SELECT json_group_array(member_id) FROM
        (SELECT member_id FROM private_members WHERE conversation_id = c.id ORDER BY member_id)) AS members,
      (SELECT json_group_array({_DEVICE}, 'gone', json(iif(gone, 'true', 'false')))) FROM
        (SELECT * FROM private_leaves WHERE conversation_id = c.id ORDER BY device_id)) AS devices,
      (SELECT json_group_array({_DEVICE})) FROM
        (SELECT d.* FROM private_members m JOIN private_devices d USING (member_id)
          WHERE m.conversation_id = c.id AND ifnull(m.device_id, d.device_id) = d.device_id
            AND NOT EXISTS (SELECT 1 FROM private_leaves l
            WHERE l.conversation_id = c.id AND l.device_id = d.device_id AND l.gone = 0)
          ORDER BY d.device_id)) AS lacking
    FROM private_conversations c
    WHERE id IN (SELECT conversation_id FROM private_members WHERE member_id = ?1)
      AND iif(?2 IS NULL, channel_id IS NULL, id = ?2)
    ORDER BY id"""


async def conversations(
    database: Database, member_id: str, conversation_id: str | None = None
) -> list[PrivateConversation]:
    """Return a member's conversations, or only the given one, with the devices in each group and the devices
    missing from it.
    """
    return [_conversation(row) for row in await database.rows(_CONVERSATIONS, (member_id, conversation_id))]


def _conversation(row: Row) -> PrivateConversation:
    return PrivateConversation(
        id=row["id"],
        between_two=row["pair"] is not None,
        members=msgspec.json.decode(row["members"], type=list[str]),
        epoch=row["epoch"],
        seq=row["seq"],
        first_seq=row["seq"] + 1 if row["first_seq"] is None else row["first_seq"],
        created_at_ms=row["created_at_ms"],
        devices=msgspec.json.decode(row["devices"], type=list[PrivateLeaf]),
        lacking=msgspec.json.decode(row["lacking"], type=list[PrivateDevice]),
    )


# Functions for calls in encrypted channels. Each member takes part with exactly one device.


def devices_in_call(connection: Connection, channel_id: str) -> dict[str, str]:
    """Return the device of each member in a channel's call. The result is empty for a conversation."""
    rows = connection.execute(
        "SELECT member_id, device_id FROM private_members"
        " WHERE conversation_id = ? AND device_id IS NOT NULL",
        (channel_id,),
    )
    return {row["member_id"]: row["device_id"] for row in rows}


def put_devices_in_call(
    connection: Connection, channel_id: str, devices: Mapping[str, str], now_ms: int
) -> None:
    """Set the devices in a call. All other devices leave the call's group. If there are no devices, the log
    is deleted.
    """
    connection.execute(
        "INSERT OR IGNORE INTO private_conversations (id, channel_id, created_at_ms) VALUES (?1, ?1, ?2)",
        (channel_id, now_ms),
    )
    connection.execute("DELETE FROM private_members WHERE conversation_id = ?", (channel_id,))
    connection.executemany(
        "INSERT INTO private_members (conversation_id, member_id, device_id) VALUES (?, ?, ?)",
        [(channel_id, member_id, device_id) for member_id, device_id in sorted(devices.items())],
    )
    connection.execute(
        "UPDATE private_leaves SET gone = 1 WHERE conversation_id = ?1 AND device_id NOT IN"
        " (SELECT device_id FROM private_members WHERE conversation_id = ?1)",
        (channel_id,),
    )
    connection.execute(
        "DELETE FROM private_welcomed WHERE welcome_id IN"
        " (SELECT id FROM private_welcomes WHERE conversation_id = ?1) AND device_id NOT IN"
        " (SELECT device_id FROM private_members WHERE conversation_id = ?1)",
        (channel_id,),
    )
    if not devices:
        for table in ("leaves", "entries", "welcomes"):
            connection.execute(f"DELETE FROM private_{table} WHERE conversation_id = ?", (channel_id,))


# Functions for the conversations' groups.


def leaves(connection: Connection, conversation_id: str) -> dict[str, PrivateLeaf]:
    stored_leaves = LEAVES.find(connection, "WHERE conversation_id = ?", conversation_id)
    return {leaf.id: leaf for leaf in stored_leaves}


def put_leaf(connection: Connection, conversation_id: str, device: PrivateDevice, since_seq: int) -> None:
    leaf = PrivateLeaf(device.id, device.member_id, device.thumbprint)
    LEAVES.put(connection, leaf, conversation_id=conversation_id, since_seq=since_seq)


def restart_group(connection: Connection, conversation_id: str, before: PrivateGroup) -> PrivateGroup:
    """Restart the group without any devices. The log continues."""
    LEAVES.delete(connection, conversation_id=conversation_id)
    return PrivateGroup(0, before.seq)


# Functions for messages and commits.


def sent_before(connection: Connection, conversation_id: str, body: bytes) -> Row | None:
    """Return the log entry with exactly this body, or None if there is none."""
    row: Row | None = connection.execute(
        "SELECT seq, epoch, kind FROM private_entries WHERE conversation_id = ? AND digest = ?",
        (conversation_id, digest(body)),
    ).fetchone()
    return row


def append(
    connection: Connection,
    conversation_id: str,
    before: PrivateGroup,
    kind: Kind,
    body: bytes,
    now_ms: int,
    tag: bytes | None = None,
) -> PrivateGroup:
    """Append an entry to the log. A commit ends the epoch."""
    after = PrivateGroup(before.epoch + (kind == COMMIT), before.seq + 1)
    entry = PrivateEntry(after.seq, before.epoch, kind, now_ms, body, tag)
    _LOG.insert(connection, entry, conversation_id=conversation_id, digest=digest(body))
    GROUPS.edit(connection, {"epoch": after.epoch, "seq": after.seq}, id=conversation_id)
    return after


_ENTRIES = f"""
    SELECT {_LOG.select("e")} FROM private_entries e JOIN
      (SELECT n, sum(bytes) OVER (ORDER BY seq) - bytes AS before FROM
        (SELECT e.n, e.seq, length(e.body) AS bytes
          FROM private_entries e JOIN private_leaves l USING (conversation_id)
          WHERE e.conversation_id = ?1 AND l.device_id = ?2 AND l.gone = 0
            AND e.seq > ?3 AND e.seq > l.since_seq
          ORDER BY e.seq LIMIT ?4)) USING (n)
    WHERE before < {MAX_READ_BYTES} ORDER BY e.seq"""


async def entries(
    database: Database, conversation_id: str, device_id: str, after: int, maximum: int
) -> list[PrivateEntry]:
    """Return the log entries after the given number that the device may read. The list is empty if the device
    is not in the group.
    """
    rows = await database.rows(_ENTRIES, (conversation_id, device_id, after, maximum))
    return [_LOG.read(row) for row in rows]


async def since(database: Database, conversation_id: str, device_id: str) -> int | None:
    """Return the number of the last entry that the device may not read, or None if the device is not in the
    group.
    """
    row = await database.row(
        "SELECT since_seq FROM private_leaves WHERE conversation_id = ? AND device_id = ? AND gone = 0",
        (conversation_id, device_id),
    )
    return int(row[0]) if row else None


def entries_in(
    connection: Connection, conversation_id: str, device_id: str, after: int, maximum: int
) -> list[PrivateEntry]:
    """Return the same entries as `entries`. Call this within a write transaction."""
    rows = connection.execute(_ENTRIES, (conversation_id, device_id, after, maximum))
    return [_LOG.read(row) for row in rows]


def put_welcome(
    connection: Connection, welcome: PrivateWelcome, device_ids: Collection[str], now_ms: int
) -> None:
    """Store a Welcome. It replaces these devices' pending Welcomes to the same group."""
    for device_id in device_ids:
        for (before,) in connection.execute(
            "SELECT id FROM private_welcomed JOIN private_welcomes ON id = welcome_id"
            " WHERE device_id = ? AND conversation_id = ?",
            (device_id, welcome.conversation_id),
        ).fetchall():
            drop_welcome(connection, device_id, before)
    _WELCOMES.insert(connection, welcome, sent_at_ms=now_ms)
    connection.executemany(
        "INSERT INTO private_welcomed VALUES (?, ?)", [(device_id, welcome.id) for device_id in device_ids]
    )


async def welcomes(
    database: Database, device_id: str, channel_id: str | None, maximum: int
) -> list[PrivateWelcome]:
    """Return a device's Welcomes to conversations, or to the given channel's call."""
    rows = await database.rows(
        f"SELECT {_WELCOMES.select('w')} FROM private_welcomes w JOIN"
        " (SELECT id, sum(bytes) OVER (ORDER BY id) - bytes AS before FROM"
        " (SELECT w.id, length(w.body) AS bytes FROM private_welcomes w"
        " JOIN private_welcomed d ON d.welcome_id = w.id"
        " JOIN private_conversations c ON c.id = w.conversation_id"
        " WHERE d.device_id = ? AND c.channel_id IS ? ORDER BY w.id LIMIT ?)) USING (id)"
        " WHERE before < ? ORDER BY w.id",
        (device_id, channel_id, maximum, MAX_READ_BYTES),
    )
    return [_WELCOMES.read(row) for row in rows]


def drop_welcome(connection: Connection, device_id: str, welcome_id: str) -> None:
    """Remove a device from a Welcome's recipients. Delete the Welcome if it has no recipients left."""
    connection.execute(
        "DELETE FROM private_welcomed WHERE device_id = ? AND welcome_id = ?", (device_id, welcome_id)
    )
    connection.execute(
        "DELETE FROM private_welcomes WHERE id = ?1"
        " AND NOT EXISTS (SELECT 1 FROM private_welcomed WHERE welcome_id = ?1)",
        (welcome_id,),
    )


# Functions that delete Welcomes and old entries.


def drop_received(connection: Connection) -> int:
    """Delete Welcomes without recipients."""
    return connection.execute(
        "DELETE FROM private_welcomes WHERE id NOT IN (SELECT welcome_id FROM private_welcomed)"
    ).rowcount


def expire(connection: Connection, before_ms: int, maximum: int) -> int:
    """Delete a batch of entries and Welcomes that are older than the given time. Return their number."""
    deleted = connection.execute(
        "DELETE FROM private_entries WHERE n IN"
        " (SELECT n FROM private_entries WHERE sent_at_ms <= ? ORDER BY sent_at_ms LIMIT ?)",
        (before_ms, maximum),
    ).rowcount
    deleted += connection.execute(
        "DELETE FROM private_welcomes WHERE id IN"
        " (SELECT id FROM private_welcomes WHERE sent_at_ms <= ? LIMIT ?)",
        (before_ms, max(1, maximum * MAX_MESSAGE_BYTES // MAX_WELCOME_BYTES)),
    ).rowcount
    return deleted
