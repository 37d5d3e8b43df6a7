"""The table of webhooks. SQL only; the secrets in it are sealed by then."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from svc.base.database import Connection, Database
from svc.base.tables import Table, number


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


_WEBHOOKS = Table("webhooks", Webhook)


def holder_of(member_id: str | None) -> str:
    """Whose share of the server the webhooks of a member take: theirs together. None is the operator."""
    return f"webhooks of {member_id or 'the operator'}"


async def load(database: Database, limit: int) -> list[Webhook]:
    return await _WEBHOOKS.all(database, "ORDER BY id LIMIT ?", limit)


def insert(connection: Connection, webhook: Webhook) -> None:
    _WEBHOOKS.insert(connection, webhook)


def count(connection: Connection) -> int:
    return number(connection.execute("SELECT count(*) FROM webhooks"))


def edit(connection: Connection, webhook_id: str, values: Mapping[str, str | None]) -> None:
    """Set columns by name, which are the caller's own."""
    _WEBHOOKS.edit(connection, values, id=webhook_id)


def delete(connection: Connection, webhook_id: str) -> None:
    connection.execute("DELETE FROM webhooks WHERE id = ?", (webhook_id,))
