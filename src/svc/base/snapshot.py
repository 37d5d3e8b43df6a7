"""Copies the state of a database at one point in time, while this process keeps writing to it.

The file is read over a connection that neither writes nor checkpoints.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from svc.base.free_space_eraser import erase_file
from svc.base.private_files import make_private_file
from svc.base.progress import report

# The number of pages to copy at a time: 8 MB, small enough for a smooth progress bar.
_PAGES_AT_ONCE = 2_000


def snapshot(path: Path, target: Path) -> None:
    """Copy the database into one file with mode 0600.

    Blocks, so call it in a thread. Raises sqlite3.Error or OSError.
    """
    make_private_file(target)
    with (
        closing(sqlite3.connect(path, isolation_level=None)) as source,
        closing(sqlite3.connect(target)) as copy,
    ):
        for pragma in ("query_only=ON", "wal_autocheckpoint=0"):
            source.execute(f"PRAGMA {pragma}")
        # All later reads see the data committed up to now, however long the copy takes.
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        source.backup(copy, pages=_PAGES_AT_ONCE, progress=_log_progress)
        source.execute("COMMIT")
        # Turn off the write-ahead log, so that the copy is a single file.
        copy.execute("PRAGMA journal_mode=DELETE")
    # A page that was in the log may contain copies of deleted rows.
    erase_file(target)


@contextmanager
def opened_copy(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a copy for reading, in one thread at a time. No process may own the copy. Raises sqlite3.Error."""
    with closing(
        sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False)
    ) as connection:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA trusted_schema=OFF")
        yield connection


def _log_progress(status: int, remaining: int, total: int) -> None:
    report("database", total - remaining, total)
