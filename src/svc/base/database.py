"""Manages one SQLite file for this process, with durable group commits and concurrent readers.

A write is a function that takes a connection. One thread runs all waiting writes in one transaction, and
returns their results once the commit is on disk. An acknowledged write is durable, and writes share the cost
of the fsync. If a function fails halfway, the others run once more, each in its own savepoint, so that only
the failing write is undone. Only that thread checkpoints, because older SQLite versions can damage a file if
two connections checkpoint it (sqlite.org/wal.html, "the WAL-reset bug"). Readers see committed data and
cannot write. This module defines no tables: the caller provides the schema.
"""

import asyncio
import logging
import sqlite3
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from svc.base import commit_log, database_file
from svc.base.commit_log import CommitLog, LogLost
from svc.base.commit_statistics import COMMIT_BUCKETS_S, GROUP_BUCKETS, MAX_GROUP, Statistics
from svc.base.database_file import CHECK_FIRST_BYTES
from svc.base.database_file import DatabaseError as DatabaseError
from svc.base.database_file import connect as connect
from svc.base.free_space_eraser import FreeSpace
from svc.base.migrations import Migration, migrate
from svc.base.private_files import make_private
from svc.base.query_pool import PoolBusy, QueryPool, QueryTooLong, Reader
from svc.base.write_group import Outcome, PendingWrite, Unreplicated, run
from svc.base.write_group import StorageFailed as StorageFailed
from svc.base.write_group import Write as Write

# The maximum number of waiting writes. Once it is reached, new writes are rejected, because each waiting
# write keeps its request in memory.
MAX_WAITING = 10_000
# Readers serve indexed queries, such as a page of history: 100 messages take 1 ms.
READERS = 2
# The maximum number of queries queued on each reader, including the running one.
READ_AHEAD = 16
READ_DEADLINE_S = 30.0
# Searches have their own connections, so that reading history never waits for an expensive search. With a
# million messages an ordinary search takes 3 ms.
SEARCHERS = 2
SEARCH_DEADLINE_S = 0.5
SEARCH_WAIT_S = 2.0
# The number of SQLite virtual machine steps between two checks of a query's deadline: about 10 ms in a
# search. Each check takes the interpreter lock, so checks are rare when the deadline is far away.
_SEARCH_STEPS = 1_000
_READ_STEPS = 100_000
# The interpreter's thread switch interval. After each statement, the writer's thread needs the interpreter
# lock, which the event loop's thread holds. With the default of 5 ms, these threads wait for each other under
# load. With this value, 200 writers can send a fifth more messages.
SWITCH_INTERVAL_S = 0.0005
# The maximum time to run the `on_commit` callbacks of writes in one iteration of the event loop. The
# remaining callbacks wait for the next iteration. A single callback, such as the one for an @everyone mention
# in a large community, may take 5 ms.
ANSWER_S = 0.005
# The timeout for emptying the log. Readers end after `READ_DEADLINE_S`, but scanning a 75 GB file after
# startup takes this long.
EMPTY_WITHIN_S = 600.0
# The writer counts as stuck after this time. A commit takes milliseconds, or up to a second on a slow disk.
STUCK_AFTER_S = 10.0
# The database counts as degraded for this long after a failed write. On a full disk, the small write made by
# `works` may succeed although no message can be stored.
DEGRADED_FOR_S = 30.0
_PROBE_DEADLINE_S = 2.0
_OF_A_CLUSTER = (
    "belongs to a cluster, so it cannot be opened on its own. Start this node with svc chat --cluster, or "
    "run the command on the owner (docs/cluster.md)"
)
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})

logger = logging.getLogger(__name__)

T = TypeVar("T")
Result = TypeVar("Result")
Row = sqlite3.Row
Connection = sqlite3.Connection
OnCommit = Callable[[T], None]


