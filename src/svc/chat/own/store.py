"""The tables of blocks and of erasures that are not done yet. SQL only."""

from svc.base.database import Connection, Database


async def load_blocks(database: Database) -> list[tuple[str, str]]:
    """Who has blocked whom."""
    rows = await database.rows("SELECT member_id, blocked_id FROM blocks ORDER BY member_id, blocked_id")
    return [(row["member_id"], row["blocked_id"]) for row in rows]


def block(connection: Connection, member_id: str, blocked_id: str, now_ms: int) -> None:
    connection.execute("INSERT OR IGNORE INTO blocks VALUES (?, ?, ?)", (member_id, blocked_id, now_ms))


def unblock(connection: Connection, member_id: str, blocked_id: str) -> None:
    connection.execute("DELETE FROM blocks WHERE member_id = ? AND blocked_id = ?", (member_id, blocked_id))


def count_blocks(connection: Connection, member_id: str) -> int:
    row = connection.execute("SELECT count(*) FROM blocks WHERE member_id = ?", (member_id,)).fetchone()
    count: int = row[0]
    return count


def forget_member(connection: Connection, member_id: str) -> None:
    """A step of the write in which a member goes: nobody blocks or is blocked by them any more."""
    connection.execute("DELETE FROM blocks WHERE member_id = ? OR blocked_id = ?", (member_id, member_id))


def put_erasure(connection: Connection, member_id: str, now_ms: int) -> None:
    connection.execute("INSERT OR IGNORE INTO erasures VALUES (?, ?)", (member_id, now_ms))


def next_erasure(connection: Connection) -> str | None:
    row = connection.execute("SELECT member_id FROM erasures ORDER BY asked_at_ms LIMIT 1").fetchone()
    return row["member_id"] if row else None


def end_erasure(connection: Connection, member_id: str) -> None:
    connection.execute("DELETE FROM erasures WHERE member_id = ?", (member_id,))
