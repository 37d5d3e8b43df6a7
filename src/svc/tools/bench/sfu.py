"""`svc bench sfu`: fill a room of a media service with clients and measure its packet forwarding.

Runs the load and reports progress. Prints results on standard output and progress on standard error.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from svc.tools.bench import plot
from svc.tools.bench.measurement import Measurement
from svc.tools.bench.meter import Meter
from svc.tools.bench.room_clients import room_clients
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.server import Server, own_server

WARM_UP_S = 1.0


@dataclass(frozen=True, slots=True)
class Options:
    """Options for running the scenario and reporting the result."""

    rates: Sequence[int]  # packets per second from each publisher, with one measurement per rate
    seconds: float
    url: str | None = None  # None to start a service
    pid: int | None = None
    as_json: bool = False
    plot: Path | None = None


def run(scenario: Scenario, means: Options) -> None:
    """Run the scenario and print the result. Raises BenchError if nothing can be measured."""
    if means.plot:
        plot.check(means.plot)
    measurements = asyncio.run(_measure(scenario, means))
    if means.plot:
        plot.draw(measurements, means.plot)


async def _measure(scenario: Scenario, means: Options) -> list[Measurement]:
    measurements: list[Measurement] = []
    async with _service(scenario, means) as (url, pid), room_clients(url, scenario, pid) as everybody:
        await everybody.assemble(progress)
        await everybody.run_checked(_measure_rates(everybody.meter, means, measurements))
    return measurements


async def _measure_rates(meter: Meter, means: Options, measurements: list[Measurement]) -> None:
    for pps in means.rates:
        await meter.warm_up(pps, WARM_UP_S)
        measurement = await meter.measure(pps, means.seconds, progress)
        progress("")
        measurements.append(measurement)
        if means.as_json:
            print(json.dumps(measurement.json()), flush=True)
        else:
            print("\n".join(measurement.lines()), flush=True)


@asynccontextmanager
async def _service(scenario: Scenario, means: Options) -> AsyncIterator[tuple[str, int | None]]:
    if means.url:
        yield means.url, means.pid
        return
    server: Server
    async with own_server(scenario.clients) as server:
        yield server.url, server.pid


def progress(text: str) -> None:
    """Redraw the progress line. Does nothing if standard error is not a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
