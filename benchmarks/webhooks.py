"""Measures how many posts per second webhooks accept. Each post has text and a card, and is on disk before
the response is sent.

    python -m benchmarks.webhooks [--posts 10000] [--connections 1 16 64] [--runs 3] [--data-dir FOLDER]

The server is `svc chat` in its own process, on the first core. The senders are raw sockets on the other
cores, each with one post in progress at a time. The posts rotate through a thousand webhooks created by forty
members, so that no rate limit applies. No member is online. The CPU time includes all of the server's threads
(/proc). `limit` is the same measurement with `limit/http_post.py` instead of the server, in the same minute.
`--data-dir` puts the database on another disk. On an in-memory file system, the cost of fsync is not
measured.
"""

import argparse
import asyncio
import os
import re
import secrets
import sys
import tempfile
import time
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from aiohttp import ClientSession

from svc.base.control_socket import ask
from svc.base.strict_json import dumps
from svc.tools.bench import process
from svc.tools.bench.chat_server import ChatServer
from svc.tools.bench.server import own_program
from svc.tools.bench.sign_up import join_all

# In a burst, the webhooks of one member may together post 480 small bodies. The same applies to the webhooks
# of one channel.
MAKERS = 40
WEBHOOKS_OF_EACH = 25
WEBHOOKS = MAKERS * WEBHOOKS_OF_EACH
# All webhooks together may post fifteen thousand bodies in a burst.
WARM_UP_POSTS = 2_000
MAX_POSTS = 12_500
# The number of members who create webhooks at the same time.
MAKING = 4
DEADLINE_S = 120.0
_LISTENING = re.compile(rb" listening address=(\S+)$")

PAYLOAD = {
    "text": "The nightly build of **main** has passed.",
    "cards": [
        {
            "title": "Build 4711",
            "url": "https://ci.example.org/builds/4711",
            "description": "All 1,204 tests have passed in 3 minutes and 12 seconds.",
            "color": "#2da44e",
            "fields": [
                {"name": "Branch", "value": "main", "inline": True},
                {"name": "Commit", "value": "`6dcb09b`", "inline": True},
            ],
            "footer": {"text": "ci.example.org"},
            "timestamp": "2026-01-31T12:00:00Z",
        }
    ],
}


@dataclass(frozen=True, slots=True)
class Served:
    address: str
    pid: int
    paths: Sequence[str]


@dataclass(frozen=True, slots=True)
class Result:
    posts_per_s: float
    us_cpu: float
    p50_ms: float
    p99_ms: float


class Sender(asyncio.Protocol):
    """A connection that repeatedly sends a post and reads the response."""

    def __init__(self, next_post: Callable[[], bytes | None], waits: list[float]) -> None:
        self._next_post = next_post
        self._waits = waits
        self._received = b""
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._post()

    def _post(self) -> None:
        post = self._next_post()
        if post is None:
            self._transport.close()
            return
        self._began = time.perf_counter()
        self._transport.write(post)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, separator, body = self._received.partition(b"\r\n\r\n")
        if not separator or len(body) < int(
            head.lower().partition(b"content-length:")[2].split(maxsplit=1)[0]
        ):
            return
        self._waits.append(time.perf_counter() - self._began)
        if not head.startswith(b"HTTP/1.1 200 "):
            self.done.set_exception(RuntimeError(self._received.decode()))
            self._transport.close()
            return
        self._received = b""
        self._post()

    def connection_lost(self, fault: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(None)


@asynccontextmanager
async def chat_server(folder: Path) -> AsyncIterator[Served]:
    variables = {
        "HOST": "127.0.0.1",
        "PORT": "0",
        "DATA_DIR": str(folder),
        "JWT_SECRET": secrets.token_hex(),
        "ADDITIONAL_CHANNELS": "general",
        "SFU_WS_HOST": "",
        "STORAGE_BACKEND": "filesystem",
        "SVC_IDENTITY_TIERS": "local",
    }
    async with own_program(["chat"], variables, _LISTENING) as (address, pid):
        server = ChatServer(address, (folder / "invite-code").read_text().strip(), pid)
        yield Served(address, pid, await _webhooks(folder, server))


async def _webhooks(folder: Path, server: ChatServer) -> list[str]:
    """Create members, and webhooks in a channel for each member. Return the webhook paths."""
    tokens, paths = list[str](), list[list[str]]()

    async def arrive(token: str) -> None:
        tokens.append(token)

    await join_all(server, MAKERS, MAKING, arrive)
    members = (await ask(folder, "member_list", {}))["result"]["members"]  # type: ignore[index]
    for member in members:
        await ask(folder, "member_role", {"member": member["id"], "role": "admin"})
    waiting = iter(tokens)

    async def create_one_by_one() -> None:
        for token in waiting:
            paths.append(await _webhooks_of(server, token, f"channel-{len(paths)}"))

    await asyncio.gather(*(create_one_by_one() for _ in range(MAKING)))
    # Consecutive posts go to webhooks of different members.
    return [path for of_all in zip(*paths, strict=True) for path in of_all]


async def _webhooks_of(server: ChatServer, token: str, channel: str) -> list[str]:
    headers = {"Authorization": f"Bearer {token}"}
    async with ClientSession(server.address, headers=headers, raise_for_status=True) as http:
        async with http.post("/api/channels", json={"name": channel, "type": "text"}) as response:
            channel_id = (await response.json())["id"]
        made = []
        for number in range(WEBHOOKS_OF_EACH):
            wanted = {"name": f"Hook {number}", "channel_id": channel_id}
            async with http.post("/api/webhooks", json=wanted) as response:
                webhook = await response.json()
            made.append(f"/api/webhooks/{webhook['id']}/{webhook['token']}")
        return made


@asynccontextmanager
async def limit(folder: Path) -> AsyncIterator[Served]:
    cores = os.sched_getaffinity(0)
    first = {min(cores)} if len(cores) > 1 else cores
    os.sched_setaffinity(0, first)
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.limit.http_post", str(folder)), stdin=PIPE, stdout=PIPE
    )
    os.sched_setaffinity(0, cores - first or cores)
    assert program.stdin is not None and program.stdout is not None
    try:
        address = (await program.stdout.readline()).decode().strip()
        paths = [f"/api/webhooks/hook-{number}/{secrets.token_urlsafe(32)}" for number in range(WEBHOOKS)]
        yield Served(address, program.pid, paths)
    finally:
        os.sched_setaffinity(0, cores)
        program.stdin.close()
        await program.wait()


