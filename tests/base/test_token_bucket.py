"""A token bucket permits an initial burst and then a steady rate, separately for each key."""

import pytest

from svc.base.token_bucket import TokenBucket, TokenBuckets


def test_a_burst_is_allowed_immediately_and_the_next_request_must_wait() -> None:
    bucket = TokenBucket(3, 0.5)
    assert [bucket.take(10.0) for _ in range(5)] == [0.0, 0.0, 0.0, 2.0, 4.0]


def test_waiting_as_long_as_reported_is_enough() -> None:
    bucket = TokenBucket(1, 0.5)
    bucket.take(0.0)
    assert bucket.take(0.0) == 2.0
    assert bucket.take(4.0) == 0.0


def test_a_long_pause_earns_at_most_one_burst() -> None:
    bucket = TokenBucket(2, 1.0)
    assert [bucket.take(1000.0) for _ in range(3)] == [0.0, 0.0, 1.0]


def test_rejected_requests_consume_no_tokens() -> None:
    bucket = TokenBucket(2, 1.0)
    assert [bucket.take_if_left(0.0) for _ in range(4)] == [0.0, 0.0, 1.0, 1.0]
    assert [bucket.take_if_left(1.0), bucket.take_if_left(1.0)] == [0.0, 1.0]


def test_a_more_expensive_request_waits_longer() -> None:
    bucket = TokenBucket(2, 1.0)
    assert [bucket.take_if_left(0.0, cost) for cost in (0.5, 1.0, 3.0, 0.5)] == [0.0, 0.0, 2.5, 0.0]


@pytest.mark.parametrize("now", [5.0, -5.0, 0.0])
def test_a_clock_that_steps_back_adds_no_tokens(now: float) -> None:
    bucket = TokenBucket(1, 1.0)
    bucket.take(10.0)
    assert bucket.left(now) == 0.0


def test_keys_are_independent_and_the_least_recently_used_one_is_dropped() -> None:
    buckets = TokenBuckets(1, 1.0, maximum=2)
    for key in ("a", "b"):
        buckets.of(key).take(0.0)
    buckets.of("a")
    assert [buckets.left(key, 0.0) for key in "abc"] == [0.0, 0.0, 1.0]
    buckets.of("c")
    assert [buckets.left(key, 0.0) for key in "abc"] == [0.0, 1.0, 1.0]
