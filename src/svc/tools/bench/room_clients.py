"""Runs all clients of one room: they join, send media, receive each other's media and leave.

The clients run in this process, with signalling on the event loop and media on Traffic's thread. Prints
nothing. `meter` takes the measurements.
"""

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from aiohttp import ClientError, ClientSession, ClientWebSocketResponse, TCPConnector

from svc.base.tasks import until_first_ends
from svc.sfu.dtls import Certificate
from svc.tools.bench.client import Client, Room
from svc.tools.bench.errors import BenchError
from svc.tools.bench.meter import Meter
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.traffic import Traffic

# The number of simultaneous handshakes: enough for the room to fill quickly, and few enough that no handshake
# waits for all the others.
JOINING_AT_ONCE = 16
ENTERING_DEADLINE_S = 20.0
# The time allowed for new tracks to be offered and answered, and for keyframes to be requested.
FLOWING_DEADLINE_S = 20.0
# Each sender's packets per second while the room fills: enough to start every track.
FIRST_PPS = 20
_POLL_S = 0.02


def new_traffic(scenario: Scenario) -> Traffic:
    return Traffic(audio=scenario.audio, size=scenario.size, burst=scenario.burst, loss=scenario.loss)


class RoomClients:
    """The clients of one room, created by `room_clients`."""

    def __init__(self, http: ClientSession, url: str, scenario: Scenario, pid: int | None) -> None:
        self.scenario = scenario
        self.clients: list[Client] = []
        self.room = Room(url, f"bench-{secrets.token_hex(4)}", "bench", secrets.token_hex(16))
        self.traffic = new_traffic(scenario)
        self.meter = Meter(scenario, self.traffic, self._sockets, pid)
        self._http = http
        self._certificate = Certificate.generate(datetime.now(UTC))
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._listening: list[asyncio.Task[None]] = []

    async def assemble(self, progress: Callable[[str], None]) -> None:
        """Connect all clients. Return once every client receives every track."""
        for number in range(self.scenario.publishers):
            self._add(f"publisher-{number}").will_send()
        for number in range(self.scenario.receivers):
            self._add(f"receiver-{number}")
        pace = asyncio.Semaphore(JOINING_AT_ONCE)
        entered = 0

        async def join(client: Client) -> None:
            nonlocal entered
            async with pace:
                await self._join(client)
            entered += 1
            progress(f"connecting {entered}/{self.scenario.clients}")

        self.traffic.set_rate(FIRST_PPS)
        await self.run_checked(run_all(join(client) for client in self.clients))
        await self.run_checked(self._flowing())

    async def admit(self) -> Client:
        """Add a client that only receives."""
        client = self._add(f"newcomer-{len(self.clients)}")
        await self.run_checked(self._join(client))
        return client

    async def run_checked(self, work: Coroutine[object, object, object]) -> None:
        """Wait for the work to finish or for a connection to fail. Raises BenchError."""
        await until_first_ends(work, self._failure())

    async def close(self) -> None:
        """Disconnect all clients."""
        for task in self._listening:
            task.cancel()
        await asyncio.gather(*self._listening, return_exceptions=True)
        self._failed.cancel()
        await asyncio.to_thread(self.traffic.stop)
        await asyncio.gather(*(client.close() for client in self.clients))

    def _add(self, name: str) -> Client:
        client = Client(self._http, self.room, name, self.scenario, self._certificate)
        self.clients.append(client)
        return client

    async def _join(self, client: Client) -> None:
        try:
            async with asyncio.timeout(ENTERING_DEADLINE_S):
                await client.join()
                self._listening.append(asyncio.create_task(self._listen(client)))
                await client.enter(self.traffic)
        except TimeoutError:
            raise BenchError(f"{client.name} has no media connection after 20 s") from None

    async def _flowing(self) -> None:
        try:
            async with asyncio.timeout(FLOWING_DEADLINE_S):
                # Packets are counted by a native thread, so there is no event to wait for.
                while not all(map(self._receives_everything, self.clients)):  # noqa: ASYNC110
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            lacking = sum(not self._receives_everything(client) for client in self.clients)
            raise BenchError(f"{lacking} clients do not receive every track after 20 s") from None

    def _receives_everything(self, client: Client) -> bool:
        return self.traffic.sources(client.number) == self.scenario.publishers - client.sends

    def _sockets(self) -> Iterable[socket.socket]:
        return [client.media_socket for client in self.clients if client.media_socket]

    async def _listen(self, client: Client) -> None:
        try:
            await client.listen()
        except (BenchError, ClientError) as problem:
            if not self._failed.done():
                self._failed.set_exception(problem)

    async def _failure(self) -> None:
        await asyncio.shield(self._failed)


@asynccontextmanager
async def room_clients(url: str, scenario: Scenario, pid: int | None = None) -> AsyncIterator[RoomClients]:
    """Run clients in a new room on the service while the block runs."""
    # By default aiohttp opens at most 100 connections.
    async with ClientSession(connector=TCPConnector(limit=0)) as http:
        everybody = RoomClients(http, url, scenario, pid)
        try:
            control = await everybody.room.register(http)
        except ClientError as problem:
            raise BenchError(f"{url}: {problem}") from None
        # The messages are not used, but must be read to keep the connection open.
        reading = asyncio.create_task(_read(control))
        everybody.traffic.start()
        try:
            yield everybody
        finally:
            await everybody.close()
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            await control.close()


async def run_all(work: Iterable[Coroutine[object, object, object]]) -> None:
    """Run coroutines in parallel. When one fails, cancel the others."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _read(control: ClientWebSocketResponse) -> None:
    async for _ in control:
        pass
