"""Handles the operator's cluster commands, such as a handover, on every node's control socket.

`svc admin cluster` sends them. All other commands go to the community, if this node owns it.
"""

import asyncio
from collections.abc import Callable, Mapping

from svc.base.control_socket import Handler
from svc.chat.cluster.membership import FOLLOWER, OWNER, Membership, NodeStatus
from svc.chat.cluster.nats_connection import ClusterError
from svc.chat.cluster.nats_log import NatsLog


class NodeCommands:
    """The cluster commands. `hand_over` schedules a handover to the given node. `places` lists the hosts of
    the services that this node uses.
    """

    def __init__(
        self,
        log: NatsLog,
        membership: Membership,
        session: str,
        hand_over: Callable[[str], None],
        places: Mapping[str, object],
    ) -> None:
        self._log, self._membership, self._session = log, membership, session
        self._hand_over, self._places = hand_over, places

    def before(self, inner: Handler) -> Handler:
        """Return a handler that runs the cluster commands and passes all others to `inner`."""

        async def handle(command: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
            if command == "cluster_status":
                return await self._status()
            if command == "cluster_move":
                return await self._move(arguments.get("node"))
            return await inner(command, arguments)

        return handle

    async def standing_by(self, command: str, _: Mapping[str, object]) -> Mapping[str, object]:
        """Handle a command on a node that does not own the community."""
        if command == "cluster_status":
            return await self._status()
        return _refused(f"This node is on standby. Run the command on the owner: {self._owner()}")

    def _owner(self) -> str:
        owner = self._membership.owner
        return f"node {owner.node}, {owner.url}" if owner.session else "no node at the moment"

    async def _status(self) -> Mapping[str, object]:
        try:
            nodes = await asyncio.to_thread(self._membership.nodes)
            end = await asyncio.to_thread(self._log.last_sequence)
            replicas = await asyncio.to_thread(self._log.replicas)
        except ClusterError as fault:
            return _refused(f"The cluster cannot be reached: {fault}")
        owner = self._membership.owner
        return {
            "result": {
                "owner": owner.node if owner.session else "",
                "epoch": max((node.epoch for node in nodes), default=0),
                "sequence": end,
                "replicas": replicas,
                "places": self._places,
                "nodes": [self._describe_node(node, end) for node in nodes],
                "relays": [
                    {"relay": relay.relay, "url": relay.url, "pages": relay.pages}
                    for node in nodes
                    if node.state == OWNER
                    for relay in node.relays
                ],
            }
        }

    def _describe_node(self, node: NodeStatus, end: int) -> Mapping[str, object]:
        return {
            "node": node.node,
            "state": node.state,
            "url": node.url,
            "epoch": node.epoch,
            "lag": max(0, end - node.sequence),
            "here": node.session == self._session,
        }

    async def _move(self, wanted: object) -> Mapping[str, object]:
        try:
            nodes = await asyncio.to_thread(self._membership.nodes)
        except ClusterError as fault:
            return _refused(f"The cluster cannot be reached: {fault}")
        followers = [node for node in nodes if node.session != self._session and node.state == FOLLOWER]
        if not followers:
            return _refused("No other node is on standby")
        chosen = max(followers, key=lambda node: node.sequence).node if wanted is None else str(wanted)
        own = next((node.node for node in nodes if node.session == self._session), "")
        names = sorted(node.node for node in followers)
        if chosen == own:
            return _refused(f"Node {own} owns the community already")
        if chosen not in names:
            return _refused(f"No node named {chosen} is on standby. These are: {', '.join(names)}")
        self._hand_over(chosen)
        return {"result": {"from": own, "to": chosen}}


def _refused(message: str) -> Mapping[str, object]:
    return {"error": "not_owner", "message": message}
