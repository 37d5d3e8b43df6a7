"""The database commits writes in groups, rolls back only failed writes, and is copied before a migration."""

import asyncio
import os
import sqlite3
import tempfile
import threading
from collections import Counter
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.base.database import Connection, Database, DatabaseError, Write
from svc.base.migrations import Migration, migrations_in

FIRST = Migration(1, "words", "CREATE TABLE words (word TEXT PRIMARY KEY) STRICT;")
SECOND = Migration(2, "lengths", "ALTER TABLE words ADD COLUMN length INTEGER;")


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await Database.open(tmp_path / "words.sqlite3", [FIRST], tmp_path / "backups")
    yield opened
    await opened.close()


def insert(connection: Connection, word: str) -> str:
    connection.execute("INSERT INTO words VALUES (?)", (word,))
    return word


async def words(database: Database) -> list[str]:
    return [row["word"] for row in await database.rows("SELECT word FROM words ORDER BY word")]


async def test_a_write_returns_the_result_of_its_function_and_readers_see_it(database: Database) -> None:
    assert await database.write(lambda connection: insert(connection, "hello")) == "hello"
    assert await words(database) == ["hello"]


async def test_a_failed_write_rolls_back_only_itself(database: Database) -> None:
    def fail_after_writing(connection: Connection) -> None:
        insert(connection, "gone")
        raise LookupError("no")

    outcomes = await asyncio.gather(
        database.write(lambda connection: insert(connection, "before")),
        database.write(fail_after_writing),
        database.write(lambda connection: insert(connection, "before")),
        database.write(lambda connection: insert(connection, "after")),
        return_exceptions=True,
    )
    assert [type(outcome) for outcome in outcomes] == [str, LookupError, sqlite3.IntegrityError, str]
    assert await words(database) == ["after", "before"]


@given(
    kinds=st.lists(
        st.sampled_from(["kept", "refused before", "refused after", "taken"]), min_size=1, max_size=30
    )
)
@settings(max_examples=50)
async def test_a_failed_write_does_not_fail_other_writes_in_its_group(kinds: list[str]) -> None:
    runs: Counter[int] = Counter()

    def change(connection: Connection, number: int, kind: str) -> int:
        runs[number] += 1
        if kind == "refused before":
            raise LookupError
        insert(connection, "twice" if kind == "taken" else f"{number:02}")
        if kind == "refused after":
            raise ValueError
        return number

    with tempfile.TemporaryDirectory() as folder:
        database = await Database.open(Path(folder) / "words.sqlite3", [FIRST], Path(folder))
        await database.write(partial(insert, word="twice"))
        changes = (partial(change, number=number, kind=kind) for number, kind in enumerate(kinds))
        outcomes = await asyncio.gather(*map(database.write, changes), return_exceptions=True)
        kept = [f"{number:02}" for number, kind in enumerate(kinds) if kind == "kept"]
        assert await words(database) == [*kept, "twice"]
        await database.close()
    expected = {"kept": int, "refused before": LookupError, "refused after": ValueError}
    assert [type(outcome) for outcome in outcomes] == [
        expected.get(kind, sqlite3.IntegrityError) for kind in kinds
    ]
    # A write that fails before it changes anything may have counted its calls, so it runs only once.
    assert all(runs[number] == 1 for number, kind in enumerate(kinds) if kind == "refused before")


async def test_commit_callbacks_run_in_order_even_if_a_caller_is_cancelled(
    database: Database,
) -> None:
    followed: list[str] = []
    tasks = [
        asyncio.create_task(database.write(partial(insert, word=f"{n:03}"), followed.append))
        for n in range(100)
    ]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await database.write(lambda connection: insert(connection, "last"))
    assert followed == [f"{n:03}" for n in range(100)]


