"""Checks that the NATS servers sync each message to disk before they confirm it.

Only the NATS system account can query this. Changes nothing.
"""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress

from svc.chat.cluster.nats_connection import ClusterError, NatsSlow, connect, disconnect, retry_at_start

_QUESTION = "$SYS.REQ.SERVER.PING.JSZ"
# How long to wait for the next server's response. Without a leader, the servers do not report how many
# servers there are.
_ANSWER_S = 1.0
_MAX_SERVERS = 100


def refuse_lazy_servers(system_servers: Sequence[str]) -> None:
    """Raise ClusterError if a NATS server does not always sync, or if no server can be queried."""
    retry_at_start(lambda: _refuse_lazy_servers(system_servers))


def _refuse_lazy_servers(system_servers: Sequence[str]) -> None:
    lazy, answered = asyncio.run(_lazy_servers(system_servers))
    if lazy:
        raise ClusterError(
            f"NATS server {', '.join(lazy)} lacks sync_interval: always in its jetstream block: a "
            "power failure could lose acknowledged messages. --cluster-trust-sync starts nevertheless"
        )
    if not answered:
        raise NatsSlow("no NATS server answers on SVC_CLUSTER_SYSTEM: is it the system account's address?")


async def _lazy_servers(system_servers: Sequence[str]) -> tuple[list[str], int]:
    """Return the names of servers that sync only periodically, and the number of servers that responded."""
    try:
        client = await connect(system_servers)
    except ClusterError as fault:
        raise ClusterError(f"SVC_CLUSTER_SYSTEM: {fault}") from None
    lazy, answered, expected = [], 0, _MAX_SERVERS
    try:
        inbox = client.new_inbox()
        answers = await client.subscribe(inbox)
        await client.publish(_QUESTION, b'{"config": true}', reply=inbox)
        with suppress(TimeoutError):
            while answered < expected:
                answer = json.loads((await answers.next_msg(timeout=_ANSWER_S)).data)
                data = answer.get("data", {})
                expected = data.get("meta_cluster", {}).get("cluster_size") or expected
                config = data.get("config")
                if config is None:  # A server without JetStream stores no messages.
                    continue
                answered += 1
                if not config.get("sync_always"):
                    lazy.append(str(answer.get("server", {}).get("name", "?")))
    finally:
        await disconnect(client)
    return lazy, answered
