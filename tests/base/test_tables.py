"""Database records are read back as they were written, regardless of the names and contents of their
columns."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from svc.base.database import Connection, Database
from svc.base.migrations import Migration
from svc.base.tables import JSON, ColumnType, Table, number, optional, value

SCHEMA = """
CREATE TABLE shelves (id TEXT PRIMARY KEY) STRICT;
CREATE TABLE books (
    id TEXT PRIMARY KEY, heading TEXT NOT NULL, writer_name TEXT NOT NULL, born INTEGER,
    lent INTEGER NOT NULL, tags TEXT NOT NULL, cover TEXT, added_at_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE pages (book_id TEXT NOT NULL REFERENCES books (id) ON DELETE CASCADE) STRICT;
"""


@dataclass(frozen=True, slots=True)
class Writer:
    name: str
    born: int | None = None


@dataclass(frozen=True, slots=True)
class Book:
    id: str
    title: str
    writer: Writer
    readers: int = 0
    lent: bool = False
    tags: Sequence[str] = ()
    cover: dict[str, int] | None = None
    added_at: float = 0.0


BOOKS = Table(
    "books",
    Book,
    without=("readers",),
    names={
        "title": "heading",
        "writer.name": "writer_name",
        "writer.born": "born",
        "added_at": "added_at_ms",
    },
    tags=JSON,
    cover=optional(JSON),
    added_at_ms=ColumnType(lambda seconds: int(seconds * 1000), lambda ms: ms / 1000),
)
BOOK = Book("b", "Emma", Writer("Austen", 1775), 0, True, ["old"], {"width": 3}, 1.5)
PLAIN = Book("a", "Untitled", Writer("Nobody"), tags=[])


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await Database.open(tmp_path / "books", [Migration(1, "books", SCHEMA)], tmp_path / "backups")
    yield opened
    await opened.close()


@pytest.mark.parametrize("book", [BOOK, PLAIN])
async def test_a_record_is_read_as_it_was_written(database: Database, book: Book) -> None:
    def write(connection: Connection) -> Book | None:
        BOOKS.insert(connection, book)
        return BOOKS.get(connection, id=book.id, heading=book.title)

    assert await database.write(write) == book
    assert await BOOKS.one(database, id=book.id) == book
    assert await BOOKS.one(database, id="another") is None


async def test_records_are_found_by_a_where_clause(database: Database) -> None:
    def write(connection: Connection) -> list[Book]:
        for book in (BOOK, PLAIN):
            BOOKS.insert(connection, book)
        return BOOKS.find(connection, "WHERE lent = ?", True)

    assert await database.write(write) == [BOOK]
    assert await BOOKS.all(database, "ORDER BY id LIMIT ?", 5) == [PLAIN, BOOK]


async def test_references_to_a_record_survive_its_replacement(database: Database) -> None:
    def write(connection: Connection) -> tuple[Book | None, int]:
        BOOKS.put(connection, BOOK)
        connection.execute("INSERT INTO pages VALUES ('b')")
        BOOKS.put(connection, replace(BOOK, title="Emma II"))
        return BOOKS.get(connection, id="b"), number(connection.execute("SELECT count(*) FROM pages"))

    assert await database.write(write) == (replace(BOOK, title="Emma II"), 1)


async def test_columns_can_be_edited_by_name(database: Database) -> None:
    def write(connection: Connection) -> None:
        BOOKS.insert(connection, BOOK)
        BOOKS.edit(connection, {"heading": "Persuasion", "lent": 0}, id="b")
        BOOKS.edit(connection, {"heading": "Nothing"}, id="another")

    await database.write(write)
    assert await BOOKS.all(database) == [replace(BOOK, title="Persuasion", lent=False)]


async def test_columns_without_fields_and_fields_without_columns_are_allowed(
    database: Database,
) -> None:
    chapters = Table("books", Writer, names={"name": "writer_name"})
    columns = {"id": "c", "heading": "", "lent": 0, "tags": "[]", "added_at_ms": 0}
    await database.write(lambda connection: chapters.insert(connection, Writer("Woolf", 1882), **columns))
    [row] = await database.rows(f"SELECT {BOOKS.select('b')} FROM books AS b")
    assert BOOKS.read(row, readers=7) == Book("c", "", Writer("Woolf", 1882), readers=7, tags=[])


async def test_single_values_can_be_read(database: Database) -> None:
    def write(connection: Connection) -> tuple[str | None, str | None, int]:
        connection.execute("INSERT INTO shelves VALUES ('s')")
        of = "SELECT id FROM shelves WHERE id = ?"
        ids = [value(connection.execute(of, (key,)), str) for key in ("s", "t")]
        return (
            ids[0],
            ids[1],
            number(connection.execute("SELECT max(length(id)) FROM shelves WHERE id = 't'")),
        )

    assert await database.write(write) == ("s", None, 0)
