"""Limits the rate of each member's requests, with one allowance for all clients, programs and APIs.

`endpoint_permissions` defines the cost of each request. Uploaded bytes are limited separately. Rejecting a
request costs almost as much as serving it, so a member's requests are delayed after many rejections. Counts
are in memory, so a restart resets them.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

from svc.base.token_bucket import TokenBuckets
from svc.chat.access.endpoint_permissions import cost_of_endpoint, cost_of_event
from svc.chat.errors import ChatError

# The allowance for writes: a burst and a rate per second. Twice as many reads are allowed. Ordinary clicking,
# loading and scrolling stay far below these limits.
REQUEST_BURST = 30
REQUESTS_PER_S = 10.0
# The number of HTTP rejections that are sent without delay: a burst and a rate per second. After that, a
# request is delayed and tried once more before it is rejected.
REFUSAL_BURST = 20
REFUSALS_PER_S = 5.0
# The maximum number of delayed requests per member. Equals the maximum number of connections per member.
MAX_WAITING = 64
# The counts for this many members use 2 MB. Fewer members are active within any minute.
_MAX_MEMBERS = 10_000


class RateLimits:
    def __init__(
        self, clock: Callable[[], float], sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        """Create the limits. `clock` returns seconds and never steps back."""
        self._clock = clock
        self._sleep = sleep
        self._refusals = TokenBuckets(REFUSAL_BURST, REFUSALS_PER_S, _MAX_MEMBERS)
        self._waiting: Counter[str] = Counter()
        self._buckets = TokenBuckets(REQUEST_BURST, REQUESTS_PER_S, _MAX_MEMBERS)

    def require(self, member_id: str, endpoint: str) -> None:
        """Count an HTTP request or a sign-in. Raises ChatError above the limit. Rejected requests are not
        counted.
        """
        bucket = self._buckets.of(member_id)
        if wait_s := bucket.take_if_left(self._clock(), cost_of_endpoint(endpoint)):
            wait_ms = int(wait_s * 1000) + 1
            raise ChatError("rate_limited", more={"retry_after_ms": wait_ms})

    async def admit(self, member_id: str, endpoint: str) -> None:
        """Count a request like `require`. If the member has had many recent rejections, wait and retry once
        before rejecting it.
        """
        try:
            self.require(member_id, endpoint)
        except ChatError:
            if not await self._wait_turn(member_id):
                raise
            self.require(member_id, endpoint)

    async def _wait_turn(self, member_id: str) -> bool:
        if self._waiting[member_id] >= MAX_WAITING:
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
        """Count a request on the live socket. Return how long to delay it, in seconds."""
        return self._buckets.of(member_id).take(self._clock(), cost_of_event(event))
