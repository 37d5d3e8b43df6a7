"""Whether a packet costs more where a track has many receivers. python -m benchmarks.growth

Ten and a thousand receivers get as many packets a second in all.
"""

import asyncio

from benchmarks.contest import Options, options, silent
from svc.tools.bench.crowd import crowd
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.server import own_server

FEW, MANY = Scenario(1, 10), Scenario(1, 1000)
PACKETS_PER_S = 100_000


async def main(chosen: Options) -> None:
    costs = []
    for scenario in (FEW, MANY):
        async with (
            own_server(scenario.clients) as server,
            crowd(server.url, scenario, server.pid) as room,
        ):
            await room.assemble(silent)
            pps = PACKETS_PER_S // scenario.receivers
            await room.meter.warm_up(pps, 2.0)
            found = await room.meter.measure(pps, chosen.seconds, silent)
            costs.append(found.cpu_us_per_packet or 0.0)
    print("| 10 receivers, us | 1000 receivers, us | growth |")
    print("|---|---|---|")
    print(f"| {costs[0]:.2f} | {costs[1]:.2f} | {costs[1] / costs[0]:.2f} |")


if __name__ == "__main__":
    asyncio.run(main(options()))
