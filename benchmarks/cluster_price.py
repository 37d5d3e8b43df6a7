"""Measures the cost of a cluster: durable messages per second with and without a log, and sockets on a relay.

    python -m benchmarks.cluster_price [--writers 1 20 200] [--seconds 3] [--rounds 3]
    python -m benchmarks.cluster_price --relay-sockets 10 400 [--rate 20] [--seconds 10]
    python -m benchmarks.cluster_price --followed-writers 1 20 [--seconds 10]

The store is the one in benchmarks.chat_store. Runs with and without a log alternate, and the table has the
medians of the rounds. The three NATS servers run on the same machine and disk, with `sync_interval: always`.
With `--relay-sockets`, the given number of members are connected to a single node's only relay, where they
read and write. With `--rate 0`, they write one after the other, without pauses. The last row is the time for
bare writes of a frame to a thousand sockets, measured in the same minute (`limit/fanout.py`). At 20
messages/s, each delivery is a separate write.

With `--followed-writers`, the given number of members write to the owner in a community with two nodes. Each
writes one message after the other. The lag is the time from the owner's response until the follower's file
contains the message.
"""

import argparse
import asyncio
import sqlite3
import statistics
import tempfile
from collections.abc import Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path

from aiohttp import ClientSession

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
from tests.chat.chat_server import ChatServer as TestedServer
from tests.chat.http_member import HttpMember, newcomer
from tests.kit.chat_nodes import chat_nodes, chat_relays
from tests.kit.cluster_clients import CHANNEL
from tests.kit.nats_cluster import nats_cluster

Result = tuple[float, float, float, float]


async def replicated(folder: Path, servers: list[str], name: str, writers: int, seconds: float) -> Result:
    """Measure the store with a new log."""
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
                    for way, measurements in results.items():
                        folder = Path(top) / f"{way}-{writers}-{number}"
                        folder.mkdir()
                        if way == "local":
                            measurements.append(await measure(folder, writers, seconds))
                        else:
                            name = f"w{writers}n{number}"
                            measurements.append(
                                await replicated(folder, servers.urls, name, writers, seconds)
                            )
                for way, measurements in results.items():
                    rate, cpu, p50, p99 = (
                        statistics.median(column) for column in zip(*measurements, strict=True)
                    )
                    print(f"| {writers} | {way} | {rate:,.0f} | {cpu:.0f} | {p50:.1f} | {p99:.1f} |")


class _AtARelay(Community):
    """The members that are connected to a relay, and the database owner's CPU time."""

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
                    cores.copy_niceness(measured.pid)
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


async def _lags_ms(person: HttpMember, follower: sqlite3.Connection, end: float) -> list[float]:
    """Write messages until `end`. For each message, return the time until the follower's file contains it."""
    clock = asyncio.get_running_loop().time
    lags_ms = []
    while clock() < end:
        message = await person.done("POST", CHANNEL, {"text": "A message." * 40})
        since = clock()
        for _ in range(10_000):
            if follower.execute("SELECT 1 FROM messages WHERE id = ?", [message["id"]]).fetchall():
                break
            await asyncio.sleep(0.001)
        else:
            raise TimeoutError("the follower lacks a message after 10 s")
        lags_ms.append(1000 * (clock() - since))
    return lags_ms


async def follower_lag(all_writers: Sequence[int], seconds: float) -> None:
    """Print a row for each number of writers."""
    print("| writers | messages | lag p50 ms | p99 ms | longest ms |\n|---|---|---|---|---|", flush=True)
    for writers in all_writers:
        with tempfile.TemporaryDirectory() as top:
            async with (
                nats_cluster(Path(top)) as servers,
                chat_nodes(Path(top), servers.urls, "ab", ["--cluster-trust-sync"]) as (owner, follower),
                ClientSession(owner.address) as http,
            ):
                invite = (owner.data_dir / "invite-code").read_text().strip()
                chat = TestedServer(owner.address, http, invite)
                people = [await newcomer(chat, f"Writer {number}") for number in range(writers)]
                with closing(sqlite3.connect(follower.data_dir / "community.sqlite3")) as file:
                    end = asyncio.get_running_loop().time() + seconds
                    lags = await asyncio.gather(*(_lags_ms(person, file, end) for person in people))
        lags_ms = sorted(chain.from_iterable(lags))
        p50, p99 = (lags_ms[int(share * len(lags_ms))] for share in (0.5, 0.99))
        print(f"| {writers} | {len(lags_ms):,} | {p50:.1f} | {p99:.1f} | {lags_ms[-1]:.1f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--writers", type=int, nargs="+", default=[1, 20, 200])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--relay-sockets", type=int, nargs="+", default=[])
    parser.add_argument("--rate", type=float, default=20.0, help="messages per second, with --relay-sockets")
    parser.add_argument("--followed-writers", type=int, nargs="+", default=[])
    options = parser.parse_args()
    if options.followed_writers:
        asyncio.run(follower_lag(options.followed_writers, options.seconds))
        return
    if options.relay_sockets:
        asyncio.run(relays(options.relay_sockets, options.rate, options.seconds))
        print(f"| limit: a bare write | | {fanout.measure():.2f} | | | |")
        return
    asyncio.run(run(options.writers, options.seconds, options.rounds))


if __name__ == "__main__":
    main()
