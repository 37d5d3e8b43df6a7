"""Connections that read the database, one query at a time on each and none without end.

Each connection has a thread, and all take from one line. The next query begins when one has ended, not when
the event loop hears of it: while turns of the loop are long, the connections would rest most of the time.

A query is interrupted by SQLite when its time is up (sqlite.org/c3ref/progress_handler.html).
Who asks may stop waiting; the connection is free again once its query has ended. Knows no table.
"""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from queue import SimpleQueue

Row = sqlite3.Row


class QueryTooLong(Exception):
    """The query did not end in time."""


class PoolBusy(Exception):
    """No connection was free in time."""


class _Query:
    """What is asked. Threads read whether somebody waits for it; only the loop's answers."""

    def __init__(self, sql: str, parameters: Sequence[object], loop: asyncio.AbstractEventLoop) -> None:
        self.sql = sql
        self.parameters = parameters
        self.found: asyncio.Future[list[Row]] = loop.create_future()
        # When it has to end, by the monotonic clock; None while it waits.
        self.until: float | None = None

    def is_over(self) -> bool:
        return self.found.done() or (self.until is not None and time.monotonic() > self.until)

    def give_up(self) -> None:
        """Unless it has begun."""
        if self.until is None and not self.found.done():
            self.found.set_exception(PoolBusy())

    def answer(self, rows: list[Row], fault: BaseException | None) -> None:
        if self.found.done():
            return
        if fault is None:
            self.found.set_result(rows)
        else:
            self.found.set_exception(fault)


class QueryPool:
    """`deadline_s` for a query, which looks at the clock every `steps` of SQLite's machine, and `wait_s` for
    a free connection. The connections, which may be used by any thread, are the pool's from now on."""

    def __init__(
        self, connections: Sequence[sqlite3.Connection], deadline_s: float, wait_s: float, steps: int
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._deadline_s = deadline_s
        self._wait_s = wait_s
        self._steps = steps
        self._waiting: SimpleQueue[_Query | None] = SimpleQueue()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._serve, args=(each,), name="query", daemon=True)
            for each in connections
        ]
        for thread in self._threads:
            thread.start()

    async def rows(self, sql: str, parameters: Sequence[object]) -> list[Row]:
        """Raises QueryTooLong and PoolBusy."""
        if self._closed:
            raise PoolBusy
        query = _Query(sql, parameters, self._loop)
        self._waiting.put(query)
        giving_up = self._loop.call_later(self._wait_s, query.give_up)
        try:
            return await query.found
        finally:
            giving_up.cancel()

    async def close(self) -> None:
        """Once everything that was asked has been answered. Closing twice is closing once."""
        if not self._closed:
            self._closed = True
            for _ in self._threads:
                self._waiting.put(None)
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    def _serve(self, connection: sqlite3.Connection) -> None:
        """On a thread of its own."""
        with closing(connection):
            while (query := self._waiting.get()) is not None:
                if query.is_over():
                    continue
                query.until = time.monotonic() + self._deadline_s
                connection.set_progress_handler(query.is_over, self._steps)
                rows, fault = _run(connection, query)
                with suppress(RuntimeError):  # The loop is gone, and with it whoever asked.
                    self._loop.call_soon_threadsafe(query.answer, rows, fault)


def _run(connection: sqlite3.Connection, query: _Query) -> tuple[list[Row], BaseException | None]:
    try:
        return connection.execute(query.sql, query.parameters).fetchall(), None
    except sqlite3.OperationalError as fault:
        interrupted = fault.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT
        return [], QueryTooLong() if interrupted else fault
    except Exception as fault:
        return [], fault
