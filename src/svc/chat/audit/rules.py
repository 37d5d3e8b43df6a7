"""Who did what to whom: one entry for each administrative act, in the same write as the act.

An entry is never changed and never deleted. Decides nothing about the acts themselves; and
whoever records one leaves secrets out of its details. No HTTP, no SQL.
"""

from collections.abc import Mapping

from svc.base.database import Connection, Database
from svc.base.strict_json import dumps
from svc.chat.audit import store
from svc.chat.audit.store import Entry, Wanted

MAX_PAGE = 200


class Audit:
    def __init__(self, database: Database) -> None:
        self._database = database

    def record(
        self,
        connection: Connection,
        *,
        actor_id: str | None,
        action: str,
        target_id: str | None,
        details: Mapping[str, object],
        now: float,
    ) -> None:
        """A step of the write that does what is recorded. Without an actor, the operator did it."""
        written = dumps(dict(details)).decode()
        store.insert(connection, int(now * 1000), actor_id, action, target_id, written)

    async def page(self, wanted: Wanted, limit: int) -> tuple[list[Entry], int | None]:
        """Entries, newest first, and what to ask for `before` to go on; None at the end."""
        found = await store.page(self._database, wanted, limit + 1)
        page = found[:limit]
        return page, page[-1].id if len(found) > limit else None
