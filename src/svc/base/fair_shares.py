"""Divides a limited resource, such as slots or bytes, fairly among its holders.

A holder may take more as long as its total does not exceed the free amount. No holder can take everything.
One greedy holder gets half, and `n` greedy holders get 1/(n+1) each, so the same amount stays free for
another holder. The largest holder is refused first. Nothing is reserved, and holders need not be known
beforehand (Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998).
Reads no clock.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


def fits(own: int, everyone: int, maximum: int, more: int = 1) -> bool:
    """Return whether a holder that has taken `own` may take `more`. All holders together have taken
    `everyone`, out of `maximum`.
    """
    return own + more <= maximum - everyone


class FairShares:
    """The holders' shares of a total of `maximum`. Holders that have nothing are forgotten."""

    def __init__(self, maximum: int) -> None:
        self.maximum = maximum
        self.taken = 0
        self._by_holder: Counter[str] = Counter()

    def take(self, holder: str, amount: int = 1) -> bool:
        """Take an amount. Return False and take nothing if it exceeds the holder's share."""
        if not fits(self._by_holder[holder], self.taken, self.maximum, amount):
            self._drop_if_empty(holder)
            return False
        self._by_holder[holder] += amount
        self.taken += amount
        return True

    def give_back(self, holder: str, amount: int = 1) -> None:
        self._by_holder[holder] -= amount
        self.taken -= amount
        assert self._by_holder[holder] >= 0, "only amounts that were taken are given back"
        self._drop_if_empty(holder)

    def _drop_if_empty(self, holder: str) -> None:
        if not self._by_holder[holder]:
            del self._by_holder[holder]


class FairQueue:
    """Slots for work, shared fairly.

    A holder that has used up its share waits until some of its work ends.
    """

    def __init__(self, maximum: int) -> None:
        self._shares = FairShares(maximum)
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []

    async def take(self, holder: str) -> None:
        """Wait for a slot and take it. The caller must set a timeout and give the slot back."""
        if self._shares.take(holder):
            return
        turn = asyncio.get_running_loop().create_future()
        waits = holder, turn
        self._waiting.append(waits)
        try:
            await turn
        except asyncio.CancelledError:
            if waits in self._waiting:
                self._waiting.remove(waits)
            else:  # The task was cancelled just as it was given the slot.
                self.give_back(holder)
            raise

    def give_back(self, holder: str) -> None:
        self._shares.give_back(holder)
        for waits in list(self._waiting):
            next_holder, turn = waits
            if not turn.done() and self._shares.take(next_holder):
                self._waiting.remove(waits)
                turn.set_result(None)

    @asynccontextmanager
    async def turn(self, holder: str) -> AsyncIterator[None]:
        """Keep a slot while the block runs."""
        await self.take(holder)
        try:
            yield
        finally:
            self.give_back(holder)
