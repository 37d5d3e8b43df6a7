"""What private conversations kept for long enough goes: from the database, from its log, and sealed files.

Looks every hour, deletes some in each write, and overwrites what it deletes in the database. A sealed file is
deleted: without its key, which was in a message, its bytes say nothing. What was deleted from the database is
in its log until that is emptied, so it is emptied then. docs/configuration.md, "Chat server".
"""

import asyncio
import logging
from collections.abc import Callable
from typing import NoReturn, TypeVar

from svc.base.database import Connection, Database, StorageFailed
from svc.base.erasing import erasing
from svc.base.tasks import undeterred
from svc.chat.direct import devices_store, store
from svc.chat.direct.files import PrivateFiles
from svc.chat.media.rules import Media

DAY_MS = 24 * 60 * 60 * 1000
_INTERVAL_S = 3600.0
_AT_ONCE = 500
# Between taking a key package and the Welcome for it there are seconds.
_TAKEN_FOR_MS = DAY_MS

_SAID = "deleting encrypted messages is delayed", "deleting encrypted messages failed"

logger = logging.getLogger(__name__)

T = TypeVar("T")


class PrivateSweep:
    """`now` gives seconds since 1970."""

    def __init__(
        self, database: Database, media: Media, files: PrivateFiles, days: int, now: Callable[[], float]
    ) -> None:
        self._database = database
        self._media = media
        self._files = files
        self._days = days
        self._now = now

    async def run(self) -> NoReturn:
        while True:
            async with undeterred(logger, StorageFailed, *_SAID):
                await self.once()
                await asyncio.sleep(_INTERVAL_S)

    async def once(self) -> int:
        """Delete everything that is due; how many messages that were."""
        now_ms = int(self._now() * 1000)
        before_ms = now_ms - self._days * DAY_MS

        def settle(connection: Connection) -> int:
            devices_store.expire(connection, now_ms, now_ms - _TAKEN_FOR_MS)
            return store.drop_received(connection)

        found = files = 0
        while some := await self._erased(lambda c: store.expire(c, before_ms, _AT_ONCE)):
            found += some
        while keys := await self._erased(lambda c: self._files.expire(c, before_ms, _AT_ONCE)):
            files += len(await self._media.remove(keys))
        received = await self._erased(settle)
        if found or received or files:
            await self._database.empty_log()
        if found or files:
            logger.info("old encrypted messages deleted", extra={"entries": found, "files": files})
        return found

    async def _erased(self, step: Callable[[Connection], T]) -> T:
        def write(connection: Connection) -> T:
            with erasing(connection):
                return step(connection)

        return await self._database.write(write)
