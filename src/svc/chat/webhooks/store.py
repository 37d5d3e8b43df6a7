"""The table of webhooks. SQL only; the secrets in it are sealed by then."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from svc.base.database import Connection, Database, Row


@dataclass(frozen=True, slots=True)
class Webhook:
    id: str
    name: str
    channel_id: str | None
    picture: str | None  # the key of a stored object
    token_fingerprint: bytes
    token_sealed: bytes
    created_by: str | None
    created_at_ms: int

    def described(self, picture_url: Callable[[str], str]) -> dict[str, object]:
        """As those see it who may manage it, without what opens it."""
        return {
            "id": self.id,
            "name": self.name,
            "channel_id": self.channel_id,
            "picture": None if self.picture is None else picture_url(self.picture),
            "created_by": self.created_by,
            "created_at_ms": self.created_at_ms,
        }


async def load(database: Database, limit: int) -> list[Webhook]:
    rows = await database.rows("SELECT * FROM webhooks ORDER BY id LIMIT ?", (limit,))
    return [_webhook(row) for row in rows]


def insert(connection: Connection, webhook: Webhook) -> None:
    connection.execute(
        "INSERT INTO webhooks VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            webhook.id,
            webhook.name,
            webhook.channel_id,
            webhook.picture,
            webhook.token_fingerprint,
            webhook.token_sealed,
            webhook.created_by,
            webhook.created_at_ms,
        ),
    )


def channel_of(connection: Connection, webhook_id: str) -> tuple[str | None] | None:
    """As the write sees it that asks: its channel; None where there is no such webhook."""
    row = connection.execute("SELECT channel_id FROM webhooks WHERE id = ?", (webhook_id,)).fetchone()
    return None if row is None else (row["channel_id"],)


def count(connection: Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM webhooks").fetchone()[0])


def channel_exists(connection: Connection, channel_id: str) -> bool:
    return connection.execute("SELECT 1 FROM channels WHERE id = ?", (channel_id,)).fetchone() is not None


def edit(connection: Connection, webhook_id: str, values: Mapping[str, str | None]) -> bool:
    """Set columns by name, which are the caller's own; False when there is no such webhook."""
    columns = ", ".join(f"{name} = ?" for name in values)
    changed = connection.execute(
        f"UPDATE webhooks SET {columns} WHERE id = ?", (*values.values(), webhook_id)
    )
    return changed.rowcount == 1


def delete(connection: Connection, webhook_id: str) -> bool:
    return connection.execute("DELETE FROM webhooks WHERE id = ?", (webhook_id,)).rowcount == 1


def _webhook(row: Row) -> Webhook:
    return Webhook(**dict(row))
