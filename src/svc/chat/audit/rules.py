"""Who did what to whom: one entry for each administrative act, in the same write as the act.

An entry is never changed and never deleted. One whose details name a `channel_id` is shown
only to who may view that channel, and once the channel is gone to the owner. Decides nothing
about the acts themselves; and whoever records one leaves secrets out of its details.
No HTTP.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from svc.base.database import Connection, Database
from svc.base.strict_json import dumps
from svc.base.tables import JSON, Table
from svc.chat.access.directory import Directory
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
class WantedEntries:
    """Which entries; None stands for any."""

    before: int | None = None
    actor_id: str | None = None
    target_id: str | None = None
    action: str | None = None
    # One of these; any where there are none.
    actions: Sequence[str] = ()


_LOG = Table("audit_log", AuditEntry, details=JSON)


MAX_PAGE = 200
Entries = Annotated[Sequence[AuditEntry], Meta(max_length=MAX_PAGE)]


@dataclass(frozen=True, slots=True)
class AuditPage:
    """`next` is what to ask for `before` to go on; None at the end."""

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
        """A step of the write that does what is recorded. Without an actor, the operator did it."""
        written = dumps(dict(details)).decode()
        channel_id = details.get("channel_id")
        where = channel_id if isinstance(channel_id, str) else None
        connection.execute(
            "INSERT INTO audit_log (at_ms, actor_id, action, target_id, channel_id, details)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (int(now * 1000), actor_id, action, target_id, where, written),
        )

    async def page(self, asker_id: str, wanted: WantedEntries, limit: int) -> AuditPage:
        """What a member may see, newest first; about a channel only to who may view it, or the owner."""
        tests = {
            "id < ?": wanted.before,
            "actor_id = ?": wanted.actor_id,
            "target_id = ?": wanted.target_id,
            "action = ?": wanted.action,
        }
        asked = {test: value for test, value in tests.items() if value is not None}
        conditions, values = ["1", *asked], list[object](asked.values())
        if wanted.actions:
            conditions.append(f"action IN ({','.join('?' * len(wanted.actions))})")
            values += wanted.actions
        if not self._directory.is_owner(asker_id):
            seen = [channel.id for channel in self._directory.visible_channels(asker_id)]
            conditions.append(f"(channel_id IS NULL OR channel_id IN ({','.join('?' * len(seen))}))")
            values += seen
        rest = f"WHERE {' AND '.join(conditions)} ORDER BY id DESC LIMIT ?"
        found = await _LOG.all(self._database, rest, *values, limit + 1)
        page = found[:limit]
        return AuditPage(page, page[-1].id if len(found) > limit else None)
