"""One SQLite file, owned by this process: durable group commits, and readers beside them.

A write is a function of a connection. One thread runs whatever is waiting in one
transaction and answers when the commit has reached the disk: acknowledged means durable,
and the price of the fsync is shared. Where a function fails half-way, the others run once
more, each in a savepoint of its own: who fails does not take them along. That
thread alone checkpoints, for older SQLite versions can damage a file in which two
connections do (sqlite.org/wal.html, "the WAL-reset bug"). Readers see what has been
committed and can change nothing. Knows no table; the schema is its caller's.
"""

import asyncio
import logging
import queue
import sqlite3
import sys
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite

from svc.base.migrations import Migration, migrate

# Writers beyond this are refused: each holds its request's memory while it waits.
MAX_WAITING = 10_000
# What one commit takes together. A function takes some 10 µs; more would make the first wait
# for the last without making the fsync any cheaper.
MAX_GROUP = 1_000
# The log is copied into the file when it has grown to this: a few ms of work.
CHECKPOINT_BYTES = 4 * 1024 * 1024
# Two, so that a long search does not hold up a page of history.
READERS = 2
# After each statement the writer's thread wants the interpreter back from the loop's. With the
# usual 5 ms the two take turns under load; with this they work side by side (a fifth more
# messages a second with 200 writers).
SWITCH_INTERVAL_S = 0.0005
_BUSY_TIMEOUT_S = 10.0
# The disk's fault and not the statement's: full, read-only, failing.
_DISK_FAULTS = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOMEM,
    }
)

logger = logging.getLogger(__name__)

T = TypeVar("T")
Row = sqlite3.Row
Connection = sqlite3.Connection


class DatabaseError(Exception):
    """The file cannot be used; the message says why, in words for the operator."""


class StorageFailed(Exception):
    """A write was not kept: the disk is full, broken or read-only. Nothing of it remains."""


@dataclass(frozen=True, slots=True)
class _Write:
    change: Callable[[Connection], Any]
    future: "asyncio.Future[Any]"
    then: Callable[[Any], None] | None


_Outcome = tuple[_Write, Any, BaseException | None]

# Most commits carry one write, under load hundreds; most take a millisecond or two.
GROUP_BUCKETS = (1, 2, 5, 10, 20, 50, 100, 200, 500, MAX_GROUP)
COMMIT_BUCKETS_S = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2.0)


@dataclass(slots=True)
class Statistics:
    """Counted by the writer's thread; each bucket's own count, the last for what exceeds them all."""

    writes: int = 0
    failed_writes: int = 0
    group_sizes: list[int] = field(default_factory=lambda: [0] * (len(GROUP_BUCKETS) + 1))
    commit_times: list[int] = field(default_factory=lambda: [0] * (len(COMMIT_BUCKETS_S) + 1))
    commit_seconds: float = 0.0

    def committed(self, writes: int, seconds: float) -> None:
        self.writes += writes
        self.group_sizes[bisect_left(GROUP_BUCKETS, writes)] += 1
        self.commit_times[bisect_left(COMMIT_BUCKETS_S, seconds)] += 1
        self.commit_seconds += seconds


class Database:
    """Open it with `open`, and `close` it. Methods belong to the event loop that opened it."""

    def __init__(self, path: Path, readers: Sequence[aiosqlite.Connection]) -> None:
        self.path = path
        self._readers = readers
        self._next_reader = 0
        self._loop = asyncio.get_running_loop()
        self._waiting: queue.SimpleQueue[_Write | None] = queue.SimpleQueue()
        self._closed = False
        self.statistics = Statistics()
        self._writer = threading.Thread(target=self._write_all, name="database", daemon=True)

    @classmethod
    async def open(cls, path: Path, migrations: Sequence[Migration], backups: Path) -> "Database":
        """Bring the schema up to date and serve. Raises DatabaseError.

        Before a schema that holds data is changed, the file is copied into `backups`.
        """
        await asyncio.to_thread(_prepare, path, migrations, backups)
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_INTERVAL_S))
        readers = [await _reader(path) for _ in range(READERS)]
        database = cls(path, readers)
        database._writer.start()
        return database

    async def close(self) -> None:
        """Finish what is waiting, empty the log into the file, and let go of it."""
        if self._closed:
            return
        self._closed = True
        for reader in self._readers:
            await reader.close()
        self._waiting.put(None)
        await asyncio.to_thread(self._writer.join)

    async def write(self, change: Callable[[Connection], T], then: Callable[[T], None] | None = None) -> T:
        """Run `change` on the writer's thread and return what it does, once that is durable.

        It runs inside a transaction, neither commits nor rolls back, and may have to run again
        from its beginning: it changes nothing but the file. What it raises is raised here, and
        undoes what it did and nothing else. Raises StorageFailed.
        `then` is called on the event loop with what it did, in the order of the commits, also
        when whoever asked has gone meanwhile: what is in memory keeps step with the file.
        """
        if self._closed or self._waiting.qsize() >= MAX_WAITING:
            raise StorageFailed("closed" if self._closed else "too many writes are waiting")
        write = _Write(change, self._loop.create_future(), then)
        self._waiting.put(write)
        result: T = await write.future
        return result

    async def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """What a query finds. Its result is held in memory: give it a LIMIT."""
        reader = self._readers[self._next_reader]
        self._next_reader = (self._next_reader + 1) % len(self._readers)
        return list(await reader.execute_fetchall(sql, parameters))

    async def row(self, sql: str, parameters: Sequence[object] = ()) -> Row | None:
        found = await self.rows(sql, parameters)
        return found[0] if found else None

    # How it is doing.

    @property
    def group_buckets(self) -> Sequence[float]:
        return GROUP_BUCKETS

    @property
    def commit_buckets(self) -> Sequence[float]:
        return COMMIT_BUCKETS_S

    @property
    def sqlite_version(self) -> str:
        return sqlite3.sqlite_version

    def log_bytes(self) -> int:
        """The size of what has not been copied into the file for good."""
        try:
            return self.path.with_name(self.path.name + "-wal").stat().st_size
        except OSError:
            return 0

    # The writer's thread.

    def _write_all(self) -> None:
        connection = connect(self.path)
        log = self.path.with_name(self.path.name + "-wal")
        try:
            while group := self._next_group():
                self._commit(connection, group)
                _checkpoint_if_large(connection, log)
        finally:
            with suppress(sqlite3.Error):
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.close()

    def _next_group(self) -> list[_Write]:
        """What waits now, at least one; nothing once the database is being closed."""
        group: list[_Write] = []
        try:
            first = self._waiting.get()
            while first is not None:
                group.append(first)
                if len(group) == MAX_GROUP:
                    break
                first = self._waiting.get_nowait()
            else:
                # The end is seen again after this group.
                if group:
                    self._waiting.put(None)
        except queue.Empty:
            pass
        return group

    def _commit(self, connection: Connection, group: Sequence[_Write]) -> None:
        started = time.perf_counter()
        try:
            outcomes = _run(connection, group)
            connection.execute("COMMIT")
            self.statistics.committed(len(group), time.perf_counter() - started)
        except sqlite3.Error as fault:
            self.statistics.failed_writes += len(group)
            logger.error("writes were not kept", extra={"fault": str(fault), "writes": len(group)})
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            failed = StorageFailed(str(fault))
            outcomes = [(write, None, failed) for write in group]
        with suppress(RuntimeError):  # The loop is gone, and with it whoever asked.
            self._loop.call_soon_threadsafe(_answer, outcomes)


