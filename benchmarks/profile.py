"""Profiles the forwarding of a packet in this service and in the limit program.

`perf` (in Debian's linux-perf) counts for the whole process, per packet that arrived: instructions in the
program and in the kernel, cycles, cache misses, messages passed to the network interface, and sleeps. A dash
means that the machine cannot count these events, as is the case on many virtual machines. Instructions and
messages do not depend on other load, but cycles and misses do. A second table breaks down both programs' time
by library, based on clock samples, which every machine supports.
"""

import argparse
import asyncio
import tempfile
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from types import ModuleType

from benchmarks import s1, s2, s2_bursts, s3
from benchmarks.limit.run import limit
from benchmarks.sfu_comparison import WARM_UP_S, silent
from svc.tools.bench.meter import Meter
from svc.tools.bench.room_clients import room_clients
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.server import own_server

SCRIPTS: dict[str, ModuleType] = {"s1": s1, "s2": s2, "s2_bursts": s2_bursts, "s3": s3}
EVENTS = {
    "instructions:u": "instructions",
    "instructions:k": "in the kernel",
    "cycles": "cycles",
    "cache-misses:u": "misses",
    "cache-misses:k": "in the kernel",
    "net:net_dev_queue": "messages",
    "context-switches": "sleeps",
}
MIN_PERCENT = "0.5"  # the smallest share of all cycles to report

Benchmark = Callable[[], AbstractAsyncContextManager[tuple[Meter, int]]]


async def profile(script: ModuleType, seconds: float) -> None:
    scenario: Scenario = script.SCENARIO
    print(f"\n{script.TITLE}\n\n| per packet | {' | '.join(EVENTS.values())} |")
    print("|---" * (len(EVENTS) + 1) + "|")
    benchmarks: dict[str, Benchmark] = {"limit": partial(the_limit, scenario), "svc": partial(ours, scenario)}
    time_went: dict[str, str] = {}
    for name, benchmark in benchmarks.items():
        async with benchmark() as (meter, pid):
            await meter.warm_up(script.PPS, WARM_UP_S)
            counted = await count(meter, pid, script.PPS, seconds)
            print(
                f"| {name} | " + " | ".join(f"{value:,.2f}" if value else "–" for value in counted) + " |",
                flush=True,
            )
            time_went[name] = await shares(meter, pid, script.PPS, seconds)
    for name, share in time_went.items():
        print(f"\n{name}: {share}", flush=True)


async def count(meter: Meter, pid: int, pps: int, seconds: float) -> list[float]:
    flowing = asyncio.create_task(meter.measure(pps, seconds, silent))
    output = await perf("stat", "-x;", "-e", ",".join(EVENTS), "-p", str(pid), "sleep", str(seconds + 1))
    received = max((await flowing).received, 1)
    counts = {what: number for line in output.splitlines() for number, _, what, *_ in [line.split(";")]}
    return [float(counts[event]) / received if counts[event][:1].isdigit() else 0.0 for event in EVENTS]


async def shares(meter: Meter, pid: int, pps: int, seconds: float) -> str:
    """Return each library's share of the CPU time, which shows where savings are possible."""
    with tempfile.TemporaryDirectory() as folder:
        output = str(Path(folder) / "perf")
        flowing = asyncio.create_task(meter.measure(pps, seconds, silent))
        await perf(
            *("record", "-q", "-e", "cpu-clock", "-F", "10000"),
            *("-o", output, "-p", str(pid), "sleep", str(seconds + 1)),
        )
        await flowing
        report = await perf(
            "report", "-i", output, "--sort", "dso", "--stdio", "--percent-limit", MIN_PERCENT
        )
    lines = [line.split()[:2] for line in report.splitlines() if line.strip() and line[0] != "#"]
    return ", ".join(f"{name} {share}" for share, name in lines)


async def perf(*arguments: str) -> str:
    """Run perf and return all of its output."""
    process = await asyncio.create_subprocess_exec("perf", *arguments, stdout=PIPE, stderr=STDOUT)
    output, _ = await process.communicate()
    return output.decode()


@asynccontextmanager
async def the_limit(scenario: Scenario) -> AsyncIterator[tuple[Meter, int]]:
    async with limit(scenario) as meter:
        assert meter.pid is not None
        yield meter, meter.pid


@asynccontextmanager
async def ours(scenario: Scenario) -> AsyncIterator[tuple[Meter, int]]:
    async with (
        own_server(scenario.clients) as server,
        room_clients(server.url, scenario, server.pid) as everybody,
    ):
        await everybody.assemble(silent)
        yield everybody.meter, server.pid


async def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", default=list(SCRIPTS))
    parser.add_argument("--seconds", type=float, default=4.0)
    chosen = parser.parse_args()
    for name in chosen.scenarios:
        await profile(SCRIPTS[name], chosen.seconds)


if __name__ == "__main__":
    asyncio.run(main())
