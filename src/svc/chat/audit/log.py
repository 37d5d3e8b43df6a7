"""Implements the audit log: one entry per administrative action, stored in the same transaction as the
action.

Entries are never changed or deleted. An entry whose details contain a `channel_id` is visible only to members
who may view that channel, and only to the owner once the channel is deleted. This module does not decide
whether an action is allowed. Callers must leave secrets out of the details. Contains no HTTP code.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from svc.base.database import Connection, Database
from svc.base.strict_json import dumps
from svc.base.tables import JSON, Table
from svc.chat.access.directory import Directory
from svc.chat.schemas import Id, TimeMs

# SQLite's largest integer.
EntryId = Annotated[int, Meta(ge=1, le=2**63 - 1)]


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An administrative action. An action by the operator has no actor."""

    id: EntryId
    at_ms: TimeMs
    actor_id: Id | None
    action: str
    target_id: Id | None
    details: dict[str, Any]


@dataclass(frozen=True, slots=True)
class WantedEntries:
    """Filters for entries. A filter of None matches all entries."""

    before: int | None = None
    actor_id: str | None = None
    target_id: str | None = None
    action: str | None = None
    # Matches any of these actions, or all actions if empty.
    actions: Sequence[str] = ()


_LOG = Table("audit_log", AuditEntry, details=JSON)


MAX_PAGE = 200
Entries = Annotated[Sequence[AuditEntry], Meta(max_length=MAX_PAGE)]


@dataclass(frozen=True, slots=True)
class AuditPage:
    """One page of entries. `next` is the value of `before` for the next page, or null on the last page."""

    entries: Entries
    next: EntryId | None


class Audit:
    def __init__(self, database: Database, directory: Directory) -> None:
        self._database = database
        self._directory = directory

    def record(
        self,
        connection: Connection,
        actor_id: str | None,
        action: str,
        target_id: str | None,
        details: Mapping[str, object],
        now: float,
    ) -> None:
        """Record an action. Call this within the action's write transaction. No actor means the operator."""
        written = dumps(dict(details)).decode()
        channel_id = details.get("channel_id")
        where = channel_id if isinstance(channel_id, str) else None
        connection.execute(
            "INSERT INTO audit_log (at_ms, actor_id, action, target_id, channel_id, details)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (int(now * 1000), actor_id, action, target_id, where, written),
        )

    async def page(self, asker_id: str, wanted: WantedEntries, limit: int) -> AuditPage:
        """Return the entries that a member may see, newest first. Entries about a channel require permission
        to view it.
        """
        tests = {
            "id < ?": wanted.before,
            "actor_id = ?": wanted.actor_id,
            "target_id = ?": wanted.target_id,
            "action = ?": wanted.action,
        }
        filters = {test: value for test, value in tests.items() if value is not None}
        conditions, values = ["1", *filters], list[object](filters.values())
        if wanted.actions:
            conditions.append(f"action IN ({','.join('?' * len(wanted.actions))})")
            values += wanted.actions
        if not self._directory.is_owner(asker_id):
            visible = [channel.id for channel in self._directory.visible_channels(asker_id)]
            conditions.append(f"(channel_id IS NULL OR channel_id IN ({','.join('?' * len(visible))}))")
            values += visible
        clause = f"WHERE {' AND '.join(conditions)} ORDER BY id DESC LIMIT ?"
        entries = await _LOG.all(self._database, clause, *values, limit + 1)
        page = entries[:limit]
        return AuditPage(page, page[-1].id if len(entries) > limit else None)
