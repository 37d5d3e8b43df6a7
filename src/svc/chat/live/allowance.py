"""How fast one peer may ask: a bucket of requests that fills at a steady rate.

Counts only; the caller waits, or refuses.
"""


class Allowance:
    """`burst` requests at once, `per_s` a second in the long run."""

    def __init__(self, burst: int, per_s: float, now: float) -> None:
        self._burst = burst
        self._per_s = per_s
        self._left = float(burst)
        self._since = now

    def left(self, now: float) -> float:
        """How many requests may be made at once."""
        return min(self._burst, self._left + (now - self._since) * self._per_s)

    def take(self, now: float) -> float:
        """Count one request; how many seconds it should wait, 0 while the allowance lasts."""
        self._left = self.left(now) - 1
        self._since = now
        return max(0.0, -self._left / self._per_s)
