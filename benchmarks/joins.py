"""Measures the time from client_join to the first media packet, for single joins and for 200 joins in 10 s.

During the 200 joins, ten people continue a call in the room. The program measures the call's packet loss and
delay. Run it as `python -m benchmarks.joins`.
"""

import asyncio
import statistics

from benchmarks.sfu_comparison import silent
from svc.tools.bench.client import Client
from svc.tools.bench.measurement import Measurement
from svc.tools.bench.room_clients import RoomClients, room_clients
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.server import own_server

CALL = Scenario(1, 10)
PPS = 300
ALONE, TOGETHER, WITHIN_S = 10, 200, 10.0
FIRST_MEDIA_DEADLINE_S = 10.0
PAUSE_S = 0.7


async def main() -> None:
    async with own_server(ALONE + TOGETHER + CALL.clients) as server:
        async with room_clients(server.url, CALL, server.pid) as call:
            await call.assemble(silent)
            await call.meter.warm_up(PPS, 1.0)
            alone = [await join_after_a_pause(call) for _ in range(ALONE)]
        async with (
            room_clients(server.url, CALL, server.pid) as call,
            room_clients(server.url, Scenario(1, 1, size=100), server.pid) as others,
        ):
            await call.assemble(silent)
            await others.assemble(silent)
            quiet = await call.meter.measure(PPS, WITHIN_S / 2, silent)
            together, busy = await asyncio.gather(join_all(others), call.meter.measure(PPS, WITHIN_S, silent))
    print("| | first media packet, ms: median | worst |")
    print("|---|---|---|")
    print(f"| one after another, {ALONE} | {statistics.median(alone):.0f} | {max(alone):.0f} |")
    print(f"| {TOGETHER} in {WITHIN_S:.0f} s | {statistics.median(together):.0f} | {max(together):.0f} |")
    print("\n| the call at the same time | loss % | p50 us | p99 us |")
    print("|---|---|---|---|")
    for name, measurement in (("nobody comes", quiet), (f"{TOGETHER} come", busy)):
        print(row(name, measurement))


def row(name: str, measurement: Measurement) -> str:
    return (
        f"| {name} | {measurement.loss_percent:.3f} | {measurement.p50_us:,.0f} | {measurement.p99_us:,.0f} |"
    )


async def join_after_a_pause(room: RoomClients) -> float:
    # A sender gets at most two keyframe requests a second, and an earlier request must not delay the request
    # for this join.
    await asyncio.sleep(PAUSE_S)
    return await join(room)


async def join_all(others: RoomClients) -> list[float]:
    others.traffic.set_rate(PPS)
    loop = asyncio.get_running_loop()
    start = loop.time()
    joining = []
    for number in range(TOGETHER):
        await asyncio.sleep(max(0.0, start + number * WITHIN_S / TOGETHER - loop.time()))
        joining.append(asyncio.create_task(join(others)))
    return await asyncio.gather(*joining)


async def join(room: RoomClients) -> float:
    """Join the room. Return the milliseconds from client_join to the first media packet."""
    client = await room.admit()
    await room.run_checked(first_media(room, client))
    at = room.traffic.first_media(client.number)
    assert at is not None
    return (at - client.joined_at) * 1000


async def first_media(room: RoomClients, client: Client) -> None:
    async with asyncio.timeout(FIRST_MEDIA_DEADLINE_S):
        # Packets are counted by a native thread, so there is no event to wait for.
        while room.traffic.first_media(client.number) is None:  # noqa: ASYNC110
            await asyncio.sleep(0.005)


if __name__ == "__main__":
    asyncio.run(main())
