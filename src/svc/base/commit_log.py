"""Defines the interface to a replicated log. Each commit of a database waits until its statements are in the
log.

A database without a log does not use this module's classes. If there is a log, the writer's thread records
the statements of its transaction (`RecordingConnection`), appends them to the log, and only then commits. The
file's position in the log is a row in the same file, written in the same transaction, so the file always
records how much of the log it contains. This module does not transport the log.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol, cast

Parameters = Sequence[Any] | Mapping[str, Any]
# A statement, and the parameters of each execution.
Statement = tuple[str, list[Parameters]]

_READERS = ("SELECT", "PRAGMA", "RELEASE")
# Statements that control transactions. They are not recorded.
_TRANSACTIONS = ("SAVEPOINT", "ROLLBACK", "BEGIN", "COMMIT")
_READS, _FOLLOWED, _ALWAYS, _IF_CHANGED = range(4)
_execute = sqlite3.Connection.execute
_TABLE = "cluster_position"


class LogLost(Exception):
    """The transaction is not in the log and never will be. The message states the reason."""


class CommitLog(Protocol):
    """A replicated log. A database commits only after the log has stored the transaction. Its methods block
    and run on the writer's thread.
    """

    def append(self, connection: sqlite3.Connection, doubt: Callable[[str], None]) -> None:
        """Append the open transaction's statements to the log.

        Blocks until the outcome is known, however long that takes. If this takes longer than callers should
        wait, calls `doubt` once with the reason. Raises LogLost.
        """

    def append_script(self, connection: sqlite3.Connection, script: str) -> None:
        """Append the open transaction's script to the log. Raises LogLost."""

    def stop(self) -> None:
        """Treat an append with an unknown outcome as lost. Called before the database is closed."""

    def fall_behind(self, fault: Exception) -> None:
        """Stop this node, because the log has a transaction that the file could not store."""


class RecordingConnection(sqlite3.Connection):
    """The writer's connection, which records the statements that change rows."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.statements: list[Statement] = []
        self._mark = 0

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        kind = _kind(sql)
        if kind == _READS:
            return _execute(self, sql, parameters)
        if kind == _FOLLOWED:
            self._follow(sql)
            return _execute(self, sql, parameters)
        before = self.total_changes if kind == _IF_CHANGED else -1
        cursor = _execute(self, sql, parameters)
        if self.total_changes != before:
            self._add(sql, [parameters])
        return cursor

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        values: list[Parameters] = list(parameters)
        cursor = super().executemany(sql, values)
        if values:
            self._add(sql, values)
        return cursor

    def _add(self, sql: str, parameters: list[Parameters]) -> None:
        last = self.statements[-1] if len(self.statements) > self._mark else None
        if last is not None and last[0] == sql:
            last[1].extend(parameters)
        else:
            self.statements.append((sql, parameters))

    def _follow(self, sql: str) -> None:
        """Discard recorded statements that are rolled back. The writer does not nest savepoints."""
        if sql.startswith("SAVEPOINT"):
            self._mark = len(self.statements)
        elif sql.startswith("ROLLBACK TO"):
            del self.statements[self._mark :]
        elif sql.startswith(("BEGIN", "COMMIT", "ROLLBACK")):
            self.statements = []
            self._mark = 0


@lru_cache(maxsize=1024)
def _kind(sql: str) -> int:
    words = sql.lstrip().upper()
    if words.startswith(_READERS):
        return _READS
    if words.startswith(_TRANSACTIONS):
        return _FOLLOWED
    # An INSERT that changes no row can still use up an AUTOINCREMENT number. If a statement has RETURNING,
    # SQLite counts its rows only after the last one has been fetched.
    return _ALWAYS if words.startswith(("INSERT", "REPLACE")) or "RETURNING" in words else _IF_CHANGED


def recorded_statements(connection: sqlite3.Connection) -> list[Statement]:
    return cast(RecordingConnection, connection).statements


# Functions for a file's position in its log.


def position_in(connection: sqlite3.Connection) -> tuple[str, int, int] | None:
    """Return the log's name, the last sequence number that the file contains, and the epoch of that entry.

    Return None if there is no log.
    """
    if connection.execute(f"SELECT 1 FROM sqlite_schema WHERE name = '{_TABLE}'").fetchone() is None:
        return None
    name, sequence, epoch = connection.execute(f"SELECT log, sequence, epoch FROM {_TABLE}").fetchone()
    return str(name), int(sequence), int(epoch)


def attach(connection: sqlite3.Connection, log: str, sequence: int, epoch: int) -> None:
    """Record in the file that it replicates a log, starting with the entry after `sequence`."""
    with connection:
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS {_TABLE} (id INTEGER PRIMARY KEY CHECK (id = 1), log TEXT NOT NULL,"
            " sequence INTEGER NOT NULL, epoch INTEGER NOT NULL) STRICT"
        )
        connection.execute(f"INSERT OR REPLACE INTO {_TABLE} VALUES (1, ?, ?, ?)", (log, sequence, epoch))


def detach(connection: sqlite3.Connection) -> None:
    """Make the file independent of its log. It can never replicate that log again."""
    connection.execute(f"DROP TABLE IF EXISTS {_TABLE}")


def move_to(connection: sqlite3.Connection, sequence: int, epoch: int) -> None:
    """Record, within a transaction, the position that the file will have after the commit."""
    sqlite3.Connection.execute(connection, f"UPDATE {_TABLE} SET sequence = ?, epoch = ?", (sequence, epoch))
