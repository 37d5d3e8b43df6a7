"""How much one core forwards, and what happens beyond. python -m benchmarks.saturation

The rate rises by a quarter until more than 0.1 % is lost, then the gap is halved a few times. Near that rate
the cost of a packet is taken (S4), and at half as much again what is lost and how late the rest is: beyond
saturation packets are to be dropped and counted, not kept.
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
FIRST_PPS, LAST_PPS = 2000, 60_000
HALVINGS = 4
MOST_LOSS_PERCENT = 0.1
NEAR = 0.9  # of the most: "near saturation"
BEYOND = 1.5
# The queues' bounds need a moment to take hold: a burst is no overload.
SETTLED_S = 1.0

Place = Callable[[], AbstractAsyncContextManager[Meter]]


async def main(chosen: Options) -> None:
    places: list[tuple[str, Place]] = [("limit", lambda: limit(SCENARIO)), ("svc", ours)]
    places += [(name, partial(theirs, command)) for name, command in chosen.peers]
    print("| | most packets/s | near it (S4): us CPU per packet | p50 us | p99 us | ", end="")
    print("beyond: packets/s | loss % | p99 us |")
    print("|---|---|---|---|---|---|---|---|")
    for name, place in places:
        async with place() as meter:
            best, why = await search(meter, chosen.seconds)
            near = await meter.measure(int(best.pps * NEAR), chosen.seconds, silent, settled_s=SETTLED_S)
            beyond = await meter.measure(int(best.pps * BEYOND), chosen.seconds, silent, settled_s=SETTLED_S)
        cells = [f"{best.packets_per_s:,.0f}", f"{near.cpu_us_per_packet or 0:.2f}"]
        cells += [f"{us or 0:,.0f}" for us in (near.p50_us, near.p99_us)]
        cells += [f"{beyond.packets_per_s:,.0f}", f"{beyond.loss_percent:.1f}", f"{beyond.p99_us or 0:,.0f}"]
        print(" | ".join([f"| {name}", *cells]) + " |" + why + told(near) + told(beyond), flush=True)


async def search(meter: Meter, seconds: float) -> tuple[Measurement, str]:
    """The highest rate at which hardly anything was lost; and whether the generator set the bound."""
    best = await attempt(meter, FIRST_PPS, seconds)
    low, high = FIRST_PPS, 0
    halvings = 0
    while halvings < HALVINGS and low < LAST_PPS:
        pps = (low + high) // 2 if high else min(low * 5 // 4, LAST_PPS)
        halvings += high > 0
        found = await attempt(meter, pps, seconds)
        if is_lost(found):
            high = pps
        else:
            best, low = found, pps
    by_generator = "" if high else " <!-- not the service's limit: the highest rate that was tried -->"
    return best, by_generator + told(best)


async def attempt(meter: Meter, pps: int, seconds: float) -> Measurement:
    """Twice where it fails: a machine that stumbled once is no limit."""
    await meter.warm_up(pps, 0.5)
    found = await meter.measure(pps, seconds, silent)
    return found if not is_lost(found) else await meter.measure(pps, seconds, silent)


def is_lost(found: Measurement) -> bool:
    """What reached the generator's sockets and found them full was forwarded all the same."""
    expected = max(found.received + found.lost, 1)
    return 100 * (found.lost - found.missed) / expected > MOST_LOSS_PERCENT


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
