"""The table of files of private conversations. SQL only."""

from collections.abc import Sequence

from svc.base.database import Connection, Database


def insert(
    connection: Connection, file_id: str, conversation_id: str, member_id: str, sent_at_ms: int
) -> None:
    connection.execute(
        "INSERT INTO private_files VALUES (?, ?, ?, ?)", (file_id, conversation_id, member_id, sent_at_ms)
    )


async def is_in(database: Database, file_id: str, conversation_id: str) -> bool:
    found = await database.row(
        "SELECT 1 FROM private_files WHERE id = ? AND conversation_id = ?", (file_id, conversation_id)
    )
    return found is not None


def remove(connection: Connection, file_id: str, conversation_id: str, member_id: str) -> bool:
    """False where this member has sent no such file."""
    gone = connection.execute(
        "DELETE FROM private_files WHERE id = ? AND conversation_id = ? AND member_id = ?",
        (file_id, conversation_id, member_id),
    )
    return gone.rowcount == 1


def expire(connection: Connection, before_ms: int, most: int) -> Sequence[str]:
    """The ids of some that were sent before a moment, or in a conversation that has gone."""
    found = connection.execute(
        "DELETE FROM private_files WHERE id IN (SELECT id FROM private_files WHERE sent_at_ms <= ?"
        " OR conversation_id NOT IN (SELECT id FROM private_conversations) LIMIT ?) RETURNING id",
        (before_ms, most),
    )
    return [row["id"] for row in found]
