"""Tests the nodes of a community with real NATS servers: takeover, handover and failed starts."""

import asyncio
import itertools
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

from aiohttp import ClientError, ClientSession

from svc.base.control_socket import ask
from svc.chat.cluster.nats_log import NatsLog
from svc.chat.cluster.replica import Replica, table_hashes
from svc.chat.cluster.takeover import catch_up
from tests.kit.chat_nodes import ChatNode, chat_nodes, owner_among, token_of
from tests.kit.nats_cluster import NatsCluster, nats_cluster
from tests.kit.wait import wait_until

MESSAGES = "/api/channels/general/messages"
# The nodes are on one machine, so a short lease is enough. They also compare their tables often.
FLAGS = ("--cluster-trust-sync", "--cluster-lease", "1.5", "--cluster-check-every", "5")


class Writer:
    """A client that posts numbered messages through the current owner and resends each one until it is
    acknowledged.
    """

    def __init__(self, nodes: Sequence[ChatNode], token: str) -> None:
        self._nodes, self._headers = nodes, {"Authorization": f"Bearer {token}"}
        self.acknowledged: list[str] = []

    async def post(self, number: int) -> None:
        """Post a message. The nonce makes retries harmless."""
        body = {"text": f"message {number}", "nonce": f"writer-number-{number}"}
        async with ClientSession(headers=self._headers) as http, asyncio.timeout(120):
            while True:
                for node in self._nodes:
                    with suppress(ClientError, OSError, TimeoutError):
                        async with (
                            asyncio.timeout(2),
                            http.post(node.address + MESSAGES, json=body) as answer,
                        ):
                            if answer.status == 201:
                                self.acknowledged.append(body["text"])
                                return
                await asyncio.sleep(0.05)

    async def texts(self, node: ChatNode) -> list[str]:
        url = node.address + MESSAGES
        async with (
            ClientSession(headers=self._headers) as http,
            http.get(url, params={"limit": "100"}) as page,
        ):
            return [message["text"] for message in (await page.json())["messages"]]


async def status_at(node: ChatNode) -> Mapping[str, object]:
    """Return the cluster's state according to the node, or an empty mapping while NATS does not respond."""
    result = (await ask(node.data_dir, "cluster_status", {})).get("result", {})
    assert isinstance(result, dict)
    return result


async def metric_of(node: ChatNode, name: str) -> float:
    async with ClientSession() as http, http.get(f"{node.address}/metrics") as response:
        lines = (await response.text()).splitlines()
    (value,) = (line.rpartition(" ")[2] for line in lines if line.startswith(name + " "))
    return float(value)


async def have_whole_log(nodes: Sequence[ChatNode]) -> bool:
    """Return whether all nodes have applied the whole log."""
    described = (await status_at(nodes[0])).get("nodes", [])
    assert isinstance(described, list)
    return len(described) == len(nodes) and all(node["lag"] == 0 for node in described)


async def test_takeover_from_a_paused_owner_and_handover_lose_no_message(
    tmp_path: Path,
) -> None:
    async with nats_cluster(tmp_path) as servers, chat_nodes(tmp_path, servers.urls, flags=FLAGS) as nodes:
        first = nodes[0]
        writer = Writer(nodes, await token_of(first, "Ada"))
        for number in range(10):
            await writer.post(number)
        async with ClientSession() as http, http.get(nodes[1].address + "/info") as refusal:
            assert refusal.status == 503
            assert (await refusal.json())["owner"] == first.address

        first.signal(signal.SIGSTOP)
        second = await owner_among(nodes[1:])
        await writer.post(10)
        first.signal(signal.SIGCONT)
        await wait_until("the paused owner follows", first.follows, within_s=30)

        async def is_follower_of_second() -> bool:
            status = await status_at(second)
            return status.get("owner") == second.name and _states(status)[first.name] == "follower"

        await wait_until("all nodes know the roles", is_follower_of_second, within_s=20)

        writing = asyncio.ensure_future(_post_all(writer, range(11, 40)))
        moved = await ask(second.data_dir, "cluster_move", {"node": first.name})
        assert moved == {"result": {"from": second.name, "to": first.name}}
        await writing
        await owner_among([first])

        await wait_until("all nodes have the whole log", lambda: have_whole_log(nodes), within_s=20)
        texts = await writer.texts(first)
        assert sorted(texts) == sorted(writer.acknowledged) == sorted(f"message {n}" for n in range(40))
        followers = [node for node in nodes if node is not first]

        numbers = itertools.count(40)

        async def have_agreed() -> bool:
            # Nodes skip a comparison while they are busy with the previous one, so the log must keep growing.
            await writer.post(next(numbers))
            return all([(await node.health())["tablesAgreedAt"] for node in followers])

        await wait_until("the followers have compared their tables", have_agreed, within_s=20)
        owns = [await metric_of(node, "svc_chat_cluster_owner") for node in (first, *followers)]
        assert owns == [1, 0, 0]
        assert len({await metric_of(node, "svc_chat_cluster_epoch") for node in nodes}) == 1
        assert (await status_at(first))["replicas"] == dict.fromkeys("abc", True)
        # Stop the owner last. Otherwise, another node would take over and write.
        for node in (*followers, first):
            node.signal(signal.SIGTERM)
            assert (await node.ended())[0] == 0
        hashes = [await hashes_at_the_end(node, servers) for node in nodes]
        assert hashes[0] == hashes[1] == hashes[2]


