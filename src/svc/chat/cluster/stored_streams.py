"""Checks that NATS stores a stream durably, completely, and for long enough.

An operator may have created or edited the stream by hand. Changes nothing.
"""

from nats.js.api import RetentionPolicy, StorageType, StreamConfig

from svc.chat.cluster.nats_connection import ClusterError

_DAY_S = 24 * 3600.0
_LIMITS = ("max_msgs", "max_bytes", "max_msgs_per_subject", "max_msg_size")


def refuse_weak_stream(
    what: str, config: StreamConfig, replicas: int, kept_s: float, *, may_fill_up: bool = False
) -> None:
    """Raise ClusterError if a stream may lose messages, or keeps them for less than `kept_s` seconds.

    If `may_fill_up` is set, the stream may have a maximum size.
    """
    stored_by = config.num_replicas or 1
    if stored_by < replicas:
        raise ClusterError(
            f"{what} has {stored_by} replicas and needs {replicas}: "
            "an acknowledged message could be lost with one machine"
        )
    if config.storage not in (None, StorageType.FILE):
        raise ClusterError(
            f"{what} is stored in memory, so a restart of NATS would lose it: store it in files"
        )
    if config.retention not in (None, RetentionPolicy.LIMITS):
        raise ClusterError(f"{what} deletes messages that have been read: set its retention policy to limits")
    for limit in () if may_fill_up else _LIMITS:
        value = getattr(config, limit) or 0
        if value > 0:
            raise ClusterError(f"{what} may discard or refuse messages: set {limit} to -1 instead of {value}")
    # Zero means that messages never expire.
    age_s = config.max_age or 0.0
    if 0 < age_s < kept_s:
        raise ClusterError(
            f"{what} keeps messages for {age_s / _DAY_S:.3g} days and needs {kept_s / _DAY_S:.3g}: "
            "set max_age, or give --cluster-keep-days"
        )
