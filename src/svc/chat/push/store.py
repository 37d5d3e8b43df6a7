"""The table of push subscriptions. SQL only."""

from dataclasses import dataclass, field

from svc.base.database import Connection, Database
from svc.base.tables import Table


@dataclass(frozen=True, slots=True)
class Subscription:
    """Where a device takes what is pushed to it; anyone who knows these could push there."""

    session_id: str
    member_id: str
    endpoint: str = field(repr=False)
    public_key: bytes = field(repr=False)
    secret: bytes = field(repr=False)


_SUBSCRIPTIONS = Table("push_subscriptions", Subscription)


def put(connection: Connection, one: Subscription) -> None:
    """A browser has one endpoint, whoever is signed in there."""
    connection.execute(
        "DELETE FROM push_subscriptions WHERE session_id = ? OR endpoint = ?", (one.session_id, one.endpoint)
    )
    _SUBSCRIPTIONS.insert(connection, one)


def remove(connection: Connection, session_id: str, endpoint: str | None = None) -> None:
    """Only while it has that endpoint, where one is given."""
    connection.execute(
        "DELETE FROM push_subscriptions WHERE session_id = ?1 AND endpoint = coalesce(?2, endpoint)",
        (session_id, endpoint),
    )


async def all_sessions(database: Database) -> list[tuple[str, str]]:
    """Member and session of each."""
    found = await database.rows("SELECT member_id, session_id FROM push_subscriptions")
    return [(member_id, session_id) for member_id, session_id in found]


async def of_session(database: Database, session_id: str, now_ms: int) -> Subscription | None:
    """While the device is signed in."""
    row = await database.row(
        f"SELECT {_SUBSCRIPTIONS.select('p')} FROM push_subscriptions AS p"
        " JOIN sessions AS s ON s.id = p.session_id"
        " WHERE p.session_id = ? AND s.expires_at_ms > ?",
        (session_id, now_ms),
    )
    return _SUBSCRIPTIONS.read(row) if row else None
