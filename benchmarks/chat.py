"""Measures the chat server with `svc bench chat`, in several scenarios. python -m benchmarks.chat

The server runs on the first core, and the members run on the others. The last row is the time for bare writes
of a frame to the same number of sockets, measured in the same minute (`limit/fanout.py`).
"""

import argparse
import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.limit import fanout
from svc.tools.bench.chat import Options, Result, Scenario, measure

SIZE = 400


@dataclass(frozen=True, slots=True)
class Target:
    what: str
    scenario: Scenario
    figure: Callable[[Result], float]
    unit: str
    maximum: float


def targets(seconds: float) -> list[Target]:
    room = Scenario(members=200, rate=50, writers=1, size=SIZE, seconds=seconds)
    busy_room = Scenario(members=200, rate=0, writers=1, size=SIZE, seconds=seconds)
    paced = Scenario(members=1000, rate=50, writers=1, size=SIZE, seconds=seconds)
    busy = Scenario(members=1000, rate=0, writers=1, size=SIZE, seconds=seconds)
    loaded = Scenario(members=1000, rate=0, writers=100, size=SIZE, seconds=seconds)
    return [
        Target("message delivered to 200, busy", busy_room, lambda r: r.us_cpu_per_message, "us CPU", 1500),
        Target("send to receive, 200 members, 50/s: p50", room, lambda r: r.p50_ms, "ms", 2),
        Target("the same: p99", room, lambda r: r.p99_ms, "ms", 5),
        Target("delivery, 1000 members, 50/s", paced, _per_delivery, "us CPU", 8),
        Target("1000 members join", paced, lambda r: r.joins_s, "s", 10),
        Target("memory with 1000 sockets", paced, lambda r: r.rss_mb, "MB", 95),
        Target("delivery, 1000 members, busy", busy, _per_delivery, "us CPU", 4),
        Target("delivery, 1000 members, 100 writers", loaded, _per_delivery, "us CPU", 1),
    ]


def _per_delivery(result: Result) -> float:
    return result.us_cpu_per_delivery


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=8.0)
    options = parser.parse_args()
    results: dict[Scenario, Result] = {}
    print("| | measured | target | messages/s | lost |\n|---|---|---|---|---|")
    for target in targets(options.seconds):
        if target.scenario not in results:
            results[target.scenario] = asyncio.run(measure(target.scenario, Options()))
        result = results[target.scenario]
        row = (target.what, f"{target.figure(result):,g} {target.unit}", f"≤ {target.maximum:,g}")
        print(f"| {' | '.join(row)} | {result.messages_per_s:,g} | {result.lost} |", flush=True)
    print(f"| limit: a bare write, 1000 sockets, busy | {fanout.measure():.2f} us CPU | | | |")


if __name__ == "__main__":
    main()