def connect(path: Path) -> Connection:
    """A connection that writes durably; whoever holds it must own the file."""
    connection = sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "wal_autocheckpoint=0", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")
    # Names from strangers do not become tables, and nothing in the file runs code.
    connection.execute("PRAGMA trusted_schema=OFF")
    return connection


def _prepare(path: Path, migrations: Sequence[Migration], backups: Path) -> None:
    try:
        connection = connect(path)
        try:
            migrate(connection, migrations, backups)
        finally:
            connection.close()
    except (sqlite3.Error, OSError) as fault:
        raise DatabaseError(f"{path} cannot be used: {fault}") from fault
    path.chmod(0o600)


async def _reader(path: Path) -> aiosqlite.Connection:
    reader = await aiosqlite.connect(path, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
    reader.row_factory = sqlite3.Row
    for pragma in ("query_only=ON", "wal_autocheckpoint=0", "mmap_size=268435456"):
        await reader.execute(f"PRAGMA {pragma}")
    return reader


def _run(connection: Connection, group: Sequence[_Write]) -> list[_Outcome]:
    """All of them in a transaction that is left open.

    Without savepoints, which cost as much as statements: most that fail do so before they have
    changed anything, and that stands. Where one had, the others are done again.
    """
    outcomes: list[_Outcome] = []
    connection.execute("BEGIN IMMEDIATE")
    for write in group:
        changes = connection.total_changes
        try:
            outcomes.append((write, write.change(connection), None))
        except Exception as fault:
            if connection.total_changes != changes or not connection.in_transaction:
                break
            outcomes.append((write, None, _meant(fault)))
    else:
        return outcomes
    if connection.in_transaction:  # Some faults of the disk end it.
        connection.execute("ROLLBACK")
    connection.execute("BEGIN IMMEDIATE")
    refused = {id(write): (write, result, fault) for write, result, fault in outcomes if fault}
    return [refused.get(id(write)) or _in_savepoint(connection, write) for write in group]


def _in_savepoint(connection: Connection, write: _Write) -> _Outcome:
    connection.execute("SAVEPOINT change")
    try:
        result = write.change(connection)
    except Exception as fault:
        connection.execute("ROLLBACK TO change")
        connection.execute("RELEASE change")
        return write, None, _meant(fault)
    connection.execute("RELEASE change")
    return write, result, None


def _meant(fault: Exception) -> Exception:
    """The disk's fault is nobody's mistake."""
    if isinstance(fault, sqlite3.Error) and fault.sqlite_errorcode & 0xFF in _DISK_FAULTS:
        return StorageFailed(str(fault))
    return fault


def _answer(outcomes: Sequence[_Outcome]) -> None:
    """Runs on the event loop. Whoever has stopped waiting is not told; the write stands."""
    for write, result, fault in outcomes:
        if fault is None and write.then is not None:
            try:
                write.then(result)
            except Exception as mistake:  # The write stands; whoever asked learns of it.
                logger.exception("what follows a write failed")
                fault = mistake
        if write.future.done():
            continue
        if fault is None:
            write.future.set_result(result)
        else:
            write.future.set_exception(fault)


def _checkpoint_if_large(connection: Connection, log: Path) -> None:
    with suppress(OSError, sqlite3.Error):
        if log.stat().st_size >= CHECKPOINT_BYTES:
            # Restarts the log when no reader is in it; otherwise what can be copied is.
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
