"""Reads a cluster node's configuration from the flags of `svc chat` and, for values that contain passwords,
from environment variables.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from svc.base.config_parsing import ConfigError, items

# Names are also parts of NATS subjects and stream names.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
# A shorter lease could lapse while a machine is busy. A longer lease would delay each takeover.
MIN_LEASE_S, MAX_LEASE_S = 0.5, 60.0
_DAY_S = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    servers: Sequence[str]
    node: str
    # The name of this community's stream and buckets in NATS.
    name: str = "svc"
    # The URL at which people or a proxy reach this node. If empty, the listen address is used.
    url: str = ""
    # How long the owner node may be silent before another node takes over.
    lease_s: float = 3.0
    replicas: int = 3
    # NATS URLs for the system account, which the node uses to check how the servers store messages. Empty if
    # there is no system account. One server that responds is enough.
    system_servers: Sequence[str] = ()
    # Whether the operator guarantees that the NATS servers always sync to disk.
    trust_sync: bool = False
    # Whether the operator guarantees that all nodes share one folder for uploads.
    shared_uploads: bool = False
    # The number of log entries between two comparisons of the nodes' tables.
    check_every: int = 10_000
    snapshot_interval_s: float = 3600.0
    # The community can be restored to any moment in the last `kept_days` days.
    kept_days: int = 7

    @property
    def kept_s(self) -> float:
        """How long the log keeps entries. The extra day is for a snapshot that is up to a day older than the
        restored moment.
        """
        return (self.kept_days + 1) * _DAY_S


def read(
    variables: Mapping[str, str],
    *,
    cluster: str | None,
    node: str | None,
    name: str = "svc",
    url: str = "",
    lease_s: float = 3.0,
    replicas: int = 3,
    trust_sync: bool = False,
    shared_uploads: bool = False,
    check_every: int = 10_000,
    snapshot_interval_s: float = 3600.0,
    kept_days: int = 7,
) -> ClusterConfig:
    """Return the configuration. Raises ConfigError."""
    servers = servers_of(variables, cluster, "--node needs --cluster or SVC_CLUSTER with it")
    if not MIN_LEASE_S <= lease_s <= MAX_LEASE_S:
        raise ConfigError(f"--cluster-lease must be from {MIN_LEASE_S} to {MAX_LEASE_S} seconds")
    if not 0 < snapshot_interval_s <= _DAY_S:
        raise ConfigError("--cluster-snapshot-every must be more than 0 seconds and at most a day")
    if kept_days < 1:
        raise ConfigError("--cluster-keep-days must be at least 1")
    return ClusterConfig(
        servers=servers,
        node=check_name(node, "--cluster needs --node NAME"),
        name=cluster_name(name),
        url=url,
        lease_s=lease_s,
        replicas=replicas,
        system_servers=_check_addresses(items(variables, "SVC_CLUSTER_SYSTEM"), "SVC_CLUSTER_SYSTEM"),
        trust_sync=trust_sync,
        shared_uploads=shared_uploads,
        check_every=check_every,
        snapshot_interval_s=snapshot_interval_s,
        kept_days=kept_days,
    )


def servers_of(variables: Mapping[str, str], cluster: str | None, missing: str) -> Sequence[str]:
    """Return the NATS servers from the flag, or else from the variable. If there are none, raise ConfigError
    with the message `missing`. Also raises ConfigError for an invalid URL.
    """
    servers = items({"SVC_CLUSTER": cluster or ""}, "SVC_CLUSTER") or items(variables, "SVC_CLUSTER")
    if not servers:
        raise ConfigError(missing)
    return _check_addresses(servers, "--cluster")


def _check_addresses(servers: Sequence[str], setting: str) -> Sequence[str]:
    for server in servers:
        if not _is_address(server):
            # The part before the @ contains a password.
            shown = server.rpartition("@")[2]
            raise ConfigError(f"{setting} must list addresses like nats://host:4222, not {shown!r}")
    return servers


def _is_address(server: str) -> bool:
    try:
        parts = urlsplit(server)
        return parts.scheme in {"nats", "tls"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # The port is not a number.
        return False


def check_name(name: str | None, need: str) -> str:
    """Validate the name of a node or relay and return it. Raises ConfigError with a message that begins with
    `need`.
    """
    if name is None or not _NAME.fullmatch(name):
        raise ConfigError(f"{need}: up to 32 letters, digits, - and _, different on each")
    return name


def cluster_name(name: str) -> str:
    """Validate the name of a community in NATS and return it. Raises ConfigError."""
    if not _NAME.fullmatch(name):
        raise ConfigError(f"--cluster-name has up to 32 letters, digits, - and _, not {name!r}")
    return name
