"""Measures whether the cost of a forwarded packet grows with the number of receivers.

Ten receivers and a thousand receivers get the same total number of packets a second. The service's process is
compared with the limit program, because a thousand sockets also cost the kernel more. In addition, the core
alone runs in this process, without sockets, and processes one packet after another ("hot").
"""

import asyncio
import time

from benchmarks.limit.run import limit
from benchmarks.micro.steps import fan_out
from benchmarks.sfu_comparison import Options, options, silent
from svc.tools.bench.meter import Meter
from svc.tools.bench.room_clients import room_clients
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.server import own_server

FEW, MANY = Scenario(1, 10), Scenario(1, 1000)
PACKETS_PER_S = 100_000
HOT_PACKETS, ROUNDS = 100_000, 5


async def main(chosen: Options) -> None:
    print("| us CPU per packet | 10 receivers | 1000 receivers | growth |")
    print("|---|---|---|---|")
    print(row("core alone, hot", hot(FEW), hot(MANY)), flush=True)
    print(row("limit", *[await of_limit(scenario, chosen) for scenario in (FEW, MANY)]), flush=True)
    print(row("svc", *[await of_svc(scenario, chosen) for scenario in (FEW, MANY)]), flush=True)


def row(name: str, few: float, many: float) -> str:
    return f"| {name} | {few:.2f} | {many:.2f} | {many / few:.2f} |"


def hot(scenario: Scenario) -> float:
    """Parse, select, number and encrypt packets, and discard them. Return the best of several rounds."""
    packets = HOT_PACKETS // scenario.receivers
    step = fan_out(scenario.receivers, packets * (ROUNDS + 1))
    step.run(packets)
    spent = []
    for _ in range(ROUNDS):
        before = time.thread_time()
        step.run(packets)
        spent.append(time.thread_time() - before)
    return min(spent) / (packets * scenario.receivers) * 1e6


async def of_limit(scenario: Scenario, chosen: Options) -> float:
    async with limit(scenario) as meter:
        return await cost(meter, scenario, chosen)


async def of_svc(scenario: Scenario, chosen: Options) -> float:
    async with (
        own_server(scenario.clients) as server,
        room_clients(server.url, scenario, server.pid) as room,
    ):
        await room.assemble(silent)
        return await cost(room.meter, scenario, chosen)


async def cost(meter: Meter, scenario: Scenario, chosen: Options) -> float:
    pps = PACKETS_PER_S // scenario.receivers
    await meter.warm_up(pps, 2.0)
    return (await meter.measure(pps, chosen.seconds, silent)).cpu_us_per_packet or 0.0


if __name__ == "__main__":
    asyncio.run(main(options()))
