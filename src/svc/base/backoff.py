"""Computes a delay that doubles before each new attempt, up to a limit.

Does not sleep. Its source of randomness is an argument.
"""

from collections.abc import Callable


class Backoff:
    """Delays for repeated attempts at one operation.

    `jitter` returns a number from 0 up to 1. It randomises half of every delay, so the clients of a restarted
    server do not all reconnect at once.
    """

    def __init__(
        self, first_s: float, limit_s: float, factor: float = 2.0, *, jitter: Callable[[], float]
    ) -> None:
        self._first_s = first_s
        self._limit_s = limit_s
        self._factor = factor
        self._jitter = jitter
        self._base_s = first_s

    def next_delay(self) -> float:
        """Return the number of seconds to wait now. The next delay is longer, up to the limit."""
        base_s, self._base_s = self._base_s, min(self._base_s * self._factor, self._limit_s)
        return base_s * (0.5 + 0.5 * self._jitter())

    def reset(self) -> None:
        """Start again from the first delay. Called after a success."""
        self._base_s = self._first_s
