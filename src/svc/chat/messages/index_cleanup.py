"""Removes the words of deleted and edited messages from the search index.

SQLite's full-text index only records that a message was deleted. Its words stay until the segments that
contain them are merged. Merging rewrites the index (0.1 s of CPU time and 9 MB of log for 60,000 messages),
so it runs hourly on small servers and daily on large ones, in write transactions of about 2 ms. The
database's write-ahead log is then truncated, so the files no longer contain deleted data from any feature.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import NoReturn

from svc.base.database import Connection, Database, StorageFailed
from svc.base.tables import value
from svc.base.tasks import continue_on_errors
from svc.chat.messages.search import Indexer

INTERVAL_S = 3600.0
DAY_MS = 24 * 60 * 60 * 1000
# The index is merged hourly if there are fewer messages than this, and daily otherwise.
_FEW_MESSAGES = 100_000
# Merging _PAGES pages takes about 2 ms of the writer's time. Other writes then get _SHARE times as much.
# _MAX_STEPS only prevents an endless loop.
_PAGES = 16
_SHARE = 4
_MAX_STEPS = 1_000_000

_MERGED = "SELECT value FROM facts WHERE name = 'words_merged_at_ms'"

_FAULT_MESSAGES = "what was deleted is not overwritten yet", "overwriting what was deleted failed"

logger = logging.getLogger(__name__)


class IndexCleanup:
    """The task that merges the index. `now` returns seconds since 1970."""

    def __init__(self, database: Database, indexer: Indexer, now: Callable[[], float]) -> None:
        self._database = database
        self._indexer = indexer
        self._now = now
        # The database's write count at the end of the last run.
        self._seen = -1

    async def run(self) -> NoReturn:
        while True:
            async with continue_on_errors(logger, StorageFailed, *_FAULT_MESSAGES):
                await self.run_once()
            await asyncio.sleep(INTERVAL_S)

    async def run_once(self) -> None:
        """Overwrite deleted words, unless nothing has been written since the last run."""
        if self._database.statistics.writes == self._seen:
            return
        await self._indexer.wait_indexed()
        now_ms = int(self._now() * 1000)
        if await self._database.write(lambda connection: _begin(connection, now_ms)):
            for _ in range(_MAX_STEPS):
                before = time.monotonic()
                if not await self._database.write(lambda connection: _merge(connection, _PAGES)):
                    break
                await asyncio.sleep(_SHARE * (time.monotonic() - before))
            await self._database.write(lambda connection: _end(connection, now_ms))
        await self._database.empty_log()
        self._seen = self._database.statistics.writes


def _begin(connection: Connection, now_ms: int) -> bool:
    """Start a merge if words were deleted and a merge is due. Return whether a merge was started."""
    if not connection.execute("SELECT 1 FROM facts WHERE name = 'words_deleted'").fetchone():
        return False
    merged_at_ms = int(value(connection.execute(_MERGED), str) or 0)
    few = connection.execute("SELECT count(*) FROM (SELECT 1 FROM messages LIMIT ?)", (_FEW_MESSAGES,))
    if few.fetchone()[0] == _FEW_MESSAGES and 0 <= now_ms - merged_at_ms < DAY_MS:
        return False
    # The next merge handles words that are deleted after this point.
    connection.execute("UPDATE facts SET value = 'merging' WHERE name = 'words_deleted'")
    # A negative number begins a merge of all segments. A positive number continues it.
    _merge(connection, -_PAGES)
    return True


def _merge(connection: Connection, pages: int) -> bool:
    """Merge some pages. Return whether there may be more to merge."""
    before = connection.total_changes
    connection.execute("INSERT INTO message_words (message_words, rank) VALUES ('merge', ?)", (pages,))
    return connection.total_changes - before >= 2


def _end(connection: Connection, now_ms: int) -> None:
    connection.execute("DELETE FROM facts WHERE name = 'words_deleted' AND value = 'merging'")
    connection.execute("INSERT OR REPLACE INTO facts VALUES ('words_merged_at_ms', ?)", (str(now_ms),))
