"""Attempts with wrong invite codes are limited as configured. The limits match a slow model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.base.config_parsing import ConfigError
from svc.chat.errors import ChatError
from svc.chat.invites import attempt_limits
from svc.chat.invites.attempt_limits import (
    MAX_COOLDOWN_MS,
    MAX_KEYS,
    AttemptLimit,
    AttemptLimits,
    InviteConfig,
)

# The limit is three failures within 100 ms.
ROWS = {
    "without a cooldown the window itself passes": (
        (None, None),
        [(0, 0), (10, 0), (20, 0), (30, 70), (99, 1), (100, 0), (105, 5), (110, 0)],
    ),
    "failures that are long ago do not count": (
        (50, None),
        [(0, 0), (99, 0), (100, 0), (101, 0), (102, 49)],
    ),
    "each cooldown is twice as long, up to the longest": (
        (50, 120),
        [
            (0, 0), (1, 0), (2, 0), (3, 49), (52, 0), (53, 0), (54, 0), (55, 99), (154, 0), (155, 0),
            (156, 0), (157, 119), (276, 0),
        ],
    ),
    "a window of quiet after a cooldown starts afresh": (
        (50, None),
        [(0, 0), (1, 0), (2, 0), (3, 49), (152, 0), (153, 0), (154, 0), (155, 49)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("cooldowns", "rows"), ROWS.values(), ids=ROWS)
def test_a_client_that_exceeds_a_limit_has_to_wait(
    cooldowns: tuple[int | None, int | None], rows: list[tuple[int, int]]
) -> None:
    limit = AttemptLimit(3, 100, *cooldowns)
    for now, wait_ms in rows:
        assert limit.wait_ms("ada", now) == wait_ms, now
        assert limit.wait_ms("bob", now) == 0
        if not wait_ms:
            limit.failed("ada", now)


class Model:
    """A slow model that stores all events for one key and evaluates them again for each check."""

    def __init__(self, maximum: int, window_ms: int, cooldown_ms: int | None, longest_ms: int | None) -> None:
        self.maximum, self.window_ms, self.cooldown_ms = maximum, window_ms, cooldown_ms
        self.longest_ms = MAX_COOLDOWN_MS if longest_ms is None else longest_ms
        self.history: list[int] = []

    def wait_ms(self, now: int) -> int:
        counted: list[int] = []
        blocked_until, strikes = 0, 0
        for at in self.history:
            if strikes and at - blocked_until >= self.window_ms:
                strikes = 0
            counted = [earlier for earlier in counted if at - earlier < self.window_ms] + [at]
            if self.cooldown_ms is not None and len(counted) == self.maximum:
                blocked_until = at + min(self.cooldown_ms * 2**strikes, self.longest_ms)
                strikes += 1
                counted = []
        if blocked_until > now:
            return blocked_until - now
        recent = [at for at in counted if now - at < self.window_ms]
        if self.cooldown_ms is None and len(recent) >= self.maximum:
            return recent[0] + self.window_ms - now
        return 0


@given(
    st.integers(1, 4),
    st.integers(1, 30),
    st.none() | st.integers(1, 40),
    st.none() | st.integers(1, 100),
    st.lists(st.integers(0, 25), max_size=60),
)
def test_the_limit_matches_its_model(
    maximum: int, window_ms: int, cooldown_ms: int | None, longest_ms: int | None, steps: list[int]
) -> None:
    limit, model = (
        AttemptLimit(maximum, window_ms, cooldown_ms, longest_ms),
        Model(maximum, window_ms, cooldown_ms, longest_ms),
    )
    now = 0
    for step in steps:
        now += step
        wait_ms = limit.wait_ms("ada", now)
        assert wait_ms == model.wait_ms(now)
        if not wait_ms:
            limit.failed("ada", now)
            model.history.append(now)


def test_the_table_is_bounded_and_drops_the_least_recently_used_key() -> None:
    limit = AttemptLimit(1, 1000, None, None)
    for number in range(MAX_KEYS + 1):
        limit.failed(str(number), 0)
    assert len(limit) == MAX_KEYS
    assert limit.wait_ms("0", 0) == 0
    assert limit.wait_ms("1", 0) == 1000


def test_clients_and_addresses_are_counted_separately() -> None:
    limits = AttemptLimits(InviteConfig(max_retries=2, ip_max_retries=3))

    def waits(client: str, address: str) -> object:
        try:
            limits.check(client, address, 5.0)
        except ChatError as refusal:
            assert refusal.code == "too_many_invite_attempts"
            return refusal.more["retry_after_ms"]
        return 0

    limits.failed("ada", "192.0.2.1", 5.0)
    limits.failed("ada", "192.0.2.1", 5.0)
    assert waits("ada", "192.0.2.9") == 300_000
    assert waits("bob", "192.0.2.1") == 0
    limits.failed("bob", "192.0.2.1", 5.0)
    assert waits("cyd", "192.0.2.1") == 300_000
    assert waits("cyd", "192.0.2.2") == 0


def test_the_documented_values_for_off_disable_the_limit() -> None:
    assert attempt_limits.read({}) == InviteConfig(None, 8, 300_000, None, None, None)
    limits = AttemptLimits(attempt_limits.read({}))
    for number in range(1000):
        limits.failed(f"client {number}", "192.0.2.1", 5.0)
    limits.check("somebody", "192.0.2.1", 5.0)


@pytest.mark.parametrize(
    "name",
    [
        "SVC_INVITE_MAX_JOINS_PER_HOUR",
        "SERVER_INVITE_MAX_RETRIES",
        "SERVER_INVITE_RETRY_WINDOW_MS",
        "SERVER_INVITE_IP_MAX_RETRIES",
        "SERVER_INVITE_RETRY_COOLDOWN_MS",
        "SERVER_INVITE_MAX_COOLDOWN_MS",
    ],
)
def test_an_invalid_limit_prevents_startup(name: str) -> None:
    for value in ("0", "-1", "many"):
        with pytest.raises(ConfigError, match=name):
            attempt_limits.read({name: value})
