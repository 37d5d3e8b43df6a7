"""Checks a database file's origin and integrity, creates it, and connects to it.

A new file appears atomically, so an existing file that is not this program's database is never mistaken for a
half-created one. This module defines no tables: the migrations define the schema. SQLite stores no checksums,
so corrupt text inside an otherwise valid page goes undetected.
"""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from svc.base.commit_log import RecordingConnection
from svc.base.migrations import Migration, migrate, schema_version, statements_of
from svc.base.private_files import make_private_file

# "SVC1" in the file's header, so that the `file` command and other programs can identify it.
APPLICATION_ID = 0x53564331
# Files up to this size are checked before startup, in 0.1 s, or some seconds on a slow SD card. Larger files
# are checked while the server is running (`damage` takes 0.15 s for 118 MB in memory, or as long as the disk
# takes to read the file).
CHECK_FIRST_BYTES = 64 * 1024 * 1024
_BUSY_TIMEOUT_S = 10.0
_MAGIC = b"SQLite format 3\0"
_RESTORE = "Restore a backup into another folder (svc admin restore) and start the server with that one"
_NAMED = 3


class DatabaseError(Exception):
    """The file cannot be used. The message explains why to the operator."""


def examine(path: Path, migrations: Sequence[Migration]) -> None:
    """Check that the file is an intact database of this program. Raises DatabaseError or OSError."""
    with path.open("rb") as file:
        size, head = os.fstat(file.fileno()).st_size, file.read(len(_MAGIC))
    if size == 0:
        raise DatabaseError(
            f"{path} is empty (0 bytes): its data is lost. {_RESTORE}, "
            "or delete the empty file if this is meant to be a new server"
        )
    if head != _MAGIC:
        raise DatabaseError(f"{path} is not a database: it does not begin like a SQLite file. {_RESTORE}")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema=OFF")
            if stranger := foreign(connection, migrations):
                raise DatabaseError(f"{path} is not a database of this program: {stranger}. {_RESTORE}")
            if size <= CHECK_FIRST_BYTES and (problem := damage(connection)):
                raise damaged_error(path, problem)
    except sqlite3.DatabaseError as fault:
        if isinstance(fault, sqlite3.OperationalError):
            raise
        raise damaged_error(path, str(fault)) from None


def damaged_error(path: Path, fault: str) -> DatabaseError:
    return DatabaseError(f"{path} is damaged: {fault}. {_RESTORE}")


def foreign(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> str:
    """Return evidence that another program made the database, or an empty string. Raises sqlite3.Error."""
    (number,) = connection.execute("PRAGMA application_id").fetchone()
    # Files created before version 1.5 have no application id.
    if number not in (0, APPLICATION_ID):
        return f"its application_id is {number:#010x}, another program's"
    version = schema_version(connection)
    if version > len(migrations):
        return ""  # A newer version of this program made the file. `migrate` reports that.
    if version < 1:
        return "it has no schema of this program"
    expected, present = _objects_of(migrations[:version]), _objects(connection)
    if lacking := sorted(name for kind, name in expected - present if kind == "table"):
        return f"it lacks the table {', '.join(lacking[:_NAMED])}"
    # A foreign trigger or view would run within our own statements.
    if added := sorted(name for kind, name in present - expected if kind in ("trigger", "view")):
        return f"it holds {added[0]!r:.80}, a trigger or view that this program does not make"
    return ""


def damage(connection: sqlite3.Connection) -> str:
    """Return the first fault that SQLite finds in the pages, or an empty string."""
    try:
        (result,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as fault:
        return str(fault)
    return "" if result == "ok" else " ".join(str(result).split())[:200]


def make(path: Path, migrations: Sequence[Migration]) -> None:
    """Create a new database with the newest schema atomically. Raises OSError or sqlite3.Error."""
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        raise DatabaseError(
            f"{path} is missing, but its log {log.name} exists. {_RESTORE}, "
            "or delete the log if this is meant to be a new server"
        )
    making = path.with_name(f".{path.name}.new")
    making.unlink(missing_ok=True)
    make_private_file(making)
    with closing(sqlite3.connect(making, isolation_level=None)) as connection:
        migrate(connection, migrations, path.parent)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    making.rename(path)


def connect(path: Path, *, recording: bool = False) -> sqlite3.Connection:
    """Return a connection that writes durably. The caller must own the file."""
    connection = sqlite3.connect(
        path,
        timeout=_BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
        factory=RecordingConnection if recording else sqlite3.Connection,
    )
    connection.row_factory = sqlite3.Row
    # Overwrite deleted rows and keep rows out of temporary files.
    for pragma in (
        *("journal_mode=WAL", "synchronous=FULL", "wal_autocheckpoint=0", "foreign_keys=ON"),
        *("secure_delete=ON", "temp_store=MEMORY"),
    ):
        connection.execute(f"PRAGMA {pragma}")
    # Forbid virtual tables and functions with side effects in the file's schema.
    connection.execute("PRAGMA trusted_schema=OFF")
    return connection


def touch(connection: sqlite3.Connection) -> None:
    """Rewrite the first page unchanged, which is the smallest write that reaches the disk."""
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")


def reader(path: Path) -> sqlite3.Connection:
    """Return a read-only connection that sees committed data."""
    reader = sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
    reader.row_factory = sqlite3.Row
    for pragma in ("query_only=ON", "wal_autocheckpoint=0", "mmap_size=268435456"):
        reader.execute(f"PRAGMA {pragma}")
    return reader


def _objects_of(migrations: Sequence[Migration]) -> set[tuple[str, str]]:
    """Return the schema objects that the given migrations create in a new database."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(statements_of(migrations, connection))
        return _objects(connection)


def _objects(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    return {(row[0], row[1]) for row in connection.execute("SELECT type, name FROM sqlite_schema")}
