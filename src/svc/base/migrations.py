"""Applies numbered changes to a database's schema, each once and in order.

The file stores the number of the last applied migration (`PRAGMA user_version`). A file from a newer version
is rejected. An older file is copied before it is changed. Scripts may call `stored_emoji`. This module does
not define the schema.
"""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from svc.base.emoji import stored_emoji
from svc.base.free_space_eraser import erase_file
from svc.base.private_files import make_private_file, make_private_folder


@dataclass(frozen=True, slots=True)
class Migration:
    """One change. Its SQL `script` runs in one transaction with all other pending migrations."""

    number: int
    name: str
    script: str


class SchemaTooNew(sqlite3.DatabaseError):
    """A newer version of the program has changed this file."""


def migrations_in(folder: Path) -> list[Migration]:
    """Return the migrations in a folder. File names have the form `0001_members.sql` and are numbered without
    gaps.
    """
    migrations = []
    for number, file in enumerate(sorted(folder.glob("*.sql")), start=1):
        prefix, _, name = file.stem.partition("_")
        assert int(prefix) == number, f"{file} should be number {number:04}"
        migrations.append(Migration(number, name, file.read_text(encoding="utf-8")))
    return migrations


def migrate(
    connection: sqlite3.Connection,
    migrations: Sequence[Migration],
    backups: Path,
    append: Callable[[sqlite3.Connection, str], None] | None = None,
) -> None:
    """Apply all pending migrations atomically. Raises sqlite3.Error, OSError, and the errors that `append`
    raises.

    `append` adds the script to a log before the commit.
    """
    version = schema_version(connection)
    newest = migrations[-1].number if migrations else 0
    if version > newest:
        raise SchemaTooNew(
            f"it was written by a newer version (schema {version}, this one supports {newest}); "
            "run that version, or restore the copy made before it was changed"
        )
    due = [migration for migration in migrations if migration.number > version]
    if not due:
        return
    if version:
        _copy(connection, backups / f"before-schema-{due[-1].number}-from-{version}.sqlite3")
    script = f"{statements_of(due, connection)}\nPRAGMA user_version={newest};"
    try:
        connection.executescript(f"BEGIN IMMEDIATE;\n{script}")
        if append is not None:
            append(connection, script)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def statements_of(migrations: Sequence[Migration], connection: sqlite3.Connection) -> str:
    """Return the migrations' statements. Define the SQL functions that they call, on `connection`."""
    connection.create_function("stored_emoji", 1, stored_emoji, deterministic=True)
    return "\n".join(migration.script for migration in migrations)


def schema_version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def remove_copies(backups: Path, before_s: float) -> int:
    """Delete copies of the database made before the given time. Return the number deleted. Raises OSError."""
    old = [copy for copy in backups.glob("before-schema-*.sqlite3") if copy.stat().st_mtime < before_s]
    for copy in old:
        copy.unlink()
    return len(old)


def _copy(connection: sqlite3.Connection, target: Path) -> None:
    make_private_folder(target.parent)
    making = target.with_name(f".{target.name}.making")
    making.unlink(missing_ok=True)
    make_private_file(making)
    with closing(sqlite3.connect(making)) as copy:
        connection.backup(copy)
    erase_file(making)
    # Never overwrite an earlier copy, because it may be the better one.
    number = 2
    while target.exists():
        target = target.with_stem(f"{target.stem.partition('.')[0]}.{number}")
        number += 1
    making.rename(target)
