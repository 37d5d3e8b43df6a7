"""Breaks random parts of a cluster while clients write. python -m benchmarks.cluster_faults

    python -m benchmarks.cluster_faults [--rounds 200] [--writes 0] [--clients 50] [--seed 1] [--lease 3]
                                        [--minutes 0] [--namespaces]

Three NATS servers, three chat nodes, two relays, and an SFU run on loopback. Nodes and relays have separate
links to the servers. With `--namespaces` (Linux, root), each program is a host in its own network namespace.
Half of the clients write through the nodes, and half through the relays: messages in two channels, edits,
reactions, roles, private messages, and uploads. The nodes share the upload folders, as they would share a
bucket.

Each round breaks one thing, and then repairs it. The owner, a follower, a relay or a NATS server is killed
with -9 or paused for longer than a takeover takes, or a node or relay is cut off from NATS. With namespaces,
a host that is cut off can reach no other host, and there are also rounds that cut off a NATS server, or the
owner together with a NATS server. The result of a round is the longest time during which no node, or no
relay, acknowledged a write. No round begins after `--minutes`. The clients continue until `--writes` writes
are acknowledged.

At the end, each acknowledged write must be in the file exactly once, each client's messages must be in order,
the log must have one owner in each epoch, and all files must be identical, table by table. Other members,
whose permission to view a channel is constantly removed and restored, must not have received any event over
their live sockets without that permission. They must have received each event of the other channel in the
database's order, except events that a complete state replaced (`tests.kit.cluster_watchers`). Two more
members call each other over an SFU, and no fault may interrupt their call (`tests.kit.cluster_callers`).
"""

import argparse
import asyncio
import os
import random
import signal
import statistics
import sys
import tempfile
import time
from base64 import b64decode
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from aiohttp import ClientSession

from svc.chat.cluster.nats_connection import ClusterError
from svc.chat.cluster.nats_log import NatsLog
from svc.chat.cluster.replica import Replica, table_hashes
from svc.chat.cluster.takeover import catch_up
from tests.chat.chat_server import ChatServer
from tests.chat.http_member import HttpMember, newcomer
from tests.chat.private_conversations.mls_messages import Client
from tests.kit.chat_nodes import ChatNode, ChatRelay, ClusterProcess, owner_among, stopped_at_the_end
from tests.kit.cluster_callers import call_of_two, calls_at
from tests.kit.cluster_clients import CHANNEL, Clients, faults_in
from tests.kit.cluster_network import ClusterNetwork, Host, LoopbackNetwork, NamespaceNetwork
from tests.kit.cluster_watchers import Watchers
from tests.kit.namespace import unshare_network
from tests.kit.nats_cluster import NAMES, NatsCluster, nats_cluster
from tests.kit.sfu_process import running_sfu
from tests.kit.wait import wait_until

# No fault may stop the writes for longer than this.
WITHIN_S = 60.0
HEALED_WITHIN_S = 60.0
NODES, RELAYS = ("a", "b", "c"), ("east", "west")
WATCHERS = 6
# The upload folders that the nodes share.
_UPLOADS = ("incoming", "uploads-store")


@dataclass
class Report:
    """The result of a run. `faults` lists lost writes, duplicate writes, and differences between files."""

    acknowledged: int = 0
    # For each kind of fault, the longest time in each round without an acknowledged write, in seconds.
    times: dict[str, list[float]] = field(default_factory=dict)
    epochs: int = 0
    # The number of removed permissions, and of events that reached the watching members.
    removals: int = 0
    events: int = 0
    # The number of complete states that live sockets got, and of sockets that resumed.
    states: int = 0
    resumptions: int = 0
    # The longest silence in a call, and the longest pause of this process itself, in seconds.
    silence_s: float = 0.0
    pause_s: float = 0.0
    faults: list[str] = field(default_factory=list)


@dataclass
class Cluster:
    servers: NatsCluster
    nodes: Sequence[ChatNode]
    relays: Sequence[ChatRelay]
    network: ClusterNetwork
    lease_s: float

    async def owner(self) -> ChatNode:
        return await owner_among(self.nodes)

    async def follower(self, chance: random.Random) -> ChatNode:
        owner = await self.owner()
        return chance.choice([node for node in self.nodes if node is not owner])

    async def all_well(self) -> None:
        """Wait until the servers agree, one node is the owner, the other nodes replicate its log, and the
        relays are attached.

        A NATS server that was killed lags behind for a few seconds. If another server fails in the meantime,
        the third server alone has no majority.
        """
        await wait_until("the NATS servers agree", self.servers.is_whole, within_s=HEALED_WITHIN_S)
        owner = await owner_among(self.nodes, within_s=HEALED_WITHIN_S)
        for node in self.nodes:
            if node is not owner:
                await wait_until(f"{node.name} is healthy", node.is_well, within_s=HEALED_WITHIN_S)
        for relay in self.relays:
            await wait_until(f"{relay.name} is attached", relay.is_attached, within_s=HEALED_WITHIN_S)


