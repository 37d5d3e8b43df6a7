"""Provides the building blocks of the attacks: floods of requests, and connections that are kept open.

Counts requests and responses. Runs until it is cancelled, and then closes its connections.
"""

import asyncio
import socket
from collections import Counter
from collections.abc import Iterator
from itertools import cycle
from urllib.parse import urlsplit

from svc.tools.bench.attack.http_client import Caller
from svc.tools.bench.attack.target import Target
from svc.tools.bench.tls import tls_of

# The pause after a refused connection. It leaves CPU time for the benchmark.
REFUSED_PAUSE_S = 0.05
# The number of new connections per second. Without this limit, opening connections would itself be an attack.
OPENED_PER_S = 500
CONNECT_DEADLINE_S = 10.0
# The receive buffer of a connection that is not read.
UNREAD_BYTES = 4096
# The interval at which each open connection sends its next byte.
TRICKLE_S = 1.0
# The number of times per trickle interval that closed connections are replaced.
TICKS = 10


class Load:
    """The tally of one attack."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.requests = 0
        self.held = 0
        self.most_held = 0
        self.answers: Counter[str] = Counter()

    def count(self, answer: object) -> None:
        self.requests += 1
        self.answers[str(answer)] += 1

    async def flood(self, at_once: int, requests: Iterator[bytes], address: str = "") -> None:
        """Send requests over `at_once` connections. Each request follows the response to the previous
        request.
        """
        sources = cycle(self.target.sources)
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                caller = Caller(address or self.target.address, next(sources))
                group.create_task(self._ask_on(caller, requests))

    async def hold(
        self,
        count: int,
        opening: Iterator[bytes],
        *,
        trickle: bytes = b"",
        reading: bool = True,
        address: str = "",
        secure: bool = True,
    ) -> None:
        """Keep `count` connections open. Each sends the next `opening`, and then one byte of `trickle` per
        second.

        A connection that the server closes is replaced. `secure=False` omits TLS even for an https URL.
        """
        address = address or self.target.address
        parts, tls = urlsplit(address), tls_of(address) if secure else None
        host_and_port = (parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
        sources, loop = cycle(self.target.sources), asyncio.get_running_loop()
        held: set[_Held] = set()

        async def open_one() -> None:
            source = next(sources)
            try:
                async with asyncio.timeout(CONNECT_DEADLINE_S):
                    await loop.create_connection(
                        lambda: _Held(self, held, next(opening), reading),
                        *host_and_port,
                        ssl=tls,
                        local_addr=(source, 0) if source else None,
                    )
                self.count("opened")
            except OSError as fault:
                self.count(type(fault).__name__)

        try:
            for tick in cycle(range(TICKS)):
                missing = min(count - len(held), OPENED_PER_S // TICKS)
                await asyncio.gather(*(open_one() for _ in range(missing)))
                if trickle and tick == 0:
                    for connection in held:
                        connection.send_byte(trickle)
                await asyncio.sleep(TRICKLE_S / TICKS)
        finally:
            for connection in list(held):
                connection.abort()

    async def _ask_on(self, caller: Caller, requests: Iterator[bytes]) -> None:
        try:
            while True:
                try:
                    self.count((await caller.ask(next(requests))).status)
                except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as fault:
                    self.count(type(fault).__name__)
                    await asyncio.sleep(REFUSED_PAUSE_S)
        finally:
            caller.close()


class _Held(asyncio.Protocol):
    """An open connection. It is in `held` until it closes."""

    def __init__(self, load: Load, held: "set[_Held]", opening: bytes, reading: bool) -> None:
        self._load = load
        self._held = held
        self._opening = opening
        self._reading = reading
        self._transport: asyncio.Transport | None = None
        self._sent = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._held.add(self)
        self._load.held += 1
        self._load.most_held = max(self._load.most_held, self._load.held)
        if not self._reading:
            # By default the operating system would buffer megabytes.
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, UNREAD_BYTES)
            transport.pause_reading()
        transport.write(self._opening)

    def connection_lost(self, error: Exception | None) -> None:
        self._held.discard(self)
        self._load.held -= 1

    def send_byte(self, trickle: bytes) -> None:
        """Send the next byte of `trickle`."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(trickle[self._sent % len(trickle) :][:1])
            self._sent += 1

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()
