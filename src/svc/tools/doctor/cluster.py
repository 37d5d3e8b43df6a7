"""Evaluates a cluster as one of its nodes sees it: the owner, the log, the relays, and missing redundancy.

Based on the result of the control command `cluster_status`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from svc.tools.doctor.check_result import Finding, notice, ok, problem

# A follower this many entries behind needs only a few seconds to catch up.
_FAR_BEHIND = 10_000
# With fewer NATS servers, the loss of one stops all writes.
_REPLICAS = 3


def diagnose(status: Mapping[str, Any]) -> list[Finding]:
    nodes = {node["node"]: node for node in status["nodes"]}
    owner = nodes.get(status["owner"])
    if owner is None or owner["state"] != "owner":
        findings = [
            problem("No node owns the community", "Read the nodes' logs: NATS may have lost its quorum.")
        ]
    else:
        findings = [ok(f"Node {status['owner']} owns the community, in epoch {status['epoch']}")]
    followers = sorted(name for name, node in nodes.items() if node["state"] == "follower")
    if followers:
        findings.append(ok(f"Ready to take over: {', '.join(followers)}"))
    else:
        advice = "Start svc chat --node on another machine (docs/cluster.md)."
        findings.append(problem("No other node is ready to take over", advice))
    for name, node in nodes.items():
        if node["state"] == "silent":
            findings.append(
                notice(f"Node {name} has stopped announcing itself", "Start it, or read its log.")
            )
        elif node["lag"] > _FAR_BEHIND:
            findings.append(
                notice(f"Node {name} is {node['lag']:,} entries behind", "Wait, or read its log.")
            )
    behind = sorted(name for name, is_current in status["replicas"].items() if not is_current)
    if behind:
        advice = "Start NATS there, or read its log: losing another server could stop all writes."
        findings.append(problem(f"Without all of the log: {', '.join(behind)}", advice))
    elif len(status["replicas"]) < _REPLICAS:
        advice = "Run three NATS servers on three machines (docs/cluster.md)."
        findings.append(problem(f"The log is on {len(status['replicas'])} NATS servers", advice))
    else:
        findings.append(ok(f"The log is on {', '.join(sorted(status['replicas']))}"))
    places = status.get("places", {})  # Nodes running an older version list none.
    findings += [
        *_machines(status["nodes"]),
        *_nats_machines(places),
        *_sfus(places),
        *_store(status, places),
    ]
    return [*findings, *_relays(status)]


def _machines(nodes: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """Report nodes that would fail together because they are on the same machine."""
    by_host = defaultdict(list)
    for node in nodes:
        by_host[urlsplit(node["url"]).hostname].append(node["node"])
    for host, names in by_host.items():
        if len(names) > 1:
            yield notice(
                f"Nodes {', '.join(sorted(names))} are all at {host}",
                "If that is one machine, move them to different ones: its failure would stop them all.",
            )


def _nats_machines(places: Mapping[str, Any]) -> Iterator[Finding]:
    """Report NATS servers that would fail together."""
    for host, count in Counter(places.get("nats", ())).items():
        if count > 1:
            yield notice(
                f"{count} NATS servers are at {host}",
                "If that is one machine, move them to different ones: its failure could stop all writes.",
            )


def _sfus(places: Mapping[str, Any]) -> Iterator[Finding]:
    """Report whether calls can move to another media service if one fails. There may be no media service at
    all.
    """
    hosts = places.get("sfus", ())
    if len(hosts) == 1:
        yield notice(
            f"The SFU at {hosts[0]} is the only one",
            "Add another one to SFU_WS_HOST on all nodes, so that calls can move if it fails.",
        )
    elif hosts and len(set(hosts)) == 1:
        yield notice(
            f"All {len(hosts)} SFUs are at {hosts[0]}", "If that is one machine, move them to different ones."
        )
    elif hosts:
        yield ok(f"Calls are on {len(hosts)} SFUs")


def _store(status: Mapping[str, Any], places: Mapping[str, Any]) -> Iterator[Finding]:
    """Report an upload store whose failure would lose all uploads."""
    store = places.get("store", "")
    nodes = sorted(node["node"] for node in status["nodes"] if urlsplit(node["url"]).hostname == store)
    if not store:
        return
    if places.get("is_folder"):
        yield notice(
            f"Uploads are in one folder, {store}, which all nodes share",
            "Use S3, or make sure that the folder survives the death of a machine.",
        )
    elif nodes:
        yield notice(
            f"The store of uploads is at {store}, like node {', '.join(nodes)}",
            "If it has no copy elsewhere, the death of that machine would take all uploads.",
        )
    else:
        yield ok(f"Uploads are in the store at {store}. Its own copies cannot be checked from here")


def _relays(status: Mapping[str, Any]) -> Iterator[Finding]:
    """Report on the relays. Without relays, the owner itself serves the members. Nodes running an older
    version list no relays.
    """
    names = sorted(relay["relay"] for relay in status.get("relays", ()))
    if len(names) == 1:
        yield notice(
            f"Relay {names[0]} is the only one", "Start another one, so that its pages can move if it fails."
        )
    elif names:
        yield ok(f"Relays attached to the owner: {', '.join(names)}")
        hosts = {urlsplit(relay.get("url", "")).hostname for relay in status["relays"]}
        if len(hosts) == 1 and (host := hosts.pop()):
            yield notice(f"All relays are at {host}", "If that is one machine, move them to different ones.")
