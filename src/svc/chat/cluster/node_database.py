"""Ensures that a node's database file and the log belong to the same community.

A node founds the cluster, joins it with its existing file, or starts from a snapshot. The methods block, so
call them in a thread while this process has the lock on the data folder.
"""

import hashlib
import hmac
import logging
import secrets
import sqlite3
import time
from contextlib import closing

from svc.base import commit_log, database_file
from svc.base.logs import Outage
from svc.base.migrations import migrations_in
from svc.chat.cluster.config import ClusterConfig
from svc.chat.cluster.nats_connection import ClusterError
from svc.chat.cluster.nats_log import NatsLog, Origin
from svc.chat.cluster.snapshots import Snapshots
from svc.chat.community import DATABASE_NAME, SCHEMA_FOLDER
from svc.chat.config import ChatConfig

# How long to wait for the first snapshot of a new cluster if several nodes start at the same time.
_FIRST_SNAPSHOT_S = 60.0
_PAUSE_S = 0.5

logger = logging.getLogger(__name__)


class NodeDatabase:
    """A community's database file on one node."""

    def __init__(self, config: ChatConfig, cluster: ClusterConfig, log: NatsLog) -> None:
        self.path = config.data_dir / DATABASE_NAME
        self.migrations = migrations_in(SCHEMA_FOLDER)
        self.snapshots = Snapshots(log, cluster.name, cluster.replicas, cluster.kept_s)
        self._config, self._cluster, self._log = config, cluster, log
        self._community = ""
        # Set when the process should exit, so that it stops waiting for a snapshot.
        self.is_given_up = False

    def join(self) -> None:
        """Connect to the log. If there is no log, found the cluster. If there is no file, restore it from a
        snapshot.

        Raises ClusterError.
        """
        cluster, secret = self._cluster, _digest(self._config.jwt_secret)
        self._log.open(cluster.servers, replicas=cluster.replicas, kept_s=cluster.kept_s)
        self.snapshots.check()
        position = self._position()
        origin = self._log.origin()
        if origin is None:
            origin = self._create_log(position, secret)
            position = self._position()
        if origin.secret != secret:
            raise ClusterError("JWT_SECRET differs from the other nodes': every member would be signed out")
        if position is not None and position[0] != origin.community:
            raise ClusterError(f"{self.path} belongs to a different community than the log {cluster.name}")
        if position is None and self.path.exists():
            raise ClusterError(
                f"{self.path} belongs to no cluster, and the log {cluster.name} already has a community: "
                "start this node with an empty DATA_DIR"
            )
        self._community = origin.community
        if position is None:
            self.await_snapshot()

    def await_snapshot(self) -> None:
        """Replace the file with the newest snapshot, or wait for the first one. Raises ClusterError."""
        give_up_at = time.monotonic() + _FIRST_SNAPSHOT_S
        outage = Outage(logger, "waiting for a snapshot")
        while True:
            try:
                sequence = self.snapshots.restore(self._config.data_dir, self.path, self._community)
            except ClusterError as fault:
                outage.failed(str(fault))
                if time.monotonic() > give_up_at or self.is_given_up:
                    raise
                time.sleep(_PAUSE_S)
            else:
                logger.info("started from a snapshot", extra={"sequence": sequence})
                return

    def _position(self) -> tuple[str, int, int] | None:
        """Return the file's position in its log, or None if there is no file or it belongs to no log."""
        if not self.path.exists():
            return None
        try:
            database_file.examine(self.path, self.migrations)
            with closing(sqlite3.connect(self.path)) as connection:
                return commit_log.position_in(connection)
        except (database_file.DatabaseError, sqlite3.Error, OSError) as fault:
            raise ClusterError(str(fault)) from None

    def _create_log(self, position: tuple[str, int, int] | None, secret: str) -> Origin:
        """Create the log for the existing file, or for a new community. Return the log's identity.

        If several nodes do this at the same time, the first node's log is used.
        """
        name = self._cluster.name
        if position is not None and position[1] > 0:
            raise ClusterError(
                f"NATS has no stream {name}, but the file contains its log up to {position[1]}: "
                "check --cluster and --cluster-name"
            )
        is_new = not self.path.exists()
        if is_new:
            database_file.make(self.path, self.migrations)
        own = position[0] if position is not None else secrets.token_hex(16)
        # Write the file first. A founding node that dies before it creates the log can then continue after a
        # restart.
        with closing(database_file.connect(self.path)) as connection:
            commit_log.attach(connection, own, 0, 0)
        self._log.create(Origin(own, secret), replicas=self._cluster.replicas, kept_s=self._cluster.kept_s)
        origin = self._log.origin()
        if origin is None:
            raise ClusterError(f"the stream {name} was created but no longer exists")
        if origin.community != own:
            with closing(database_file.connect(self.path)) as connection:
                commit_log.detach(connection)
            if is_new:
                self.path.unlink()
        else:
            logger.info("founded the cluster", extra={"log": name})
        return origin


def _digest(secret: str) -> str:
    return hmac.new(secret.encode(), b"svc cluster", hashlib.sha256).hexdigest()
