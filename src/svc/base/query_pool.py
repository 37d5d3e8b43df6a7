"""Connections that read the database, one query at a time on each and none without end.

Each connection has a thread and a line of its own, which may hold a few queries ahead: the next one begins
when one has ended, not when the event loop hears of it. While turns of the loop are long, it would rest most
of the time.

What is read for one holder, such as a member, waits in the line of one connection, a few queries at a time:
however many slow ones somebody asks for, the other connections are there for others.

A query is interrupted by SQLite when its time is up (sqlite.org/c3ref/progress_handler.html).
Who asks may stop waiting; their place is free again once their query has ended. Knows no table.
"""

import asyncio
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import WeakValueDictionary

import aiosqlite

Row = sqlite3.Row

# Of the places in a line, one holder has an eighth: the query that runs and the next one, where there are 16.
_SHARE = 8
_holder: ContextVar[str] = ContextVar("holder", default="")


class QueryTooLong(Exception):
    """The query did not end in time."""


class PoolBusy(Exception):
    """No connection was free in time."""


@contextmanager
def reading_for(holder: str) -> Iterator[None]:
    """What is read within the block is read for them. Without it, nobody's share is counted."""
    token = _holder.set(holder)
    try:
        yield
    finally:
        _holder.reset(token)


class _Share:
    """What a holder has: places in the line of a connection, which is chosen with the first that is taken."""

    def __init__(self, places: int) -> None:
        self.free = asyncio.Semaphore(places)
        self.taken = 0
        self.connection: aiosqlite.Connection | None = None


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
        self._of_one = max(1, places // _SHARE)
        # Of holders whose queries wait or run.
        self._shares: WeakValueDictionary[str, _Share] = WeakValueDictionary()
        self._deadline_s = deadline_s
        self._wait_s = wait_s
        self._steps = steps

    async def rows(self, sql: str, parameters: Sequence[object]) -> list[Row]:
        """Raises QueryTooLong and PoolBusy."""
        holder = _holder.get()
        share = self._shares.setdefault(holder, _Share(self._of_one)) if holder else None
        connection = await self._place(share)
        has = _Time(self._deadline_s)
        # Both are put into the line in the next turn of the loop, one behind the other.
        limited = asyncio.ensure_future(connection.set_progress_handler(has.is_over, self._steps))
        limited.add_done_callback(_ignore)
        query = asyncio.ensure_future(connection.execute_fetchall(sql, parameters))
        query.add_done_callback(lambda _: self._release(connection, share))
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

    async def _place(self, share: _Share | None) -> aiosqlite.Connection:
        """A place in the line of the connection that is returned. Raises PoolBusy."""
        try:
            async with asyncio.timeout(self._wait_s):
                with ExitStack() as undone:
                    if share is not None:
                        await share.free.acquire()
                        undone.callback(share.free.release)
                    await self._free.acquire()
                    undone.pop_all()
        except TimeoutError:
            raise PoolBusy from None
        connection = share.connection if share is not None and share.taken else None
        if connection is None:
            connection = min(self._asked, key=self._asked.__getitem__)
        if share is not None:
            share.connection = connection
            share.taken += 1
        self._asked[connection] += 1
        return connection

    def _release(self, connection: aiosqlite.Connection, share: _Share | None) -> None:
        self._asked[connection] -= 1
        if share is not None:
            share.taken -= 1
            share.free.release()
        self._free.release()


def _ignore(query: "asyncio.Future[Any]") -> None:
    """Nobody waits for what it found, or why it did not."""
    if not query.cancelled():
        query.exception()
