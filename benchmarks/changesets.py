"""Compares two formats for the entries of a replicated log: statements, and SQLite changesets.

    pip install apsw
    python -m benchmarks.changesets [--writers 200] [--rounds 50]

The chat server's own message code writes to a new database, and the statements in each commit are collected.
These are applied to two copies of the original file: to one as a follower applies its log, and to the other
with `apsw`. Its session extension records a changeset, which is applied to a third copy. The columns are the
size of a message in an entry, the time to create an entry from the executed statements, and the time to apply
it, without the commit.
"""

import argparse
import asyncio
import importlib
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.chat_store import TEXT
from benchmarks.chat_world import opened_world
from svc.base import commit_log, database_file
from svc.base.migrations import migrations_in
from svc.chat.cluster.log_entry import Assembly, Entry, encode, statements_of
from svc.chat.community import SCHEMA_FOLDER
from svc.chat.messages.rules import Draft


class Collector:
    """A log that keeps each commit's statements in memory."""

    def __init__(self) -> None:
        self.commits: list[list[commit_log.Statement]] = []

    def append(self, connection: sqlite3.Connection, doubt: Callable[[str], None]) -> None:
        self.commits.append(commit_log.recorded_statements(connection))

    def append_script(self, connection: sqlite3.Connection, script: str) -> None:
        raise NotImplementedError("a new file has all migrations")

    def stop(self) -> None:
        pass

    def fall_behind(self, fault: Exception) -> None:
        raise fault


async def commits(folder: Path, writers: int, rounds: int) -> list[list[commit_log.Statement]]:
    """Write messages. Return each commit's statements. `before` becomes a copy of the file without the
    messages.
    """
    path = folder / "community.sqlite3"
    database_file.make(path, migrations_in(SCHEMA_FOLDER))
    with closing(database_file.connect(path)) as connection:
        commit_log.attach(connection, "log", 0, 0)
    log = Collector()
    async with opened_world(folder, writers, log=log) as world:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("VACUUM INTO ?", (str(folder / "before"),))
        log.commits.clear()
        for number in range(rounds):
            await asyncio.gather(
                *(
                    world.feature.messages.send(
                        member_id, Draft("general", TEXT, nonce=f"{member_id}-{number}"), time.time()
                    )
                    for member_id in world.member_ids
                )
            )
    return log.commits


def copy(folder: Path, name: str) -> Path:
    (folder / name).write_bytes((folder / "before").read_bytes())
    return folder / name


def as_statements(path: Path, commits: list[list[commit_log.Statement]]) -> tuple[int, float, float]:
    """Return the total size of the entries in bytes, and the seconds that creating and applying them took."""
    began = time.perf_counter()
    made = [encode(Entry(1, "one", statements_of(statements))) for statements in commits]
    took = time.perf_counter() - began
    began = time.perf_counter()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        for number, parts in enumerate(made):
            assembly = Assembly()
            for part, data in enumerate(parts):
                entry = assembly.add(str(number), part, len(parts), data)
            assert entry is not None, "all parts have been added"
            for sql, row in entry.executions():
                connection.execute(sql, row).fetchall()
        applied = time.perf_counter() - began
        connection.execute("COMMIT")
    return sum(len(part) for parts in made for part in parts), took, applied


def as_changesets(
    source: Path, target: Path, commits: list[list[commit_log.Statement]]
) -> tuple[int, float, float]:
    """Return the total size of the changesets in bytes, and the seconds that creating and applying them
    took."""
    apsw: Any = importlib.import_module("apsw")
    made: list[bytes] = []
    executed = {True: 0.0, False: 0.0}
    for recording in (False, True):
        connection = apsw.Connection(str(copy(source.parent, "source")))
        connection.execute("BEGIN")
        began = time.perf_counter()
        for statements in commits:
            session = apsw.Session(connection, "main") if recording else None
            if session is not None:
                session.attach()
            for sql, rows in statements:
                for row in rows:
                    connection.execute(sql, tuple(row))
            if session is not None:
                made.append(session.changeset())
                session.close()
        executed[recording] = time.perf_counter() - began
        connection.execute("COMMIT")
        connection.close()
    connection = apsw.Connection(str(target))
    connection.execute("BEGIN")
    began = time.perf_counter()
    for changeset in made:
        apsw.Changeset.apply(changeset, connection)
    applied = time.perf_counter() - began
    connection.execute("COMMIT")
    connection.close()
    return sum(map(len, made)), executed[True] - executed[False], applied


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--writers", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=50)
    options = parser.parse_args()
    count = options.writers * options.rounds
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top)
        timings = asyncio.run(commits(folder, options.writers, options.rounds))
        print("| entry | bytes a message | us to make | us to apply |\n|---|---|---|---|")
        for name, (size, made, applied) in (
            ("statements", as_statements(copy(folder, "a"), timings)),
            ("changeset", as_changesets(folder / "source", copy(folder, "b"), timings)),
        ):
            print(f"| {name} | {size / count:.0f} | {made / count * 1e6:.1f} | {applied / count * 1e6:.1f} |")


if __name__ == "__main__":
    main()
