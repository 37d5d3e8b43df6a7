"""Defines the metrics of a cluster node. See docs/configuration.md."""

from collections.abc import Callable, Mapping

from svc.base.metrics import Registry

DESCRIPTIONS = {
    "svc_chat_cluster_owner": "1 while this node owns the community",
    "svc_chat_cluster_epoch": "Number of the owner whose entries this node has read last",
    "svc_chat_cluster_sequence": "Last entry of the log that this node's file contains",
    "svc_chat_cluster_lag": "Entries that the owner has announced and this node's file lacks",
}

# A relay's gauges, and its counters, whose names lack the suffix `_total`. See docs/cluster.md, "Relays".
RELAY_GAUGES = {
    "svc_relay_live_connections_active": "Pages signed in on the live socket",
    "svc_relay_signalling_connections_active": "Participants passed through",
    "svc_relay_owner_link_up": "1 while the relay is attached to an owner",
}
RELAY_COUNTERS = {
    "svc_relay_events": "Events of the owner",
    "svc_relay_repairs": "Requests for events that NATS had dropped",
}


def measure(registry: Registry, state: Callable[[], Mapping[str, float]]) -> None:
    """Expose a node's state. Each scrape calls `state`, which returns the values, keyed by the names in
    DESCRIPTIONS.
    """

    def reader(name: str) -> Callable[[], float]:
        return lambda: state()[name]

    for name, description in DESCRIPTIONS.items():
        registry.gauge(name, description).set_function(reader(name))
