"""The tables of threads and of who follows them. SQL only."""

from collections.abc import Iterable

from svc.base.database import Connection, Database, Row
from svc.chat.messages.message import Answers, moment_of


def answers(connection: Connection, thread: str) -> Answers | None:
    """What there is in a thread, as the write sees it that asks; None where there is nothing."""
    row = connection.execute(
        "SELECT t.count, l.n, l.id, l.posted_at_ms FROM threads AS t JOIN messages AS l ON l.n = t.last_n"
        " WHERE t.id = ?",
        (thread,),
    ).fetchone()
    return row and Answers(row["count"], row["n"], row["id"], moment_of(row["n"], row["posted_at_ms"]))


def is_of(connection: Connection, thread: str, channel_id: str) -> bool:
    """Is there such a thread in the channel?"""
    sql = "SELECT 1 FROM messages WHERE channel_id = ? AND thread = ? LIMIT 1"
    return connection.execute(sql, (channel_id, thread)).fetchone() is not None


def follow_first(connection: Connection, member_id: str, thread: str, channel_id: str, n: int) -> None:
    """From a cursor on, for who does not follow it yet."""
    connection.execute(
        "INSERT OR IGNORE INTO thread_follows VALUES (?, ?, ?, ?)", (member_id, thread, channel_id, n)
    )


def follow(connection: Connection, member_id: str, thread: str, channel_id: str, n: int) -> None:
    """From a cursor on. A mark does not go back."""
    connection.execute(
        "INSERT INTO thread_follows VALUES (?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET n = excluded.n WHERE excluded.n > thread_follows.n",
        (member_id, thread, channel_id, n),
    )


def read(connection: Connection, member_id: str, thread: str, n: int) -> None:
    """Where the member follows it. A mark does not go back."""
    connection.execute(
        "UPDATE thread_follows SET n = ?3 WHERE member_id = ?1 AND thread = ?2 AND n < ?3",
        (member_id, thread, n),
    )


def unfollow(connection: Connection, follows: Iterable[tuple[str, str]]) -> None:
    """Members, each with a thread."""
    connection.executemany("DELETE FROM thread_follows WHERE member_id = ? AND thread = ?", follows)


def forget_channel(connection: Connection, channel_id: str) -> None:
    connection.execute("DELETE FROM thread_follows WHERE channel_id = ?", (channel_id,))


def forget_member(connection: Connection, member_id: str) -> None:
    connection.execute("DELETE FROM thread_follows WHERE member_id = ?", (member_id,))


async def follows(database: Database) -> list[Row]:
    """Member, thread, channel, the member's mark and the thread's last message."""
    return await database.rows(
        "SELECT f.member_id, f.thread, f.channel_id, f.n, t.last_n FROM thread_follows AS f"
        " JOIN threads AS t ON t.id = f.thread"
    )


async def unread(database: Database) -> list[Row]:
    """Of each thread the cursors of what somebody who follows it has not read, the oldest first."""
    return await database.rows(
        "SELECT f.thread, m.n FROM"
        " (SELECT thread, channel_id, min(n) AS n FROM thread_follows GROUP BY thread, channel_id) AS f"
        " JOIN messages AS m ON m.channel_id = f.channel_id AND m.thread = f.thread AND m.n > f.n"
        " ORDER BY m.n"
    )


async def unread_mentions(database: Database) -> list[Row]:
    """Member, thread, and the cursor of a message that mentions and was not read."""
    return await database.rows(
        "SELECT f.member_id, f.thread, m.n FROM mentions AS m JOIN messages AS s ON s.n = m.n"
        " JOIN thread_follows AS f ON f.member_id = m.member_id AND f.thread = s.thread"
        " WHERE m.n > f.n ORDER BY m.n"
    )
