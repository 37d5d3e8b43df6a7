"""A decoder written from the draft reads the core's transport-wide feedback correctly.

See draft-holmer-rmcat-transport-wide-cc-extensions-01, section 3.1.
"""

import struct
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc._rtp.rtcp import parse_compound
from svc._rtp.twcc import Log, parse_feedback

TICK_S = 250e-6
REFERENCE_S = 64e-3
MAX_BYTES = 1200
REMEMBERED = 2048


def symbols_of(chunk: int) -> list[int]:
    """Return the packet statuses of one chunk (sections 3.1.2 to 3.1.4)."""
    if chunk < 0x8000:
        return [chunk >> 13] * (chunk & 0x1FFF)
    if chunk < 0xC000:
        return [(chunk >> (13 - i)) & 1 for i in range(14)]
    return [(chunk >> (12 - 2 * i)) & 3 for i in range(7)]


class Feedback:
    """A decoded feedback packet: the arrival time in seconds, or None, for each number from the base up."""

    def __init__(self, data: bytes) -> None:
        assert len(data) <= MAX_BYTES
        first, kind, length, self.sender, self.media, self.base, self.status_count = struct.unpack(
            "!BBHIIHH", data[:16]
        )
        assert (first, kind, len(data)) == (0x80 | 15, 205, 4 * (length + 1))
        reference = int.from_bytes(data[16:19], "big", signed=True)
        self.count = data[19]
        statuses: list[int] = []
        at = 20
        while len(statuses) < self.status_count:
            statuses += symbols_of(struct.unpack("!H", data[at : at + 2])[0])
            at += 2
        del statuses[self.status_count :]
        self.arrivals: list[float | None] = []
        ticks = reference * 256
        for status in statuses:
            assert status < 3
            if status == 1:
                ticks += data[at]
            elif status == 2:
                ticks += struct.unpack("!h", data[at : at + 2])[0]
            self.arrivals.append(ticks * TICK_S if status else None)
            at += status
        # Only padding to a multiple of four bytes is left.
        assert len(data) - at < 4
        assert not any(data[at:])


def feedbacks(log: Log) -> Iterator[Feedback]:
    while data := log.write():
        yield Feedback(data)


def parsed(log: Log) -> list[tuple[int, float | None]]:
    """Return (number, arrival) for each packet that the log reports."""
    return [
        ((feedback.base + i) & 0xFFFF, arrival)
        for feedback in feedbacks(log)
        for i, arrival in enumerate(feedback.arrivals)
    ]


def recorded(arrivals: list[tuple[int, float]]) -> Log:
    log = Log()
    for number, at in arrivals:
        log.record(number & 0xFFFF, at)
    return log


def test_no_arrival_is_reported_early_or_twice() -> None:
    assert Log().write() == b""
    log = recorded([(1, 1.0)])
    assert log.write()
    assert log.write() == b""


def test_packets_are_numbered_and_counted() -> None:
    log = recorded([(7, 1.0)])
    first = Feedback(log.write())
    log.record(8, 1.1)
    second = Feedback(log.write())
    assert (first.base, first.status_count, first.count) == (7, 1, 0)
    assert (second.base, second.status_count, second.count) == (8, 1, 1)


@pytest.mark.parametrize(
    ("arrivals", "expected"),
    [
        pytest.param([(1, 1.0), (2, 1.001)], [(1, 1.0), (2, 1.001)], id="in order"),
        pytest.param([(1, 1.0), (4, 1.0)], [(1, 1.0), (2, None), (3, None), (4, 1.0)], id="loss"),
        pytest.param([(1, 1.0), (3, 1.01), (2, 1.02)], [(1, 1.0), (2, 1.02), (3, 1.01)], id="reordered"),
        pytest.param([(65535, 1.0), (0, 1.01)], [(65535, 1.0), (0, 1.01)], id="the wrap"),
        pytest.param([(1, 1.0), (1, 2.0)], [(1, 2.0)], id="a duplicate"),
        pytest.param(
            [(1, 1.0), (2, 9.0)], [(1, 1.0), (2, 9.0)], id="8 s, the longest time that one packet can report"
        ),
        pytest.param([(1, 1.0), (2, 100.0)], [(1, 1.0), (2, 100.0)], id="longer than one packet can report"),
        pytest.param([(5, 1.0), (4, 1.1)], [(5, 1.0)], id="earlier than the first"),
    ],
)
def test_arrivals_are_reported(
    arrivals: list[tuple[int, float]], expected: list[tuple[int, float | None]]
) -> None:
    assert parsed(recorded(arrivals)) == [
        (number, at if at is None else pytest.approx(at, abs=TICK_S)) for number, at in expected
    ]


def test_reported_losses_are_not_reported_again() -> None:
    log = recorded([(1, 1.0), (3, 1.0)])
    parsed(log)
    log.record(2, 1.1)
    assert log.write() == b""


