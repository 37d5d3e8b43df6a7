"""The metrics of a cluster node, whether it owns the community or follows. docs/configuration.md."""

from collections.abc import Callable, Mapping

from svc.base.metrics import Registry

DESCRIPTIONS = {
    "svc_chat_cluster_owner": "1 while this node owns the community",
    "svc_chat_cluster_epoch": "Number of the owner whose entries this node has read last",
    "svc_chat_cluster_sequence": "Last entry of the log that this node's file contains",
    "svc_chat_cluster_lag": "Entries that the owner has announced and this node's file lacks",
}


def measure(registry: Registry, state: Callable[[], Mapping[str, float]]) -> None:
    """Expose the state of a node. `state` is called at every scrape, with the names of DESCRIPTIONS."""

    def reader(name: str) -> Callable[[], float]:
        return lambda: state()[name]

    for name, description in DESCRIPTIONS.items():
        registry.gauge(name, description).set_function(reader(name))
