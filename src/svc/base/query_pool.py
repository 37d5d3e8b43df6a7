"""Connections that read the database, one time-limited query at a time on each.

Each connection has its own thread and queue of a few queries. The next query begins when the previous one
ends, without waiting for the event loop. Otherwise the connection would idle while turns of the loop are
long.

One holder's queries, such as a member's, queue on one connection, a few at a time. However many slow
queries a holder sends, the other connections stay available. SQLite interrupts a query when its time is up
(sqlite.org/c3ref/progress_handler.html). A caller may stop waiting, and its place is free once its query
has ended. This module knows no table.
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

# One holder may use an eighth of a queue's places: with 16, the running query and the next one.
_SHARE = 8
_holder: ContextVar[str] = ContextVar("holder", default="")


class QueryTooLong(Exception):
    """The query did not end in time."""


class PoolBusy(Exception):
    """No connection was free in time."""


@contextmanager
def reading_for(holder: str) -> Iterator[None]:
    """Count the block's queries towards a holder's share. Without it, no share is counted."""
    token = _holder.set(holder)
    try:
        yield
    finally:
        _holder.reset(token)


class _Share:
    """A holder's places in the queue of one connection. The first query chooses the connection."""

    def __init__(self, places: int) -> None:
        self.free = asyncio.Semaphore(places)
        self.taken = 0
        self.connection: aiosqlite.Connection | None = None


class _Time:
    """A query's time limit, from when the query begins. The thread checks it, and the loop may end it."""

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
    """A pool of connections, which it owns.

    A query may take `deadline_s`, and checks the clock every `steps` of SQLite's virtual machine. A caller
    waits up to `wait_s` for one of the `places` in each connection's queue.
    """

    def __init__(
        self,
        connections: Sequence[aiosqlite.Connection],
        deadline_s: float,
        wait_s: float,
        steps: int,
        places: int = 1,
    ) -> None:
        self._queries = dict.fromkeys(connections, 0)
        self._free = asyncio.Semaphore(len(connections) * places)
        self._of_one = max(1, places // _SHARE)
        # The shares of holders whose queries wait or run.
        self._shares: WeakValueDictionary[str, _Share] = WeakValueDictionary()
        self._deadline_s = deadline_s
        self._wait_s = wait_s
        self._steps = steps

    async def rows(self, sql: str, parameters: Sequence[object]) -> list[Row]:
        """Return the rows of a query. Raises QueryTooLong and PoolBusy."""
        holder = _holder.get()
        share = self._shares.setdefault(holder, _Share(self._of_one)) if holder else None
        connection = await self._place(share)
        has = _Time(self._deadline_s)
        # Both are queued in the next turn of the loop, one behind the other.
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
        for connection in self._queries:
            await connection.close()

    async def _place(self, share: _Share | None) -> aiosqlite.Connection:
        """Reserve a place in a connection's queue and return the connection. Raises PoolBusy."""
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
            connection = min(self._queries, key=self._queries.__getitem__)
        if share is not None:
            share.connection = connection
            share.taken += 1
        self._queries[connection] += 1
        return connection

    def _release(self, connection: aiosqlite.Connection, share: _Share | None) -> None:
        self._queries[connection] -= 1
        if share is not None:
            share.taken -= 1
            share.free.release()
        self._free.release()


def _ignore(query: "asyncio.Future[Any]") -> None:
    """Drop the outcome of a query that nobody awaits."""
    if not query.cancelled():
        query.exception()