T = TypeVar("T")
Undo = Callable[[], Awaitable[None]]
Fault = Callable[[Cluster, random.Random], Awaitable[Undo]]


async def owner_killed(cluster: Cluster, _: random.Random) -> Undo:
    owner = await cluster.owner()
    await owner.kill()
    return owner.start


async def owner_paused(cluster: Cluster, _: random.Random) -> Undo:
    return _paused(await cluster.owner())


async def owner_cut_off(cluster: Cluster, _: random.Random) -> Undo:
    return await _cut_off(cluster, (await cluster.owner()).name)


async def follower_killed(cluster: Cluster, chance: random.Random) -> Undo:
    follower = await cluster.follower(chance)
    await follower.kill()
    return follower.start


async def follower_cut_off(cluster: Cluster, chance: random.Random) -> Undo:
    return await _cut_off(cluster, (await cluster.follower(chance)).name)


async def relay_killed(cluster: Cluster, chance: random.Random) -> Undo:
    relay = chance.choice(cluster.relays)
    await relay.kill()
    return relay.start


async def relay_paused(cluster: Cluster, chance: random.Random) -> Undo:
    return _paused(chance.choice(cluster.relays))


async def relay_cut_off(cluster: Cluster, chance: random.Random) -> Undo:
    return await _cut_off(cluster, chance.choice(cluster.relays).name)


async def server_killed(cluster: Cluster, chance: random.Random) -> Undo:
    name = chance.choice(NAMES)
    await cluster.servers.kill(name)

    async def start() -> None:
        await asyncio.to_thread(cluster.servers.start, name)

    return start


async def server_paused(cluster: Cluster, chance: random.Random) -> Undo:
    name = chance.choice(NAMES)
    cluster.servers.signal(name, signal.SIGSTOP)

    async def go_on() -> None:
        cluster.servers.signal(name, signal.SIGCONT)

    return go_on


def _paused(process: ClusterProcess) -> Undo:
    process.signal(signal.SIGSTOP)

    async def go_on() -> None:
        process.signal(signal.SIGCONT)

    return go_on


async def server_cut_off(cluster: Cluster, chance: random.Random) -> Undo:
    return await _cut_off(cluster, _host_of(chance.choice(NAMES)))


async def owner_cut_off_with_a_server(cluster: Cluster, chance: random.Random) -> Undo:
    return await _cut_off(cluster, (await cluster.owner()).name, _host_of(chance.choice(NAMES)))


async def _cut_off(cluster: Cluster, *names: str) -> Undo:
    await cluster.network.separate(names)
    return cluster.network.join


def _host_of(server: str) -> str:
    return f"NATS {server}"


FAULTS: dict[str, Fault] = {
    "owner killed": owner_killed,
    "owner paused": owner_paused,
    "owner cut off from NATS": owner_cut_off,
    "follower killed": follower_killed,
    "follower cut off from NATS": follower_cut_off,
    "relay killed": relay_killed,
    "relay paused": relay_paused,
    "relay cut off from NATS": relay_cut_off,
    "NATS server killed": server_killed,
    "NATS server paused": server_paused,
}
# These faults are possible only if each program runs on a separate host.
PARTITIONS: dict[str, Fault] = {
    "NATS server cut off": server_cut_off,
    "owner cut off with a NATS server": owner_cut_off_with_a_server,
}


