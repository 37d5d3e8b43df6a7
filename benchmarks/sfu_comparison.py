"""Measures one scenario with the limit program, this service, Janus, and peers that speak our protocol, in
turn.

All programs use the same kind of generator, the same cores and the same packets. A host's speed can change by
a factor of two within minutes. All programs therefore run at the same time, and each round sends a few
seconds of traffic to each in turn. A program without traffic only answers a few reports and checks a second.
The result is a table in Markdown, with medians and extremes. "x limit" is the median ratio of a packet's cost
to its cost in the limit program in the same round. Compare only this ratio, or figures from the same run.
"""

import argparse
import asyncio
import re
import statistics
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cache, partial

from benchmarks.janus.program import where_it_is
from benchmarks.janus.room_clients import janus
from benchmarks.limit.run import limit
from benchmarks.peers import peer
from svc.tools.bench.errors import BenchError
from svc.tools.bench.measurement import Measurement
from svc.tools.bench.meter import Meter
from svc.tools.bench.room_clients import room_clients
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.server import own_server
from svc.tools.bench.sfu import progress

WARM_UP_S = 1.0

SfuProgram = Callable[[], AbstractAsyncContextManager[Meter]]


@dataclass(frozen=True, slots=True)
class Options:
    seconds: float
    rounds: int
    peers: tuple[tuple[str, str], ...]  # name and command, with {http} and {udp} for the ports


def options() -> Options:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=5.0, help="length of each measurement")
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds")
    parser.add_argument(
        "--peer",
        action="append",
        default=[],
        metavar="NAME=COMMAND",
        help="another SFU that speaks docs/signalling.md; {http} and {udp} in the command are its ports",
    )
    chosen = parser.parse_args()
    peers = tuple((name, command) for name, _, command in (text.partition("=") for text in chosen.peer))
    return Options(chosen.seconds, chosen.rounds, peers)


def run(title: str, scenario: Scenario, pps: int) -> None:
    """Parse the command line and compare the programs in one scenario."""
    chosen = options()
    print(f"\n{title}\n\n{HEADING}", flush=True)
    asyncio.run(compare(scenario, pps, chosen))


async def compare(scenario: Scenario, pps: int, chosen: Options) -> None:
    """Start all programs before the first round and send traffic to them in turn."""
    async with AsyncExitStack() as present:
        meters: dict[str, Meter] = {}
        for name, program in sfu_programs(scenario, chosen.peers):
            try:
                meters[name] = await present.enter_async_context(program())
            except BenchError as problem:
                print(f"| {name} | {problem} | | | | | | |", flush=True)
        by_name: dict[str, list[Measurement]] = {name: [] for name in meters}
        for number in range(chosen.rounds):
            for name, meter in meters.items():
                progress(f"round {number + 1}/{chosen.rounds}: {name}")
                await meter.warm_up(pps, WARM_UP_S)
                by_name[name].append(await meter.measure(pps, chosen.seconds, silent))
    progress("")
    for name, measurements in by_name.items():
        print(row(name, measurements, by_name["limit"]), flush=True)


def sfu_programs(scenario: Scenario, peers: Iterable[tuple[str, str]]) -> list[tuple[str, SfuProgram]]:
    programs: list[tuple[str, SfuProgram]] = [
        ("limit", partial(limit, scenario)),
        ("svc", partial(ours, scenario)),
    ]
    if _janus_is_installed():
        programs.append(("janus", partial(janus, scenario)))
    return programs + [(name, partial(theirs, command, scenario)) for name, command in peers]


@cache
def _janus_is_installed() -> bool:
    """Return whether Janus is installed. Report once if it is missing."""
    if where_it_is():
        return True
    print("Janus is not installed, so its row is missing", file=sys.stderr)
    return False


@asynccontextmanager
async def ours(scenario: Scenario) -> AsyncIterator[Meter]:
    async with (
        own_server(scenario.clients) as server,
        room_clients(server.url, scenario, server.pid) as everybody,
    ):
        await everybody.assemble(silent)
        yield everybody.meter


@asynccontextmanager
async def theirs(command: str, scenario: Scenario) -> AsyncIterator[Meter]:
    async with peer(command) as (url, pid), room_clients(url, scenario, pid) as everybody:
        await everybody.assemble(silent)
        yield everybody.meter


def silent(_: str) -> None:
    """Discard progress messages."""


HEADING = (
    "| | us CPU per packet | x limit | packets/s | loss % | p50 us | p99 us | RSS MB |\n"
    "|---|---|---|---|---|---|---|---|"
)


def row(name: str, measurements: Sequence[Measurement], limits: Sequence[Measurement]) -> str:
    def of(value: Callable[[Measurement], float | None]) -> list[float]:
        return [number for m in measurements if (number := value(m)) is not None]

    cells = [
        spread(of(lambda m: m.cpu_us_per_packet)),
        spread(ratios(measurements, limits)),
        f"{statistics.median(of(lambda m: m.packets_per_s)):,.0f}",
        f"{max(of(lambda m: m.loss_percent)):.3f}",
        f"{statistics.median(of(lambda m: m.p50_us)):,.0f}",
        f"{statistics.median(of(lambda measurement: measurement.p99_us)):,.0f}",
        f"{max(of(lambda m: m.memory_kb)) / 1024:.0f}",
    ]
    warnings = {
        re.sub(r"[\d.]+", "some", warning)
        for measurement in measurements
        for warning in measurement.warnings()
    }
    return " | ".join([f"| {name}", *cells]) + " |" + "".join(f" <!-- {text} -->" for text in warnings)


def ratios(measurements: Sequence[Measurement], limits: Sequence[Measurement]) -> list[float]:
    """Return the ratio of CPU time per packet for each round."""
    pairs = (
        (ours.cpu_us_per_packet, limit.cpu_us_per_packet)
        for ours, limit in zip(measurements, limits, strict=True)
    )
    return [ours / limit for ours, limit in pairs if ours and limit]


def spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f}–{max(values):.2f})"
