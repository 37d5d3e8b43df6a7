"""How long a person must wait before the next message in a slow channel.

In memory: after a restart everybody may write at once. Keeps nothing that no longer matters.
"""

# Somebody told to wait longer has left.
MAX_SLOW_MODE_S = 6 * 60 * 60
# Between two looks for what may be forgotten.
_TIDY_S = 600.0


class SlowMode:
    def __init__(self) -> None:
        # Until when whom may not write where.
        self._until: dict[tuple[str, str], float] = {}
        self._tidied_at = 0.0

    def wait_s(self, person_id: str, channel_id: str, slow_mode_s: int, now: float) -> float:
        """Seconds to wait; 0 permits one message, which is counted as sent now."""
        if not slow_mode_s:
            return 0.0
        # Or the clock has been set back.
        if not 0 <= now - self._tidied_at <= _TIDY_S:
            latest = now + MAX_SLOW_MODE_S
            self._until = {key: until for key, until in self._until.items() if now < until <= latest}
            self._tidied_at = now
        key = person_id, channel_id
        # A channel that has been made faster since does not hold on to its old pace.
        until = min(self._until.get(key, 0.0), now + slow_mode_s)
        if until > now:
            return until - now
        self._until[key] = now + slow_mode_s
        return 0.0
