"""Measures the service's memory, in total and per receiving peer."""

import asyncio

from benchmarks.sfu_comparison import silent
from svc.tools.bench.process import resident_kb
from svc.tools.bench.room_clients import room_clients
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.server import own_server

FIRST, MORE = Scenario(1, 50), 100
PPS = 300


async def main() -> None:
    async with (
        own_server(FIRST.clients + MORE) as server,
        room_clients(server.url, FIRST, server.pid) as room,
    ):
        empty_kb = resident_kb(server.pid)
        await room.assemble(silent)
        # The packet history is full after 0.6 s. Objects that Python frees with a delay are gone after two
        # seconds.
        await room.meter.warm_up(PPS, 3.0)
        few_kb = resident_kb(server.pid)
        for _ in range(MORE):
            await room.admit()
        await room.meter.warm_up(PPS, 3.0)
        many_kb = resident_kb(server.pid)
    print("| empty, MB | S2, MB | KB for each further receiver |")
    print("|---|---|---|")
    print(f"| {empty_kb / 1024:.0f} | {few_kb / 1024:.0f} | {(many_kb - few_kb) / MORE:.0f} |")


if __name__ == "__main__":
    asyncio.run(main())