async def test_the_event_loop_runs_between_the_commit_callbacks_of_grouped_writes(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc.base.database.ANSWER_S", 0.0)
    events: list[str] = []
    all_waiting = threading.Event()

    def effect(name: str) -> None:
        events.append(name)
        asyncio.get_running_loop().call_soon(events.append, f"turn after {name}")

    first = asyncio.ensure_future(database.write(lambda _: all_waiting.wait(), lambda _: effect("first")))
    others = [
        asyncio.ensure_future(database.write(lambda _: None, lambda _, name=name: effect(name)))  # type: ignore[misc]
        for name in ("second", "third")
    ]
    await asyncio.sleep(0)
    all_waiting.set()
    await asyncio.gather(first, *others)
    await asyncio.sleep(0)
    assert events == [
        event for name in ("first", "second", "third") for event in (name, f"turn after {name}")
    ]


async def test_concurrent_writers_share_commits_and_no_write_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "words.sqlite3"
    database = await Database.open(path, [FIRST], tmp_path / "backups")
    await asyncio.gather(*(database.write(partial(insert, word=f"{n:05}")) for n in range(5_000)))
    await database.close()
    reopened = await Database.open(path, [FIRST], tmp_path / "backups")
    assert len(await words(reopened)) == 5_000
    await reopened.close()


async def test_closing_completes_pending_writes_and_leaves_a_single_file(tmp_path: Path) -> None:
    path = tmp_path / "words.sqlite3"
    database = await Database.open(path, [FIRST], tmp_path / "backups")
    waiting = [asyncio.create_task(database.write(partial(insert, word=str(n)))) for n in range(100)]
    await asyncio.sleep(0)
    await database.close()
    await asyncio.gather(*waiting)
    assert os.listdir(tmp_path) == ["words.sqlite3"]  # noqa: PTH208
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM words").fetchone() == (100,)
    connection.close()


async def test_readers_cannot_write(database: Database) -> None:
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        await database.rows("INSERT INTO words VALUES ('sneaked in')")


async def test_an_older_schema_is_copied_and_migrated(tmp_path: Path) -> None:
    path, backups = tmp_path / "words.sqlite3", tmp_path / "backups"
    database = await Database.open(path, [FIRST], backups)
    await database.write(lambda connection: insert(connection, "old"))
    await database.close()
    assert not backups.exists()
    database = await Database.open(path, [FIRST, SECOND], backups)
    assert await database.row("SELECT word, length FROM words") is not None
    await database.close()
    with sqlite3.connect(backups / "before-schema-2-from-1.sqlite3") as copy:
        assert copy.execute("SELECT * FROM words").fetchall() == [("old",)]
    copy.close()


async def test_a_newer_schema_is_rejected_and_left_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "words.sqlite3"
    await (await Database.open(path, [FIRST, SECOND], tmp_path)).close()
    before = path.read_bytes()
    with pytest.raises(DatabaseError, match="written by a newer version"):
        await Database.open(path, [FIRST], tmp_path)
    assert path.read_bytes() == before


async def test_a_failed_migration_leaves_the_file_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "words.sqlite3"
    await (await Database.open(path, [FIRST], tmp_path)).close()
    broken = Migration(2, "broken", "CREATE TABLE other (x); INSERT INTO nowhere VALUES (1);")
    with pytest.raises(DatabaseError, match="nowhere"):
        await Database.open(path, [FIRST, broken], tmp_path)
    reopened = await Database.open(path, [FIRST], tmp_path)
    assert await reopened.row("SELECT 1 FROM sqlite_master WHERE name = 'other'") is None
    await reopened.close()


async def test_a_file_that_is_not_a_database_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "words.sqlite3"
    path.write_bytes(b"not a database at all, but long enough to look at" * 100)
    with pytest.raises(DatabaseError, match="not a database"):
        await Database.open(path, [FIRST], tmp_path)


def test_migrations_are_read_in_numerical_order(tmp_path: Path) -> None:
    for name in ("0002_b.sql", "0001_a.sql"):
        (tmp_path / name).write_text(f"-- {name}")
    names = [(migration.number, migration.name) for migration in migrations_in(tmp_path)]
    assert names == [(1, "a"), (2, "b")]
    (tmp_path / "0004_d.sql").write_text("")
    with pytest.raises(AssertionError, match="should be number 0003"):
        migrations_in(tmp_path)


async def test_a_failed_exclusive_write_does_not_delay_the_next(
    database: Database,
) -> None:
    def fail(connection: Connection) -> None:
        raise LookupError("no")

    with pytest.raises(LookupError):
        await database.write_exclusive(lambda: Write(fail, lambda _: None))
    with pytest.raises(ValueError, match="not so"):
        await database.write_exclusive(lambda: int("not so"))  # type: ignore[arg-type, return-value]
    word = await database.write_exclusive(lambda: Write(partial(insert, word="a"), lambda word: word + "!"))
    assert word == "a!"
    assert await database.write_shared(lambda: Write(partial(insert, word="b"), str.upper)) == "B"
