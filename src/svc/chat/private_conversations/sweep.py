"""Deletes private messages and encrypted files when their retention period ends.

The task runs hourly, in small batches. An encrypted file is not overwritten, because its bytes are useless
without the key, which was in a message. At the end of each run, the database's write-ahead log is truncated,
so no file still contains deleted content. See docs/configuration.md, "Chat server".
"""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from svc.base.database import Connection, Database, StorageFailed
from svc.base.migrations import remove_copies
from svc.base.tasks import continue_on_errors
from svc.chat.media.stored_media import Media
from svc.chat.private_conversations import devices_store, store
from svc.chat.private_conversations.files import PrivateFiles

DAY_MS = 24 * 60 * 60 * 1000
_INTERVAL_S = 3600.0
# The number of messages deleted per write transaction. Overwriting up to 32 KiB for each message takes about
# 5 ms of the writer's time per batch.
_AT_ONCE = 50
# How long a used key package is stored. Its Welcome normally follows within seconds.
_TAKEN_FOR_MS = DAY_MS

# How long copies of the database from before updates are stored. This is enough time to notice a failed
# update. The copies are deleted because they contain content that members have since deleted.
_COPIES_KEPT_S = 7 * 24 * 60 * 60.0

_FAULT_MESSAGES = "deleting encrypted messages is delayed", "deleting encrypted messages failed"

logger = logging.getLogger(__name__)


class PrivateSweep:
    """The task that deletes old private messages and files.

    `copies` is the folder with copies of the database from before updates. `now` returns seconds since 1970.
    """

    def __init__(
        self,
        database: Database,
        media: Media,
        files: PrivateFiles,
        copies: Path,
        days: int,
        now: Callable[[], float],
    ) -> None:
        self._copies = copies
        self._database = database
        self._media = media
        self._files = files
        self._days = days
        self._now = now

    async def run(self) -> NoReturn:
        while True:
            async with continue_on_errors(logger, StorageFailed, *_FAULT_MESSAGES):
                await self.run_once()
                await asyncio.sleep(_INTERVAL_S)

    async def run_once(self) -> int:
        """Delete all messages and files that are due. Return the number of deleted messages."""
        now_ms = int(self._now() * 1000)
        before_ms = now_ms - self._days * DAY_MS

        def settle(connection: Connection) -> None:
            devices_store.expire(connection, now_ms, now_ms - _TAKEN_FOR_MS)
            store.drop_received(connection)

        deleted = files = 0
        while some := await self._database.write(lambda c: store.expire(c, before_ms, _AT_ONCE)):
            deleted += some
        while keys := await self._database.write(lambda c: self._files.expire(c, before_ms, _AT_ONCE)):
            files += len(await self._media.remove(keys))
        await self._database.write(settle)
        await self._database.empty_log()
        await asyncio.to_thread(remove_copies, self._copies, self._now() - _COPIES_KEPT_S)
        if deleted or files:
            logger.info("old encrypted messages deleted", extra={"entries": deleted, "files": files})
        return deleted
