"""Commits wait for a log. Replaying the recorded statements reproduces the commits, and no write is accepted
while a commit is in doubt.
"""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from svc.base import commit_log
from svc.base.commit_log import LogLost, Statement, position_in, recorded_statements
from svc.base.database import Connection, Database, DatabaseError
from svc.base.migrations import Migration
from svc.base.write_group import Unreplicated

WORDS = "CREATE TABLE words (n INTEGER PRIMARY KEY AUTOINCREMENT, word TEXT UNIQUE) STRICT;"
SCHEMA = [
    Migration(1, "words", WORDS),
    Migration(2, "made", "ALTER TABLE words ADD COLUMN size ANY; INSERT INTO words (word) VALUES ('made');"),
]


class MemoryLog:
    """An in-memory log. A test can withhold or reject a commit."""

    def __init__(self) -> None:
        self.entries: list[list[Statement]] = []
        self.scripts: list[str] = []
        self.known, self.doubted = threading.Event(), threading.Event()
        self.known.set()
        self.lost = ""

    def append(self, connection: sqlite3.Connection, doubt: Callable[[str], None]) -> None:
        if not self.known.is_set():
            doubt("the log has no quorum")
            self.doubted.set()
        self.known.wait(30)
        if self.lost:
            raise LogLost(self.lost)
        self.entries.append(recorded_statements(connection))

    def append_script(self, connection: sqlite3.Connection, script: str) -> None:
        self.scripts.append(script)

    def stop(self) -> None:
        pass

    def fall_behind(self, fault: Exception) -> None:
        self.lost = str(fault)


async def opened(path: Path, log: MemoryLog | None) -> Database:
    return await Database.open(path, SCHEMA, path.parent / "backups", log)


@asynccontextmanager
async def closed_after(database: Database) -> AsyncIterator[Database]:
    """Close the database at the end. Otherwise its threads keep the process alive after a failed test."""
    try:
        yield database
    finally:
        await database.close()


def insert(connection: Connection, word: str) -> str:
    connection.execute("INSERT INTO words (word) VALUES (?)", (word,))
    return word


def all_rows(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        tables = "SELECT n, word FROM words UNION ALL SELECT seq, name FROM sqlite_sequence ORDER BY 1, 2"
        return connection.execute(tables).fetchall()


async def test_the_recorded_statements_produce_the_same_file_elsewhere(tmp_path: Path) -> None:
    log = MemoryLog()
    owner, follower = tmp_path / "owner.sqlite3", tmp_path / "follower.sqlite3"
    # Both files start with the older schema.
    for path in (owner, follower):
        await (await Database.open(path, SCHEMA[:1], tmp_path / "backups")).close()
    database = await opened(owner, log)

    def fail_after_writing(connection: Connection) -> None:
        insert(connection, "gone")
        raise LookupError

    def many(connection: Connection) -> None:
        connection.executemany("INSERT INTO words (word) VALUES (?)", [("one",), ("two",)])
        connection.execute("DELETE FROM words WHERE word = 'one' RETURNING n").fetchall()
        connection.execute("INSERT OR IGNORE INTO words (word) VALUES ('two')")
        connection.execute("SELECT count(*) FROM words")

    await asyncio.gather(
        database.write(lambda connection: insert(connection, "first")),
        database.write(fail_after_writing),
        database.write(many),
        database.write(lambda connection: insert(connection, "last")),
        return_exceptions=True,
    )
    await database.close()
    with closing(sqlite3.connect(follower)) as copy:
        for script in log.scripts:
            copy.executescript(script)
        for sql, parameters in (statement for entry in log.entries for statement in entry):
            for given in parameters:
                copy.execute(sql, given).fetchall()
        copy.commit()
    assert all_rows(follower) == all_rows(owner)
    assert not any("gone" in str(entry) or "SELECT" in str(entry) for entry in log.entries)


@pytest.mark.parametrize("lost", ["", "another node owns the community"])
async def test_while_a_commit_is_in_doubt_writes_are_rejected_and_reads_succeed(
    tmp_path: Path, lost: str
) -> None:
    log = MemoryLog()
    async with closed_after(await opened(tmp_path / "words.sqlite3", log)) as database:
        await doubtful_write(database, log, lost)


async def doubtful_write(database: Database, log: MemoryLog, lost: str) -> None:
    log.known.clear()
    applied = asyncio.Event()
    before = all_rows(database.path)
    writing = database.write(lambda connection: insert(connection, "doubtful"), lambda _: applied.set())
    with pytest.raises(Unreplicated, match="no quorum"):
        await writing
    assert [row["word"] for row in await database.rows("SELECT word FROM words")] == ["made"]
    with pytest.raises(Unreplicated):
        await database.write(lambda connection: insert(connection, "refused"))
    log.lost = lost
    log.known.set()
    if lost:
        await database.close()
        assert all_rows(database.path) == before
        return
    async with asyncio.timeout(30):
        await applied.wait()
    assert await database.write(lambda connection: insert(connection, "later")) == "later"
    assert [word for _, word in all_rows(database.path)] == ["made", "doubtful", "later", "words"]


async def test_a_cluster_database_is_not_opened_without_its_log(tmp_path: Path) -> None:
    path = tmp_path / "words.sqlite3"
    await (await opened(path, None)).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        commit_log.attach(connection, "words", 7, 2)
    with pytest.raises(DatabaseError, match="belongs to a cluster"):
        await opened(path, None)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        assert position_in(connection) == ("words", 7, 2)
        commit_log.detach(connection)
    await (await opened(path, None)).close()
