"""Provides token buckets for rate limits. A bucket has enough tokens for a burst and refills at a steady
rate.

A bucket only counts tokens: the caller waits or rejects. A bucket reads no clock. Times are seconds on a
monotonic clock.
"""

from collections import OrderedDict


class TokenBucket:
    """A bucket that allows bursts of up to `burst`, and an average of `per_s` per second."""

    def __init__(self, burst: float, per_s: float) -> None:
        self._burst = burst
        self._per_s = per_s
        self._left = burst
        self._since = float("-inf")

    def left(self, now: float) -> float:
        """Return the number of tokens available now. It is negative if the bucket is overdrawn."""
        return min(self._burst, self._left + max(0.0, now - self._since) * self._per_s)

    def take(self, now: float, cost: float = 1.0) -> float:
        """Take tokens unconditionally. Return the number of seconds to wait before acting, or 0 while enough
        are left.
        """
        self._left = self.left(now) - cost
        self._since = now
        return max(0.0, -self._left / self._per_s)

    def take_if_left(self, now: float, cost: float = 1.0) -> float:
        """Take tokens only if enough are left. Return 0 on success, or else the number of seconds until
        enough are left.
        """
        missing = cost - self.left(now)
        if missing > 0:
            return missing / self._per_s
        self.take(now, cost)
        return 0.0


class TokenBuckets:
    """A bucket for each key. With more than `maximum` keys, the least recently used bucket is dropped."""

    def __init__(self, burst: float, per_s: float, maximum: int) -> None:
        self._burst = burst
        self._per_s = per_s
        self._maximum = maximum
        self._by_key: OrderedDict[str, TokenBucket] = OrderedDict()

    def of(self, key: str) -> TokenBucket:
        bucket = self._by_key.get(key)
        if bucket is None:
            bucket = self._by_key[key] = TokenBucket(self._burst, self._per_s)
            if len(self._by_key) > self._maximum:
                self._by_key.popitem(last=False)
        else:
            self._by_key.move_to_end(key)
        return bucket

    def left(self, key: str, now: float) -> float:
        """Return the number of tokens available to a key, without creating a bucket."""
        bucket = self._by_key.get(key)
        return self._burst if bucket is None else bucket.left(now)
