"""Makes a node the owner of a community: reads the log to its end, then begins an epoch.

The functions block. This module does not choose the node that takes over. If two candidates try at the same
time, the log accepts only one of them.
"""

from svc.base.commit_log import LogLost
from svc.base.progress import report
from svc.chat.cluster.log_entry import Entry
from svc.chat.cluster.nats_log import NatsLog
from svc.chat.cluster.replica import Replica

# The maximum number of entries per transaction, to limit its memory use.
_AT_ONCE = 200


def catch_up(log: NatsLog, replica: Replica, end: int | None = None) -> int:
    """Apply the log up to `end`, by default its current end, and return `end`. Raises ClusterError,
    LogTrimmed or Diverged.
    """
    end = log.last_sequence() if end is None else end
    began_at = seen = replica.sequence
    if seen < end:
        log.check_reaches_back(seen)
    while seen < end:
        entries, seen = log.read(replica.sequence)
        entries = [(sequence, entry) for sequence, entry in entries if sequence <= end]
        report("reading the log", seen - began_at, end - began_at)
        for start in range(0, len(entries), _AT_ONCE):
            replica.apply(entries[start : start + _AT_ONCE])
    return end


def take_over(log: NatsLog, replica: Replica, node: str) -> None:
    """Make this node the owner. Raises ClusterError, Diverged, or LogLost if another node was faster."""
    end = catch_up(log, replica)
    epoch = replica.epoch + 1
    if replica.sequence > end:
        raise LogLost("the log has grown in the meantime")
    log.begin_epoch(end, epoch)
    replica.apply([(log.sequence, Entry(epoch, node))])