@pytest.mark.parametrize("length", [1, 6, 7, 8, 13, 14, 15, 899, 900, 901, 2000])
@pytest.mark.parametrize("spacing_s", [0.0, 0.01, 0.1])
def test_runs_of_lost_and_received_packets_of_any_length_are_reported(length: int, spacing_s: float) -> None:
    sent = [(n, 1 + n * spacing_s) for n in range(length)]
    assert [number for number, at in parsed(recorded(sent)) if at is not None] == list(range(length))


def test_only_the_newest_of_very_many_packets_are_remembered() -> None:
    numbers = [number for number, _ in parsed(recorded([(n, 1.0) for n in range(5000)]))]
    assert numbers == list(range(5000 - REMEMBERED, 5000))


def test_a_very_large_jump_leaves_no_stale_entries() -> None:
    log = recorded([(n, 1.0) for n in range(100)])
    log.record(20_000, 2.0)
    ((number, at),) = [(number, at) for number, at in parsed(log) if at is not None]
    assert number == 20_000
    assert at == pytest.approx(2.0, abs=TICK_S)


def test_a_sender_whose_numbers_jump_back_gets_reports_immediately() -> None:
    log = recorded([(n, 1.0) for n in range(30_000, 30_010)])
    parsed(log)
    log.record(100, 2.0)
    assert [number for number, _ in parsed(log)] == [100]


# (increase in the number, delay in ms, whether to write feedback at this point)
STEPS = st.lists(
    st.tuples(
        st.sampled_from([1, 1, 1, 1, 2, 3, 20, 1000, 0, -1, -2, -5]),
        st.sampled_from([0.0, 0.1, 0.125, 1.0, 20.0, 63.7, 70.0, 8000.0, 9000.0, -3.0]),
        st.integers(0, 12).map(lambda n: n == 0),
    ),
    min_size=1,
    max_size=120,
)


@settings(max_examples=200)
@given(st.integers(0, 65535), STEPS)
def test_arrival_times_are_accurate_to_a_quarter_of_a_millisecond(
    start: int, steps: list[tuple[int, float, bool]]
) -> None:
    log = Log()
    number, now = start, 1000.0
    pending: dict[int, float] = {}
    next_reported = highest = None
    for step, later_ms, write in steps:
        number, now = number + step, now + later_ms / 1000
        log.record(number & 0xFFFF, now)
        if next_reported is None or highest is None:
            next_reported = highest = number
        highest = max(highest, number)
        next_reported = max(next_reported, highest - REMEMBERED + 1)
        pending[number] = now
        if write:
            check(log, pending, next_reported, highest)
            next_reported, pending = highest + 1, {}
    assert next_reported is not None and highest is not None
    check(log, pending, next_reported, highest)


def check(log: Log, pending: dict[int, float], first: int, highest: int) -> None:
    expected = [(number & 0xFFFF, pending.get(number)) for number in range(first, highest + 1)]
    got = parsed(log)
    assert [(number, at is None) for number, at in got] == [(number, at is None) for number, at in expected]
    for (_, at), (_, came) in zip(got, expected, strict=True):
        assert at == (None if came is None else pytest.approx(came, abs=TICK_S / 2 + 1e-6))


def test_the_decoder_parses_the_examples_in_the_draft() -> None:
    """Check sections 3.1.3 and 3.1.4: a run of 221 lost packets, 14 one-bit statuses and 7
    two-bit statuses.
    """
    assert symbols_of(0b0_00_0000011011101) == [0] * 221
    assert symbols_of(0b0_11_0000000011000) == [3] * 24
    assert symbols_of(0b1_0_01111100011100) == [0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0]
    assert symbols_of(0b1_1_00110101010000) == [0, 3, 1, 1, 1, 0, 0]


def body_of(data: bytes) -> bytes:
    compound = parse_compound(data)
    assert compound is not None
    return compound[0][2]


@given(arrivals=st.lists(st.tuples(st.integers(0, 400), st.floats(1.0, 9.0)), min_size=1, max_size=120))
def test_written_feedback_is_decoded_identically(arrivals: list[tuple[int, float]]) -> None:
    log = recorded(sorted(arrivals, key=lambda arrival: arrival[1]))
    while data := log.write():
        expected = Feedback(data)
        read = parse_feedback(body_of(data))
        assert read is not None
        assert [number for number, _ in read] == [
            (expected.base + i) & 0xFFFF for i in range(expected.status_count)
        ]
        for (_, at), arrival in zip(read, expected.arrivals, strict=True):
            assert at == (None if arrival is None else pytest.approx(arrival))


def test_truncated_feedback_is_rejected_at_every_length() -> None:
    log = recorded([(number, 1 + number / 50) for number in range(0, 60, 2)])
    body = body_of(log.write())
    unpadded = body.rstrip(b"\0")
    for length in range(len(unpadded)):
        assert parse_feedback(body[:length]) is None


@given(body=st.binary(max_size=200))
def test_any_feedback_is_decoded_or_rejected(body: bytes) -> None:
    parse_feedback(body)
