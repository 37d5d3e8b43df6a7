"""How often something may happen: a burst at once, then one at a time.

Decides how long to wait; does not wait, and reads no clock.
"""


class Pace:
    """`burst` events at once, and one more every `interval_s`."""

    def __init__(self, *, interval_s: float, burst: int) -> None:
        self._interval_s = interval_s
        self._credit_s = interval_s * burst
        self._due = float("-inf")

    def take(self, now: float) -> float:
        """Account for one event; the seconds to wait before it may happen."""
        self._due = max(self._due, now - self._credit_s) + self._interval_s
        return max(0.0, self._due - now)
