"""The table of emoji. SQL only."""

from dataclasses import dataclass

from svc.base.database import Connection
from svc.base.tables import Table


@dataclass(frozen=True, slots=True)
class OwnEmoji:
    """One that stands for `:name:`."""

    id: str
    name: str
    key: str
    animated: bool
    created_by: str | None
    created_at_ms: int


EMOJI = Table("emoji", OwnEmoji)


def is_taken(connection: Connection, name: str) -> bool:
    return connection.execute("SELECT 1 FROM emoji WHERE name = ?", (name,)).fetchone() is not None


def rename(connection: Connection, emoji_id: str, name: str) -> None:
    connection.execute("UPDATE emoji SET name = ? WHERE id = ?", (name, emoji_id))


def forget_member(connection: Connection, member_id: str) -> None:
    """Emoji stay; who made them is forgotten."""
    connection.execute("UPDATE emoji SET created_by = NULL WHERE created_by = ?", (member_id,))
