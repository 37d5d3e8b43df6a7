"""Restores a community to a point in time, from the last earlier snapshot and the log up to that point.

Only reads from the cluster. The restored file belongs to no log, so a single server can use it, or a new
cluster can be founded with it. The function blocks. See docs/cluster.md.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from svc.base import commit_log, database_file
from svc.chat.cluster.nats_connection import ClusterError
from svc.chat.cluster.nats_log import LogTrimmed, NatsLog
from svc.chat.cluster.replica import Diverged, Replica
from svc.chat.cluster.snapshots import Snapshots
from svc.chat.cluster.takeover import catch_up


@dataclass(frozen=True, slots=True)
class Restored:
    # The log positions of the last entry in the restored file and of the last entry in the snapshot.
    sequence: int
    snapshot: int


def restore_at(
    servers: Sequence[str], name: str, moment: datetime, data_dir: Path, database: Path
) -> Restored:
    """Fill a new data folder with the community of the cluster `name` as it was before `moment`.

    Raises ClusterError.
    """
    if moment > datetime.now(UTC):
        raise ClusterError(f"{moment.isoformat()} is in the future")
    log = NatsLog(name, "restore", lambda _: None)
    log.open(servers, replicas=1, kept_s=0)
    try:
        origin = log.origin()
        if origin is None:
            raise ClusterError(f"NATS has no stream {name}: check --cluster and --cluster-name")
        end = log.sequence_at(moment)
        snapshot = Snapshots(log, name, 1).restore(data_dir, database, origin.community, at=end)
        with closing(Replica(database)) as replica:
            catch_up(log, replica, end)
            sequence = replica.sequence
        with closing(database_file.connect(database)) as connection:
            commit_log.detach(connection)
        return Restored(sequence, snapshot)
    except LogTrimmed:
        raise ClusterError("the log does not reach back to the last snapshot before that moment") from None
    except Diverged as fault:
        raise ClusterError(str(fault)) from None
    finally:
        log.close()
