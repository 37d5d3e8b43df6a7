"""Applies new log entries to a follower's database file and compares its tables with the owner's.

Runs on a separate thread, because it blocks on the file and on the log.
"""

import logging
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

from svc.chat.cluster.log_entry import Entry
from svc.chat.cluster.membership import Hashes, Membership
from svc.chat.cluster.nats_connection import ClusterError
from svc.chat.cluster.nats_log import LogTrimmed, NatsLog
from svc.chat.cluster.replica import Diverged, Replica, table_hashes_in

# The maximum number of entries per transaction, to limit its memory use.
_AT_ONCE = 200
# The pause between attempts to read an announced entry, which may not be readable yet.
_RETRY_S = 0.01
# How long to keep trying to read an announced entry. An entry that is not readable by then may never be
# confirmed.
_CONFIRMED_WITHIN_S = 5.0
# The log is read at least this often, because NATS may drop announcements.
_IDLE_S = 0.5
_FAULT_PAUSE_S = 1.0
# The maximum number of positions whose hashes are stored until the owner's hashes arrive.
_MAX_PENDING = 4

logger = logging.getLogger(__name__)


class TableCheck:
    """A check that hashes the tables every `every` log entries, at the same log positions on all nodes."""

    def __init__(self, path: Path, membership: Membership, every: int) -> None:
        self._path, self._membership, self._every = path, membership, every
        self._pending: dict[int, dict[str, str]] = {}
        self._hashing: threading.Thread | None = None
        # The last position at which all tables matched the owner's, and the tables that differed in the last
        # comparison.
        self.agreed_at = 0
        self.differing: list[str] = []

    def is_due(self, before: int, sequence: int) -> bool:
        """Return whether the tables should be hashed when the log advances from `before` to `sequence`."""
        return sequence // self._every > before // self._every

    def begin(self, sequence: int, *, publish: bool) -> None:
        """Hash the file's current content on a background thread.

        The owner publishes its hashes. Other nodes compare theirs with the owner's.
        """
        if self._hashing is not None and self._hashing.is_alive():
            return
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        # An open transaction pins the connection to the current snapshot of the file.
        connection.execute("PRAGMA query_only=ON")
        connection.execute("PRAGMA wal_autocheckpoint=0")
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        self._hashing = threading.Thread(
            target=self._hash, args=(connection, sequence, publish), name="table check", daemon=True
        )
        self._hashing.start()

    def _hash(self, connection: sqlite3.Connection, sequence: int, publish: bool) -> None:
        with closing(connection):
            tables = table_hashes_in(connection)
        if publish:
            self._membership.publish_hashes(Hashes(sequence, tables))
            return
        self._pending[sequence] = tables
        while len(self._pending) > _MAX_PENDING:
            del self._pending[min(self._pending)]

    def compare(self) -> None:
        """Compare this node's hashes with the owner's. Raises Diverged if they differ."""
        if not self._pending:
            return
        owner = self._membership.hashes()
        own = self._pending.pop(owner.sequence, None) if owner is not None else None
        if owner is None or own is None:
            return
        self.differing = sorted(name for name, hash_ in owner.tables.items() if own.get(name) != hash_)
        if self.differing:
            raise Diverged(f"tables differ from the owner's at {owner.sequence}: {', '.join(self.differing)}")
        self.agreed_at = owner.sequence


class Follower:
    """A loop that applies the log to a file until it is stopped."""

    def __init__(self, log: NatsLog, path: Path, check: TableCheck) -> None:
        self.replica = Replica(path)
        self._log, self._check = log, check
        self._stopping = False

    def run(self) -> None:
        """Apply the log until `stop` is called. Raises Diverged or LogTrimmed if a snapshot must replace the
        file.
        """
        news_at = 0.0
        is_checked = False
        while not self._stopping:
            try:
                if not is_checked:
                    self._log.check_reaches_back(self.replica.sequence)
                    is_checked = True
                has_applied = self._step()
            except LogTrimmed:
                raise
            except ClusterError:
                time.sleep(_FAULT_PAUSE_S)
                continue
            except sqlite3.OperationalError as fault:  # A full disk, for example.
                logger.error("the log cannot be applied", extra={"fault": str(fault)})
                time.sleep(_FAULT_PAUSE_S)
                continue
            if has_applied:
                news_at = 0.0
                continue
            self._check.compare()
            if time.monotonic() - news_at < _CONFIRMED_WITHIN_S:
                time.sleep(_RETRY_S)
            elif self._log.wait_for_append(_IDLE_S):
                news_at = time.monotonic()

    def _step(self) -> bool:
        """Apply new entries from the log. Return whether there were any."""
        entries, _ = self._log.read(self.replica.sequence)
        batch: list[tuple[int, Entry]] = []
        before = self.replica.sequence
        for sequence, entry in entries:
            batch.append((sequence, entry))
            is_due = self._check.is_due(before, sequence)
            if is_due or len(batch) == _AT_ONCE:
                self.replica.apply(batch)
                batch = []
            if is_due:
                self._check.begin(sequence, publish=False)
            before = sequence
        if batch:
            self.replica.apply(batch)
        return bool(entries)

    def resume(self) -> None:
        """Allow `run` to be called again after `stop`."""
        self._stopping = False

    def stop(self) -> None:
        """Make `run` return soon. Call this from another thread."""
        self._stopping = True
        self._log.wake()
