"""Removes unreferenced media after a grace period.

First, an object's row is marked to prevent new references. Then the object is removed, and finally its row.
An interrupted sweep is completed by the next one. The sweep handles only this server's rows, because other
servers may share the store. See docs/configuration.md, "Chat server", MEDIA_SWEEP_INTERVAL_MS and
MEDIA_SWEEP_GRACE_MS.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from svc.base.database import Connection, Database, StorageFailed
from svc.base.object_store import ObjectStore, StoreFailed
from svc.base.tasks import continue_on_errors
from svc.chat.media.stored_media import Media, delete, mark_going

# The maximum number of objects removed per write transaction.
_AT_ONCE = 100
# After this many failures, the sweep stops using the object store.
_MAX_FAULTS = 3

_IDLE = (
    "state != 'going' AND idle_since_ms <= ?"
    " AND NOT EXISTS (SELECT 1 FROM object_references AS r WHERE r.key = objects.key)"
)

_FAULT_MESSAGES = "media could not be swept", "sweeping media failed"

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class SweepCounts:
    """Counts of removed objects and failures, and the number and total size of stored objects when last
    counted.
    """

    swept: int = 0
    failed: int = 0
    kept_objects: int = 0
    kept_bytes: int = 0


class Sweep:
    """The task that removes unreferenced objects. `also` runs before each sweep. `now` returns seconds since
    1970.
    """

    def __init__(
        self,
        database: Database,
        media: Media,
        interval_ms: int,
        grace_ms: int,
        now: Callable[[], float],
        also: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._database = database
        self._media = media
        self._interval_s = interval_ms / 1000
        self._grace_ms = grace_ms
        self._now = now
        self._also = also
        self.counts = SweepCounts()

    async def run(self) -> NoReturn:
        """Sweep while the server is running."""
        while True:
            async with continue_on_errors(logger, StorageFailed, *_FAULT_MESSAGES):
                await self.count()
                await asyncio.sleep(self._interval_s)
                await self.run_once()

    async def count(self) -> None:
        """Count the stored objects and bytes."""
        [all_of_them] = await self._database.rows("SELECT count(*), coalesce(sum(bytes), 0) FROM objects")
        self.counts.kept_objects, self.counts.kept_bytes = all_of_them

    async def run_once(self) -> int:
        """Remove all objects that are due. Return the number removed."""
        if self._also is not None:
            await self._also()
        if not self._media.enabled:
            return 0
        await self._media.objects.tidy_up()
        swept = 0
        while deleted := await self._some():
            swept += deleted
        return swept

    async def _some(self) -> int:
        """Remove a batch of the objects that are due. Return the number removed."""
        before_ms = int(self._now() * 1000) - self._grace_ms
        spared = self._media.in_hand()
        going = await self._database.write(
            lambda connection: _mark_unreferenced(connection, before_ms, spared)
        )
        deleted = await self._remove_objects(self._media.objects, going)
        if deleted:
            await self._database.write(lambda connection: delete(connection, deleted))
        self.counts.swept += len(deleted)
        return len(deleted)

    async def _remove_objects(self, objects: ObjectStore, keys: list[str]) -> list[str]:
        deleted: list[str] = []
        faults = 0
        for key in keys:
            try:
                await objects.delete(key)
                deleted.append(key)
            except StoreFailed as fault:
                faults += 1
                self.counts.failed += 1
                logger.warning("an object could not be removed", extra={"key": key, "fault": str(fault)})
                if faults == _MAX_FAULTS:
                    break
        return deleted


def _mark_unreferenced(connection: Connection, idle_before_ms: int, spared: Sequence[str]) -> list[str]:
    """Mark unreferenced objects to prevent new references. Return a batch of the marked keys."""
    rows = connection.execute(
        f"SELECT key FROM objects WHERE {_IDLE} ORDER BY idle_since_ms LIMIT ?",
        (idle_before_ms, _AT_ONCE + len(spared)),
    )
    mark_going(connection, [key for (key,) in rows if key not in spared][:_AT_ONCE])
    going = connection.execute("SELECT key FROM objects WHERE state = 'going' LIMIT ?", (_AT_ONCE,))
    return [key for (key,) in going]