class Database:
    """An open database. Create it with `open`, and finally `close` it. Its methods must be called on the
    event loop that opened it.
    """

    def __init__(
        self,
        path: Path,
        free_space: FreeSpace,
        readers: QueryPool,
        searchers: QueryPool,
        log: CommitLog | None,
    ) -> None:
        self.path = path
        self._log = log
        # The reason why the log accepts no writes, worded for clients. Empty if the log accepts writes, or if
        # there is no log.
        self._suspended = ""
        self._free_space = free_space
        self._readers = readers
        self._searchers = searchers
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[PendingWrite] = deque()
        # Wakes the writer's thread once per iteration of the event loop. If each write woke it, the threads
        # would compete for the interpreter.
        self._news = threading.Event()
        self._is_waking = self._is_ending = False
        # The outcomes of durable writes that have not yet been returned to the callers.
        self._confirmed: deque[Outcome] = deque()
        self._closed = False
        # Held from the decision on an exclusive write until the write has been applied.
        self._turn = asyncio.Lock()
        # Whether the `on_commit` of an exclusive write is running.
        self.in_exclusive_commit = False
        # The causes of failing writes and of damage to the file. Empty if there is no fault.
        self._write_fault = ""
        self._damage = ""
        # When a write last failed, by the monotonic clock.
        self._failed_at = 0.0
        # Callers that are waiting for the log to be empty.
        self._emptying: list[asyncio.Future[None]] = []
        # When the writer began its current group, by the monotonic clock.
        self._busy_since: float | None = None
        self._probing = False
        self._checker: threading.Thread | None = None
        self.statistics = Statistics()
        self._writer = threading.Thread(target=self._write_all, name="database", daemon=True)

    @classmethod
    async def open(
        cls, path: Path, migrations: Sequence[Migration], backups: Path, log: CommitLog | None = None
    ) -> "Database":
        """Open a file, bring its schema up to date, and start the threads. Raises DatabaseError.

        If the file contains data, it is copied into `backups` before its schema changes. With a `log`, every
        commit waits for the log.
        """
        free_space = await asyncio.to_thread(_prepare, path, migrations, backups, log)
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_INTERVAL_S))
        pool = [await Reader.open(partial(database_file.reader, path)) for _ in range(READERS + SEARCHERS)]
        readers = QueryPool(pool[:READERS], READ_DEADLINE_S, READ_DEADLINE_S, _READ_STEPS, READ_AHEAD)
        searchers = QueryPool(pool[READERS:], SEARCH_DEADLINE_S, SEARCH_WAIT_S, _SEARCH_STEPS)
        database = cls(path, free_space, readers, searchers, log)
        database._writer.start()
        if await asyncio.to_thread(lambda: path.stat().st_size) > CHECK_FIRST_BYTES:
            database._checker = threading.Thread(target=database._check, name="database check", daemon=True)
            database._checker.start()
        return database

    async def close(self) -> None:
        """Finish the waiting writes, copy the log into the file, and close the file."""
        if self._closed:
            return
        self._closed = True
        await self._readers.close()
        await self._searchers.close()
        if self._checker is not None:
            await asyncio.to_thread(self._checker.join)
        self._is_ending = True
        self._news.set()
        await asyncio.to_thread(self._writer.join)
        while self._confirmed:
            self._answer()

    async def write(self, apply: Callable[[Connection], T], on_commit: OnCommit[T] | None = None) -> T:
        """Run `apply` on the writer's thread and return its result once the write is durable.

        `apply` runs inside a transaction and must neither commit nor roll back. It may be run again from the
        start, so it must change nothing but the file. If it raises, only its own changes are undone and the
        exception is raised here. Raises StorageFailed. `on_commit` is called on the event loop with the
        result, in commit order, even if the caller was cancelled, so that the in-memory state matches the
        file.
        """

        def followed(result: T) -> T:
            if on_commit is not None:
                on_commit(result)
            return result

        return await self._begin(Write(apply, followed))

    async def write_exclusive(self, decide: Callable[[], Write[Any, Result]]) -> Result:
        """Decide from the in-memory state, write, and apply, with no other exclusive write in between.

        `decide` runs on the event loop, without waiting, after every earlier exclusive write has been
        applied. Its checks therefore still hold when its write runs, even if the caller has been cancelled.
        Also raises the exceptions of `decide` and `write`.
        """

        def decided() -> Write[Any, Result]:
            write = decide()

            def applied(result: Any) -> Result:
                self.in_exclusive_commit = True
                try:
                    return write.on_commit(result)
                finally:
                    self.in_exclusive_commit = False

            return Write(write.apply, applied)

        await self._turn.acquire()
        try:
            written = self._begin(decided())
        except BaseException:
            self._turn.release()
            raise
        written.add_done_callback(lambda _: self._turn.release())
        return await asyncio.shield(written)

    async def write_shared(self, decide: Callable[[], Write[Any, Result]]) -> Result:
        """Write like `write_exclusive`, but concurrently with other shared writes.

        No decision may depend on state that `on_commit` changes. Apart from waiting for exclusive writes,
        this costs no more than `write`.
        """
        if self._turn.locked():
            async with self._turn:
                written = self._begin(decide())
        else:
            written = self._begin(decide())
        return await written

    async def empty_log(self) -> None:
        """Return once neither the file nor its log contains data deleted earlier. Raises StorageFailed.

        Waits for readers of the log and, after startup, for the scan of the file.
        """
        emptied = self._loop.create_future()
        self._emptying.append(emptied)
        await self.write(lambda connection: None)
        try:
            async with asyncio.timeout(EMPTY_WITHIN_S):
                await emptied
        except TimeoutError:
            raise StorageFailed("deleted data could not be overwritten in time") from None

    def _begin(self, write: Write[Any, Result]) -> "asyncio.Future[Result]":
        if self._closed or len(self._waiting) >= MAX_WAITING:
            raise StorageFailed("closed" if self._closed else "too many writes are waiting")
        if self._suspended:
            raise Unreplicated(self._suspended)
        pending = PendingWrite(write.apply, self._loop.create_future(), write.on_commit)
        self._waiting.append(pending)
        if not self._is_waking:
            self._is_waking = True
            self._loop.call_soon(self._wake)
        return pending.future

    def _wake(self) -> None:
        self._is_waking = False
        self._news.set()

    async def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Return the rows of a query.

        The rows are kept in memory, so the query needs a LIMIT. Raises StorageFailed.
        """
        return await self.read(lambda connection: connection.execute(sql, parameters).fetchall())

    async def read(self, query: Callable[[Connection], T]) -> T:
        """Run a query function, with all of its statements, on a reader's thread. Raises StorageFailed."""
        try:
            return await self._readers.run(query)
        except (QueryTooLong, PoolBusy):
            raise StorageFailed("reading took too long") from None
        except sqlite3.DatabaseError as fault:
            self._note_damage(fault)
            raise

    async def search(self, query: Callable[[Connection], T]) -> T:
        """Run a query of unpredictable cost on a search thread. Raises QueryTooLong or PoolBusy."""
        return await self._searchers.run(query)

    async def row(self, sql: str, parameters: Sequence[object] = ()) -> Row | None:
        rows = await self.rows(sql, parameters)
        return rows[0] if rows else None

    # Methods for health checks.

    async def works(self) -> bool:
        """Return whether writes succeed and the file is intact, as far as is known.

        Returns False for DEGRADED_FOR_S after a failed write. After that time, a call attempts a small write,
        unless another call is doing so, and returns True if the write succeeds. Once damage has been found,
        returns False until the next start.
        """
        since = self._busy_since
        if self._damage or (since is not None and time.monotonic() - since > STUCK_AFTER_S):
            return False
        if not self._write_fault:
            return True
        if self._probing or time.monotonic() - self._failed_at < DEGRADED_FOR_S:
            return False
        self._probing = True
        try:
            async with asyncio.timeout(_PROBE_DEADLINE_S):
                await self.write(database_file.touch, self._recovered)
        except (StorageFailed, TimeoutError):
            return False
        finally:
            self._probing = False
        return True

    def _recovered(self, _: None) -> None:
        self._write_fault = ""
        logger.info("writes are saved again")

    def _check(self) -> None:
        """Check a large file for damage on a separate thread, without blocking writes."""
        try:
            with closing(sqlite3.connect(self.path)) as connection:
                connection.execute("PRAGMA query_only=ON")
                connection.execute("PRAGMA wal_autocheckpoint=0")
                # Interrupts the check when the database is closed.
                connection.set_progress_handler(lambda: self._closed, 100_000)
                damage = database_file.damage(connection)
        except sqlite3.Error as fault:
            damage = str(fault)
        if damage and not self._closed:
            self._damage = damage
            logger.error("the database is damaged: restore a backup", extra={"fault": damage})

    def _note_damage(self, fault: sqlite3.DatabaseError) -> None:
        if getattr(fault, "sqlite_errorcode", 0) & 0xFF in _DAMAGE and not self._damage:
            self._damage = str(fault)
            logger.error("the database is damaged: restore a backup", extra={"fault": str(fault)})

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
        """Return the size of the write-ahead log."""
        try:
            return self.path.with_name(self.path.name + "-wal").stat().st_size
        except OSError:
            return 0

    # The writer's thread.

    def _write_all(self) -> None:
        connection = connect(self.path, recording=self._log is not None)
        free_space = self._free_space
        try:
            while (group := self._next_group(free_space.wait_s(emptying=bool(self._emptying)))) is not None:
                if group:
                    self._busy_since = time.monotonic()
                    self._commit(connection, group)
                    self._busy_since = None
                    free_space.checkpoint_if_large(connection)
                self._overwrite(connection, free_space)
        finally:
            free_space.close(connection)

    def _overwrite(self, connection: Connection, free_space: FreeSpace) -> None:
        """Overwrite some deleted data. If none is left, empty the log for any waiting callers."""
        with suppress(OSError):
            if free_space.is_due:
                free_space.step()
                return
        waiting = list(self._emptying)
        if waiting and free_space.empty_log(connection):
            del self._emptying[: len(waiting)]
            self._post(_release, waiting)

    def _next_group(self, wait_s: float | None) -> list[PendingWrite] | None:
        """Return the waiting writes. Return an empty list if none arrives within `wait_s`, and None once the
        database is being closed.
        """
        waiting = self._waiting
        while not waiting and not self._is_ending and self._news.wait(wait_s):
            self._news.clear()
        is_ending = self._is_ending
        group: list[PendingWrite] = []
        with suppress(IndexError):
            while len(group) < MAX_GROUP:
                group.append(waiting.popleft())
        return None if is_ending and not group else group

    def _commit(self, connection: Connection, group: Sequence[PendingWrite]) -> None:
        started = time.perf_counter()
        logged = False
        try:
            outcomes = run(connection, group)
            if self._log is not None:
                self._log.append(connection, lambda reason: self._post(self._doubt, reason, group))
                logged = True
            connection.execute("COMMIT")
            failed = [fault for _, _, fault in outcomes if isinstance(fault, StorageFailed)]
            self.statistics.committed(len(group) - len(failed), time.perf_counter() - started)
            if failed:
                self._note_failure(failed[0], len(failed))
        except (sqlite3.Error, LogLost) as fault:
            self._note_failure(fault, len(group))
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            outcomes = [(write, None, StorageFailed(str(fault))) for write in group]
            if self._log is not None and (logged or isinstance(fault, LogLost)):
                self._log.fall_behind(fault)
                self._post(self._doubt, str(fault), group)
                return
        self._post(self._confirm, outcomes)

    def _post(self, call: Callable[..., object], *arguments: object) -> None:
        with suppress(RuntimeError):  # The event loop is closed, so no callers are left.
            self._loop.call_soon_threadsafe(call, *arguments)

    def _doubt(self, reason: str, group: Sequence[PendingWrite]) -> None:
        """Reject writes until the log confirms the current group, which may still be stored."""
        self._suspended = reason
        unconfirmed = [*group]
        with suppress(IndexError):
            while True:
                unconfirmed.append(self._waiting.popleft())
        for write in unconfirmed:
            if not write.future.done():
                write.future.set_exception(Unreplicated(reason))

    def _confirm(self, outcomes: Sequence[Outcome]) -> None:
        self._suspended = ""
        is_answering = bool(self._confirmed)
        self._confirmed.extend(outcomes)
        if not is_answering:
            self._answer()

    def _answer(self) -> None:
        """Send outcomes in commit order, for up to ANSWER_S. The rest follow in the next iteration."""
        end = self._loop.time() + ANSWER_S
        while self._confirmed:
            _send(*self._confirmed.popleft())
            if self._loop.time() >= end:
                break
        if self._confirmed:
            self._loop.call_soon(self._answer)

    def _note_failure(self, fault: Exception, writes: int) -> None:
        self._write_fault = str(fault)
        self._failed_at = time.monotonic()
        self.statistics.failed_writes += writes
        logger.error("writes could not be saved", extra={"fault": str(fault), "writes": writes})
        if isinstance(fault, sqlite3.DatabaseError):
            self._note_damage(fault)


