"""The table of what members have read, and what the counts of the unread start from. SQL only."""

from collections.abc import AsyncIterator

from svc.base.database import Connection, Database


def mark_read(connection: Connection, member_id: str, channel_id: str, n: int) -> None:
    """A mark does not go back."""
    connection.execute(
        "INSERT INTO reads VALUES (?, ?, ?)"
        " ON CONFLICT DO UPDATE SET n = excluded.n WHERE excluded.n > reads.n",
        (member_id, channel_id, n),
    )


def mark_unread(connection: Connection, member_id: str, channel_id: str, n: int) -> list[int]:
    """Put a mark back to `n`; the cursors of what is unread then and mentions the member, none of threads."""
    where = (member_id, channel_id, n)
    connection.execute("UPDATE reads SET n = ?3 WHERE member_id = ?1 AND channel_id = ?2 AND n > ?3", where)
    found = connection.execute(
        "SELECT m.n FROM mentions AS m JOIN messages AS s ON s.n = m.n"
        " WHERE m.member_id = ?1 AND m.channel_id = ?2 AND m.n > ?3 AND s.thread IS NULL",
        where,
    )
    return [row[0] for row in found]


def mark_all_read(connection: Connection, member_id: str, after: int) -> None:
    """Of somebody new: whatever has a cursor behind `after`."""
    connection.execute(
        "INSERT INTO reads SELECT ?, channel_id, max(n) FROM messages WHERE n > ? AND thread IS NULL"
        " GROUP BY channel_id",
        (member_id, after),
    )


async def marks(database: Database) -> list[tuple[str, str, int]]:
    """Member, channel, and up to which cursor."""
    found = await database.rows("SELECT member_id, channel_id, n FROM reads")
    return [(row["member_id"], row["channel_id"], row["n"]) for row in found]


async def unread_mentions(database: Database) -> list[tuple[str, str, int]]:
    """Member, channel, and the cursor of a message that mentions and was not read; none of threads."""
    found = await database.rows(
        "SELECT m.member_id, m.channel_id, m.n FROM mentions AS m JOIN messages AS s ON s.n = m.n"
        " LEFT JOIN reads AS r ON r.member_id = m.member_id AND r.channel_id = m.channel_id"
        " WHERE m.n > coalesce(r.n, 0) AND s.thread IS NULL ORDER BY m.n"
    )
    return [(row["member_id"], row["channel_id"], row["n"]) for row in found]


async def newest_of_each_channel(database: Database, most: int) -> AsyncIterator[tuple[str, list[int]]]:
    """The cursors of the newest messages of each channel, the oldest first; none of threads."""
    for channel in await database.rows("SELECT id FROM channels"):
        found = await database.rows(
            "SELECT n FROM messages WHERE channel_id = ? AND thread IS NULL ORDER BY n DESC LIMIT ?",
            (channel["id"], most),
        )
        yield channel["id"], [row["n"] for row in reversed(found)]
