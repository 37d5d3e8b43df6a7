"""Connections that read the database, one time-limited query at a time on each.

Each connection has its own thread and queue of a few queries. A query is a function of the connection, with
all statements that belong together: each pass from the event loop to the thread and back costs turns of the
loop, which are long under an attack. The next query begins when the previous one ends, without waiting for
the event loop. Otherwise the connection would idle while turns of the loop are long.

One holder's queries, such as a member's, queue on one connection, a few at a time. However many slow
queries a holder sends, the other connections stay available. SQLite interrupts a query when its time is up
(sqlite.org/c3ref/progress_handler.html). A caller may stop waiting, and its place is free once its query
has ended. This module knows no table.
"""

import asyncio
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")
Connection = sqlite3.Connection
Row = sqlite3.Row

# One holder may use an eighth of a queue's places: with 16, the running query and the next one.
_SHARE = 8
_holder: ContextVar[str] = ContextVar("holder", default="")


class QueryTooLong(Exception):
    """The query did not end in time."""


class PoolBusy(Exception):
    """No connection was free in time, or the pool is closed."""


@contextmanager
def reading_for(holder: str) -> Iterator[None]:
    """Count the block's queries towards a holder's share. Without it, no share is counted."""
    token = _holder.set(holder)
    try:
        yield
    finally:
        _holder.reset(token)


class _Query(Generic[T]):
    """A query with its time limit, from when the query begins. `ended` is called on the event loop."""

    def __init__(
        self, read: Callable[[Connection], T], seconds: float, steps: int, ended: Callable[[], None]
    ) -> None:
        self._read = read
        self._seconds = seconds
        self._steps = steps
        self._ended = ended
        self._until = 0.0
        self._loop = asyncio.get_running_loop()
        self._answer: asyncio.Future[T] = self._loop.create_future()
        self._given_up = False

    async def result(self) -> T:
        """Return the result. A caller that stops waiting ends the query."""
        try:
            return await self._answer
        except asyncio.CancelledError:
            self._given_up = True
            if not self._answer.cancelled():
                self._answer.exception()  # Nobody awaits it, so asyncio must not report it.
            raise

    def run(self, connection: Connection) -> None:
        """Run the query on the connection's thread."""
        result: T | None = None
        fault: Exception | None = None
        self._until = time.monotonic() + self._seconds
        try:
            connection.set_progress_handler(self._is_over, self._steps)
            if not self._given_up:
                result = self._read(connection)
        except sqlite3.OperationalError as error:
            fault = QueryTooLong() if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT else error
        except Exception as error:
            fault = error
        with suppress(RuntimeError):  # The loop and its callers are gone.
            self._loop.call_soon_threadsafe(self._finish, result, fault)

    def _is_over(self) -> bool:
        return self._given_up or time.monotonic() > self._until

    def _finish(self, result: Any, fault: Exception | None) -> None:
        self._ended()
        if self._answer.done():
            return
        if fault is None:
            self._answer.set_result(result)
        else:
            self._answer.set_exception(fault)


class _Reader:
    """A connection, the thread that runs its queries, and their number."""

    def __init__(self, connection: Connection) -> None:
        self.queries = 0
        self.waiting: queue.SimpleQueue[_Query[Any] | None] = queue.SimpleQueue()
        self._connection = connection
        self._thread = threading.Thread(target=self._run_all, name="reader", daemon=True)
        self._thread.start()

    async def close(self) -> None:
        """Finish the waiting queries and close the connection."""
        self.waiting.put(None)
        await asyncio.to_thread(self._thread.join)

    def _run_all(self) -> None:
        while (query := self.waiting.get()) is not None:
            query.run(self._connection)
            del query  # Its result must not stay until the next query.
        self._connection.close()


class _Share:
    """A holder's places in the queue of one connection. The first query chooses the connection."""

    def __init__(self, places: int) -> None:
        self.free = asyncio.Semaphore(places)
        self.taken = 0
        self.reader: _Reader | None = None


class QueryPool:
    """A pool of connections, which it owns. Each must work on another thread than the one that opened it.

    A query may take `deadline_s`, and checks the clock every `steps` of SQLite's virtual machine. A caller
    waits up to `wait_s` for one of the `places` in each connection's queue.
    """

    def __init__(
        self,
        connections: Sequence[Connection],
        deadline_s: float,
        wait_s: float,
        steps: int,
        places: int = 1,
    ) -> None:
        self._readers = [_Reader(connection) for connection in connections]
        self._free = asyncio.Semaphore(len(connections) * places)
        self._of_one = max(1, places // _SHARE)
        # The shares of holders whose queries wait or run.
        self._shares: WeakValueDictionary[str, _Share] = WeakValueDictionary()
        self._deadline_s = deadline_s
        self._wait_s = wait_s
        self._steps = steps
        self._closed = False

    async def run(self, read: Callable[[Connection], T]) -> T:
        """Run a query on a connection's thread and return its result.

        `read` fetches all rows that it selects: an unfinished statement would keep its snapshot of the file.
        Raises QueryTooLong and PoolBusy.
        """
        holder = _holder.get()
        share = self._shares.setdefault(holder, _Share(self._of_one)) if holder else None
        reader = await self._place(share)
        if self._closed:
            self._release(reader, share)
            raise PoolBusy
        query = _Query(read, self._deadline_s, self._steps, lambda: self._release(reader, share))
        reader.waiting.put(query)
        return await query.result()

    async def close(self) -> None:
        self._closed = True
        for reader in self._readers:
            await reader.close()

    async def _place(self, share: _Share | None) -> _Reader:
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
        reader = share.reader if share is not None and share.taken else None
        if reader is None:
            reader = min(self._readers, key=lambda each: each.queries)
        if share is not None:
            share.reader = reader
            share.taken += 1
        reader.queries += 1
        return reader

    def _release(self, reader: _Reader, share: _Share | None) -> None:
        reader.queries -= 1
        if share is not None:
            share.taken -= 1
            share.free.release()
        self._free.release()
