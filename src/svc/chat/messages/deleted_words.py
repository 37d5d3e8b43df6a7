"""Remove the words of deleted and edited messages from the parts of the index that still hold them.

SQLite's full-text index only notes that a message was deleted: its words stay until the parts of the index
that hold them are merged. Merging rewrites the index (0.1 s of processor time and 9 MB of log for 60,000
messages), so it runs hourly on small servers and daily on large ones, in writes of some 2 ms. The database's
log is emptied afterwards: then no file holds what was deleted, whichever feature deleted it.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import NoReturn

from svc.base.database import Connection, Database, StorageFailed
from svc.base.tables import value
from svc.base.tasks import undeterred
from svc.chat.messages.searching import Indexer

INTERVAL_S = 3600.0
DAY_MS = 24 * 60 * 60 * 1000
# Up to this number of messages the index is merged in every round.
_FEW_MESSAGES = 100_000
# Some 2 ms of the writer's time; how many times as long others have it next; and more than any index takes.
_PAGES = 16
_SHARE = 4
_MOST_STEPS = 1_000_000

_MERGED = "SELECT value FROM facts WHERE name = 'words_merged_at_ms'"

_SAID = "what was deleted is not overwritten yet", "overwriting what was deleted failed"

logger = logging.getLogger(__name__)


class DeletedWords:
    """`now` gives seconds since 1970."""

    def __init__(self, database: Database, indexer: Indexer, now: Callable[[], float]) -> None:
        self._database = database
        self._indexer = indexer
        self._now = now
        # How many writes there had been at the end of the last round.
        self._seen = -1

    async def run(self) -> NoReturn:
        while True:
            async with undeterred(logger, StorageFailed, *_SAID):
                await self.once()
            await asyncio.sleep(INTERVAL_S)

    async def once(self) -> None:
        """Overwrite what was deleted before, unless nothing was written since the last time."""
        if self._database.statistics.writes == self._seen:
            return
        await self._indexer.in_step()
        now_ms = int(self._now() * 1000)
        if await self._database.write(lambda connection: _begin(connection, now_ms)):
            for _ in range(_MOST_STEPS):
                before = time.monotonic()
                if not await self._database.write(lambda connection: _merge(connection, _PAGES)):
                    break
                await asyncio.sleep(_SHARE * (time.monotonic() - before))
            await self._database.write(lambda connection: _end(connection, now_ms))
        await self._database.empty_log()
        self._seen = self._database.statistics.writes


def _begin(connection: Connection, now_ms: int) -> bool:
    """Begin a merge, where words were deleted and it is time for one."""
    if not connection.execute("SELECT 1 FROM facts WHERE name = 'words_deleted'").fetchone():
        return False
    merged_at_ms = int(value(connection.execute(_MERGED), str) or 0)
    few = connection.execute("SELECT count(*) FROM (SELECT 1 FROM messages LIMIT ?)", (_FEW_MESSAGES,))
    if few.fetchone()[0] == _FEW_MESSAGES and 0 <= now_ms - merged_at_ms < DAY_MS:
        return False
    # Words that are deleted from here on count for the next merge.
    connection.execute("UPDATE facts SET value = 'merging' WHERE name = 'words_deleted'")
    # A negative number begins a merge of all parts, a positive one goes on with it.
    _merge(connection, -_PAGES)
    return True


def _merge(connection: Connection, pages: int) -> bool:
    """Whether there may be more to do."""
    before = connection.total_changes
    connection.execute("INSERT INTO message_words (message_words, rank) VALUES ('merge', ?)", (pages,))
    return connection.total_changes - before >= 2


def _end(connection: Connection, now_ms: int) -> None:
    connection.execute("DELETE FROM facts WHERE name = 'words_deleted' AND value = 'merging'")
    connection.execute("INSERT OR REPLACE INTO facts VALUES ('words_merged_at_ms', ?)", (str(now_ms),))
