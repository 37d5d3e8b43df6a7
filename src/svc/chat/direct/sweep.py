"""What private conversations kept for long enough goes, from the file and from its log.

Looks every hour, deletes some in each write, and overwrites what it deletes. What was deleted from the
file is in the database's log until that is emptied, so it is emptied then. Spec: chat document section 8.2.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import NoReturn

from svc.base.database import Connection, Database, StorageFailed
from svc.chat.direct import devices_store, store

DAY_MS = 24 * 60 * 60 * 1000
_INTERVAL_S = 3600.0
_AT_ONCE = 500
_PAUSE_AFTER_FAULT_S = 5.0
# Between taking a key package and the Welcome for it there are seconds.
_TAKEN_FOR_MS = DAY_MS

logger = logging.getLogger(__name__)


class PrivateSweep:
    """`now` gives seconds since 1970."""

    def __init__(self, database: Database, days: int, now: Callable[[], float]) -> None:
        self._database = database
        self._days = days
        self._now = now

    async def run(self) -> NoReturn:
        """For as long as the server runs."""
        while True:
            try:
                await self.once()
                await asyncio.sleep(_INTERVAL_S)
            except StorageFailed as fault:
                logger.warning("encrypted messages are kept for longer", extra={"fault": str(fault)})
                await asyncio.sleep(_PAUSE_AFTER_FAULT_S)
            except Exception:
                logger.exception("deleting encrypted messages failed")
                await asyncio.sleep(_PAUSE_AFTER_FAULT_S)

    async def once(self) -> int:
        """Delete everything that is due; how many messages that were."""
        now_ms = int(self._now() * 1000)

        def expire(connection: Connection) -> int:
            with store.erasing(connection):
                return store.expire(connection, now_ms - self._days * DAY_MS, _AT_ONCE)

        def settle(connection: Connection) -> int:
            with store.erasing(connection):
                devices_store.expire(connection, now_ms, now_ms - _TAKEN_FOR_MS)
                return store.drop_received(connection)

        found = 0
        while some := await self._database.write(expire):
            found += some
        received = await self._database.write(settle)
        if found or received:
            await self._database.empty_log()
        if found:
            logger.info("encrypted messages were kept long enough", extra={"entries": found})
        return found
