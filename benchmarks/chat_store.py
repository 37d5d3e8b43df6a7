"""Measures how many durable messages per second the store accepts from many writers, without delivery.

    python -m benchmarks.chat_store [--writers 200] [--seconds 5] [--data-dir FOLDER]

Each writer is a member who posts, waits until the message is on disk, and posts again. The clock starts when
all writers are running. The search index is updated at the same time, as on a server. `--data-dir` puts the
file on another disk. On an in-memory file system, the cost of fsync is not measured.
"""

import argparse
import asyncio
import resource
import tempfile
import time
from pathlib import Path

from benchmarks.chat_world import opened_world
from svc.base.commit_log import CommitLog
from svc.base.garbage_collector import collect_rarely
from svc.chat.messages.rules import Draft

TEXT = "A message of the usual length, some sixty characters of it, ok?"
WARM_UP_S = 0.5


async def measure(
    folder: Path, writers: int, seconds: float, log: CommitLog | None = None
) -> tuple[float, float, float, float]:
    """Return messages per second, CPU µs per message, and the p50 and p99 of the wait in ms."""
    async with opened_world(folder, writers, log=log) as world:
        collect_rarely()  # Collect garbage as rarely as the server does.
        indexing = asyncio.create_task(world.feature.indexer.run())
        waits: list[float] = []
        running = True

        async def write(member_id: str, number: int) -> None:
            while running:
                began = time.perf_counter()
                draft = Draft("general", TEXT, nonce=f"{number}-{len(waits)}-{began}")
                await world.feature.messages.send(member_id, draft, time.time())
                waits.append(time.perf_counter() - began)

        tasks = [asyncio.create_task(write(m, n)) for n, m in enumerate(world.member_ids)]
        await asyncio.sleep(WARM_UP_S)
        waits.clear()
        before, cpu_before = time.perf_counter(), _cpu_s()
        await asyncio.sleep(seconds)
        elapsed, cpu_s, done = time.perf_counter() - before, _cpu_s() - cpu_before, len(waits)
        waits = sorted(waits)
        running = False
        await asyncio.gather(*tasks)
        indexing.cancel()
        await asyncio.gather(indexing, return_exceptions=True)
    p50, p99 = waits[done // 2] * 1000, waits[done * 99 // 100] * 1000
    return done / elapsed, cpu_s / done * 1e6, p50, p99


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--writers", type=int, nargs="+", default=[1, 50, 200, 1000])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--data-dir", type=Path, default=None)
    arguments = parser.parse_args()
    print("| writers | messages/s | us CPU each | p50 ms | p99 ms |\n|---|---|---|---|---|")
    for writers in arguments.writers:
        with tempfile.TemporaryDirectory(dir=arguments.data_dir) as folder:
            rate, cpu_us, p50, p99 = asyncio.run(measure(Path(folder), writers, arguments.seconds))
        print(f"| {writers} | {rate:,.0f} | {cpu_us:.1f} | {p50:.1f} | {p99:.1f} |")


if __name__ == "__main__":
    main()
