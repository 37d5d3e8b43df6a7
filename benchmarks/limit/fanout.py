"""Measures the operating system's cost of sending a message to a thousand clients, with bare writes of a
prepared frame.

    python -m benchmarks.limit.fanout [--pages 1000] [--seconds 4]

An asyncio server on the first core writes a frame to every client's socket, and repeats this once one of the
clients has acknowledged it. This is the closed loop of "busy" in `benchmarks.chat` without WebSockets,
storage or any decisions. The clients read in a separate process on the other cores.
"""

import argparse
import asyncio
import multiprocessing
import os
import socket
import time
from functools import partial

SETTLE_S = 0.5
FRAME = b"\x81\x7e\x02\x58" + bytes(600)


class Page(asyncio.Protocol):
    """The server's end of a client's connection."""

    transport: asyncio.Transport

    def __init__(self, received: asyncio.Event) -> None:
        self._received = received

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._received.set()


class Reader(asyncio.Protocol):
    """The client's end of a connection. The last client to connect answers each frame with a byte."""

    def __init__(self, *, answers: bool) -> None:
        self._answers = answers
        self._received = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        while self._answers and self._received >= len(FRAME):
            self._received -= len(FRAME)
            self._transport.write(b".")


async def us_per_write(pages: int, seconds: float) -> float:
    """Return the server's CPU time per frame written, in µs."""
    received, complete = asyncio.Event(), asyncio.Event()
    served: list[Page] = []

    def serve() -> Page:
        served.append(Page(received))
        if len(served) == pages:
            complete.set()
        return served[-1]

    server = await asyncio.get_running_loop().create_server(serve, "127.0.0.1", 0, backlog=pages)
    readers = multiprocessing.get_context("spawn").Process(
        target=_read, args=(server.sockets[0].getsockname()[1], pages, seconds), daemon=True
    )
    readers.start()
    async with asyncio.timeout(30):
        await complete.wait()
    await asyncio.sleep(SETTLE_S)
    rounds, ends, cpu_before = 0, time.monotonic() + seconds, time.process_time()
    while time.monotonic() < ends:
        received.clear()
        for page in served:
            page.transport.write(FRAME)
        rounds += 1
        async with asyncio.timeout(10):
            await received.wait()
    spent_s = time.process_time() - cpu_before
    server.close()
    for page in served:
        page.transport.abort()
    await asyncio.to_thread(readers.join, 10)
    return spent_s / (rounds * pages) * 1e6


def _read(port: int, pages: int, seconds: float) -> None:
    os.sched_setaffinity(0, set(range(1, os.cpu_count() or 2)))
    asyncio.run(_read_all(port, pages, seconds))


async def _read_all(port: int, pages: int, seconds: float) -> None:
    loop = asyncio.get_running_loop()
    for number in range(pages):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.setblocking(False)
        answers = number == pages - 1
        await loop.create_connection(partial(Reader, answers=answers), sock=connection)
    await asyncio.sleep(seconds + 1)


def measure(pages: int = 1000, seconds: float = 4.0) -> float:
    usual = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {0})
    try:
        return asyncio.run(us_per_write(pages, seconds))
    finally:
        os.sched_setaffinity(0, usual)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=4.0)
    options = parser.parse_args()
    print(f"{measure(options.pages, options.seconds):.2f} us CPU for each write")


if __name__ == "__main__":
    main()
