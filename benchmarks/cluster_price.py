"""Measures what a cluster costs: durable messages per second with and without a log, and sockets at a relay.

    python -m benchmarks.cluster_price [--writers 1 20 200] [--seconds 3] [--rounds 3]
    python -m benchmarks.cluster_price --relay-sockets 10 400 [--rate 20] [--seconds 10]

The store is that of benchmarks.chat_store. Both variants alternate, and the table has the median of the
rounds. The three NATS servers run on the same machine and disk, with `sync_interval: always`. With
`--relay-sockets`, this many members have their sockets at one relay of one node, and write and read there.
`--rate 0` has one of them write after the other, without pauses. The last row is the time of bare writes of
one frame to a thousand sockets in the same minute (`limit/fanout.py`): at 20 messages/s each delivery is its
own write.
"""

import argparse
import asyncio
import statistics
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.chat_store import measure
from benchmarks.limit import fanout
from svc.base import commit_log, database_file
from svc.base.migrations import migrations_in
from svc.chat.cluster.nats_log import NatsLog, Origin
from svc.chat.cluster.replica import Replica
from svc.chat.cluster.takeover import take_over
from svc.chat.community import SCHEMA_FOLDER
from svc.tools.bench import cores, process
from svc.tools.bench.chat import Community, Scenario
from svc.tools.bench.chat_server import ChatServer
from tests.kit.chat_nodes import chat_nodes, chat_relays
from tests.kit.nats_cluster import nats_cluster

Result = tuple[float, float, float, float]


async def replicated(folder: Path, servers: list[str], name: str, writers: int, seconds: float) -> Result:
    """Measure with a new log."""
    path = folder / "community.sqlite3"

    def own() -> NatsLog:
        database_file.make(path, migrations_in(SCHEMA_FOLDER))
        with closing(database_file.connect(path)) as connection:
            commit_log.attach(connection, name, 0, 0)
        log = NatsLog(name, "bench", lambda _: None)
        log.open(servers, origin=Origin(name, ""))
        replica = Replica(path)
        try:
            take_over(log, replica, "bench")
        finally:
            replica.close()
        return log

    log = await asyncio.to_thread(own)
    try:
        return await measure(folder, writers, seconds, log)
    finally:
        log.stop()
        await asyncio.to_thread(log.close)


async def run(all_writers: list[int], seconds: float, rounds: int) -> None:
    print("| writers | | messages/s | us CPU each | p50 ms | p99 ms |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as top:
        async with nats_cluster(Path(top)) as servers:
            for writers in all_writers:
                results: dict[str, list[Result]] = {"local": [], "replicated": []}
                for number in range(rounds):
                    for way, found in results.items():
                        folder = Path(top) / f"{way}-{writers}-{number}"
                        folder.mkdir()
                        if way == "local":
                            found.append(await measure(folder, writers, seconds))
                        else:
                            name = f"w{writers}n{number}"
                            found.append(await replicated(folder, servers.urls, name, writers, seconds))
                for way, found in results.items():
                    rate, cpu, p50, p99 = (statistics.median(column) for column in zip(*found, strict=True))
                    print(f"| {writers} | {way} | {rate:,.0f} | {cpu:.0f} | {p50:.1f} | {p99:.1f} |")


class _AtARelay(Community):
    """Members connected to a relay. Also reads the owner's processor time."""

    def __init__(self, scenario: Scenario, server: ChatServer, owner: int) -> None:
        super().__init__(scenario, server)
        self._owner = owner
        self.owner_ns: list[int] = []

    def _cpu_ns(self) -> int:
        self.owner_ns.append(process.cpu_ns(self._owner))
        return super()._cpu_ns()


async def relays(sockets: Sequence[int], rate: float, seconds: float) -> None:
    """Print a row for each number of sockets."""
    print("| sockets | owner: us CPU a message | relay: us CPU a delivery | p50 ms | p99 ms | lost |")
    print("|---|---|---|---|---|---|")
    for count in sockets:
        with tempfile.TemporaryDirectory() as top:
            folder = Path(top)
            async with (
                nats_cluster(folder) as servers,
                chat_nodes(folder, servers.urls, "a", ["--cluster-trust-sync"]) as (node,),
                chat_relays(servers.urls, ["one"]) as (relay,),
            ):
                assert node.process is not None and relay.process is not None, "they have been started"
                for measured in (node.process, relay.process):
                    cores.as_nice_as_we(measured.pid)
                invite = (node.data_dir / "invite-code").read_text().strip()
                server = ChatServer(relay.address, invite, relay.process.pid)
                scenario = Scenario(members=count, rate=rate, writers=1, size=400, seconds=seconds)
                members = _AtARelay(scenario, server, node.process.pid)
                result = await members.measure()
                before, after = members.owner_ns[:2]
                messages = max(result.messages_per_s * seconds, 1)
                owner_us = (after - before) / 1000 / messages
                print(
                    f"| {count:,} | {owner_us:,.0f} | {result.us_cpu_per_delivery} | {result.p50_ms} "
                    f"| {result.p99_ms} | {result.lost} |",
                    flush=True,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--writers", type=int, nargs="+", default=[1, 20, 200])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--relay-sockets", type=int, nargs="+", default=[])
    parser.add_argument("--rate", type=float, default=20.0, help="messages a second, with --relay-sockets")
    options = parser.parse_args()
    if options.relay_sockets:
        asyncio.run(relays(options.relay_sockets, options.rate, options.seconds))
        print(f"| limit: a bare write | | {fanout.measure():.2f} | | | |")
        return
    asyncio.run(run(options.writers, options.seconds, options.rounds))


if __name__ == "__main__":
    main()
