"""Prepares an empty database with the newest schema, once for all chat servers that a test process and its
forks start.

At startup, a server compares the tables in an existing file with the tables that the migrations create. The
list of these tables is also prepared. tests/chat/test_upgrading.py and tests/base/test_database.py test the
migrations themselves, with other lists.
"""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path

from svc.base import database_file
from svc.base.migrations import Migration, migrate, migrations_in
from svc.chat.community import SCHEMA_FOLDER

_objects_of = database_file._objects_of


@cache
def prepared() -> tuple[list[Migration], bytes]:
    """Return the migrations and the file that they create. Creating it takes a third of a server's startup
    time.
    """
    migrations = migrations_in(SCHEMA_FOLDER)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        migrate(made, migrations, SCHEMA_FOLDER)
        _objects(tuple(migrations))
        return migrations, made.serialize()


def reuse() -> None:
    """Make all servers that this process or its forks start later use the prepared database. Idempotent."""
    database_file.migrate = _copied  # type: ignore[attr-defined]
    database_file._objects_of = lambda migrations: _objects(tuple(migrations))


@cache
def _objects(migrations: tuple[Migration, ...]) -> set[tuple[str, str]]:
    return _objects_of(migrations)


def _copied(
    connection: sqlite3.Connection,
    migrations: Sequence[Migration],
    backups: Path,
    append: Callable[[sqlite3.Connection, str], None] | None = None,
) -> None:
    newest, content = prepared()
    if migrations != newest:
        migrate(connection, migrations, backups, append)
        return
    with closing(sqlite3.connect(":memory:")) as source:
        source.deserialize(content)
        source.backup(connection)
