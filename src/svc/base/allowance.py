"""How often something may be done: a bucket that holds a burst and fills at a steady rate.

Counts only; the caller waits, or refuses. Reads no clock: times are seconds of a clock that never
steps back.
"""

from collections import OrderedDict


class Allowance:
    """`burst` at once, `per_s` a second in the long run."""

    def __init__(self, burst: float, per_s: float) -> None:
        self._burst = burst
        self._per_s = per_s
        self._left = burst
        self._since = float("-inf")

    def left(self, now: float) -> float:
        """How much may be taken at once; less than nothing where more was taken."""
        return min(self._burst, self._left + max(0.0, now - self._since) * self._per_s)

    def take(self, now: float, cost: float = 1.0) -> float:
        """Take it in any case; how many seconds to wait before acting on it, 0 while the burst lasts."""
        self._left = self.left(now) - cost
        self._since = now
        return max(0.0, -self._left / self._per_s)

    def take_if_left(self, now: float, cost: float = 1.0) -> float:
        """Take it only where there is as much: 0 then, else the seconds until there will be."""
        missing = cost - self.left(now)
        if missing > 0:
            return missing / self._per_s
        self.take(now, cost)
        return 0.0


class Allowances:
    """An allowance for each key. Beyond `most` keys the one asked for least recently is forgotten."""

    def __init__(self, burst: float, per_s: float, most: int) -> None:
        self._burst = burst
        self._per_s = per_s
        self._most = most
        self._by_key: OrderedDict[str, Allowance] = OrderedDict()

    def of(self, key: str) -> Allowance:
        allowance = self._by_key.get(key)
        if allowance is None:
            allowance = self._by_key[key] = Allowance(self._burst, self._per_s)
            if len(self._by_key) > self._most:
                self._by_key.popitem(last=False)
        else:
            self._by_key.move_to_end(key)
        return allowance

    def left(self, key: str, now: float) -> float:
        """As the allowance's own, without keeping one for a key that has taken nothing."""
        allowance = self._by_key.get(key)
        return self._burst if allowance is None else allowance.left(now)