async def run(
    folder: Path,
    kinds: Sequence[str],
    clients: int,
    seed: int,
    lease_s: float,
    report_progress: Callable[[str], object],
    writes: int = 0,
    within_s: float = 0.0,
    namespaces: bool = False,
) -> Report:
    """Run a round for each of `kinds` and continue until `writes` writes have been acknowledged."""
    report = Report()
    chance = random.Random(seed)
    now = asyncio.get_running_loop().time
    async with _cluster(folder, lease_s, namespaces=namespaces) as cluster, AsyncExitStack() as stack:
        writers, watchers = await _members(cluster, clients, seed)
        call = await stack.enter_async_context(call_of_two(cluster.nodes[0]))
        await writers.start()
        await watchers.start()
        end = now() + within_s if within_s else float("inf")
        for number, kind in enumerate(kinds, start=1):
            if now() >= end:
                break
            await writers.next_acknowledgement(WITHIN_S)
            started = now()
            undo = await (FAULTS | PARTITIONS)[kind](cluster, chance)
            # This is longer than a takeover takes.
            await asyncio.sleep(2 * lease_s)
            await writers.next_acknowledgement(WITHIN_S)
            took_s = writers.longest_silence_since(started)
            report.times.setdefault(kind, []).append(took_s)
            await undo()
            await cluster.all_well()
            report_progress(f"round {number} of {len(kinds)}: {kind}, {took_s:.2f} s without a write")
        while writers.acknowledged < writes:
            await writers.next_acknowledgement(WITHIN_S)
        await watchers.stop()
        await writers.stop()
        report.acknowledged, report.removals = writers.acknowledged, watchers.removals
        report.events = watchers.received
        report.states, report.resumptions = watchers.states, watchers.resumptions
        report.silence_s, report.pause_s = call.longest_silence, call.longest_pause
        report.faults += call.faults()
        await stack.aclose()
        await _stop_all(cluster)
        report.epochs, faults = await asyncio.to_thread(_judged, cluster, writers)
        report.faults += watchers.faults(_file_of(cluster.nodes[0])) + faults
    return report


@asynccontextmanager
async def _cluster(folder: Path, lease_s: float, *, namespaces: bool) -> AsyncIterator[Cluster]:
    """Run three NATS servers, three nodes, and two relays."""
    async with AsyncExitStack() as stack:
        network: ClusterNetwork = NamespaceNetwork(stack) if namespaces else LoopbackNetwork(stack)
        hosts = [await network.host(_host_of(name)) for name in NAMES]
        servers = await stack.enter_async_context(nats_cluster(folder, hosts=hosts))
        sfu = await stack.enter_async_context(running_sfu(host=await network.host("SFU")))
        variables = calls_at(sfu)
        nodes: list[ChatNode] = []
        relays: list[ChatRelay] = []
        flags = ["--cluster-trust-sync", "--cluster-shared-uploads"]
        flags += ["--cluster-lease", str(lease_s), "--cluster-check-every", "500"]
        for name in (*NODES, *RELAYS):
            host, urls = await network.host(name), await network.servers_for(name, servers.urls)
            if name in NODES:
                nodes.append(_node(name, folder, urls, flags, host, variables))
            else:
                relays.append(ChatRelay(name, urls, host=host))
        await stack.enter_async_context(stopped_at_the_end([*nodes, *relays]))
        await nodes[0].start()
        await owner_among(nodes[:1])
        for process in (*nodes[1:], *relays):
            await process.start()
        cluster = Cluster(servers, nodes, relays, network, lease_s)
        await cluster.all_well()
        yield cluster


def _node(
    name: str,
    folder: Path,
    urls: Sequence[str],
    flags: Sequence[str],
    host: Host,
    variables: Mapping[str, str],
) -> ChatNode:
    """Return a node that shares its upload folders with the other nodes."""
    node = ChatNode(name, folder, urls, flags, host)
    node.variables |= {"DISABLE_S3": "false", "STORAGE_BACKEND": "filesystem", **variables}
    node.data_dir.mkdir()
    for shared in _UPLOADS:
        (folder / shared).mkdir(exist_ok=True)
        (node.data_dir / shared).symlink_to(folder / shared)
    return node


async def _members(cluster: Cluster, clients: int, seed: int) -> tuple[Clients, Watchers]:
    """Make all members join, then create a second channel and pair the clients in private conversations."""
    node = cluster.nodes[0]
    invite = (node.data_dir / "invite-code").read_text().strip()
    groups = (cluster.nodes, cluster.relays)
    async with ClientSession(node.address) as http:
        chat = ChatServer(node.address, http, invite)
        people = [await newcomer(chat, f"Client {number}") for number in range(clients)]
        watching = [await newcomer(chat, f"Watcher {number}") for number in range(WATCHERS)]
        channel = await people[0].done("POST", "/api/channels", {"name": "second", "type": "text"})
        async with http.get("/info") as response:
            server_id = (await response.json())["serverId"]
        conversations = await _conversations(people, server_id)
    channels = (CHANNEL, f"/api/channels/{channel['id']}/messages")
    writers = Clients(groups, people, seed, channels, conversations)
    return writers, Watchers(groups, watching, channel["id"], people[0], writers, seed)


