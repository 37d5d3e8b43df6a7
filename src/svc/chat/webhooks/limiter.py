"""How often a webhook may be posted to: a burst, then a steady trickle, then a block for everybody.

A bucket for each webhook, whoever calls. A request that finds it empty begins a block; requests
during a block neither lengthen it nor take anything, and behind it the bucket is full. Reads no
clock and knows no webhook: only those that exist are counted, which bounds the memory. A restart
forgets all. docs/webhooks.md.
"""

from dataclasses import dataclass

from svc.chat.webhooks.limits import BLOCK_MS, BURST, REFILL_MS

# A request takes as much as comes back in REFILL_MS, a millisecond's worth being 1.
_FULL = BURST * REFILL_MS


@dataclass(slots=True)
class _Bucket:
    level: int
    at_ms: int
    blocked_until_ms: int = 0


class Limiter:
    """Times are whole milliseconds of a clock that never steps back."""

    def __init__(self) -> None:
        self._buckets: dict[str, _Bucket] = {}

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, webhook_id: str, now_ms: int) -> int:
        """Count a request: 0 where it may pass, else for how many ms it and others may not."""
        bucket = self._buckets.get(webhook_id)
        if bucket is None:
            bucket = self._buckets[webhook_id] = _Bucket(_FULL, now_ms)
        if now_ms < bucket.blocked_until_ms:
            return bucket.blocked_until_ms - now_ms
        if bucket.blocked_until_ms:
            bucket.blocked_until_ms = 0
            bucket.level = _FULL
        else:
            bucket.level = min(_FULL, bucket.level + now_ms - bucket.at_ms)
        bucket.at_ms = now_ms
        if bucket.level < REFILL_MS:
            bucket.blocked_until_ms = now_ms + BLOCK_MS
            return BLOCK_MS
        bucket.level -= REFILL_MS
        return 0

    def forget(self, webhook_id: str) -> None:
        """The webhook is gone."""
        self._buckets.pop(webhook_id, None)
