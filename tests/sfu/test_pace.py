"""A burst at once, then one at a time."""

from svc.sfu.pace import Pace


def test_a_burst_passes_at_once_and_the_next_one_waits() -> None:
    pace = Pace(interval_s=2.0, burst=3)
    assert [pace.take(10.0) for _ in range(5)] == [0.0, 0.0, 0.0, 2.0, 4.0]


def test_who_waits_as_told_passes() -> None:
    pace = Pace(interval_s=2.0, burst=1)
    pace.take(0.0)
    assert pace.take(0.0) == 2.0
    assert pace.take(4.0) == 0.0


def test_a_long_silence_earns_one_burst_and_no_more() -> None:
    pace = Pace(interval_s=1.0, burst=2)
    assert [pace.take(1000.0) for _ in range(3)] == [0.0, 0.0, 1.0]
