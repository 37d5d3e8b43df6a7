"""Simulates honest members of an attacked instance and measures the effect of the attack on them.

The members keep live sockets open, write at a human pace, read messages, search now and then, sign in again
on new sockets, and announce uploads. They stay far below every limit, so every rejected request counts as
harm caused by the attack.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from svc.tools.bench.attack.http_client import Caller
from svc.tools.bench.attack.target import Target
from svc.tools.bench.errors import BenchError
from svc.tools.bench.members import Member, Tally

MESSAGE_CHARACTERS = 200
# The number of actions per second, for all members together.
PAGES_PER_S = 10.0
STRANGERS_PER_S = 5.0
SIGN_INS_PER_S = 2.0
SEARCHES_PER_S = 1.0
UPLOADS_PER_S = 1.0
# The number of members that sign in at the same time.
ARRIVING = 32
# If nothing has arrived for this long, no message is in transit.
SETTLING_S = 0.3
MAX_SETTLING_S = 10.0
# The interval at which the generator measures its own delay.
TICK_S = 0.01
UPLOAD_BYTES = 1000


@dataclass
class Noticed:
    """Measurements of the honest members over a period. Latencies are in seconds."""

    deliveries_s: list[float] = field(default_factory=list)
    requests_s: list[float] = field(default_factory=list)
    searches_s: list[float] = field(default_factory=list)
    strangers_s: list[float] = field(default_factory=list)  # requests without a token
    sent: int = 0
    lost: int = 0
    refused: Counter[str] = field(default_factory=Counter)  # members' rejected requests, by kind and reason
    strangers_refused: Counter[str] = field(default_factory=Counter)
    late_s: list[float] = field(default_factory=list)  # the generator's own delays


class RoomClients:
    """The signed-in members. `watch` makes them act for a given time."""

    def __init__(self, target: Target, tokens: Sequence[str], rate: float) -> None:
        self._target = target
        self._tokens = tokens
        self._rate = rate
        self._tally = Tally()
        self._members: list[Member] = []
        self._noticed = Noticed()

    async def assemble(self) -> None:
        """Sign in all members. Raises BenchError."""
        self._members = [Member(self._tally) for _ in self._tokens]
        pairs = iter(list(zip(self._members, self._tokens, strict=True)))

        async def one_by_one() -> None:
            for member, token in pairs:
                await member.sign_in(self._target.live, token)

        await asyncio.gather(*(one_by_one() for _ in range(ARRIVING)))

    def leave(self) -> None:
        for member in self._members:
            member.leave()

    async def watch(self, seconds: float) -> Noticed:
        """Make the members act for the given time, then wait until every sent message has arrived."""
        self._noticed, self._tally.sent = Noticed(), 0
        self._tally.clear()
        end = time.perf_counter() + seconds
        async with asyncio.TaskGroup() as group:
            group.create_task(self._tick(end))
            for rate, act in (
                (self._rate, self._post),
                (PAGES_PER_S, self._read_page),
                (STRANGERS_PER_S, self._ask_health),
                (SIGN_INS_PER_S, self._sign_in_again),
                (SEARCHES_PER_S, self._search),
                (UPLOADS_PER_S, self._announce_upload),
            ):
                group.create_task(self._run_at_rate(rate, end, act))
        await self._silence()
        return self._summary()

    async def _run_at_rate(self, rate: float, end: float, act: Callable[[int], Awaitable[None]]) -> None:
        """Start each action on time, no matter how long the previous actions take."""
        acting, due, number = set[asyncio.Task[None]](), time.perf_counter(), 0
        while rate and due < end:
            await asyncio.sleep(due - time.perf_counter())
            task = asyncio.ensure_future(act(number))
            acting.add(task)
            task.add_done_callback(acting.discard)
            number, due = number + 1, due + 1 / rate
        await asyncio.gather(*acting)

    async def _tick(self, end: float) -> None:
        while (before := time.perf_counter()) < end:
            await asyncio.sleep(TICK_S)
            self._noticed.late_s.append(time.perf_counter() - before - TICK_S)

    async def _post(self, number: int) -> None:
        at = number % len(self._members)
        member = self._members[at]
        if member.close_code is not None:
            self._noticed.refused[f"live socket closed with {member.close_code}"] += 1
            await self._replace(at)
            return
        try:
            await member.post(self._target.channel_id, MESSAGE_CHARACTERS)
        except TimeoutError:
            self._noticed.refused["no reply to a message"] += 1

    async def _replace(self, at: int) -> None:
        """Reconnect a member whose socket was closed, as a web client does."""
        member = Member(self._tally)
        with suppress(BenchError, TimeoutError):
            await member.sign_in(self._target.live, self._tokens[at])
            self._members[at] = member

    async def _read_page(self, number: int) -> None:
        """Read the newest messages over a new connection, because an overloaded server refuses new
        connections first.
        """
        path = f"/api/channels/{self._target.channel_id}/messages?limit=50"
        await self._ask("page", self._target.request("GET", path, token=self._token(number)), 200)

    async def _ask_health(self, number: int) -> None:
        data = self._target.request("GET", "/health")
        await self._ask("/health", data, 200, signed_in=False, latencies=self._noticed.strangers_s)

    async def _search(self, number: int) -> None:
        data = self._target.request("GET", "/api/search?query=quick", token=self._token(number))
        await self._ask("search", data, 200, latencies=self._noticed.searches_s)

    async def _announce_upload(self, number: int) -> None:
        """Announce the upload of a small file and withdraw it."""
        token, tus = self._token(number), {"Tus-Resumable": "1.0.0", "Content-Length": "0"}
        tus |= {"Upload-Length": str(UPLOAD_BYTES), "Upload-Metadata": "filename YS5wbmc="}
        path = f"/api/channels/{self._target.channel_id}/uploads"
        upload_id = await self._ask(
            "upload", self._target.request("POST", path, token=token, headers=tus), 201
        )
        if upload_id:
            data = self._target.request(
                "DELETE", f"/api/uploads/{upload_id}", token=token, headers={"Tus-Resumable": "1.0.0"}
            )
            await self._ask("upload withdrawn", data, 204)

    async def _sign_in_again(self, number: int) -> None:
        member, started = Member(Tally()), time.perf_counter()
        try:
            await member.sign_in(self._target.live, self._token(number))
            self._noticed.requests_s.append(time.perf_counter() - started)
        except (BenchError, TimeoutError) as fault:
            self._noticed.refused[f"sign-in: {str(fault) or 'no answer'}"] += 1
        finally:
            member.leave()

    async def _ask(
        self,
        what: str,
        data: bytes,
        expected: int,
        *,
        signed_in: bool = True,
        latencies: list[float] | None = None,
    ) -> str:
        """Send a request and return the `id` in the response, if any. Count any response with an error status
        as a rejection.
        """
        caller, started = Caller(self._target.address), time.perf_counter()
        refused = self._noticed.refused if signed_in else self._noticed.strangers_refused
        try:
            answer = await caller.ask(data)
        except (OSError, EOFError, ValueError) as fault:
            refused[f"{what}: {type(fault).__name__}"] += 1
            return ""
        finally:
            caller.close()
        kept = self._noticed.requests_s if latencies is None else latencies
        kept.append(time.perf_counter() - started)
        if answer.status != expected:
            refused[f"{what}: {answer.status}"] += 1
            return ""
        return str(json.loads(answer.body or b"{}").get("id", ""))

    def _token(self, number: int) -> str:
        return self._tokens[number % len(self._tokens)]

    async def _silence(self) -> None:
        end, seen = time.perf_counter() + MAX_SETTLING_S, -1
        while (arrived := len(self._tally.delays_s)) != seen and time.perf_counter() < end:
            seen = arrived
            await asyncio.sleep(SETTLING_S)

    def _summary(self) -> Noticed:
        noticed, tally = self._noticed, self._tally
        noticed.deliveries_s = list(tally.delays_s)
        noticed.sent = tally.sent
        noticed.lost = max(len(tally.replies_s) * len(self._members) - len(tally.delays_s), 0)
        noticed.refused.update({f"message: {code}": times for code, times in tally.refused.items()})
        return noticed
