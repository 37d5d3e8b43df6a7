"""Detects drift during a long run under load with packet loss. python -m benchmarks.endurance --minutes 30

One camera sends to fifty receivers, each of which discards 1 % of the packets and requests them again. The
program prints a row per minute (or per tenth of a short run), and then two changes. The first change is from
the median p99 of the first five rows to that of the last five rows. Medians are used because the host may
have disturbed a single row. The second change is in the memory use of the service and of the generator,
between the middle and the end of the run. The program fails if latency or memory use has grown.

After a backlog, the service keeps the buffers for the next backlog, up to a limit. The run begins with more
packets than the service can forward, so that a backlog caused by a busy host does not look like a memory
leak.
"""

import argparse
import asyncio
import os
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from svc.tools.bench.measurement import Measurement
from svc.tools.bench.process import resident_kb
from svc.tools.bench.room_clients import RoomClients, room_clients
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.server import own_server
from svc.tools.bench.sfu import progress

SCENARIO = Scenario(1, 50, loss=0.01)
# 60 % of the last result from `benchmarks.saturation`: 3,600 x 50 of 300,000 packets a second.
PPS = 3600
OVERLOAD = 3.0
OVERLOAD_S = 10.0
WARM_UP_S = 5.0
MIN_ROWS = 10
COMPARED_ROWS = 5
MAX_P99_GROWTH_PERCENT = 10
MAX_MEMORY_GROWTH_PERCENT = 1


@dataclass(frozen=True, slots=True)
class Row:
    after_s: float
    measurement: Measurement
    generator_kb: int

    def __str__(self) -> str:
        measurement = self.measurement
        again = 100 * measurement.resent / max(measurement.discarded, 1)
        cells = [
            f"{self.after_s:.0f}",
            f"{measurement.packets_per_s:,.0f}",
            f"{measurement.loss_percent:.3f}",
            f"{again:.1f}",
        ]
        cells += [f"{us or 0:,.0f}" for us in (measurement.p50_us, measurement.p99_us)]
        cells += [
            f"{measurement.cpu_us_per_packet or 0:.2f}",
            f"{measurement.memory_kb or 0:,}",
            f"{self.generator_kb:,}",
        ]
        return (
            "| " + " | ".join(cells) + " |" + "".join(f" <!-- {text} -->" for text in measurement.warnings())
        )


HEADING = (
    "| s | packets/s | loss % | came again % | p50 us | p99 us | us CPU per packet "
    "| RSS KB | generator KB |\n|---|---|---|---|---|---|---|---|---|"
)


async def main(minutes: float, pps: int) -> bool:
    """Run the benchmark. Return True if neither latency nor memory use grew during the run."""
    rows: list[Row] = []
    async with (
        own_server(SCENARIO.clients) as server,
        room_clients(server.url, SCENARIO, server.pid) as everybody,
    ):
        await everybody.assemble(progress)
        # The service ends the session as soon as its peer disconnects.
        await everybody.run_checked(run(everybody, minutes, pps, rows))
    changes = verdict(rows)
    print("\n" + "\n".join(map(str, changes)))
    return all(change.is_small for change in changes)


async def run(everybody: RoomClients, minutes: float, pps: int, rows: list[Row]) -> None:
    row_s = min(60.0, minutes * 60 / MIN_ROWS)
    count = round(minutes * 60 / row_s)
    await everybody.meter.warm_up(round(OVERLOAD * pps), OVERLOAD_S)
    await everybody.meter.warm_up(pps, WARM_UP_S)
    print(HEADING, flush=True)
    for number in range(1, count + 1):
        measurement = await everybody.meter.follow(pps, row_s, progress)
        progress("")
        rows.append(Row(number * row_s, measurement, resident_kb(os.getpid())))
        print(rows[-1], flush=True)


@dataclass(frozen=True, slots=True)
class Change:
    what: str
    before: float
    after: float
    most_percent: float

    @property
    def percent(self) -> float:
        return 100 * (self.after - self.before) / max(self.before, 1)

    @property
    def is_small(self) -> bool:
        return self.percent <= self.most_percent

    def __str__(self) -> str:
        verdict = "holds" if self.is_small else "has grown"
        figures = (
            f"{self.before:,.0f} to {self.after:,.0f} ({self.percent:+.1f} %, at most +{self.most_percent} %)"
        )
        return f"{self.what} {verdict}: {figures}"


def verdict(rows: Sequence[Row]) -> list[Change]:
    p99 = [row.measurement.p99_us or 0.0 for row in rows]
    halfway, end = rows[len(rows) // 2], rows[-1]
    return [
        Change(
            "p99 (us)",
            statistics.median(p99[:COMPARED_ROWS]),
            statistics.median(p99[-COMPARED_ROWS:]),
            MAX_P99_GROWTH_PERCENT,
        ),
        Change(
            "RSS (KB)",
            halfway.measurement.memory_kb or 0,
            end.measurement.memory_kb or 0,
            MAX_MEMORY_GROWTH_PERCENT,
        ),
        Change("the generator's (KB)", halfway.generator_kb, end.generator_kb, MAX_MEMORY_GROWTH_PERCENT),
    ]


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--pps", type=int, default=PPS, help="packets per second of the camera")
    return parser.parse_args()


if __name__ == "__main__":
    chosen = options()
    sys.exit(not asyncio.run(main(chosen.minutes, chosen.pps)))
