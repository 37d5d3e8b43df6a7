"""Connections that read the database, one query at a time on each and none without end.

Each connection has a thread and a line of its own, which may hold a few queries ahead: the next one begins
when one has ended, not when the event loop hears of it. While turns of the loop are long, it would rest most
of the time.

A query is interrupted by SQLite when its time is up (sqlite.org/c3ref/progress_handler.html).
Who asks may stop waiting; their place is free again once their query has ended. Knows no table.
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


class _Time:
    """What a query has, from when it begins. The thread looks at it, and the loop may end it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until: float | None = None
        self.given_up = False

    def is_over(self) -> bool:
        now = time.monotonic()
        if self._until is None:
            self._until = now + self._seconds
        return self.given_up or now > self._until


class QueryPool:
    """`deadline_s` for a query, which looks at the clock every `steps` of SQLite's machine, and `wait_s` for
    a place in the line of a connection, each of which has `places`. The connections are the pool's now."""

    def __init__(
        self,
        connections: Sequence[aiosqlite.Connection],
        deadline_s: float,
        wait_s: float,
        steps: int,
        places: int = 1,
    ) -> None:
        self._asked = dict.fromkeys(connections, 0)
        self._free = asyncio.Semaphore(len(connections) * places)
        self._deadline_s = deadline_s
        self._wait_s = wait_s
        self._steps = steps

    async def rows(self, sql: str, parameters: Sequence[object]) -> list[Row]:
        """Raises QueryTooLong and PoolBusy."""
        try:
            async with asyncio.timeout(self._wait_s):
                await self._free.acquire()
        except TimeoutError:
            raise PoolBusy from None
        connection = min(self._asked, key=self._asked.__getitem__)
        self._asked[connection] += 1
        has = _Time(self._deadline_s)
        # Both are put into the line in the next turn of the loop, one behind the other.
        limited = asyncio.ensure_future(connection.set_progress_handler(has.is_over, self._steps))
        limited.add_done_callback(_ignore)
        query = asyncio.ensure_future(connection.execute_fetchall(sql, parameters))
        query.add_done_callback(lambda _: self._release(connection))
        try:
            return list(await asyncio.shield(query))
        except asyncio.CancelledError:
            has.given_up = True
            query.add_done_callback(_ignore)
            raise
        except sqlite3.OperationalError as fault:
            if fault.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                raise QueryTooLong from None
            raise

    async def close(self) -> None:
        for connection in self._asked:
            await connection.close()

    def _release(self, connection: aiosqlite.Connection) -> None:
        self._asked[connection] -= 1
        self._free.release()


def _ignore(query: "asyncio.Future[Any]") -> None:
    """Nobody waits for what it found, or why it did not."""
    if not query.cancelled():
        query.exception()
