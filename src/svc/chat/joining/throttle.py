"""How often one client address may ask, for as many addresses as there is room for.

A refused request costs nothing more, so waiting always helps. Reads no clock; where a
request comes from is for others to say.
"""

from collections import OrderedDict

from svc.chat.errors import ChatError

# Beyond this the address that has been quiet for longest is forgotten: 2 MB.
MOST_ADDRESSES = 10_000


class Throttle:
    """`burst` requests at once, `per_s` a second in the long run, for each address."""

    def __init__(self, burst: int, per_s: float) -> None:
        self._burst = burst
        self._per_s = per_s
        # What is left of the burst, and since when.
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, address: str, now: float) -> None:
        """Count one request. Raises ChatError when there have been too many."""
        left, since = self._left.pop(address, (float(self._burst), now))
        left = min(self._burst, left + max(0.0, now - since) * self._per_s)
        allowed = left >= 1
        self._left[address] = (left - 1 if allowed else left, now)
        if len(self._left) > MOST_ADDRESSES:
            self._left.popitem(last=False)
        if not allowed:
            raise ChatError("too_many_requests")
