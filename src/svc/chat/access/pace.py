"""How fast a member may ask: one allowance for all their pages, programs and ways in.

What a request costs stands in `catalogue`. Bytes of uploads have bounds of their own. The counts
are in memory and start afresh with the server.
"""

from collections.abc import Callable

from svc.base.allowance import Allowances
from svc.chat.access.catalogue import cost_of_endpoint, cost_of_event
from svc.chat.errors import ChatError

# Requests that change something, at once and a second in the long run; twice as many that read. A
# person clicking never comes near, nor does a page that loads and scrolls.
REQUEST_BURST = 30
REQUESTS_PER_S = 10.0
# 2 MB. More members than that are not active within a minute.
_MOST_MEMBERS = 10_000


class Pace:
    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` gives seconds and never steps back."""
        self._clock = clock
        self._allowances = Allowances(REQUEST_BURST, REQUESTS_PER_S, _MOST_MEMBERS)

    def require(self, member_id: str, endpoint: str) -> None:
        """Count a request over HTTP, or a sign-in on a socket. Raises ChatError; then it takes nothing."""
        allowance = self._allowances.of(member_id)
        if wait_s := allowance.take_if_left(self._clock(), cost_of_endpoint(endpoint)):
            wait_ms = int(wait_s * 1000) + 1
            raise ChatError("rate_limited", more={"retry_after_ms": wait_ms})

    def wait_s(self, member_id: str, event: str) -> float:
        """Count a request of the live socket; how long it has to wait for its turn."""
        return self._allowances.of(member_id).take(self._clock(), cost_of_event(event))
