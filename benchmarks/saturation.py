"""How much one core forwards: the rate rises until more than 0.1 % is lost. python -m benchmarks.saturation

Then once more at half as much again: beyond saturation packets are to be dropped and counted, not kept.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

from benchmarks.contest import Options, options, peer, silent
from benchmarks.limit.run import limit
from svc.tools.bench.crowd import crowd
from svc.tools.bench.measurement import Measurement
from svc.tools.bench.meter import Meter
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.server import own_server

SCENARIO = Scenario(1, 50)
FIRST_PPS, LAST_PPS, STEP = 2000, 14_000, 1000
MOST_LOSS_PERCENT = 0.1

Place = Callable[[], AbstractAsyncContextManager[Meter]]


async def main(chosen: Options) -> None:
    places: list[tuple[str, Place]] = [("limit", lambda: limit(SCENARIO)), ("svc", ours)]
    places += [(name, partial(theirs, command)) for name, command in chosen.peers]
    print("| | most packets/s | us CPU per packet | p99 us | beyond: packets/s | loss % | p99 us |")
    print("|---|---|---|---|---|---|---|")
    for name, place in places:
        async with place() as meter:
            best = await climb(meter, chosen.seconds)
            beyond = await meter.measure(best.pps * 3 // 2, chosen.seconds, silent)
        cells = [f"{best.packets_per_s:,.0f}", f"{best.cpu_us_per_packet:.2f}", f"{best.p99_us:,.0f}"]
        cells += [f"{beyond.packets_per_s:,.0f}", f"{beyond.loss_percent:.1f}", f"{beyond.p99_us:,.0f}"]
        print(" | ".join([f"| {name}", *cells]) + " |" + told(best) + told(beyond), flush=True)


async def climb(meter: Meter, seconds: float) -> Measurement:
    """The last rate at which hardly anything was lost, or the first one."""
    best: Measurement | None = None
    for pps in range(FIRST_PPS, LAST_PPS + 1, STEP):
        await meter.warm_up(pps, 0.5)
        found = await meter.measure(pps, seconds, silent)
        if best is not None and found.loss_percent > MOST_LOSS_PERCENT:
            break
        best = found
    assert best is not None, "there is at least one rate"
    return best


def told(found: Measurement) -> str:
    return "".join(f" <!-- {found.pps}: {warning} -->" for warning in found.warnings())


@asynccontextmanager
async def ours() -> AsyncIterator[Meter]:
    async with own_server(SCENARIO.clients) as server, crowd(server.url, SCENARIO, server.pid) as everybody:
        await everybody.assemble(silent)
        yield everybody.meter


@asynccontextmanager
async def theirs(command: str) -> AsyncIterator[Meter]:
    async with peer(command) as (url, pid), crowd(url, SCENARIO, pid) as everybody:
        await everybody.assemble(silent)
        yield everybody.meter


if __name__ == "__main__":
    asyncio.run(main(options()))
