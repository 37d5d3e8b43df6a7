"""One scenario, measured one after another with the limit program, ours, and peers that speak our protocol.

All of them get the same generator, the same cores and the same packets; compare within one run. What is
printed is a table in Markdown, medians with the extremes.
"""

import argparse
import asyncio
import os
import re
import shlex
import socket
import statistics
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from benchmarks.limit.run import limit
from svc.tools.bench.crowd import crowd
from svc.tools.bench.errors import BenchError
from svc.tools.bench.measurement import Measurement
from svc.tools.bench.meter import Meter
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.server import own_server

WARM_UP_S = 1.0
PEER_START_S = 10.0


@dataclass(frozen=True, slots=True)
class Options:
    seconds: float
    windows: int
    peers: tuple[tuple[str, str], ...]  # name and command, with {http} and {udp} for the ports


def options() -> Options:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=8.0, help="of each window")
    parser.add_argument("--windows", type=int, default=3)
    parser.add_argument(
        "--peer",
        action="append",
        default=[],
        metavar="NAME=COMMAND",
        help="another SFU that speaks docs/signalling.md; {http} and {udp} in the command are its ports",
    )
    chosen = parser.parse_args()
    peers = tuple((name, command) for name, _, command in (text.partition("=") for text in chosen.peer))
    return Options(chosen.seconds, chosen.windows, peers)


def run(title: str, scenario: Scenario, pps: int) -> None:
    """A script's whole work."""
    chosen = options()
    print(f"\n{title}\n\n{HEADING}", flush=True)
    asyncio.run(contest(scenario, pps, chosen))


async def contest(scenario: Scenario, pps: int, chosen: Options) -> None:
    async with limit(scenario) as meter:
        print(row("limit", await windows(meter, pps, chosen)), flush=True)
    async with own_server(scenario.clients) as server, crowd(server.url, scenario, server.pid) as everybody:
        await everybody.assemble(silent)
        print(row("svc", await windows(everybody.meter, pps, chosen)), flush=True)
    for name, command in chosen.peers:
        try:
            async with peer(command) as (url, pid), crowd(url, scenario, pid) as everybody:
                await everybody.assemble(silent)
                print(row(name, await windows(everybody.meter, pps, chosen)), flush=True)
        except BenchError as problem:
            print(f"| {name} | {problem} | | | | | |", flush=True)


async def windows(meter: Meter, pps: int, chosen: Options) -> list[Measurement]:
    await meter.warm_up(pps, WARM_UP_S)
    return [await meter.measure(pps, chosen.seconds, silent) for _ in range(chosen.windows)]


def silent(_: str) -> None:
    """Progress that nobody wants."""


HEADING = (
    "| | us CPU per packet | packets/s | loss % | p50 us | p99 us | RSS MB |\n|---|---|---|---|---|---|---|"
)


def row(name: str, found: Sequence[Measurement]) -> str:
    def of(value: Callable[[Measurement], float | None]) -> list[float]:
        return [number for each in found if (number := value(each)) is not None]

    cpu = of(lambda each: each.cpu_us_per_packet)
    cells = [
        f"{statistics.median(cpu):.2f} ({min(cpu):.2f}–{max(cpu):.2f})",
        f"{statistics.median(of(lambda each: each.packets_per_s)):,.0f}",
        f"{max(of(lambda each: each.loss_percent)):.3f}",
        f"{statistics.median(of(lambda each: each.p50_us)):,.0f}",
        f"{statistics.median(of(lambda each: each.p99_us)):,.0f}",
        f"{max(of(lambda each: each.memory_kb)) / 1024:.0f}",
    ]
    warnings = {re.sub(r"[\d.]+", "some", warning) for each in found for warning in each.warnings()}
    return " | ".join([f"| {name}", *cells]) + " |" + "".join(f" <!-- {text} -->" for text in warnings)


@asynccontextmanager
async def peer(command: str) -> AsyncIterator[tuple[str, int]]:
    """Somebody else's SFU, on free ports and the first core; its address, and its process."""
    http, udp = _free_port(socket.SOCK_STREAM), _free_port(socket.SOCK_DGRAM)
    words = [word.format(http=http, udp=udp) for word in shlex.split(command)]
    cores = os.sched_getaffinity(0)
    first = {min(cores)} if len(cores) > 1 else cores
    os.sched_setaffinity(0, first)
    process = await asyncio.create_subprocess_exec(*words, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
    os.sched_setaffinity(0, cores - first or cores)
    try:
        await _listening(http)
        yield f"ws://127.0.0.1:{http}", process.pid
    finally:
        os.sched_setaffinity(0, cores)
        process.terminate()
        await process.wait()


async def _listening(port: int) -> None:
    async with asyncio.timeout(PEER_START_S):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
                continue
            writer.close()
            return


def _free_port(kind: socket.SocketKind) -> int:
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
