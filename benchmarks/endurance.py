"""Whether anything drifts: a long run under load and loss. python -m benchmarks.endurance --minutes 30

One camera to fifty receivers, each of which discards 1 % of what comes and asks for it again. What is
printed is a row a minute (or a tenth of a short run), then the last fifth held against the first: latency
that grows by the hour, or memory that does, would show.
"""

import argparse
import asyncio
import statistics
from collections.abc import Sequence

from benchmarks.contest import silent
from svc.tools.bench.crowd import crowd
from svc.tools.bench.measurement import Measurement
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.server import own_server

SCENARIO = Scenario(1, 50, loss=0.01)
# 60 % of what `benchmarks.saturation` last found: 3,600 x 50 of 300,000 packets a second.
PPS = 3600
WARM_UP_S = 5.0
LEAST_ROWS = 10


async def main(minutes: float, pps: int) -> None:
    row_s = min(60.0, minutes * 60 / LEAST_ROWS)
    count = round(minutes * 60 / row_s)
    rows: list[Measurement] = []
    async with (
        own_server(SCENARIO.clients) as server,
        crowd(server.url, SCENARIO, server.pid) as everybody,
    ):
        await everybody.assemble(silent)
        await everybody.meter.warm_up(pps, WARM_UP_S)
        print("| s | packets/s | loss % | came again % | p50 us | p99 us | us CPU per packet | RSS KB |")
        print("|---|---|---|---|---|---|---|---|")
        for number in range(count):
            found = await everybody.meter.follow(pps, row_s)
            rows.append(found)
            print(line((number + 1) * row_s, found), flush=True)
    print("\n" + verdict(rows))


def line(after_s: float, found: Measurement) -> str:
    again = 100 * found.resent / max(found.discarded, 1)
    cells = [f"{after_s:.0f}", f"{found.packets_per_s:,.0f}", f"{found.loss_percent:.3f}", f"{again:.1f}"]
    cells += [f"{us or 0:,.0f}" for us in (found.p50_us, found.p99_us)]
    cells += [f"{found.cpu_us_per_packet or 0:.2f}", f"{found.memory_kb or 0:,}"]
    return "| " + " | ".join(cells) + " |" + "".join(f" <!-- {text} -->" for text in found.warnings())


def verdict(rows: Sequence[Measurement]) -> str:
    """The medians of the last fifth and the first: a single row may have met somebody else's work."""
    fifth = max(len(rows) // 5, 1)

    def change(first: Sequence[float], last: Sequence[float]) -> str:
        was, is_now = statistics.median(first), statistics.median(last)
        return f"{was:,.0f} to {is_now:,.0f} ({100 * (is_now - was) / max(was, 1):+.1f} %)"

    p50 = [each.p50_us or 0.0 for each in rows]
    p99 = [each.p99_us or 0.0 for each in rows]
    memory = [float(each.memory_kb or 0) for each in rows]
    return (
        f"first fifth to last: p50 {change(p50[:fifth], p50[-fifth:])} us, "
        f"p99 {change(p99[:fifth], p99[-fifth:])} us, RSS {change(memory[:fifth], memory[-fifth:])} KB"
    )


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--pps", type=int, default=PPS, help="of the camera; times fifty leave the service")
    return parser.parse_args()


if __name__ == "__main__":
    chosen = options()
    asyncio.run(main(chosen.minutes, chosen.pps))
