"""Break parts of a cluster at random while clients write. python -m benchmarks.cluster_faults

    python -m benchmarks.cluster_faults [--rounds 200] [--writes 0] [--clients 50] [--seed 1] [--lease 3]

Three NATS servers, three chat nodes, and two relays run on loopback. Nodes and relays have their own lines
to the servers. Half of the clients write at the nodes, and half at the relays. A round breaks one thing: the
owner, a follower, a relay, or a NATS server is killed with -9 or paused for longer than a takeover, or a node
or relay is cut off from NATS. Then everything is whole again. The time of a round is the longest one without
an acknowledged write at any node, or at any relay. The clients go on until `--writes` are acknowledged. At
the end, each acknowledged write must be in the file once, the messages of a client must be in their order,
the log must have one owner in each epoch, and all files must be equal, table by table.
"""

import argparse
import asyncio
import random
import signal
import statistics
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from svc.chat.cluster.nats_log import NatsLog
from svc.chat.cluster.replica import Replica, table_hashes
from svc.chat.cluster.takeover import catch_up
from tests.kit.chat_nodes import ChatNode, ChatRelay, ClusterProcess, killed_at_the_end, owner_among, token_of
from tests.kit.cluster_clients import Clients, faults_in
from tests.kit.cut_line import CutLine, cut_lines
from tests.kit.nats_cluster import NAMES, NatsCluster, nats_cluster
from tests.kit.waiting import wait_until

# No fault may stop the writes for longer.
WITHIN_S = 60.0
HEALED_WITHIN_S = 60.0
NODES, RELAYS = ("a", "b", "c"), ("east", "west")


@dataclass
class Report:
    """The result of a run. `faults` lists what was lost, twice, or different."""

    acknowledged: int = 0
    # For each kind of fault, the longest seconds without an acknowledged write.
    times: dict[str, list[float]] = field(default_factory=dict)
    epochs: int = 0
    faults: list[str] = field(default_factory=list)


@dataclass
class Cluster:
    servers: NatsCluster
    nodes: Sequence[ChatNode]
    relays: Sequence[ChatRelay]
    lines: dict[str, list[CutLine]]
    lease_s: float

    async def owner(self) -> ChatNode:
        return await owner_among(self.nodes)

    async def follower(self, chance: random.Random) -> ChatNode:
        owner = await self.owner()
        return chance.choice([node for node in self.nodes if node is not owner])

    async def all_well(self) -> None:
        """Wait until one node owns, all others follow, and all relays are attached to the owner."""
        owner = await owner_among(self.nodes, within_s=HEALED_WITHIN_S)
        for node in self.nodes:
            if node is not owner:
                await wait_until(f"{node.name} is well", node.is_well, within_s=HEALED_WITHIN_S)
        for relay in self.relays:
            await wait_until(f"{relay.name} is attached", relay.is_attached, within_s=HEALED_WITHIN_S)


Undo = Callable[[], Awaitable[None]]
Fault = Callable[[Cluster, random.Random], Awaitable[Undo]]


async def owner_killed(cluster: Cluster, _: random.Random) -> Undo:
    owner = await cluster.owner()
    await owner.kill()
    return owner.start


async def owner_paused(cluster: Cluster, _: random.Random) -> Undo:
    return _paused(await cluster.owner())


async def owner_cut_off(cluster: Cluster, _: random.Random) -> Undo:
    return _cut_off(cluster, await cluster.owner())


async def follower_killed(cluster: Cluster, chance: random.Random) -> Undo:
    follower = await cluster.follower(chance)
    await follower.kill()
    return follower.start


async def follower_cut_off(cluster: Cluster, chance: random.Random) -> Undo:
    return _cut_off(cluster, await cluster.follower(chance))


async def relay_killed(cluster: Cluster, chance: random.Random) -> Undo:
    relay = chance.choice(cluster.relays)
    await relay.kill()
    return relay.start


async def relay_paused(cluster: Cluster, chance: random.Random) -> Undo:
    return _paused(chance.choice(cluster.relays))


async def relay_cut_off(cluster: Cluster, chance: random.Random) -> Undo:
    return _cut_off(cluster, chance.choice(cluster.relays))


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


def _cut_off(cluster: Cluster, process: ClusterProcess) -> Undo:
    for line in cluster.lines[process.name]:
        line.cut()

    async def join() -> None:
        for line in cluster.lines[process.name]:
            line.join()

    return join


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


