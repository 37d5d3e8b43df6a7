"""How often one key may ask, such as an address or a session, for as many keys as there is room for.

A refused request costs nothing more, so waiting always helps. An address is shared with neighbours:
what is refused to it must not be what somebody with valid credentials asks for. Reads no clock.
"""

from svc.base.allowance import Allowances
from svc.chat.errors import ChatError

# Beyond this the key that has been quiet for longest is forgotten: 2 MB.
MOST_KEYS = 10_000


class Throttle:
    """`burst` requests at once, `per_s` a second in the long run, for each key."""

    def __init__(self, burst: int, per_s: float) -> None:
        self._allowances = Allowances(burst, per_s, MOST_KEYS)

    def take(self, key: str, now: float) -> None:
        """Count one request. Raises ChatError when there have been too many."""
        if self._allowances.of(key).take_if_left(now):
            raise ChatError("too_many_requests")
