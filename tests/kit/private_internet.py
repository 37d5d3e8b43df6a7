"""Gives each test a private internet in its own namespace, with hosts that have public addresses and names.

A host records the requests that it receives. It sends exactly the configured bytes, so it can misbehave.
Listeners on the machine's loopback and private addresses only count connections. DNS and sockets are real.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from tests.kit.name_server import Answers
from tests.kit.namespace import DEADLINE_S, in_namespace
from tests.kit.tcp_server import tcp_server

# On the real internet, these addresses belong to other people. In the namespace, they belong to the test.
PUBLIC, OTHER, PUBLIC_V6 = "93.184.216.34", "93.184.216.35", "2606:2800:220::1"
_ADDRESSES = (f"{PUBLIC}/32", f"{OTHER}/32", f"{PUBLIC_V6}/128", "169.254.169.254/32", "10.0.0.1/32")

Speech = Callable[[asyncio.StreamWriter], Awaitable[None]]
Pages = Mapping[str, bytes | Speech]


class Host:
    """A host on this internet. `requests` are the headers of the requests that it received, in order."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self.requests: list[str] = []
        self.connections = 0

    @property
    def paths(self) -> list[str]:
        return [head.split(" ")[1] for head in self.requests]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        # The client may disconnect, or not speak HTTP.
        with suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            # The connection stays open for the next request, as in HTTP/1.1.
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                self.requests.append(head)
                page = self._pages.get(head.split(" ")[1], answer(b"", "404 Not Found"))
                if isinstance(page, bytes):
                    writer.write(page)
                    await writer.drain()
                else:
                    await page(writer)
                    break


def answer(body: bytes, status: str = "200 OK", **headers: str) -> bytes:
    """Return a complete response. The keyword arguments are headers: `Content_Type` sets Content-Type."""
    lines = {"Content-Length": str(len(body))} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    return f"HTTP/1.1 {status}\r\n{_lines(lines)}\r\n".encode() + body


class CountedPage:
    """A page that responds once `expected` requests for it have arrived.

    `maximum` is the highest number of requests that waited at the same time.
    """

    EXCESS_S = 0.05  # The time allowed for requests beyond the expected number to arrive.

    def __init__(self, body: bytes, expected: int) -> None:
        self.maximum = 0
        self._body, self._expected = body, expected
        self._waiting = 0
        self._reached = asyncio.Event()

    async def __call__(self, writer: asyncio.StreamWriter) -> None:
        self._waiting += 1
        self.maximum = max(self.maximum, self._waiting)
        if self._waiting >= self._expected:
            self._reached.set()
        await self._reached.wait()
        await asyncio.sleep(self.EXCESS_S)
        self._waiting -= 1
        writer.write(answer(self._body))
        await writer.drain()


def opening(**headers: str) -> bytes:
    """Return the head of a response whose body ends when the connection closes."""
    lines = {name.replace("_", "-"): value for name, value in headers.items()}
    return f"HTTP/1.1 200 OK\r\n{_lines(lines)}Connection: close\r\n\r\n".encode()


def redirect(location: str, status: str = "302 Found") -> bytes:
    return answer(b"", status, Location=location)


def _lines(headers: Mapping[str, str]) -> str:
    return "".join(f"{name}: {value}\r\n" for name, value in headers.items())


@asynccontextmanager
async def hosted(
    pages: Pages, addresses: Sequence[str] = (PUBLIC,), port: int = 80, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Host]:
    host = Host(pages)
    async with tcp_server(host.serve, addresses, port, ssl=tls):
        yield host


@asynccontextmanager
async def inside() -> AsyncIterator[Host]:
    """Listen on every private address of this machine. Fetches must not be able to reach these addresses."""
    async with hosted({}, ("127.0.0.1", "::1", "169.254.169.254", "10.0.0.1")) as host:
        yield host


def on_an_internet(body: Callable[[], Awaitable[None]], folder: Path, within_s: float = DEADLINE_S) -> None:
    """Run a function on a machine that has the addresses above, with 127.0.0.1 as its name server."""
    resolver, order = folder / "resolv.conf", folder / "nsswitch.conf"
    resolver.write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:2\n")
    order.write_text("hosts: files dns\n")
    in_namespace(body, _ADDRESSES, {"/etc/resolv.conf": resolver, "/etc/nsswitch.conf": order}, within_s)


def names(**answers: str | Answers) -> dict[str, Answers]:
    """Return the records of a name server.

    For example, with `names(pictures=PUBLIC)`, pictures.example always resolves to PUBLIC.
    """
    return {
        f"{name}.example": [[answer]] if isinstance(answer, str) else answer
        for name, answer in answers.items()
    }
