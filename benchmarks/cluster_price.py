"""Measure what replication costs: durable messages per second, with a log on three NATS servers and without.

    python -m benchmarks.cluster_price [--writers 1 20 200] [--seconds 3] [--rounds 3]

The store is that of benchmarks.chat_store. Both ways take turns, and the table has the median of the rounds.
The three NATS servers run on the same machine and disk, with `sync_interval: always`.
"""

import argparse
import asyncio
import statistics
import tempfile
from contextlib import closing
from pathlib import Path

from benchmarks.chat_store import measure
from svc.base import commit_log, database_file
from svc.base.migrations import migrations_in
from svc.chat.cluster.nats_log import NatsLog, Origin
from svc.chat.cluster.replica import Replica
from svc.chat.cluster.takeover import take_over
from svc.chat.community import SCHEMA_FOLDER
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


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--writers", type=int, nargs="+", default=[1, 20, 200])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    asyncio.run(run(options.writers, options.seconds, options.rounds))


if __name__ == "__main__":
    main()