async def _conversations(people: Sequence[HttpMember], server_id: str) -> dict[int, dict[str, Any]]:
    """Return each client's conversation with its neighbour."""
    conversations: dict[int, dict[str, Any]] = {}
    devices = [await Client(person, server_id, time.time()).take_part() for person in people]
    for number in range(0, len(devices) - 1, 2):
        one, other = devices[number : number + 2]
        conversation = await one.open(other)
        packages = [b64decode(package["key_package"]) for package in await one.take(conversation, other)]
        status, answer = await one.commit(conversation, 0, packages)
        assert status == 200, answer
        conversations[number] = conversations[number + 1] = conversation
    return conversations


async def _stop_all(cluster: Cluster) -> None:
    """Stop the relays, then the followers, and finally the owner. In any other order, a follower would take
    over.
    """
    for relay in cluster.relays:
        await relay.kill()
    owner = await cluster.owner()
    for node in (*(node for node in cluster.nodes if node is not owner), owner):
        node.signal(signal.SIGTERM)
        await node.ended()


def _judged(cluster: Cluster, writers: Clients) -> tuple[int, list[str]]:
    """Return the number of epochs, and a list of all faults."""
    log = NatsLog("svc", "judge", lambda _: None)
    log.open(cluster.servers.urls)
    try:
        for node in cluster.nodes:
            replica = Replica(_file_of(node))
            try:
                _until_read(partial(catch_up, log, replica))
            finally:
                replica.close()
        epochs, faults = _until_read(partial(_owners_in, log))
    finally:
        log.close()
    for node in cluster.nodes:
        faults += [f"node {node.name}: {fault}" for fault in faults_in(_file_of(node), writers)]
    first, *others = (table_hashes(_file_of(node)) for node in cluster.nodes)
    for node, hashes in zip(cluster.nodes[1:], others, strict=True):
        faults += [f"node {node.name}: table {name} differs" for name in first if hashes[name] != first[name]]
    return epochs, faults


def _until_read(read: Callable[[], T]) -> T:
    """Retry, because a NATS server that has just returned may not respond."""
    give_up_at = time.monotonic() + HEALED_WITHIN_S
    while True:
        try:
            return read()
        except ClusterError:
            if time.monotonic() > give_up_at:
                raise


def _owners_in(log: NatsLog) -> tuple[int, list[str]]:
    """Read the whole log.

    Return the number of epochs, and the entries that were not written by the owner in their epoch.
    """
    faults: list[str] = []
    epoch, owner, after, end = 0, "", 0, log.last_sequence()
    while after < end:
        entries, after = log.read(after)
        for sequence, entry in entries:
            if entry.begins_epoch:
                if entry.epoch != epoch + 1:
                    faults.append(f"entry {sequence} begins epoch {entry.epoch} after {epoch}")
                epoch, owner = entry.epoch, entry.node
            elif (entry.epoch, entry.node) != (epoch, owner):
                faults.append(f"entry {sequence} of {entry.node} in epoch {epoch} of {owner}")
    return epoch, faults


def _file_of(node: ChatNode) -> Path:
    return node.data_dir / "community.sqlite3"


def kinds_of(rounds: int, seed: int, *, namespaces: bool = False) -> list[str]:
    """Return a random kind of fault for each round."""
    chance = random.Random(f"kinds {seed}")
    kinds = [*FAULTS, *PARTITIONS] if namespaces else list(FAULTS)
    return [chance.choice(kinds) for _ in range(rounds)]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--writes", type=int, default=0)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lease", type=float, default=3.0)
    parser.add_argument("--minutes", type=float, default=0.0, help="start no round later; 0: no limit")
    parser.add_argument("--namespaces", action="store_true")
    options = parser.parse_args()
    # If this variable were set, each node and relay would prepare the web client's files again at startup.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if options.namespaces:
        unshare_network()

    def report_progress(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory() as folder:
        kinds = kinds_of(options.rounds, options.seed, namespaces=options.namespaces)
        report = asyncio.run(
            run(
                *(Path(folder), kinds, options.clients, options.seed, options.lease, report_progress),
                writes=options.writes,
                within_s=60 * options.minutes,
                namespaces=options.namespaces,
            )
        )
    print("| fault | rounds | median | worst |\n|---|---|---|---|")
    for kind, times in sorted(report.times.items()):
        print(f"| {kind} | {len(times)} | {statistics.median(times):.2f} s | {max(times):.2f} s |")
    rounds = sum(map(len, report.times.values()))
    print(f"{rounds} rounds, {report.acknowledged} acknowledged writes, {report.epochs} epochs")
    print(f"{report.removals} removed permissions, {report.events} events at live sockets")
    print(f"{report.states} complete states, {report.resumptions} resumed sockets")
    print(f"longest silence in the call: {report.silence_s:.2f} s; own pause: {report.pause_s:.2f} s")
    print(f"{len(report.faults)} faults")
    for fault in report.faults:
        print(fault)
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