async def measure(
    server: Callable[[Path], AbstractAsyncContextManager[Served]],
    folder: Path,
    connections: int,
    posts: int,
) -> Result:
    async with asyncio.timeout(DEADLINE_S), server(folder) as served:
        ready = [_request(served, path) for path in served.paths]
        around = cycle(ready)
        await _send(served, connections, [next(around) for _ in range(WARM_UP_POSTS)])
        sent = [next(around) for _ in range(posts)]
        before_ns, began = process.cpu_ns(served.pid), time.perf_counter()
        waits = sorted(await _send(served, connections, sent))
        took_s = time.perf_counter() - began
        spent_us = (process.cpu_ns(served.pid) - before_ns) / 1000
    p50, p99 = waits[len(waits) // 2] * 1000, waits[len(waits) * 99 // 100] * 1000
    return Result(len(waits) / took_s, spent_us / len(waits), p50, p99)


async def _send(served: Served, connections: int, posts: Sequence[bytes]) -> list[float]:
    """Send posts. Return the time that each post took."""
    loop, waiting, waits = asyncio.get_running_loop(), iter(posts), list[float]()
    host, _, port = urlsplit(served.address).netloc.rpartition(":")
    connected = [
        await loop.create_connection(lambda: Sender(lambda: next(waiting, None), waits), host, int(port))
        for _ in range(connections)
    ]
    await asyncio.gather(*(sender.done for _, sender in connected))
    return waits


def _request(served: Served, path: str) -> bytes:
    body = dumps(PAYLOAD)
    host = urlsplit(served.address).netloc
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--posts", type=int, default=10_000, help=f"at most {MAX_POSTS}")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--data-dir", type=Path, default=None)
    options = parser.parse_args()
    if options.posts > MAX_POSTS:
        parser.error(f"the webhooks take at most {MAX_POSTS} posts before they limit the rate")
    print("| | connections | us CPU a post | posts/s | p50 ms | p99 ms |\n|---|---|---|---|---|---|")
    for connections in options.connections:
        results: dict[str, list[Result]] = {"limit": [], "svc": []}
        for _ in range(options.runs):
            for name, server in (("limit", limit), ("svc", chat_server)):
                with tempfile.TemporaryDirectory(dir=options.data_dir, prefix="svc-") as folder:
                    results[name].append(
                        asyncio.run(measure(server, Path(folder), connections, options.posts))
                    )
        for name, runs in results.items():
            print(_row(name, connections, runs), flush=True)


def _row(name: str, connections: int, runs: Sequence[Result]) -> str:
    """Return a table row with the medians of all runs, and the variation in CPU time between runs."""
    cpu = sorted(run.us_cpu for run in runs)
    figures = (
        f"{median(cpu):.0f} ({cpu[0]:.0f}–{cpu[-1]:.0f})",
        f"{median(run.posts_per_s for run in runs):,.0f}",
        f"{median(run.p50_ms for run in runs):.2f}",
        f"{median(run.p99_ms for run in runs):.2f}",
    )
    return f"| {name} | {connections} | {' | '.join(figures)} |"


if __name__ == "__main__":
    main()
