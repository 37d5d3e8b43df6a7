"""Measures how much one core can forward, and how the service behaves at higher rates.

The rate rises by a quarter per step until two steps in a row fail. Then the interval between the last
successful rate and the first failed rate is halved a few times. An attempt fails if more than 0.1 % of the
packets are lost, or if fewer are sent than requested. A step fails if two attempts fail while the service has
its core to itself. If other programs ran on the core, or the host stole its time, the attempt is repeated, up
to six times in all. A note in the table says if six attempts were not enough. Standard error shows each
attempt, where packets were lost, and which programs used the core.

Near the highest rate, the program measures the cost of a packet (S4). At one and a half times the highest
rate, it measures the losses and the delay of the remaining packets, because beyond saturation, packets must
be dropped and counted instead of queued.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable

from benchmarks.sfu_comparison import Options, options, sfu_programs, silent
from svc.tools.bench.errors import BenchError
from svc.tools.bench.measurement import Measurement
from svc.tools.bench.meter import Meter
from svc.tools.bench.scenario import Scenario

SCENARIO = Scenario(1, 50)
FIRST_PPS, LAST_PPS = 1000, 60_000
ATTEMPTS, FAILURES = 6, 2
# the maximum total of the time spent waiting for the core and the time stolen by the host, in percent
MAX_DISTURBED_PERCENT = 5
HALVINGS = 3
MAX_LOSS_PERCENT = 0.1
MIN_SENT = 0.99  # fraction of the requested rate
NEAR = 0.9  # fraction of the maximum: "near saturation"
BEYOND = 1.5
# The queue limits take effect only after a moment, because a short burst is not overload.
SETTLED_S = 1.0

Attempt = Callable[[int], Awaitable[Measurement]]


async def main(chosen: Options) -> None:
    print("| | most packets/s | near it (S4): us CPU per packet | p50 us | p99 us | ", end="")
    print("beyond: packets/s | loss % | p99 us |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for name, program in sfu_programs(SCENARIO, chosen.peers):
        try:
            async with program() as meter:
                print(f"| {name} | {await row(name, meter, chosen.seconds)}", flush=True)
        except BenchError as problem:
            print(f"| {name} | {problem} | | | | | | |", flush=True)


async def row(name: str, meter: Meter, seconds: float) -> str:
    async def attempt(pps: int) -> Measurement:
        await meter.warm_up(pps, 0.5)
        measurement = await meter.measure(pps, seconds, silent)
        print(f"{name}: {line(measurement)}", file=sys.stderr, flush=True)
        return measurement

    best, bound = await search(attempt)
    near = await meter.measure(int(best.pps * NEAR), seconds, silent, settled_s=SETTLED_S)
    beyond = await meter.measure(int(best.pps * BEYOND), seconds, silent, settled_s=SETTLED_S)
    cells = [f"{best.packets_per_s:,.0f}", f"{near.cpu_us_per_packet or 0:.2f}"]
    cells += [f"{us or 0:,.0f}" for us in (near.p50_us, near.p99_us)]
    cells += [f"{beyond.packets_per_s:,.0f}", f"{beyond.loss_percent:.1f}", f"{beyond.p99_us or 0:,.0f}"]
    notes = [f"too much: {line(bound)}" if bound else "the highest rate that was tried"]
    notes += [
        f"{measurement.pps}: {warning}"
        for measurement in (best, near, beyond)
        for warning in measurement.warnings()
    ]
    return " | ".join(cells) + " |" + "".join(f" <!-- {note} -->" for note in notes)


async def search(attempt: Attempt) -> tuple[Measurement, Measurement | None]:
    """Return the highest rate that succeeded, and the lowest higher rate that failed, if any."""
    best: Measurement | None = None
    failed: list[Measurement] = []
    pps = FIRST_PPS
    while len(failed) < 2 and pps <= LAST_PPS:
        measurement = await try_hard(attempt, pps)
        if is_carried(measurement):
            best, failed = measurement, []
        else:
            failed.append(measurement)
        pps = pps * 5 // 4
    if best is None:
        raise BenchError(f"not even {FIRST_PPS:,} x {SCENARIO.receivers_of_each} packets/s")
    if not failed:
        return best, None
    bound = failed[0]
    for _ in range(HALVINGS):
        measurement = await try_hard(attempt, (best.pps + bound.pps) // 2)
        if is_carried(measurement):
            best = measurement
        else:
            bound = measurement
    return best, bound


async def try_hard(attempt: Attempt, pps: int) -> Measurement:
    """Return the first successful attempt, or the last attempt."""
    failures = 0
    for _ in range(ATTEMPTS):
        measurement = await attempt(pps)
        failures += not is_disturbed(measurement)
        if is_carried(measurement) or failures == FAILURES:
            break
    return measurement


def is_disturbed(measurement: Measurement) -> bool:
    # A service's threads may also wait for each other. Other programs can only have used the core while none
    # of the service's threads ran.
    waited_percent = min(measurement.waited_percent, max(100 - (measurement.cpu_percent or 0), 0))
    return waited_percent + measurement.stolen_percent > MAX_DISTURBED_PERCENT


def is_carried(measurement: Measurement) -> bool:
    """Return whether the service forwarded this rate.

    Packets that the generator's own full sockets dropped do not count as lost.
    """
    lost_percent = (
        100 * (measurement.lost - measurement.missed) / max(measurement.received + measurement.lost, 1)
    )
    wanted = measurement.pps * measurement.publishers * measurement.seconds
    return lost_percent <= MAX_LOSS_PERCENT and measurement.sent >= MIN_SENT * wanted


def line(measurement: Measurement) -> str:
    """Describe where packets were lost, and which programs used the core."""
    # Unread packets include reports, and lost reports are not counted.
    unread = min(
        measurement.unread * SCENARIO.receivers_of_each, max(measurement.lost - measurement.missed, 0)
    )
    return (
        f"{measurement.pps} planned, {measurement.sent / measurement.seconds:,.0f} sent, "
        f"{measurement.late} of {measurement.sent} late; "
        f"{measurement.packets_per_s:,.0f} packets/s forwarded, {measurement.loss_percent} % lost: "
        f"{measurement.lost - measurement.missed - unread} by the service, {unread} before its socket, "
        f"{measurement.missed} before the generator's; "
        f"the service ran {measurement.cpu_percent} % of the time and waited {measurement.waited_percent} %, "
        f"the host took {measurement.stolen_percent} %"
    )


if __name__ == "__main__":
    asyncio.run(main(options()))
