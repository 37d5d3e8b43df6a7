"""Who did what to whom: one entry for each administrative act, in the same write as the act.

An entry is never changed and never deleted. One whose details name a `channel_id` is shown
only to who may view that channel, and once the channel is gone to the owner. Decides nothing
about the acts themselves; and whoever records one leaves secrets out of its details.
No HTTP, no SQL.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from svc.base.database import Connection, Database
from svc.base.strict_json import dumps
from svc.chat.access.directory import Directory
from svc.chat.audit import store
from svc.chat.audit.store import AuditEntry, EntryId, Wanted

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
        store.insert(connection, int(now * 1000), actor_id, action, target_id, where, written)

    async def about(
        self, asker_id: str, target_id: str, actions: Sequence[str], before: int | None, limit: int
    ) -> AuditPage:
        """The same of one target, and of some actions only."""
        wanted = Wanted(before=before, target_id=target_id, actions=actions)
        return await self.page(asker_id, wanted, limit)

    async def page(self, asker_id: str, wanted: Wanted, limit: int) -> AuditPage:
        """What a member may see, newest first."""
        directory = self._directory
        everything = directory.is_owner(asker_id)
        seen = None if everything else [channel.id for channel in directory.visible_channels(asker_id)]
        found = await store.page(self._database, wanted, limit + 1, seen)
        page = found[:limit]
        return AuditPage(page, page[-1].id if len(found) > limit else None)
