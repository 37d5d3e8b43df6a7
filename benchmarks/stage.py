"""Measures one publisher with thousands of receivers, on one media service and on two.

    python -m benchmarks.stage [--receivers 2000] [--pps 10] [--seconds 10] [--sfus 1 2]

The program uses the clients of `svc bench sfu`, distributed evenly over the media services. The chat server's
own code connects the services, so the publisher's track is relayed as in a real call. The program prints a
row for each number of services: the number of packets that arrived, the number that were lost, the delay, and
each service's CPU time. All services share the first core, and the clients have the other cores, so the
delays are for a single machine.
"""

import argparse
import asyncio
import random
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

from aiohttp import ClientSession, TCPConnector

from svc.base.backoff import Backoff
from svc.base.media_services import MediaConfig, MediaService
from svc.chat.voice.occupancy import Occupancy
from svc.chat.voice.sfu_link import SfuLink, SfuListener
from svc.chat.voice.sfu_pool import FIRST_RECONNECT_S, LAST_RECONNECT_S, SfuLinks
from svc.tools.bench import process
from svc.tools.bench.client import Client, Room
from svc.tools.bench.room_clients import RoomClients
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.server import Server, own_server
from svc.tools.bench.sfu import progress
from tests.kit.wait import eventually

WARM_UP_S = 3.0


class _Audience(RoomClients):
    """The clients in one room, distributed over the services in rotation."""

    def __init__(self, http: ClientSession, urls: Sequence[str], scenario: Scenario) -> None:
        super().__init__(http, urls[0], scenario, None)
        self._rooms = [replace(self.room, url=url) for url in urls]

    def _add(self, name: str) -> Client:
        self.room: Room = self._rooms[len(self.clients) % len(self._rooms)]
        return super()._add(name)


def _connect_services(http: ClientSession, room: Room, servers: Sequence[Server]) -> SfuLinks:
    """Return a chat server's links to the services. The chat server has only this room, which may span all
    services.
    """
    services = [MediaService(server.url, ()) for server in servers]
    media = MediaConfig(services, room.server_id, room.secret, ())

    def connect(index: int, listener: SfuListener) -> SfuLink:
        backoff = Backoff(FIRST_RECONNECT_S, LAST_RECONNECT_S, jitter=random.random)
        return SfuLink(http, media, index, lambda: [room.room_id], listener, backoff)

    return SfuLinks([service.url for service in services], connect, Occupancy(), room_size=1)


async def measure(sfus: int, scenario: Scenario, pps: int, seconds: float) -> str:
    """Measure with the given number of services. Return a row for the table."""
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(ClientSession(connector=TCPConnector(limit=0)))
        servers = [await stack.enter_async_context(own_server(scenario.clients)) for _ in range(sfus)]
        audience = _Audience(http, [server.url for server in servers], scenario)
        links = _connect_services(http, audience.room, servers)
        linked = asyncio.create_task(links.run())
        stack.callback(linked.cancel)
        await eventually("the services are connected", lambda: links.synchronised, within_s=20)
        audience.traffic.start()
        stack.push_async_callback(audience.close)
        await audience.assemble(progress)
        await audience.meter.warm_up(pps, WARM_UP_S)
        before = [process.cpu_ns(server.pid) for server in servers]
        result = await audience.meter.measure(pps, seconds, progress)
        after = [process.cpu_ns(server.pid) for server in servers]
        progress("")
        shares = [(end - start) / seconds / 1e7 for start, end in zip(before, after, strict=True)]
        sfu_percent = " + ".join(f"{share:.0f}" for share in shares)
        return (
            f"| {sfus} | {result.packets_per_s:,.0f} | {result.lost} | {result.missed} "
            f"| {(result.p50_us or 0) / 1000:.1f} | {(result.p99_us or 0) / 1000:.1f} | {sfu_percent} |"
        )


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--receivers", type=int, default=2000)
    parser.add_argument("--pps", type=int, default=10, help="packets per second of the publisher")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--sfus", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    scenario = Scenario(receivers=options.receivers)
    print("| SFUs | packets/s | lost | of these by the clients | p50 ms | p99 ms | CPU of each SFU, % |")
    print("|---|---|---|---|---|---|---|")
    for sfus in options.sfus:
        print(await measure(sfus, scenario, options.pps, options.seconds), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
