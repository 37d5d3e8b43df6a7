"""Once the write-ahead log has been emptied, no bytes of deleted rows remain in any of a database's files."""

import asyncio
import random
import re
import sqlite3
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path

import pytest

from svc.base.database import Connection, Database
from svc.base.database_file import damage
from svc.base.migrations import Migration
from svc.base.snapshot import snapshot

TABLES = Migration(
    1,
    "rows",
    "CREATE TABLE by_number (n INTEGER PRIMARY KEY, name TEXT, body BLOB, UNIQUE (name, body));"
    "CREATE TABLE by_name (name TEXT PRIMARY KEY, body BLOB) WITHOUT ROWID;",
)
A_ROW = re.compile(rb"row-[a-z]-\d{6}-")


def bodies_of(bodies: Iterable[bytes]) -> set[bytes]:
    return {match.group() for body in bodies if (match := A_ROW.match(body))}


def bodies_in(path: Path) -> set[bytes]:
    """Return the bodies that occur in a database's file and its write-ahead log."""
    files = [file for file in path.parent.iterdir() if file.name.startswith(path.name)]
    return {row for file in files for row in A_ROW.findall(file.read_bytes())}


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Database]:
    database = await Database.open(path, [TABLES], path.parent / "backups")
    try:
        yield database
    finally:
        await database.close()


def history(connection: Connection, first: int, rows: int, size: int) -> None:
    """Insert, edit and delete rows in an order that makes pages split and merge."""
    chance = random.Random(first)

    def body(letter: str, number: int) -> bytes:
        return b"row-%s-%06d-" % (letter.encode(), number) + chance.randbytes(chance.randint(0, size))

    for number in range(first, first + rows):
        name = chance.randbytes(8).hex()
        connection.execute("INSERT INTO by_number VALUES (?, ?, ?)", (number, name, body("a", number)))
        connection.execute("INSERT INTO by_name VALUES (?, ?)", (name, body("b", number)))
        if number % 5 == 0:
            edited = chance.randrange(first, number + 1)
            connection.execute("UPDATE by_number SET body = ? WHERE n = ?", (body("c", number), edited))
        if number % 7 == 0:
            connection.execute("DELETE FROM by_number WHERE n = ?", (chance.randrange(first, number + 1),))
    connection.execute("DELETE FROM by_number WHERE n % 10 != 3")
    connection.execute("DELETE FROM by_name WHERE substr(name, 1, 1) != '3'")


@pytest.mark.parametrize("size", [20, 400, 6000], ids="{} bytes".format)
@pytest.mark.parametrize("rows", [5, 60, 3000], ids="{} rows".format)
async def test_no_database_file_or_copy_contains_deleted_data(tmp_path: Path, rows: int, size: int) -> None:
    path = tmp_path / "rows.sqlite3"
    async with opened(path) as database:
        for first in range(1, rows, rows // 3 + 1):
            await database.write(partial(history, first=first, rows=rows // 3 + 1, size=size))
        texts = await database.rows("SELECT body FROM by_number UNION ALL SELECT body FROM by_name")
        present = bodies_of(row["body"] for row in texts)
        await database.empty_log()
        assert bodies_in(path) == present

        # The same holds after more writes to these pages, and in a backup.
        await database.write(lambda connection: connection.execute("UPDATE by_number SET n = -n"))
        assert bodies_in(path) == present
        snapshot(path, tmp_path / "copy.sqlite3")
        assert bodies_in(tmp_path / "copy.sqlite3") == present
    with closing(sqlite3.connect(path)) as connection:
        assert damage(connection) == ""


async def test_free_space_left_by_another_version_is_cleaned_after_startup(tmp_path: Path) -> None:
    path = tmp_path / "rows.sqlite3"
    async with opened(path):
        pass
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA secure_delete=OFF")
        connection.execute("BEGIN")
        history(connection, 1, 2000, 400)
        connection.execute("COMMIT")
        rows = connection.execute("SELECT body FROM by_number UNION ALL SELECT body FROM by_name")
        present = bodies_of(body for (body,) in rows)
    assert bodies_in(path) > present
    async with opened(path) as database:
        await database.empty_log()
        # The ends of overflow pages are not scanned, so no row in this test is long enough to need such a
        # page.
        assert bodies_in(path) == present


async def test_the_log_is_not_overwritten_while_a_reader_is_open(tmp_path: Path) -> None:
    path = tmp_path / "rows.sqlite3"
    async with opened(path) as database:
        await database.write(partial(history, first=1, rows=200, size=400))
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            rows = reader.execute("SELECT body FROM by_number UNION ALL SELECT body FROM by_name").fetchall()
            await database.write(lambda connection: connection.execute("DELETE FROM by_number"))
            emptied = asyncio.create_task(database.empty_log())
            for number in range(20):
                await database.write(partial(history, first=1000 + 10 * number, rows=1, size=20))
            assert not emptied.done()
            reader.execute("COMMIT")
        await emptied
        gone = bodies_of(body for (body,) in rows if b"row-b" not in body)
        assert gone and not gone & bodies_in(path)
