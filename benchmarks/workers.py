"""Measures the benefit of additional sending threads.

The service may use every core. A filter on the receivers' sockets makes the kernel drop media on arrival,
because a generator that reads all the media would need more cores than the service. The program therefore
counts the packets that the service reports as sent. This measurement includes the kernel's path to a
receiver's socket, but not the reading. The rate rises until it exceeds the service's maximum. The program
prints the largest number of packets sent in any second, and the fraction of that second's packets that was
dropped.
"""

import argparse
import asyncio
import os
import re
import socket
import struct
import time
from ctypes import addressof, create_string_buffer
from dataclasses import dataclass
from pathlib import Path

from aiohttp import ClientSession

from benchmarks.sfu_comparison import silent
from svc.tools.bench import process
from svc.tools.bench.room_clients import room_clients
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.server import Server, own_server

SCENARIO = Scenario(1, 50)
RATES = (4000, 6000, 9000, 13_000, 19_000, 28_000)  # packets/s that arrive at the service
SECONDS = 4  # the duration of each rate

_SO_ATTACH_FILTER = 26
_COUNTED = re.compile(r"^svc_sfu_(packets_sent|packets_received|dropped_\w+)_total ([\d.e+]+)", re.M)
# See linux/filter.h. In SRTP and SRTCP, the first byte after the UDP header is 128 or more (RFC 7983). The
# filter drops such packets.
_DROP_MEDIA = ((0x30, 0, 0, 8), (0x35, 0, 1, 128), (0x06, 0, 0, 0), (0x06, 0, 0, 0xFFFF))


@dataclass(frozen=True, slots=True)
class Flow:
    packets_per_s: float
    dropped: float  # fraction of the packets that were due
    cpu_us: float  # CPU time of all threads, per packet


async def main(numbers: list[int]) -> None:
    print("| workers | most packets/s | dropped % | us CPU per packet | x alone |\n|---|---|---|---|---|")
    alone = 0.0
    for number in numbers:
        async with own_server(SCENARIO.clients, "--workers", str(number)) as server:
            best = await maximum(server)
        alone = alone or best.packets_per_s
        cells = [f"{best.packets_per_s:,.0f}", f"{100 * best.dropped:.1f}", f"{best.cpu_us:.2f}"]
        cells.append(f"{best.packets_per_s / alone:.2f}")
        print(f"| {number} | {' | '.join(cells)} |", flush=True)


async def maximum(server: Server) -> Flow:
    """Measure the service at each rate. Return the one-second interval in which it sent the most packets."""
    flows = []
    give_every_core(server.pid)
    async with room_clients(server.url, SCENARIO, server.pid) as everybody, ClientSession() as http:
        await everybody.assemble(silent)
        for client in everybody.clients:
            if not client.sends and client.media_socket:
                drop_media(client.media_socket)
        for pps in RATES:
            await everybody.meter.warm_up(pps, 1.0)
            flows += [await flow(http, server) for _ in range(SECONDS)]
    return max(flows, key=lambda flow: flow.packets_per_s)


async def flow(http: ClientSession, server: Server) -> Flow:
    before, cpu, began = await counted(http, server), process.cpu_ns(server.pid), time.monotonic()
    await asyncio.sleep(1.0)
    after, spent = await counted(http, server), process.cpu_ns(server.pid) - cpu
    seconds = time.monotonic() - began
    sent = after["packets_sent"] - before["packets_sent"]
    due = (after["packets_received"] - before["packets_received"]) * SCENARIO.receivers
    return Flow(sent / seconds, 1 - sent / due, spent / 1000 / sent)


async def counted(http: ClientSession, server: Server) -> dict[str, float]:
    async with http.get(server.url.replace("ws:", "http:") + "/metrics") as answer:
        return {name: float(value) for name, value in _COUNTED.findall(await answer.text())}


def give_every_core(pid: int) -> None:
    """Allow the service to use every core, although `own_server` has restricted it to the first core."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(task.name), range(os.cpu_count() or 1))


def drop_media(receiver: socket.socket) -> None:
    program = b"".join(struct.pack("HBBI", *instruction) for instruction in _DROP_MEDIA)
    kept = create_string_buffer(program, len(program))
    filtering = struct.pack("HP", len(_DROP_MEDIA), addressof(kept))
    receiver.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, filtering)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("workers", nargs="*", type=int, default=[1, 2, 3])
    asyncio.run(main(parser.parse_args().workers))
