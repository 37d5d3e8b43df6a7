"""Tests the statistics, duplicate detection and retransmission requests for a received source."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc._rtp.reception import Source

RETRY_S = 0.1
REORDER_WAIT_S = 0.010
SEEN_WINDOW = 2048
MAX_GAP = 3000
TRIES = 10


def fed(numbers: list[int], *, audio: bool = False) -> Source:
    source = Source(audio=audio)
    for number in numbers:
        source.update(number & 0xFFFF, 0, 1.0)
    return source


def arrivals(numbers: list[int]) -> list[str]:
    source = Source()
    return [source.update(number & 0xFFFF, 0, 1.0) for number in numbers]


# --- arrivals ---


@pytest.mark.parametrize(
    ("numbers", "last"),
    [
        pytest.param([10], "in order", id="the first"),
        pytest.param([10, 11], "in order", id="the next"),
        pytest.param([65535, 0], "in order", id="the next, across the wrap"),
        pytest.param([10, 15], "in order", id="after a gap"),
        pytest.param([10, 12, 11], "late", id="out of order"),
        pytest.param([1, 65535], "late", id="out of order across the wrap"),
        pytest.param([10, 10], "duplicate", id="the newest again"),
        pytest.param([10, 11, 10], "duplicate", id="an earlier one again"),
        pytest.param([10, 12, 11, 11], "duplicate", id="a late one again"),
        pytest.param([10, 10 + SEEN_WINDOW - 1, 10], "duplicate", id="again, at the window's edge"),
        pytest.param([10, 11, 10 + SEEN_WINDOW, 10], "too old", id="again, beyond the window"),
        pytest.param([10, 11 + SEEN_WINDOW, 12], "late", id="late after a gap of a window"),
        pytest.param([10, 10 + MAX_GAP], "in order", id="the largest gap"),
        pytest.param([10, 11 + MAX_GAP], "restarted", id="a larger jump"),
        pytest.param([10, 10 - SEEN_WINDOW], "too old", id="a jump back"),
    ],
)
def test_each_arrival_is_classified(numbers: list[int], last: str) -> None:
    assert arrivals(numbers)[-1] == last


@pytest.mark.parametrize("number", [50_000, 64_000, 65_500, 99])
def test_a_sequence_number_that_srtp_places_ahead_restarts_the_numbering(number: int) -> None:
    source = fed([100])
    assert source.update(number, 0, 1.0, leapt=True) == "restarted"
    assert source.update(number + 1, 0, 1.0) == "in order"


def test_after_a_restart_no_earlier_packet_is_accepted() -> None:
    assert arrivals([10, 11, 5000, 12, 10, 5001, 5000]) == [
        "in order", "in order", "restarted", "too old", "too old", "in order", "duplicate",
    ]  # fmt: skip


def test_after_a_restart_a_sequence_number_seen_before_counts_as_new() -> None:
    numbers = [10, 11, 5000, 8000, 11000, 15000, *range(18000, 66000, 3000), 10]
    assert "duplicate" not in arrivals(numbers)


@given(st.lists(st.integers(-30, 30), min_size=1, max_size=300))
def test_each_packet_is_accepted_once_regardless_of_the_order(steps: list[int]) -> None:
    source, number = Source(), 65500
    seen: set[int] = set()
    for step in steps:
        number += step
        arrival = source.update(number & 0xFFFF, 0, 1.0)
        # The packets go back at most two thousand numbers, so that all of them are within the window.
        if abs(number - max(seen, default=number)) < SEEN_WINDOW:
            assert (arrival == "duplicate") == (number in seen)
        if arrival != "too old":
            seen.add(number)


# --- statistics (RFC 3550 section 6.4.1) ---


@pytest.mark.parametrize(
    ("numbers", "lost", "fraction", "highest"),
    [
        pytest.param([1, 2, 3, 4], 0, 0, 4, id="nothing lost"),
        pytest.param([1, 2, 4], 1, 64, 4, id="one of four lost"),
        pytest.param([1, 2, 4, 3], 0, 0, 4, id="late is not lost"),
        pytest.param([1, 2, 2, 4], 1, 64, 4, id="a duplicate does not offset a loss"),
        pytest.param([1, 256], 254, 254, 256, id="nearly everything lost"),
        pytest.param([65534, 65535, 0, 1], 0, 0, 65537, id="the wrap counts a cycle"),
        pytest.param([5, 4], -1, 0, 5, id="earlier than the first"),
    ],
)
def test_a_report_contains_the_statistics(numbers: list[int], lost: int, fraction: int, highest: int) -> None:
    report = fed(numbers).report(1.0)
    assert (report["lost"], report["fraction_lost"], report["highest"]) == (lost, fraction, highest)


def test_the_fraction_lost_covers_the_last_interval() -> None:
    source = fed([1, 3])
    assert source.report(1.0)["fraction_lost"] == 256 // 3
    for number in (4, 5, 6):
        source.update(number, 0, 1.0)
    report = source.report(2.0)
    assert (report["fraction_lost"], report["lost"]) == (0, 1)
    assert source.report(3.0)["fraction_lost"] == 0


def test_the_fraction_lost_is_zero_if_late_packets_from_an_earlier_interval_arrive() -> None:
    source = fed([1, 4])
    source.report(1.0)
    for number in (2, 3):
        source.update(number, 0, 1.0)
    report = source.report(2.0)
    assert (report["fraction_lost"], report["lost"]) == (0, 0)


def slow_jitter(packets: list[tuple[int, float]], clock_rate: int) -> float:
    """Return the jitter as defined in RFC 3550 appendix A.8, computed in floating point."""
    jitter, last = 0.0, None
    for timestamp, now in packets:
        transit = now * clock_rate - timestamp
        if last is not None:
            jitter += (abs(transit - last) - jitter) / 16
        last = transit
    return jitter


@given(st.lists(st.tuples(st.integers(0, 9000), st.integers(0, 100)), min_size=2, max_size=60))
def test_jitter_is_computed_as_in_rfc_3550(steps: list[tuple[int, int]]) -> None:
    source, packets, timestamp, now = Source(), [], 0, 50.0
    for number, (ticks, ms) in enumerate(steps):
        timestamp += ticks
        now += ms / 1000
        packets.append((timestamp, now))
        source.update(number, timestamp, now)
    assert source.report(now)["jitter"] == pytest.approx(slow_jitter(packets, 90000), abs=3)


def test_jitter_is_correct_after_ten_years_of_uptime() -> None:
    source, booted = Source(), 10 * 365.25 * 86400
    for i in range(100):
        # Every other packet is 10 ms late, which is 900 units of the video clock.
        source.update(i, 3000 * i, booted + i / 30 + (0.01 if i % 2 else 0.0))
    assert source.report(booted + 4)["jitter"] == pytest.approx(900, rel=0.05)


def test_a_timestamp_wrap_does_not_count_as_jitter() -> None:
    source = Source()
    for number in range(10):
        source.update(number, (0xFFFFFFFF - 2 * 3000 + number * 3000) & 0xFFFFFFFF, 1 + number / 30)
    assert source.report(2.0)["jitter"] < 3


def test_a_restart_does_not_count_as_jitter() -> None:
    source = Source()
    for number in range(10):
        source.update(number + (5000 if number > 4 else 0), number * 3000, 1 + number / 30)
    assert source.report(2.0)["jitter"] < 3


# --- retransmission requests (RFC 4585 section 6.2.1) ---


def test_a_missing_packet_is_requested_after_the_reordering_delay() -> None:
    source = fed([1, 4])
    assert source.due_nacks(1.0 + REORDER_WAIT_S - 0.001, RETRY_S) == []
    assert source.due_nacks(1.0 + REORDER_WAIT_S, RETRY_S) == [2, 3]


def test_a_packet_that_arrives_in_time_is_not_requested() -> None:
    source = fed([1, 4, 2])
    assert source.due_nacks(2.0, RETRY_S) == [3]


def test_numbers_are_requested_in_order_across_the_wrap() -> None:
    assert fed([65533, 2]).due_nacks(1.1, RETRY_S) == [65534, 65535, 0, 1]


def test_a_packet_is_requested_ten_times_and_then_abandoned() -> None:
    source, requests, now = fed([1, 3]), 0, 1.0 + REORDER_WAIT_S
    for _ in range(40):
        requests += len(source.due_nacks(now, 0.05))
        assert source.due_nacks(now, 0.05) == []
        now += 0.05
    assert requests == TRIES


def test_a_packet_missing_for_more_than_a_second_is_abandoned() -> None:
    source = fed([1, 3])
    assert source.due_nacks(1.9, RETRY_S) == [2]
    assert source.due_nacks(2.1, RETRY_S) == []
    source.update(2, 0, 2.2)
    assert source.due_nacks(2.3, RETRY_S) == []


def test_only_part_of_a_large_gap_is_requested() -> None:
    requested = fed([1, 2000]).due_nacks(1.1, RETRY_S)
    assert requested == list(range(2, 2 + 256))


def test_missing_packets_are_forgotten_after_a_restart() -> None:
    assert fed([1, 3, 9000]).due_nacks(1.1, RETRY_S) == []


def test_audio_is_requested_only_while_it_can_still_be_played() -> None:
    source = fed([1, 3], audio=True)
    assert source.due_nacks(1.1, RETRY_S) == [2]
    assert source.due_nacks(1.3, RETRY_S) == []
    source.update(2, 0, 1.31)
    assert source.due_nacks(1.5, RETRY_S) == []


def lose_one_in_two(source: Source, start: float, packets: int, answer_after_s: float | None) -> int:
    """Drop every second packet of an audio stream. Return how many packets the sender was asked to resend."""
    requests = 0
    for number in range(0, 2 * packets, 2):
        now = start + number * 0.02
        source.update(int(start) * 1000 + number, 0, now)
        due = source.due_nacks(now, 0.3)
        requests += len(due)
        if answer_after_s is not None:
            for sequence in due:
                source.update(sequence, 0, now + answer_after_s)
    return requests


def test_a_sender_that_never_resends_audio_gets_no_requests_for_ten_seconds() -> None:
    source = Source(audio=True)
    assert 16 <= lose_one_in_two(source, 1.0, 100, None) <= 25
    assert lose_one_in_two(source, 5.0, 100, None) == 0
    assert lose_one_in_two(source, 20.0, 100, 0.02) == 98


def test_a_sender_more_than_150_ms_away_gets_no_requests_for_audio() -> None:
    source = Source(audio=True)
    assert lose_one_in_two(source, 1.0, 100, 0.16) == 1
    assert lose_one_in_two(Source(audio=True), 1.0, 100, 0.14) == 98