async def hashes_at_the_end(node: ChatNode, servers: NatsCluster) -> dict[str, str]:
    """Apply the rest of the log to a stopped node's file. Return the hashes of its tables."""
    path = node.data_dir / "community.sqlite3"

    def caught_up() -> dict[str, str]:
        log = NatsLog("svc", "test", lambda _: None)
        log.open(servers.urls)
        replica = Replica(path)
        try:
            catch_up(log, replica)
        finally:
            replica.close()
            log.close()
        return table_hashes(path)

    return await asyncio.to_thread(caught_up)


def test_a_server_outside_a_cluster_does_not_load_cluster_code() -> None:
    program = "import sys, svc.cli, svc.chat.app; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = run.stdout.split()
    assert "svc.chat.app" in loaded
    assert [name for name in loaded if "cluster" in name or name == "nats"] == []


def _states(status: Mapping[str, object]) -> dict[str, str]:
    nodes = status["nodes"]
    assert isinstance(nodes, list)
    return {node["node"]: node["state"] for node in nodes}


async def _post_all(writer: Writer, numbers: Sequence[int]) -> None:
    for number in numbers:
        await writer.post(number)


async def test_a_follower_whose_tables_differ_restarts_from_a_snapshot(tmp_path: Path) -> None:
    async with (
        nats_cluster(tmp_path) as servers,
        chat_nodes(tmp_path, servers.urls, names="ab", flags=FLAGS) as (owner, follower),
    ):
        writer = Writer([owner], await token_of(owner, "Ada"))
        follower.signal(signal.SIGTERM)
        await follower.ended()
        path = follower.data_dir / "community.sqlite3"
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE channels SET name = 'another name' WHERE id = 'general'")
        await follower.start()
        await wait_until("the follower has applied the log", follower.follows, within_s=30)
        number = 0

        async def has_agreed() -> bool:
            nonlocal number
            number += 1
            await writer.post(number)
            return bool((await follower.health()).get("tablesAgreedAt"))

        await wait_until("the tables agree", has_agreed, within_s=60)
        with closing(sqlite3.connect(path)) as connection:
            names = connection.execute("SELECT name FROM channels WHERE id = 'general'").fetchall()
        assert names == [("general",)]


async def test_a_node_that_cannot_join_the_cluster_exits_with_the_reason(tmp_path: Path) -> None:
    async with (
        nats_cluster(tmp_path, sync_interval="2m") as servers,
        chat_nodes(tmp_path, servers.urls, names="a", flags=FLAGS) as (node,),
    ):

        async def refusal_of(name: str, url: str = servers.urls[0], **variables: str) -> str:
            other = ChatNode(name, tmp_path / "others", [url], FLAGS)
            other.variables |= variables
            await other.start()
            try:
                status, output = await other.ended()
            finally:
                await other.kill()
            assert status == 2, output
            return output

        assert "another live node is named a" in await refusal_of("a")
        assert "JWT_SECRET differs" in await refusal_of("b", JWT_SECRET="x" * 40)
        assert "NATS cannot be reached" in await refusal_of("b", url="nats://127.0.0.1:9")
        assert "uploads would be lost" in await refusal_of(
            "b", DISABLE_S3="false", STORAGE_BACKEND="filesystem"
        )

        foreign = ChatNode("b", tmp_path / "foreign", servers.urls, (*FLAGS, "--cluster-name", "other"))
        await foreign.start()
        await owner_among([foreign])
        await foreign.kill()
        data = str(foreign.data_dir)
        assert "belongs to a different community" in await refusal_of("b", DATA_DIR=data)

        careful = ChatNode("c", tmp_path / "others", servers.urls, FLAGS[1:])
        careful.variables["SVC_CLUSTER_SYSTEM"] = ",".join(servers.system_urls)
        await careful.start()
        status, output = await careful.ended()
        assert status == 2 and "sync_interval: always" in output, output
        assert await node.owns()
