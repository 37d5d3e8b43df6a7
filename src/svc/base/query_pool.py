"""Connections that read the database, one query at a time on each and none without end.

A query is interrupted by SQLite when its time is up (sqlite.org/c3ref/progress_handler.html).
Who asks may stop waiting; the connection is free again once its query has ended. Knows no table.
"""

import asyncio
import sqlite3
import time
from collections.abc import Sequence
from typing import Any

import aiosqlite

Row = sqlite3.Row


class QueryTooLong(Exception):
    """The query did not end in time."""


class PoolBusy(Exception):
    """No connection was free in time."""


class QueryPool:
    """`deadline_s` for a query, and `wait_s` for a free connection."""

    def __init__(self, connections: Sequence[aiosqlite.Connection], deadline_s: float, wait_s: float) -> None:
        self._connections = connections
        self._idle = list(connections)
        self._free = asyncio.Semaphore(len(connections))
        self._deadline_s = deadline_s
        self._wait_s = wait_s
        # When the query of a connection has to end, by the monotonic clock.
        self._until = dict.fromkeys(connections, 0.0)

    async def limit(self, steps: int) -> None:
        """Look at the clock every so many steps of SQLite's machine. To be called once, before any query."""
        for connection in self._connections:

            def is_over(connection: aiosqlite.Connection = connection) -> bool:
                return time.monotonic() > self._until[connection]

            await connection.set_progress_handler(is_over, steps)

    async def rows(self, sql: str, parameters: Sequence[object]) -> list[Row]:
        """Raises QueryTooLong and PoolBusy."""
        try:
            async with asyncio.timeout(self._wait_s):
                await self._free.acquire()
        except TimeoutError:
            raise PoolBusy from None
        connection = self._idle.pop()
        self._until[connection] = time.monotonic() + self._deadline_s
        query = asyncio.ensure_future(connection.execute_fetchall(sql, parameters))
        query.add_done_callback(lambda _: self._release(connection))
        try:
            return list(await asyncio.shield(query))
        except asyncio.CancelledError:
            self._until[connection] = 0.0
            query.add_done_callback(_ignore)
            raise
        except sqlite3.OperationalError as fault:
            if fault.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                raise QueryTooLong from None
            raise

    async def close(self) -> None:
        for connection in self._connections:
            await connection.close()

    def _release(self, connection: aiosqlite.Connection) -> None:
        self._idle.append(connection)
        self._free.release()


def _ignore(query: "asyncio.Future[Any]") -> None:
    """Nobody waits for what it found, or why it did not."""
    if not query.cancelled():
        query.exception()
