"""The table of the audit log. SQL only."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from svc.base.database import Connection, Database
from svc.base.tables import JSON, Table
from svc.chat.described import Id, TimeMs

# As far as SQLite counts.
EntryId = Annotated[int, Meta(ge=1, le=2**63 - 1)]


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An act; without an actor it was the operator's."""

    id: EntryId
    at_ms: TimeMs
    actor_id: Id | None
    action: str
    target_id: Id | None
    details: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which entries; None stands for any."""

    before: int | None = None
    actor_id: str | None = None
    target_id: str | None = None
    action: str | None = None
    # One of these; any where there are none.
    actions: Sequence[str] = ()


_LOG = Table("audit_log", AuditEntry, details=JSON)


def insert(
    connection: Connection,
    at_ms: int,
    actor_id: str | None,
    action: str,
    target_id: str | None,
    channel_id: str | None,
    details: str,
) -> None:
    connection.execute(
        "INSERT INTO audit_log (at_ms, actor_id, action, target_id, channel_id, details)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (at_ms, actor_id, action, target_id, channel_id, details),
    )


async def page(
    database: Database, wanted: Wanted, limit: int, channel_ids: Sequence[str] | None
) -> list[AuditEntry]:
    """The newest first; those about a channel only of `channel_ids`, unless that is None."""
    tests = {
        "id < ?": wanted.before,
        "actor_id = ?": wanted.actor_id,
        "target_id = ?": wanted.target_id,
        "action = ?": wanted.action,
    }
    asked = {test: value for test, value in tests.items() if value is not None}
    conditions, values = list(asked), list[object](asked.values())
    if wanted.actions:
        conditions.append(f"action IN ({','.join('?' * len(wanted.actions))})")
        values += wanted.actions
    if channel_ids is not None:
        conditions.append(f"(channel_id IS NULL OR channel_id IN ({','.join('?' * len(channel_ids))}))")
        values += channel_ids
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return await _LOG.all(database, f"{where} ORDER BY id DESC LIMIT ?", *values, limit)
