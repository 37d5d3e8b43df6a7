"""`svc admin cluster`: show a cluster's nodes, and transfer ownership of the community to another node."""

from argparse import ArgumentParser
from collections.abc import Iterator

from svc.tools.admin.action import Action, Result, count_noun


def _status_lines(status: Result) -> Iterator[str]:
    owner = status["owner"] or "none at the moment"
    entries = count_noun(status["sequence"], "entry", "entries")
    yield f"owner {owner}  epoch {status['epoch']}  {entries} in the log"
    stored = (name + ("" if is_current else " (behind)") for name, is_current in status["replicas"].items())
    yield f"log on {', '.join(stored) or 'no NATS server'}"
    for node in status["nodes"]:
        mark = "  (this node)" if node["here"] else ""
        lag = count_noun(node["lag"], "entry", "entries")
        yield f"{node['node']}  {node['state']}  {lag} behind  {node['url']}{mark}"
    for relay in status["relays"]:
        yield f"{relay['relay']}  relay  {count_noun(relay['pages'], 'page', 'pages')}  {relay['url']}"


def _node(parser: ArgumentParser) -> None:
    parser.add_argument(
        "node", metavar="NODE", nargs="?", help="next owner; default: the node that is least behind"
    )


ACTIONS = (
    Action("status", "show nodes, owner, epoch, lag, and relays", "cluster_status", shown=_status_lines),
    Action(
        "move",
        "hand the community over to another node; requests wait for it",
        "cluster_move",
        _node,
        lambda options: {"node": options.node},
        lambda result: [f"handing over from {result['from']} to {result['to']}"],
    ),
)
