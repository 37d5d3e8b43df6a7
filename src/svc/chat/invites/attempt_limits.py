"""Limits failed invite codes per client and per IP address.

After too many failures within a window, even a valid code is rejected until the window has passed or, if the
operator has configured a cooldown, until the cooldown ends. Each successive cooldown is twice as long, up to
a maximum. Does not read the clock. The number of entries is limited, and the least recent ones are dropped
first. See docs/configuration.md, "Chat server", SERVER_INVITE_….
"""

from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from svc.base.config_parsing import number, text
from svc.chat.errors import ChatError

# The highest value that can be configured, because every counted failure uses memory.
MAX_RETRIES = 1000
_WEEK_MS = 7 * 24 * 60 * 60 * 1000


@dataclass(frozen=True, slots=True)
class InviteConfig:
    """The configured limits. None means no limit."""

    joins_per_hour: int | None = None
    max_retries: int = 8
    retry_window_ms: int = 300_000
    ip_max_retries: int | None = None
    cooldown_ms: int | None = None
    max_cooldown_ms: int | None = None


def read(variables: Mapping[str, str]) -> InviteConfig:
    """Read the variables. Raises ConfigError for invalid values."""
    return InviteConfig(
        joins_per_hour=_optional(variables, "SVC_INVITE_MAX_JOINS_PER_HOUR"),
        max_retries=number(variables, "SERVER_INVITE_MAX_RETRIES", 8, minimum=1, maximum=MAX_RETRIES),
        retry_window_ms=number(
            variables, "SERVER_INVITE_RETRY_WINDOW_MS", 300_000, minimum=1, maximum=_WEEK_MS
        ),
        ip_max_retries=_optional(variables, "SERVER_INVITE_IP_MAX_RETRIES", MAX_RETRIES),
        cooldown_ms=_optional(variables, "SERVER_INVITE_RETRY_COOLDOWN_MS", _WEEK_MS),
        max_cooldown_ms=_optional(variables, "SERVER_INVITE_MAX_COOLDOWN_MS", _WEEK_MS),
    )


def _optional(variables: Mapping[str, str], name: str, maximum: int | None = None) -> int | None:
    return number(variables, name, 1, minimum=1, maximum=maximum) if text(variables, name) else None


# The maximum number of clients, and of IP addresses. They use 3 MB if all have used up the default number of
# attempts.
MAX_KEYS = 10_000
# The longest cooldown, unless the operator sets another maximum.
MAX_COOLDOWN_MS = 24 * 60 * 60 * 1000


@dataclass(slots=True)
class _Failures:
    # The times of the counted failures in ms, oldest first.
    failures: deque[int] = field(default_factory=deque)
    blocked_until: int = 0
    # The number of recent cooldowns.
    cooldowns: int = 0


class AttemptLimit:
    """A limit for failed attempts per key, which is a client or an IP address. Times are whole milliseconds
    and never decrease.
    """

    def __init__(
        self, maximum: int, window_ms: int, cooldown_ms: int | None, max_cooldown_ms: int | None
    ) -> None:
        self._maximum = maximum
        self._window_ms = window_ms
        self._cooldown_ms = cooldown_ms
        self._max_cooldown_ms = MAX_COOLDOWN_MS if max_cooldown_ms is None else max_cooldown_ms
        self._records: OrderedDict[str, _Failures] = OrderedDict()

    def __len__(self) -> int:
        return len(self._records)

    def wait_ms(self, key: str, now: int) -> int:
        """Return how long the key must wait in ms; 0 if it may try now."""
        record = self._records.get(key)
        if record is None:
            return 0
        if record.blocked_until > now:
            return record.blocked_until - now
        self._forget_old(record, now)
        if self._cooldown_ms is None and len(record.failures) >= self._maximum:
            return record.failures[0] + self._window_ms - now
        return 0

    def failed(self, key: str, now: int) -> None:
        """Count a failed attempt by a key that did not have to wait."""
        record = self._records.setdefault(key, _Failures())
        self._records.move_to_end(key)
        if len(self._records) > MAX_KEYS:
            self._records.popitem(last=False)
        self._forget_old(record, now)
        # A whole window without failures since the last cooldown resets the doubling.
        if record.cooldowns and now - record.blocked_until >= self._window_ms:
            record.cooldowns = 0
        record.failures.append(now)
        if self._cooldown_ms is not None and len(record.failures) >= self._maximum:
            # 32 doublings always reach the maximum, so do not compute larger numbers.
            doubled = self._cooldown_ms << min(record.cooldowns, 32)
            record.blocked_until = now + min(doubled, self._max_cooldown_ms)
            record.cooldowns += 1
            record.failures.clear()

    def _forget_old(self, record: _Failures, now: int) -> None:
        while record.failures and record.failures[0] + self._window_ms <= now:
            record.failures.popleft()


class AttemptLimits:
    """The limits per client and per IP address. `now` is in seconds. Not thread-safe."""

    def __init__(self, config: InviteConfig) -> None:
        def limit(maximum: int) -> AttemptLimit:
            return AttemptLimit(maximum, config.retry_window_ms, config.cooldown_ms, config.max_cooldown_ms)

        self._clients = limit(config.max_retries)
        self._addresses = None if config.ip_max_retries is None else limit(config.ip_max_retries)

    def check(self, client: str, address: str, now: float) -> None:
        """Raise ChatError with the time to wait if there were too many failures."""
        now_ms = int(now * 1000)
        wait_ms = self._clients.wait_ms(client, now_ms)
        if self._addresses is not None:
            wait_ms = max(wait_ms, self._addresses.wait_ms(address, now_ms))
        if wait_ms:
            raise ChatError("too_many_invite_attempts", more={"retry_after_ms": wait_ms})

    def failed(self, client: str, address: str, now: float) -> None:
        now_ms = int(now * 1000)
        self._clients.failed(client, now_ms)
        if self._addresses is not None:
            self._addresses.failed(address, now_ms)
