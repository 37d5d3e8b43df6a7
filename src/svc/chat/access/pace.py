"""How fast a member may ask: one allowance for all their pages, programs and ways in.

What a request costs stands in `catalogue`. Bytes of uploads have bounds of their own. A refusal costs the
server almost as much as an answer, so whoever goes on after many of them is kept waiting. The counts
are in memory and start afresh with the server.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

from svc.base.allowance import Allowances
from svc.chat.access.catalogue import cost_of_endpoint, cost_of_event
from svc.chat.errors import ChatError

# Requests that change something, at once and a second in the long run; twice as many that read. A
# person clicking never comes near, nor does a page that loads and scrolls.
REQUEST_BURST = 30
REQUESTS_PER_S = 10.0
# Refusals over HTTP that come at once, and a second in the long run. A request waits before any further one.
REFUSAL_BURST = 20
REFUSALS_PER_S = 5.0
# Requests of a member that wait so: as many as they may have connections that are kept for them.
MOST_WAITING = 64
# 2 MB. More members than that are not active within a minute.
_MOST_MEMBERS = 10_000


class Pace:
    def __init__(
        self, clock: Callable[[], float], sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        """`clock` gives seconds and never steps back."""
        self._clock = clock
        self._sleep = sleep
        self._refusals = Allowances(REFUSAL_BURST, REFUSALS_PER_S, _MOST_MEMBERS)
        self._waiting: Counter[str] = Counter()
        self._allowances = Allowances(REQUEST_BURST, REQUESTS_PER_S, _MOST_MEMBERS)

    def require(self, member_id: str, endpoint: str) -> None:
        """Count a request over HTTP, or a sign-in on a socket. Raises ChatError; then it takes nothing."""
        allowance = self._allowances.of(member_id)
        if wait_s := allowance.take_if_left(self._clock(), cost_of_endpoint(endpoint)):
            wait_ms = int(wait_s * 1000) + 1
            raise ChatError("rate_limited", more={"retry_after_ms": wait_ms})

    async def admit(self, member_id: str, endpoint: str) -> None:
        """As `require`; but whoever was refused often of late waits first, and may be admitted then."""
        try:
            self.require(member_id, endpoint)
        except ChatError:
            if not await self._waited(member_id):
                raise
            self.require(member_id, endpoint)

    async def _waited(self, member_id: str) -> bool:
        if self._waiting[member_id] >= MOST_WAITING:
            return False
        wait_s = self._refusals.of(member_id).take(self._clock())
        if not wait_s:
            return False
        self._waiting[member_id] += 1
        try:
            await self._sleep(wait_s)
        finally:
            self._waiting[member_id] -= 1
            if not self._waiting[member_id]:
                del self._waiting[member_id]
        return True

    def wait_s(self, member_id: str, event: str) -> float:
        """Count a request of the live socket; how long it has to wait for its turn."""
        return self._allowances.of(member_id).take(self._clock(), cost_of_event(event))
