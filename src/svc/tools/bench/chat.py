"""`svc bench chat`: fill a community with members who send messages, and measure the cost to the server.

Runs the load and reports progress. Prints results on standard output and progress on standard error.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from itertools import cycle
from urllib.parse import urlsplit

from svc.tools.bench import process
from svc.tools.bench.chat_server import ChatServer, own_chat_server
from svc.tools.bench.errors import BenchError
from svc.tools.bench.members import Member, Tally, text_channel
from svc.tools.bench.sign_up import join_all

WARM_UP_S = 1.0
# After this long without arrivals, no message is in transit.
SETTLING_S = 0.3
MAX_SETTLING_S = 10.0
# The number of members that join at the same time.
ARRIVING = 32


@dataclass(frozen=True, slots=True)
class Scenario:
    members: int
    # messages per second, from all members together; if 0, each writer sends once its previous message is
    # accepted
    rate: float
    writers: int  # number of members who write at the same time if the rate is 0
    size: int  # characters in a message
    seconds: float


@dataclass(frozen=True, slots=True)
class Options:
    url: str | None = None  # None to start a server
    invite: str = ""
    pid: int | None = None
    as_json: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a measurement. Zero means that a value is unknown. Delays are measured from sending a
    message until each receiver has it.
    """

    members: int
    joins_s: float
    join_bytes: float  # bytes that the server sent to all members per join
    rss_mb: float
    messages_per_s: float
    lost: int
    refused: int
    us_cpu_per_message: float
    us_cpu_per_delivery: float
    p50_ms: float
    p99_ms: float
    accepted_p50_ms: float
    accepted_p99_ms: float

    def __str__(self) -> str:
        return "\n".join(
            f"{name.replace('_', ' '):>20}  {value:,.10g}" for name, value in asdict(self).items()
        )


def run(scenario: Scenario, means: Options) -> None:
    """Run the scenario and print the result. Raises BenchError if nothing can be measured."""
    result = asyncio.run(measure(scenario, means))
    print(json.dumps(asdict(result)) if means.as_json else result)


async def measure(scenario: Scenario, means: Options) -> Result:
    """Run the scenario. Raises BenchError if nothing can be measured."""
    async with _server(means) as server:
        return await Community(scenario, server).measure()


@asynccontextmanager
async def _server(means: Options) -> AsyncIterator[ChatServer]:
    if means.url is None:
        async with own_chat_server() as server:
            yield server
    else:
        parts = urlsplit(means.url)
        if parts.scheme != "http" or not parts.hostname:
            raise BenchError("the address of a server must look like http://127.0.0.1:5000")
        yield ChatServer(means.url.rstrip("/"), means.invite, means.pid)


class Community:
    def __init__(self, scenario: Scenario, server: ChatServer) -> None:
        self._scenario = scenario
        self._server = server
        self._tally = Tally()
        self._members: list[Member] = []

    async def measure(self) -> Result:
        try:
            joins_s = await self._fill()
            join_bytes = sum(member.received_bytes for member in self._members) / len(self._members)
            channel_id = text_channel(self._members[0])
            await self._write(channel_id, WARM_UP_S)
            self._tally.clear()
            before_ns = self._cpu_ns()
            took_s = await self._write(channel_id, self._scenario.seconds)
            spent_us = (self._cpu_ns() - before_ns) / 1000
        finally:
            for member in self._members:
                member.leave()
            _show_progress("")
        return self._result(joins_s, join_bytes, took_s, spent_us)

    async def _fill(self) -> float:
        """Create and sign in all members. Return the number of seconds that this took."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        live = self._server.address.replace("http", "ws", 1) + "/live"

        async def arrive(token: str) -> None:
            member = Member(self._tally)
            await member.sign_in(live, token)
            self._members.append(member)
            if len(self._members) % 50 == 0:
                _show_progress(f"{len(self._members)}/{self._scenario.members} members are here")

        await join_all(self._server, self._scenario.members, ARRIVING, arrive)
        took_s = loop.time() - started
        await self._silence()
        return took_s

    async def _write(self, channel_id: str, seconds: float) -> float:
        """Send messages for the given time, then wait until all have arrived. Return the number of seconds
        spent sending.
        """
        loop = asyncio.get_running_loop()
        started = loop.time()
        authors = cycle(self._members)
        if self._scenario.rate:
            await self._post_at_rate(channel_id, authors, started + seconds)
        else:
            writers = range(self._scenario.writers)
            end = started + seconds
            await asyncio.gather(*(self._one_by_one(channel_id, authors, end) for _ in writers))
        took_s = loop.time() - started
        await self._silence()
        return took_s

    async def _post_at_rate(self, channel_id: str, authors: Iterator[Member], end: float) -> None:
        loop = asyncio.get_running_loop()
        due, sending = loop.time(), set[asyncio.Task[None]]()
        while due < end:
            await asyncio.sleep(due - loop.time())
            task = asyncio.create_task(next(authors).post(channel_id, self._scenario.size))
            sending.add(task)
            task.add_done_callback(sending.discard)
            due += 1 / self._scenario.rate
            self._show_tally(end)
        await asyncio.gather(*sending)

    async def _one_by_one(self, channel_id: str, authors: Iterator[Member], end: float) -> None:
        """Send one message after another. Authors take turns, so that no author comes near the rate limit."""
        while asyncio.get_running_loop().time() < end:
            await next(authors).post(channel_id, self._scenario.size)
            self._show_tally(end)

    def _show_tally(self, end: float) -> None:
        if self._tally.sent % 100 == 0:
            left_s = max(end - asyncio.get_running_loop().time(), 0)
            _show_progress(
                f"{self._tally.sent} messages sent, {self._tally.delivered} delivered, {left_s:.0f} s to go"
            )

    async def _silence(self) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + MAX_SETTLING_S
        seen = -1
        while (now := sum(member.received_bytes for member in self._members)) != seen and loop.time() < end:
            seen = now
            await asyncio.sleep(SETTLING_S)

    def _cpu_ns(self) -> int:
        return process.cpu_ns(self._server.pid) if self._server.pid else 0

    def _result(self, joins_s: float, join_bytes: float, took_s: float, spent_us: float) -> Result:
        tally, count = self._tally, len(self._members)
        accepted = len(tally.replies_s)
        return Result(
            members=count,
            joins_s=round(joins_s, 2),
            join_bytes=round(join_bytes),
            rss_mb=round(process.resident_kb(self._server.pid) / 1024, 1) if self._server.pid else 0,
            messages_per_s=round(accepted / took_s, 1),
            lost=accepted * count - tally.delivered,
            refused=tally.refused.total(),
            us_cpu_per_message=round(spent_us / max(accepted, 1), 1),
            us_cpu_per_delivery=round(spent_us / max(tally.delivered, 1), 2),
            p50_ms=_ms(tally.delays_s, 0.5),
            p99_ms=_ms(tally.delays_s, 0.99),
            accepted_p50_ms=_ms(tally.replies_s, 0.5),
            accepted_p99_ms=_ms(tally.replies_s, 0.99),
        )


def _ms(delays_s: Sequence[float], share: float) -> float:
    ordered = sorted(delays_s)
    return round(ordered[int(share * (len(ordered) - 1))] * 1000, 2) if ordered else 0.0


def _show_progress(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()
