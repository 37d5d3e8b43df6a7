"""Stores and reads messages with their reactions, pins, previews and threads. Contains only SQL."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from svc.base.database import Connection, Database, Row
from svc.base.strict_json import dumps
from svc.base.tables import ColumnType, Table, value
from svc.chat.errors import ChatError
from svc.chat.messages.message import (
    MAX_TEXT_CHARACTERS,
    MEMBER,
    Message,
    ThreadSummary,
    first_number_at,
    moment_of,
    number_of,
)
from svc.chat.schemas import TimeMs


def _all(values: Sequence[object]) -> str | None:
    return dumps(list(values)).decode() if values else None


def _each(text: str | None) -> list[object]:
    return list(json.loads(text)) if text else []


_LIST = ColumnType(_all, _each)
_NAMES = ColumnType(_all, lambda text: tuple(_each(text)))
_MESSAGE = Table(
    "messages",
    Message,
    without=(
        *("notified", "reactions", "pinned", "previews", "no_previews"),
        *("answers", "thread_summary", "joining", "to_unfollow"),
    ),
    names={
        "author.kind": "author_kind",
        "author.id": "author_id",
        "author.display_name": "display_name",
        "author.avatar": "avatar",
        "author.bot": "author_bot",
        "groups": "mention_groups",
        "stamp_ms": "posted_at_ms",
    },
    mentions=_NAMES,
    mention_groups=_NAMES,
    cards=_LIST,
    attachments=_LIST,
)
# Selects one message per row: first the columns of `messages`, then those of other tables.
_MESSAGES = f"""
SELECT {_MESSAGE.select("m")}, m.previews, p.n, t.count, l.n, l.id, l.posted_at_ms,
    (SELECT json_group_array(json_array(r.emoji, r.member_id)) FROM
        (SELECT emoji, member_id FROM reactions WHERE n = m.n ORDER BY emoji, reacted_at_ms, member_id) AS r
    ) AS reactions
FROM messages AS m LEFT JOIN pins AS p ON p.n = m.n
    LEFT JOIN threads AS t ON t.id = m.id LEFT JOIN messages AS l ON l.n = t.last_n
"""


# The JSON value for messages without previews.
_NO_PREVIEWS = "false"
# A channel and one of its threads. The thread is None for the channel itself.
Timeline = tuple[str, str | None]
# Two of the table's indexes begin with the member. This one is in the order of the result, so only one page
# is read. With the other index, all mentions of the member would be read and sorted.
NEWEST_MENTIONS = (
    "SELECT n FROM mentions INDEXED BY mentions_by_member WHERE member_id = ? AND n < ?"
    " AND channel_id IN (SELECT value FROM json_each(?)) ORDER BY n DESC LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class Edit:
    """An earlier version of a message's text."""

    text: Annotated[str, Meta(max_length=MAX_TEXT_CHARACTERS)]
    replaced_at_ms: TimeMs


# Functions that post and change messages. Call them within a write transaction.


def insert(connection: Connection, message: Message) -> None:
    _MESSAGE.insert(connection, message, previews=_NO_PREVIEWS if message.no_previews else None)


def insert_mentions(connection: Connection, message: Message) -> None:
    connection.executemany(
        "INSERT INTO mentions VALUES (?, ?, ?)",
        [(member_id, message.channel_id, message.n) for member_id in message.notified],
    )


def delete_mentions_but(connection: Connection, n: int, member_ids: Iterable[str]) -> None:
    still = dumps(list(member_ids)).decode()
    connection.execute(
        "DELETE FROM mentions WHERE n = ? AND member_id NOT IN (SELECT value FROM json_each(?))", (n, still)
    )


def cursor_of_nonce(connection: Connection, author_id: str, channel_id: str, nonce: str) -> int | None:
    """Return the cursor of the message with this nonce, even if the message is deleted."""
    sql = "SELECT n FROM message_nonces WHERE author_id = ? AND channel_id = ? AND nonce = ?"
    return value(connection.execute(sql, (author_id, channel_id, nonce)), int)


def insert_nonce(connection: Connection, nonce: tuple[str, str, str], n: int, now_ms: int) -> bool:
    """Insert a nonce, which is unique per author and channel. Return False if it already exists."""
    sql = "INSERT INTO message_nonces VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
    return connection.execute(sql, (*nonce, n, now_ms)).rowcount > 0


