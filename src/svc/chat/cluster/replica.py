"""Applies the log's entries to a follower's database file, and hashes its tables to compare them with another
node's.

The file's log position changes in the same transaction as its rows, so each entry is applied exactly once.
Does not depend on NATS.
"""

import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from svc.base import commit_log
from svc.base.database_file import connect
from svc.base.emoji import stored_emoji
from svc.base.write_group import is_disk_fault
from svc.chat.cluster.log_entry import Entry

# The number of rows fetched and hashed together.
_ROWS_AT_ONCE = 500
# SQLite's own tables. The statistics from `ANALYZE` differ between machines.
_DERIVED = ("sqlite_schema", "sqlite_temp_schema", "sqlite_stat1")


class Diverged(Exception):
    """This node's rows differ from the owner's, so a snapshot must replace its file."""


class Replica:
    """A file that contains the log up to `sequence`. Methods block. Only one thread at a time may use a
    replica.
    """

    def __init__(self, path: Path) -> None:
        self._connection = connect(path)
        self._connection.create_function("stored_emoji", 1, stored_emoji, deterministic=True)
        position = commit_log.position_in(self._connection)
        assert position is not None, "only a database with a log follows it"
        self.log, self.sequence, self.epoch = position

    def apply(self, entries: Sequence[tuple[int, Entry]]) -> None:
        """Apply entries in one transaction. Each is paired with the sequence of its last part.

        Raises Diverged, or sqlite3.Error for a disk error.
        """
        connection = self._connection
        sequence, epoch = entries[-1][0], entries[-1][1].epoch
        connection.execute("BEGIN IMMEDIATE")
        try:
            for _, entry in entries:
                self._apply(entry)
            commit_log.move_to(connection, sequence, epoch)
            connection.execute("COMMIT")
        except sqlite3.Error as fault:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if is_disk_fault(fault):
                raise
            raise Diverged(f"the log up to {sequence} cannot be applied: {fault}") from None
        self.sequence, self.epoch = sequence, epoch

    def close(self) -> None:
        self._connection.close()

    def _apply(self, entry: Entry) -> None:
        connection = self._connection
        # Do not use `executescript`, which would commit the transaction first.
        for statement in _split(entry.script):
            connection.execute(statement).fetchall()
        for sql, parameters in entry.executions():
            connection.execute(sql, parameters).fetchall()


def _split(script: str) -> list[str]:
    """Split a script into its statements. Semicolons in a trigger's body do not end the statement."""
    statements, pending = [], ""
    for piece in script.split(";"):
        pending += piece + ";"
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return statements


def table_hashes(path: Path) -> dict[str, str]:
    """Return a hash of the rows in each table. Two files with the same rows have the same hashes.

    Leaves out the full-text index, which is derived from other tables.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA query_only=ON")
        connection.execute("BEGIN")
        return table_hashes_in(connection)


def table_hashes_in(connection: sqlite3.Connection) -> dict[str, str]:
    """Return a hash of each table within an open transaction."""
    tables = connection.execute("SELECT name FROM pragma_table_list WHERE type = 'table'").fetchall()
    return {
        name: _hash(connection, name) for name in sorted(name for (name,) in tables) if name not in _DERIVED
    }


def _hash(connection: sqlite3.Connection, table: str) -> str:
    columns = [row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    joined = " || ',' || ".join(f'quote("{column}")' for column in columns)
    order = ", ".join(str(number + 1) for number in range(len(columns)))
    digest = hashlib.blake2b(digest_size=16)
    rows = connection.execute(f'SELECT {joined} FROM (SELECT * FROM "{table}" ORDER BY {order})')
    while batch := rows.fetchmany(_ROWS_AT_ONCE):
        digest.update("\n".join(row[0] for row in batch).encode() + b"\n")
    return digest.hexdigest()
