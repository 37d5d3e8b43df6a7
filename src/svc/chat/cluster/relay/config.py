"""Reads a relay's configuration from the flags of `svc relay` and, for values that contain passwords, from
environment variables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from svc.base.config_parsing import number, port, text
from svc.chat.access.client_address import MAX_HOPS
from svc.chat.cluster.config import check_name, cluster_name, servers_of


@dataclass(frozen=True, slots=True)
class RelayConfig:
    servers: Sequence[str]
    # The relay's name, which must be unique.
    relay: str
    # The name of the community in NATS, the same as on its nodes.
    name: str
    # The URL at which people or a proxy reach this relay. If empty, the listen address is used. Only the
    # operator sees it.
    url: str
    host: str
    port: int
    trusted_proxy_hops: int


def read(
    variables: Mapping[str, str], *, cluster: str | None, relay: str | None, name: str = "svc", url: str = ""
) -> RelayConfig:
    """Return the configuration. Raises ConfigError."""
    return RelayConfig(
        servers=servers_of(variables, cluster, "a relay needs --cluster or SVC_CLUSTER"),
        relay=check_name(relay, "a relay needs --name NAME"),
        name=cluster_name(name),
        url=url,
        host=text(variables, "HOST", "127.0.0.1"),
        port=port(variables, "PORT", 5000),
        trusted_proxy_hops=number(variables, "SVC_TRUSTED_PROXY_HOPS", 0, maximum=MAX_HOPS),
    )
