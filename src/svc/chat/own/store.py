"""The tables of blocks and of erasures that are not done yet. SQL only."""

from dataclasses import dataclass

from svc.base.database import Connection, Database
from svc.base.tables import number


@dataclass(frozen=True, slots=True)
class Erasure:
    """Messages of a member that are to go: those posted from one moment to another, or to no end."""

    member_id: str
    since_ms: int = 0
    until_ms: int | None = None


async def load_blocks(database: Database) -> list[tuple[str, str]]:
    """Who has blocked whom."""
    rows = await database.rows("SELECT member_id, blocked_id FROM blocks ORDER BY member_id, blocked_id")
    return [(row["member_id"], row["blocked_id"]) for row in rows]


def block(connection: Connection, member_id: str, blocked_id: str, now_ms: int) -> None:
    connection.execute("INSERT OR IGNORE INTO blocks VALUES (?, ?, ?)", (member_id, blocked_id, now_ms))


def unblock(connection: Connection, member_id: str, blocked_id: str) -> None:
    connection.execute("DELETE FROM blocks WHERE member_id = ? AND blocked_id = ?", (member_id, blocked_id))


def count_blocks(connection: Connection, member_id: str) -> int:
    return number(connection.execute("SELECT count(*) FROM blocks WHERE member_id = ?", (member_id,)))


def forget_member(connection: Connection, member_id: str) -> None:
    """A step of the write in which a member goes: nobody blocks or is blocked by them any more."""
    connection.execute("DELETE FROM blocks WHERE member_id = ? OR blocked_id = ?", (member_id, member_id))


def put_erasure(connection: Connection, member_id: str, now_ms: int) -> None:
    """Of everything that a member has written."""
    connection.execute(
        "INSERT OR REPLACE INTO erasures (member_id, asked_at_ms) VALUES (?, ?)", (member_id, now_ms)
    )


def put_recent_erasure(connection: Connection, member_id: str, since_ms: int, now_ms: int) -> None:
    """Of messages posted between two moments. An erasure that is there already reaches as far as both."""
    connection.execute(
        "INSERT INTO erasures (member_id, asked_at_ms, since_ms, until_ms) VALUES (?1, ?3, ?2, ?3)"
        " ON CONFLICT (member_id) DO UPDATE SET since_ms = min(since_ms, ?2),"
        " until_ms = CASE WHEN until_ms IS NULL THEN NULL ELSE ?3 END",
        (member_id, since_ms, now_ms),
    )


def next_erasure(connection: Connection) -> Erasure | None:
    row = connection.execute("SELECT * FROM erasures ORDER BY asked_at_ms LIMIT 1").fetchone()
    return Erasure(row["member_id"], row["since_ms"], row["until_ms"]) if row else None


def end_erasure(connection: Connection, done: Erasure) -> None:
    """Unless it has come to reach further meanwhile."""
    connection.execute(
        "DELETE FROM erasures WHERE member_id = ? AND since_ms = ? AND until_ms IS ?",
        (done.member_id, done.since_ms, done.until_ms),
    )