def _prepare(path: Path, migrations: Sequence[Migration], backups: Path, log: CommitLog | None) -> FreeSpace:
    try:
        if path.exists():
            database_file.examine(path, migrations)
        else:
            database_file.make(path, migrations)
        make_private(path)
        with closing(connect(path)) as connection:
            if log is None and commit_log.position_in(connection) is not None:
                raise DatabaseError(f"{path} {_OF_A_CLUSTER}")
            migrate(connection, migrations, backups, log.append_script if log is not None else None)
            if connection.execute("PRAGMA application_id").fetchone()[0] != database_file.APPLICATION_ID:
                database_file.touch(connection)
        return FreeSpace(path)
    except (sqlite3.Error, OSError, LogLost) as fault:
        raise DatabaseError(f"{path} cannot be used: {fault}") from fault


def _release(waiting: Sequence["asyncio.Future[None]"]) -> None:
    for waiter in waiting:
        if not waiter.done():
            waiter.set_result(None)


def _send(write: PendingWrite, result: Any, fault: BaseException | None) -> None:
    """Apply an outcome and return it to the caller. If the caller is no longer waiting, its write still
    stands.
    """
    answer = None
    if fault is None:
        try:
            answer = write.on_commit(result)
        except Exception as mistake:  # The write is durable, but the caller gets the exception.
            logger.exception("a callback after a write failed")
            fault = mistake
    if write.future.done():
        return
    if fault is None:
        write.future.set_result(answer)
    else:
        write.future.set_exception(fault)