def forget_nonces(connection: Connection, before_ms: int, maximum: int) -> int:
    """Delete nonces that were used before the given time. Return their number."""
    return connection.execute(
        "DELETE FROM message_nonces WHERE (author_id, channel_id, nonce) IN"
        " (SELECT author_id, channel_id, nonce FROM message_nonces WHERE used_at_ms < ? LIMIT ?)",
        (before_ms, maximum),
    ).rowcount


def get(connection: Connection, channel_id: str, n: int) -> Message | None:
    """Return a message in the state that the current write transaction sees."""
    row = connection.execute(_MESSAGES + "WHERE m.n = ? AND m.channel_id = ?", (n, channel_id)).fetchone()
    return _message(row) if row else None


def existing(connection: Connection, channel_id: str, message_id: str) -> Message:
    """Return a message. Raises ChatError if it does not exist."""
    message = get(connection, channel_id, number_of(message_id))
    if message is None or message.id != message_id:
        raise ChatError("unknown_message")
    return message


def read_these(connection: Connection, numbers: Sequence[int]) -> list[Message]:
    """Return the messages with the given cursors, newest first. Skip those that no longer exist."""
    if not numbers:
        return []
    sql = _MESSAGES + "WHERE m.n IN (SELECT value FROM json_each(?)) ORDER BY m.n DESC"
    rows = connection.execute(sql, (dumps(list(numbers)).decode(),)).fetchall()
    return [_message(row) for row in rows]


def read_after(connection: Connection, n: int, limit: int) -> list[Message]:
    """Return messages from all channels that come after a cursor, oldest first."""
    rows = connection.execute(_MESSAGES + "WHERE m.n > ? ORDER BY m.n LIMIT ?", (n, limit))
    return [_message(row) for row in rows]


def update(connection: Connection, message: Message) -> None:
    changed = ("text", "mentions", "mention_groups", "flagged", "edited_at_ms")
    _MESSAGE.write(connection, message, changed, n=message.n)


def set_attachments(connection: Connection, message: Message) -> None:
    _MESSAGE.write(connection, message, ("attachments", "expired_attachments"), n=message.n)


def set_previews(connection: Connection, message: Message) -> None:
    previews = _NO_PREVIEWS if message.no_previews else _all(message.previews)
    _MESSAGE.edit(connection, {"previews": previews}, n=message.n)


def insert_edit(connection: Connection, n: int, edit: Edit, maximum: int) -> None:
    """Store an earlier version of a message. Delete the oldest versions beyond `maximum`."""
    connection.execute(
        "INSERT INTO message_edits"
        " SELECT ?, coalesce(max(number), 0) + 1, ?, ? FROM message_edits WHERE n = ?",
        (n, edit.text, edit.replaced_at_ms, n),
    )
    connection.execute(
        "DELETE FROM message_edits WHERE n = ?1 AND number <="
        " (SELECT max(number) FROM message_edits WHERE n = ?1) - ?2",
        (n, maximum),
    )


def delete(connection: Connection, n: int) -> None:
    """Delete a message with its edits, reactions, pin and mentions."""
    _MESSAGE.delete(connection, n=n)


def forget_channel(connection: Connection, channel_id: str) -> None:
    """Mark a channel as deleted. Its messages are deleted in small batches."""
    connection.execute("INSERT OR IGNORE INTO channels_gone VALUES (?)", (channel_id,))
    connection.execute("DELETE FROM thread_follows WHERE channel_id = ?", (channel_id,))


def of_gone_channels(connection: Connection, maximum: int) -> list[Message] | None:
    """Return a batch of messages from a channel that is marked as deleted, or None if none is marked.

    Removes the mark when it returns the channel's last messages.
    """
    row = connection.execute("SELECT channel_id FROM channels_gone LIMIT 1").fetchone()
    if row is None:
        return None
    rows = connection.execute(_MESSAGES + "WHERE m.channel_id = ? LIMIT ?", (row["channel_id"], maximum))
    messages = [_message(message) for message in rows]
    if len(messages) < maximum:
        connection.execute("DELETE FROM channels_gone WHERE channel_id = ?", (row["channel_id"],))
    return messages


def forget_member(connection: Connection, member_id: str) -> None:
    """Delete a leaving member's mentions, read markers and followed threads. Their messages stay."""
    for table in ("mentions", "reads", "thread_follows"):
        connection.execute(f"DELETE FROM {table} WHERE member_id = ?", (member_id,))


