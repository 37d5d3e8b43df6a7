"""Delays double up to a limit, have random jitter, and are reset after a success."""

from svc.base.backoff import Backoff


def test_delays_double_up_to_the_limit() -> None:
    backoff = Backoff(0.5, 5.0, jitter=lambda: 1.0)
    assert [backoff.next_delay() for _ in range(6)] == [0.5, 1.0, 2.0, 4.0, 5.0, 5.0]


def test_a_success_resets_the_delay() -> None:
    backoff = Backoff(0.5, 5.0, jitter=lambda: 1.0)
    backoff.next_delay()
    backoff.next_delay()
    backoff.reset()
    assert backoff.next_delay() == 0.5


def test_jitter_spreads_the_upper_half_of_a_delay() -> None:
    spread = iter([0.0, 0.5])
    backoff = Backoff(1.0, 1.0, jitter=lambda: next(spread))
    assert [backoff.next_delay(), backoff.next_delay()] == [0.5, 0.75]
