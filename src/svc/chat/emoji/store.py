"""The table of emoji. SQL only."""

from dataclasses import dataclass

from svc.base.database import Connection, Database, Row


@dataclass(frozen=True, slots=True)
class OwnEmoji:
    """One that stands for `:name:`."""

    id: str
    name: str
    key: str
    animated: bool
    created_by: str | None
    created_at_ms: int


async def load(database: Database) -> list[OwnEmoji]:
    return [_emoji(row) for row in await database.rows("SELECT * FROM emoji ORDER BY name")]


def insert(connection: Connection, emoji: OwnEmoji) -> None:
    connection.execute(
        "INSERT INTO emoji VALUES (?, ?, ?, ?, ?, ?)",
        (emoji.id, emoji.name, emoji.key, emoji.animated, emoji.created_by, emoji.created_at_ms),
    )


def get(connection: Connection, emoji_id: str) -> OwnEmoji | None:
    row = connection.execute("SELECT * FROM emoji WHERE id = ?", (emoji_id,)).fetchone()
    return _emoji(row) if row else None


def count(connection: Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM emoji").fetchone()[0])


def is_taken(connection: Connection, name: str) -> bool:
    return connection.execute("SELECT 1 FROM emoji WHERE name = ?", (name,)).fetchone() is not None


def rename(connection: Connection, emoji_id: str, name: str) -> None:
    connection.execute("UPDATE emoji SET name = ? WHERE id = ?", (name, emoji_id))


def delete(connection: Connection, emoji_id: str) -> None:
    connection.execute("DELETE FROM emoji WHERE id = ?", (emoji_id,))


def forget_member(connection: Connection, member_id: str) -> None:
    """Emoji stay; who made them is forgotten."""
    connection.execute("UPDATE emoji SET created_by = NULL WHERE created_by = ?", (member_id,))


def _emoji(row: Row) -> OwnEmoji:
    return OwnEmoji(
        row["id"], row["name"], row["key"], bool(row["animated"]), row["created_by"], row["created_at_ms"]
    )
