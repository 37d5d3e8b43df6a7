"""Measures 200 participants who neither send nor receive. python -m benchmarks.idle"""

import asyncio

from svc.tools.bench.process import cpu_ns, resident_kb
from svc.tools.bench.room_clients import room_clients
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.server import own_server

PEERS = 200
SECONDS = 20.0


async def main() -> None:
    async with own_server(PEERS) as server, room_clients(server.url, Scenario(1, 1)) as room:
        empty_kb = resident_kb(server.pid)
        for _ in range(PEERS):
            await room.admit()
        await asyncio.sleep(2.0)
        before = cpu_ns(server.pid)
        await room.run_checked(asyncio.sleep(SECONDS))
        percent = (cpu_ns(server.pid) - before) / SECONDS / 1e7
        grown_kb = (resident_kb(server.pid) - empty_kb) / PEERS
    print("| idle peers | % of a core | KB of memory each |")
    print("|---|---|---|")
    print(f"| {PEERS} | {percent:.2f} | {grown_kb:.0f} |")


if __name__ == "__main__":
    asyncio.run(main())
