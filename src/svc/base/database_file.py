"""A database's file: whose it is, whether it is sound, how a new one is made, and connections to it.

A new file appears whole or not at all, so a file that is there and is no database of this program
is never taken for a new server. Knows no table: what the schema should hold is asked of the
migrations. SQLite keeps no checksums: changed text inside a sound page is not noticed.
"""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import aiosqlite

from svc.base.migrations import Migration, migrate, schema_version, statements_of
from svc.base.private_files import make_private_file

# In the file's header, where `file` and other programs find it: "SVC1".
APPLICATION_ID = 0x53564331
# Checked before the start: 0.1 s, and some seconds on a slow card. Larger files are checked beside
# the running server (`damage` takes 0.15 s for 118 MB in memory, and as long as the disk otherwise).
CHECK_FIRST_BYTES = 64 * 1024 * 1024
_BUSY_TIMEOUT_S = 10.0
_MAGIC = b"SQLite format 3\0"
_RESTORE = "Restore a backup into another folder (svc admin restore) and start the server with that one"
_NAMED = 3


class DatabaseError(Exception):
    """The file cannot be used; the message says why, in words for the operator."""


def examine(path: Path, migrations: Sequence[Migration]) -> None:
    """Check that the file is a sound database of this program. Raises DatabaseError and OSError."""
    with path.open("rb") as file:
        size, head = os.fstat(file.fileno()).st_size, file.read(len(_MAGIC))
    if size == 0:
        raise DatabaseError(
            f"{path} is empty (0 bytes): its data is lost. {_RESTORE}, "
            "or delete the empty file if this is meant to be a new server"
        )
    if head != _MAGIC:
        raise DatabaseError(f"{path} is not a database: it does not begin as SQLite files do. {_RESTORE}")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema=OFF")
            if stranger := foreign(connection, migrations):
                raise DatabaseError(f"{path} is no database of this program: {stranger}. {_RESTORE}")
            if size <= CHECK_FIRST_BYTES and (found := damage(connection)):
                raise damaged(path, found)
    except sqlite3.DatabaseError as fault:
        if isinstance(fault, sqlite3.OperationalError):
            raise
        raise damaged(path, str(fault)) from None


def damaged(path: Path, found: str) -> DatabaseError:
    return DatabaseError(f"{path} is damaged: {found}. {_RESTORE}")


def foreign(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> str:
    """What shows that this program did not make the database; empty if it did. Raises sqlite3.Error."""
    (number,) = connection.execute("PRAGMA application_id").fetchone()
    # Files have the id since version 1.5; in older ones there is none.
    if number not in (0, APPLICATION_ID):
        return f"its application_id is {number:#010x}, another program's"
    version = schema_version(connection)
    if version > len(migrations):
        return ""  # A newer version of this program made it: `migrate` says so.
    if version < 1:
        return "it has no schema of this program"
    expected, present = _objects_of(migrations[:version]), _objects(connection)
    if lacking := sorted(name for kind, name in expected - present if kind == "table"):
        return f"it lacks the table {', '.join(lacking[:_NAMED])}"
    # A trigger or view of somebody else's would run within our own statements.
    if added := sorted(name for kind, name in present - expected if kind in ("trigger", "view")):
        return f"it holds {added[0]!r:.80}, a trigger or view that this program does not make"
    return ""


def damage(connection: sqlite3.Connection) -> str:
    """The first fault that SQLite finds in the pages; empty if it finds none."""
    try:
        (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as fault:
        return str(fault)
    return "" if found == "ok" else " ".join(str(found).split())[:200]


def make(path: Path, migrations: Sequence[Migration]) -> None:
    """Make a new database with the newest schema, whole or not at all. Raises OSError and sqlite3.Error."""
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        raise DatabaseError(
            f"{path} is missing, but its log {log.name} is there. {_RESTORE}, "
            "or delete the log if this is meant to be a new server"
        )
    making = path.with_name(f".{path.name}.new")
    making.unlink(missing_ok=True)
    make_private_file(making)
    with closing(sqlite3.connect(making, isolation_level=None)) as connection:
        migrate(connection, migrations, path.parent)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    making.rename(path)


def connect(path: Path) -> sqlite3.Connection:
    """A connection that writes durably; whoever holds it must own the file."""
    connection = sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    # Deleted rows are overwritten, and no temporary file gets any.
    for pragma in (
        *("journal_mode=WAL", "synchronous=FULL", "wal_autocheckpoint=0", "foreign_keys=ON"),
        *("secure_delete=ON", "temp_store=MEMORY"),
    ):
        connection.execute(f"PRAGMA {pragma}")
    # Names from strangers do not become tables, and nothing in the file runs code.
    connection.execute("PRAGMA trusted_schema=OFF")
    return connection


def touch(connection: sqlite3.Connection) -> None:
    """Write the first page again, as it is: the smallest change that reaches the disk."""
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")


async def reader(path: Path) -> aiosqlite.Connection:
    """A connection that reads what has been committed, and changes nothing."""
    reader = await aiosqlite.connect(path, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
    reader.row_factory = sqlite3.Row
    for pragma in ("query_only=ON", "wal_autocheckpoint=0", "mmap_size=268435456"):
        await reader.execute(f"PRAGMA {pragma}")
    return reader


def _objects_of(migrations: Sequence[Migration]) -> set[tuple[str, str]]:
    """What a new database holds after these migrations."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(statements_of(migrations, connection))
        return _objects(connection)


def _objects(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    return {(row[0], row[1]) for row in connection.execute("SELECT type, name FROM sqlite_schema")}
