"""The table of emoji. SQL only."""

from dataclasses import dataclass

from svc.base.database import Connection, Database
from svc.base.tables import Table, number


@dataclass(frozen=True, slots=True)
class OwnEmoji:
    """One that stands for `:name:`."""

    id: str
    name: str
    key: str
    animated: bool
    created_by: str | None
    created_at_ms: int


_EMOJI = Table("emoji", OwnEmoji)


async def load(database: Database) -> list[OwnEmoji]:
    return await _EMOJI.all(database, "ORDER BY name")


def insert(connection: Connection, emoji: OwnEmoji) -> None:
    _EMOJI.insert(connection, emoji)


def get(connection: Connection, emoji_id: str) -> OwnEmoji | None:
    return _EMOJI.get(connection, id=emoji_id)


def count(connection: Connection) -> int:
    return number(connection.execute("SELECT count(*) FROM emoji"))


def is_taken(connection: Connection, name: str) -> bool:
    return connection.execute("SELECT 1 FROM emoji WHERE name = ?", (name,)).fetchone() is not None


def rename(connection: Connection, emoji_id: str, name: str) -> None:
    connection.execute("UPDATE emoji SET name = ? WHERE id = ?", (name, emoji_id))


def delete(connection: Connection, emoji_id: str) -> None:
    connection.execute("DELETE FROM emoji WHERE id = ?", (emoji_id,))


def forget_member(connection: Connection, member_id: str) -> None:
    """Emoji stay; who made them is forgotten."""
    connection.execute("UPDATE emoji SET created_by = NULL WHERE created_by = ?", (member_id,))
