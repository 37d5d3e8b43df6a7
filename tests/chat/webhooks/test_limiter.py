"""A webhook's rate limit is exact to the millisecond. See docs/webhooks.md."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.chat.webhooks.limits import BLOCK_MS, BURST, REFILL_MS
from svc.chat.webhooks.publisher import Limiter

NOW = 1_000_000


def spent(limiter: Limiter, now_ms: int = NOW) -> None:
    """Use up the burst."""
    assert [limiter.take("hook", now_ms) for _ in range(BURST)] == [0] * BURST


def test_the_limits_match_the_documentation() -> None:
    assert (BURST, REFILL_MS, BLOCK_MS) == (15, 2_000, 60_000)


def test_fifteen_of_forty_simultaneous_requests_are_admitted() -> None:
    limiter = Limiter()
    waits = [limiter.take("hook", NOW) for _ in range(40)]
    assert waits == [0] * 15 + [60_000] * 25


def test_another_request_is_allowed_every_two_seconds() -> None:
    limiter = Limiter()
    spent(limiter)
    assert limiter.take("hook", NOW + 2_000) == 0
    assert limiter.take("hook", NOW + 4_000) == 0
    assert limiter.take("hook", NOW + 5_999) == BLOCK_MS


def test_a_steady_sender_is_never_blocked() -> None:
    limiter = Limiter()
    assert all(limiter.take("hook", NOW + n * 2_000) == 0 for n in range(1_000))


def test_the_burst_refills_up_to_fifteen() -> None:
    limiter = Limiter()
    spent(limiter)
    later = NOW + 1_000_000
    spent(limiter, later)
    assert limiter.take("hook", later) == BLOCK_MS


@pytest.mark.parametrize("early_ms", [1, 500, 59_999])
def test_waiting_exactly_as_long_as_the_limiter_reports_is_enough(early_ms: int) -> None:
    limiter = Limiter()
    spent(limiter)
    assert limiter.take("hook", NOW) == BLOCK_MS
    left = limiter.take("hook", NOW + BLOCK_MS - early_ms)
    assert left == early_ms
    assert limiter.take("hook", NOW + BLOCK_MS - early_ms + left) == 0


def test_requests_during_a_block_neither_extend_it_nor_count_afterwards() -> None:
    limiter = Limiter()
    spent(limiter)
    for wait in range(0, BLOCK_MS, 100):
        assert limiter.take("hook", NOW + wait) == BLOCK_MS - wait
    spent(limiter, NOW + BLOCK_MS)
    assert limiter.take("hook", NOW + BLOCK_MS) == BLOCK_MS


def test_posts_by_one_webhook_do_not_limit_another() -> None:
    limiter = Limiter()
    spent(limiter)
    assert limiter.take("hook", NOW) == BLOCK_MS
    assert limiter.take("other", NOW) == 0


def test_the_limiter_forgets_a_deleted_webhook() -> None:
    limiter = Limiter()
    spent(limiter)
    assert limiter.take("hook", NOW) == BLOCK_MS
    limiter.forget("hook")
    limiter.forget("hook")
    spent(limiter)


@given(st.lists(st.integers(0, 10_000), max_size=200))
def test_no_more_than_the_burst_and_one_post_every_two_seconds_are_admitted(pauses: list[int]) -> None:
    """Check arbitrary pauses between posts. Also check that a block lasts exactly as long as reported."""
    limiter, now, passed, since, blocked_until = Limiter(), NOW, 0, NOW, 0
    for pause in pauses:
        now += pause
        wait = limiter.take("hook", now)
        if now < blocked_until:
            assert wait == blocked_until - now
            continue
        if blocked_until:
            passed, since, blocked_until = 0, now, 0
        if wait:
            assert wait == BLOCK_MS
            blocked_until = now + BLOCK_MS
        else:
            passed += 1
            assert passed <= BURST + (now - since) / REFILL_MS
