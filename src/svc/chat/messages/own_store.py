"""What one member has written and reacted to, page by page. SQL only."""

from svc.base.database import Connection, Database, Row
from svc.chat.messages.message import MEMBER, first_number_at


def some_by(
    connection: Connection, member_id: str, since_ms: int, until_ms: int | None, most: int
) -> list[int]:
    """Cursors of messages of a member that were posted between two moments, both included."""
    found = connection.execute(
        "SELECT n FROM messages WHERE author_id = ?1 AND author_kind = ?2 AND n >= ?3"
        # A cursor is never earlier than the moment of its message.
        " AND coalesce(posted_at_ms, n >> 12) BETWEEN ?4 AND coalesce(?5, 9223372036854775807) LIMIT ?6",
        (member_id, MEMBER, first_number_at(since_ms), since_ms, until_ms, most),
    )
    return [row["n"] for row in found]


def forget_nonces(connection: Connection, member_id: str) -> None:
    connection.execute("DELETE FROM message_nonces WHERE author_id = ?", (member_id,))


async def by(database: Database, member_id: str, after: int, most: int) -> list[int]:
    """Cursors of messages of a member, the oldest first, after one."""
    found = await database.rows(
        "SELECT n FROM messages WHERE author_id = ? AND author_kind = ? AND n > ? ORDER BY n LIMIT ?",
        (member_id, MEMBER, after, most),
    )
    return [row["n"] for row in found]


async def reactions_of(database: Database, member_id: str, after: tuple[int, str], most: int) -> list[Row]:
    """With the messages they are on, after a cursor and an emoji."""
    return await database.rows(
        "SELECT r.n, m.id, m.channel_id, r.emoji, r.reacted_at_ms FROM reactions r JOIN messages m USING (n)"
        " WHERE r.member_id = ? AND (r.n, r.emoji) > (?, ?) ORDER BY r.n, r.emoji LIMIT ?",
        (member_id, *after, most),
    )