def mark_read(connection: Connection, member_id: str, channel_id: str, n: int) -> None:
    """Set a member's read marker. A marker never moves backwards."""
    connection.execute(
        "INSERT INTO reads VALUES (?, ?, ?)"
        " ON CONFLICT DO UPDATE SET n = excluded.n WHERE excluded.n > reads.n",
        (member_id, channel_id, n),
    )


# Queries that run outside write transactions.


async def one(database: Database, channel_id: str, n: int) -> Message | None:
    row = await database.row(_MESSAGES + "WHERE m.n = ? AND m.channel_id = ?", (n, channel_id))
    return _message(row) if row else None


async def before(database: Database, timeline: Timeline, n: int, limit: int) -> list[Message]:
    """Return the newest messages before a cursor, oldest first."""
    sql = _MESSAGES + "WHERE m.channel_id = ? AND m.thread IS ? AND m.n < ? ORDER BY m.n DESC LIMIT ?"
    rows = await database.rows(sql, (*timeline, n, limit))
    return [_message(row) for row in reversed(rows)]


async def after(database: Database, timeline: Timeline, n: int, limit: int) -> list[Message]:
    """Return the oldest messages after a cursor, oldest first."""
    sql = _MESSAGES + "WHERE m.channel_id = ? AND m.thread IS ? AND m.n > ? ORDER BY m.n LIMIT ?"
    return [_message(row) for row in await database.rows(sql, (*timeline, n, limit))]


async def first_at(database: Database, timeline: Timeline, at_ms: int) -> int | None:
    """Return the cursor of the first message that was posted at the given time or later."""
    # No cursor is earlier than its message. Some are later, because the clock was set back.
    row = await database.row(
        "SELECT n FROM messages WHERE channel_id = ? AND thread IS ? AND n >= ?"
        " AND coalesce(posted_at_ms, ?) >= ? ORDER BY n LIMIT 1",
        (*timeline, first_number_at(at_ms), at_ms, at_ms),
    )
    return row["n"] if row else None


async def messages_by_number(database: Database, numbers: Sequence[int]) -> list[Message]:
    """Return the messages with the given cursors, newest first. Skip those that no longer exist."""
    return await database.read(lambda connection: read_these(connection, numbers))


async def latest_of_members(database: Database, limit: int) -> list[Message]:
    """Return the latest messages from members in all channels, oldest first."""
    sql = _MESSAGES + "WHERE m.author_kind = ? ORDER BY m.n DESC LIMIT ?"
    return [_message(row) for row in reversed(await database.rows(sql, (MEMBER, limit)))]


async def pinned_messages(database: Database, channel_id: str) -> list[Message]:
    """Return the pinned messages in a channel, most recently pinned first."""
    sql = _MESSAGES + "WHERE p.channel_id = ? ORDER BY p.pinned_at_ms DESC, m.n DESC"
    return [_message(row) for row in await database.rows(sql, (channel_id,))]


async def edits(database: Database, n: int) -> list[Edit]:
    """Return the earlier versions of a message, oldest first."""
    rows = await database.rows("SELECT * FROM message_edits WHERE n = ? ORDER BY number", (n,))
    return [Edit(row["text"], row["replaced_at_ms"]) for row in rows]


async def newest(database: Database) -> int:
    row = await database.row("SELECT coalesce(max(n), 0) AS n FROM messages")
    assert row is not None, "an aggregate has a row"
    return int(row["n"])


def _message(row: Row) -> Message:
    *kept, previews, pin, answers, last_n, last_id, last_stamp_ms, reacted = row
    reactions: dict[str, list[str]] = {}
    if reacted != "[]":
        for emoji, member_id in json.loads(reacted):
            reactions.setdefault(emoji, []).append(member_id)
    return _MESSAGE.read(
        kept,
        reactions=reactions,
        pinned=pin is not None,
        previews=() if previews == _NO_PREVIEWS else _each(previews),
        no_previews=previews == _NO_PREVIEWS,
        answers=ThreadSummary(answers, last_n, last_id, moment_of(last_n, last_stamp_ms))
        if answers is not None
        else None,
    )


def mentions(
    connection: Connection, member_id: str, channel_ids: Sequence[str], before: int, limit: int
) -> list[int]:
    """Return the cursors of messages in these channels and their threads that mention a member, newest
    first.
    """
    channels = dumps(list(channel_ids)).decode()
    rows = connection.execute(NEWEST_MENTIONS, (member_id, before, channels, limit)).fetchall()
    return [n for (n,) in rows]