async def run(
    folder: Path,
    kinds: Sequence[str],
    clients: int,
    seed: int,
    lease_s: float,
    say: Callable[[str], object],
    writes: int = 0,
) -> Report:
    """Run a round for each of `kinds`, and go on until as many `writes` are acknowledged."""
    report = Report()
    chance = random.Random(seed)
    async with nats_cluster(folder) as servers, AsyncExitStack() as stack:
        lines: dict[str, list[CutLine]] = {}
        nodes: list[ChatNode] = []
        relays: list[ChatRelay] = []
        flags = ("--cluster-trust-sync", "--cluster-lease", str(lease_s), "--cluster-check-every", "500")
        for name in (*NODES, *RELAYS):
            ends = await stack.enter_async_context(cut_lines(servers.ports))
            lines[name] = [line for line, _ in ends]
            urls = [f"nats://127.0.0.1:{port}" for _, port in ends]
            if name in NODES:
                nodes.append(ChatNode(name, folder, urls, flags))
            else:
                relays.append(ChatRelay(name, urls))
        await stack.enter_async_context(killed_at_the_end([*nodes, *relays]))
        await nodes[0].start()
        await owner_among(nodes[:1])
        for node in nodes[1:]:
            await node.start()
        for relay in relays:
            await relay.start()
        cluster = Cluster(servers, nodes, relays, lines, lease_s)
        await cluster.all_well()
        tokens = [await token_of(nodes[0], f"Client {number}") for number in range(clients)]
        writers = Clients((nodes, relays), tokens, seed)
        await writers.start()
        for number, kind in enumerate(kinds, start=1):
            await writers.next_acknowledgement(WITHIN_S)
            started = asyncio.get_running_loop().time()
            undo = await FAULTS[kind](cluster, chance)
            # Longer than a takeover.
            await asyncio.sleep(2 * lease_s)
            await writers.next_acknowledgement(WITHIN_S)
            took_s = writers.longest_silence_since(started)
            report.times.setdefault(kind, []).append(took_s)
            await undo()
            await cluster.all_well()
            say(f"round {number} of {len(kinds)}: {kind}, {took_s:.2f} s without a write")
        while writers.acknowledged < writes:
            await writers.next_acknowledgement(WITHIN_S)
        await writers.stop()
        report.acknowledged = writers.acknowledged
        await _stop_all(cluster)
        report.epochs, report.faults = await asyncio.to_thread(_judged, cluster, writers)
    return report


async def _stop_all(cluster: Cluster) -> None:
    """Stop the relays, and the followers before the owner: otherwise each would take over in turn."""
    for relay in cluster.relays:
        await relay.kill()
    owner = await cluster.owner()
    for node in (*(node for node in cluster.nodes if node is not owner), owner):
        node.signal(signal.SIGTERM)
        await node.ended()


def _judged(cluster: Cluster, writers: Clients) -> tuple[int, list[str]]:
    """Return the number of epochs, and all faults."""
    log = NatsLog("svc", "judge", lambda _: None)
    log.open(cluster.servers.urls)
    try:
        for node in cluster.nodes:
            replica = Replica(_file_of(node))
            try:
                catch_up(log, replica)
            finally:
                replica.close()
        epochs, faults = _owners_in(log)
    finally:
        log.close()
    for node in cluster.nodes:
        faults += [f"node {node.name}: {fault}" for fault in faults_in(_file_of(node), writers)]
    first, *others = (table_hashes(_file_of(node)) for node in cluster.nodes)
    for node, hashes in zip(cluster.nodes[1:], others, strict=True):
        faults += [f"node {node.name}: table {name} differs" for name in first if hashes[name] != first[name]]
    return epochs, faults


def _owners_in(log: NatsLog) -> tuple[int, list[str]]:
    """Read the whole log. Return the number of epochs, and entries that their epoch's owner did not write."""
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


def kinds_of(rounds: int, seed: int) -> list[str]:
    """Return a random kind for each round."""
    chance = random.Random(f"kinds {seed}")
    return [chance.choice(list(FAULTS)) for _ in range(rounds)]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--writes", type=int, default=0)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lease", type=float, default=3.0)
    options = parser.parse_args()

    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory() as folder:
        kinds = kinds_of(options.rounds, options.seed)
        report = asyncio.run(
            run(Path(folder), kinds, options.clients, options.seed, options.lease, say, writes=options.writes)
        )
    print("| fault | rounds | median | worst |\n|---|---|---|---|")
    for kind, times in sorted(report.times.items()):
        print(f"| {kind} | {len(times)} | {statistics.median(times):.2f} s | {max(times):.2f} s |")
    print(f"{report.acknowledged} acknowledged writes in {report.epochs} epochs, {len(report.faults)} faults")
    for fault in report.faults:
        print(fault)
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
