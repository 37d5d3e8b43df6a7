"""Provides a pool of database connections for reading. Each connection runs one time-limited query at a time.

Each connection has its own thread and queue of a few queries. A query is a function that takes the connection
and runs all statements that belong together, because each round trip between the event loop and the thread
takes several iterations of the loop. Iterations are long during an attack. The next query begins when the
previous one ends, without waiting for the event loop. Otherwise the connection would idle during long
iterations of the loop.

The queries of one holder, such as a member, queue on one connection, a few at a time. However many slow
queries the holder sends, the other connections stay available. SQLite interrupts a query when its time is up
(sqlite.org/c3ref/progress_handler.html). If a caller stops waiting, its slot becomes free once its query has
ended. This module defines no tables.
"""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import TypeVar
from weakref import WeakValueDictionary

import aiosqlite

T = TypeVar("T")
Connection = sqlite3.Connection
Row = sqlite3.Row

# One holder can use an eighth of a queue's slots. With 16 slots, these are the running query and the next
# one.
_SHARE = 8
_holder: ContextVar[str] = ContextVar("holder", default="")


class QueryTooLong(Exception):
    """The query did not finish within its time limit."""


class PoolBusy(Exception):
    """No connection became free within the waiting time, or the pool is closed."""


@contextmanager
def reading_for(holder: str) -> Iterator[None]:
    """Count the block's queries towards a holder's share. Other queries count towards no share."""
    token = _holder.set(holder)
    try:
        yield
    finally:
        _holder.reset(token)


class Reader(aiosqlite.Connection):
    """A connection with a thread that runs whole functions."""

    @classmethod
    async def open(cls, connect: Callable[[], Connection]) -> "Reader":
        """Open the connection on the reader's own thread."""
        reader = cls(connect, iter_chunk_size=64)
        await reader
        return reader

    async def run(self, read: Callable[[Connection], T]) -> T:
        """Run `read` on the connection's thread, after the functions already queued there.

        aiosqlite's own methods run only one statement each.
        """
        result: T = await self._execute(lambda: read(self._conn))  # type: ignore[no-untyped-call]
        return result


class _TimeLimit:
    """A query's time limit, counted from the start of the query.

    The query's thread checks the limit, and the event loop can end the query early.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = 0.0
        self.given_up = False

    def start(self) -> None:
        self._until = time.monotonic() + self._seconds

    def is_over(self) -> bool:
        return self.given_up or time.monotonic() > self._until


class _Share:
    """A holder's slots in one connection's queue. The holder's first query selects the connection."""

    def __init__(self, places: int) -> None:
        self.free = asyncio.Semaphore(places)
        self.taken = 0
        self.reader: Reader | None = None


class QueryPool:
    """A pool of connections, which it owns.

    A query may run for `deadline_s`, and checks the clock after every `steps` steps of SQLite's virtual
    machine. Each connection's queue has `places` slots, and a caller waits up to `wait_s` for a free one.
    """

    def __init__(
        self,
        readers: Sequence[Reader],
        deadline_s: float,
        wait_s: float,
        steps: int,
        places: int = 1,
    ) -> None:
        self._queries = dict.fromkeys(readers, 0)
        self._free = asyncio.Semaphore(len(readers) * places)
        self._of_one = max(1, places // _SHARE)
        # The shares of holders with queries that are waiting or running.
        self._shares: WeakValueDictionary[str, _Share] = WeakValueDictionary()
        self._deadline_s = deadline_s
        self._wait_s = wait_s
        self._steps = steps
        self._closed = False

    async def run(self, read: Callable[[Connection], T]) -> T:
        """Run a query on a connection's thread and return its result.

        `read` must fetch all rows that it selects, because an unfinished statement would keep its snapshot of
        the file. Raises QueryTooLong or PoolBusy.
        """
        holder = _holder.get()
        share = self._shares.setdefault(holder, _Share(self._of_one)) if holder else None
        reader = await self._place(share)
        if self._closed:
            self._release(reader, share)
            raise PoolBusy
        loop, limit = asyncio.get_running_loop(), _TimeLimit(self._deadline_s)

        def limited(connection: Connection) -> T:
            limit.start()
            connection.set_progress_handler(limit.is_over, self._steps)
            try:
                if limit.given_up:
                    raise QueryTooLong
                return read(connection)
            finally:
                loop.call_soon_threadsafe(self._release, reader, share)

        try:
            return await reader.run(limited)
        except asyncio.CancelledError:
            limit.given_up = True
            raise
        except sqlite3.OperationalError as fault:
            if fault.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                raise QueryTooLong from None
            raise

    async def close(self) -> None:
        self._closed = True
        for reader in self._queries:
            await reader.close()

    async def _place(self, share: _Share | None) -> Reader:
        """Reserve a slot in the queue of a connection and return that connection. Raises PoolBusy."""
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
        reader = share.reader if share is not None and share.taken else None
        if reader is None:
            reader = min(self._queries, key=self._queries.__getitem__)
        if share is not None:
            share.reader = reader
            share.taken += 1
        self._queries[reader] += 1
        return reader

    def _release(self, reader: Reader, share: _Share | None) -> None:
        self._queries[reader] -= 1
        if share is not None:
            share.taken -= 1
            share.free.release()
        self._free.release()
