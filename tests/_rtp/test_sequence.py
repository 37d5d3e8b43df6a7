"""Sequence numbers are compared, extended, and rewritten so that losses are the only gaps that a receiver
sees.
"""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc._rtp.sequence import Rewriter, extended, is_newer

DROPPED = -1


@pytest.mark.parametrize(
    ("a", "b", "newer"),
    [
        (1, 0, True),
        (0, 1, False),
        (5, 5, False),
        (0, 65535, True),
        (0, 65000, True),
        (65535, 0, False),
        (32767, 0, True),
        (32768, 0, False),
        (0, 32768, False),
        (100, 32869, True),
    ],
)
def test_a_sequence_number_less_than_half_the_range_ahead_is_newer(a: int, b: int, newer: bool) -> None:
    assert is_newer(a, b) is newer


@pytest.mark.parametrize(
    ("highest", "seq", "expected"),
    [
        (65536, 0, 65536),
        (65536, 1, 65537),
        (65536, 65535, 65535),
        (65535, 0, 65536),
        (131071, 0, 131072),
        (131072, 65535, 131071),
        (65636, 100, 65636),
        (65636, 32867, 65636 + 32767),
        (65636, 32868, 65636 - 32768),
        (10 * 65536 + 3, 65530, 10 * 65536 - 6),
    ],
)
def test_an_extended_sequence_number_is_the_nearest_one_with_the_same_low_bits(
    highest: int, seq: int, expected: int
) -> None:
    assert extended(highest, seq) == expected


@dataclass
class Row:
    input: int
    output: int = DROPPED
    drop: bool = False


def drop(number: int) -> Row:
    return Row(number, drop=True)


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([Row(100, 1), Row(101, 2), Row(102, 3)], id="in order"),
        pytest.param([Row(100, 1), drop(101), drop(102), Row(103, 2)], id="dropped packets leave no gap"),
        pytest.param([Row(100, 1), Row(103, 4), Row(101, 2), Row(102, 3)], id="missing numbers are kept"),
        pytest.param(
            [Row(100, 1), Row(104, 5), drop(102), Row(105, 6)], id="a late drop changes nothing after it"
        ),
        pytest.param([Row(100, 1), drop(103), Row(104, 4), Row(102, 3)], id="missing before a drop is kept"),
        pytest.param([Row(100, 1), drop(101), Row(101)], id="a dropped packet has no number"),
        pytest.param([Row(100, 1), Row(99)], id="a packet from before the start has no number"),
        pytest.param([Row(100, 1), Row(100, 1)], id="a number stays the same"),
        pytest.param([drop(100), drop(101), Row(102, 1)], id="the first packets dropped"),
        pytest.param([Row(100, 1), drop(101), drop(101), Row(102, 2)], id="dropped twice"),
        pytest.param([Row(100, 1), Row(107, 8), Row(100, 1)], id="the last number of the window"),
        pytest.param([Row(100, 1), Row(108, 9), Row(100)], id="one beyond the window"),
        pytest.param([Row(100, 1), Row(200, 101), Row(193, 94), Row(192)], id="a jump of more than a window"),
        pytest.param([Row(100, 1), drop(200), Row(201, 101)], id="a drop after a jump of more than a window"),
    ],
)
def test_rewritten_numbers_are_contiguous_and_late_packets_get_reserved_numbers(rows: list[Row]) -> None:
    rewriter = Rewriter(8)
    rewriter.sync(100, 1)
    for row in rows:
        if row.drop:
            rewriter.drop(row.input)
        else:
            assert rewriter.rewrite(row.input) == row.output, row


def test_after_a_restart_numbers_continue_at_the_given_number() -> None:
    rewriter = Rewriter(8)
    rewriter.sync(100, 1)
    assert [rewriter.rewrite(n) for n in (100, 101)] == [1, 2]
    rewriter.sync(5000, 3)
    assert [rewriter.rewrite(n) for n in (5000, 5002, 5001, 101, 4999)] == [3, 5, 4, DROPPED, DROPPED]


def test_numbers_before_the_first_one_cannot_be_dropped() -> None:
    rewriter = Rewriter(8)
    rewriter.drop(100)
    rewriter.sync(100, 1)
    assert rewriter.rewrite(100) == 1


@dataclass
class SlowRewriter:
    """The obvious implementation: a list with the fate of every sequence number after the first."""

    first_input: int
    next_output: int
    window: int
    outputs: dict[int, int] = field(default_factory=dict)
    highest: int = 0

    def __post_init__(self) -> None:
        self.highest = self.first_input - 1

    def reach(self, number: int) -> None:
        for missing in range(self.highest + 1, number):
            self.outputs[missing] = self.next_output
            self.next_output += 1
        self.highest = max(self.highest, number)

    def drop(self, number: int) -> None:
        if number > self.highest:
            self.reach(number)
            self.outputs[number] = DROPPED

    def rewrite(self, number: int) -> int:
        if number > self.highest:
            self.reach(number + 1)
            self.highest = number
        if self.highest - number >= self.window:
            return DROPPED
        return self.outputs.get(number, DROPPED)


STEPS = st.lists(
    st.tuples(st.sampled_from([1, 1, 1, 1, 2, 3, 7, 8, 9, 40, 0, -1, -2, -5, -7, -8, -9]), st.booleans()),
    max_size=80,
)


@given(st.sampled_from([1, 4, 8, 32]), st.integers(0, 2**17), STEPS)
def test_the_rewriter_matches_a_simple_model(window: int, start: int, steps: list[tuple[int, bool]]) -> None:
    rewriter, model = Rewriter(window), SlowRewriter(start, 1, window)
    rewriter.sync(start, 1)
    number = start - 1
    for step, dropping in steps:
        number = max(0, number + step)
        if dropping:
            rewriter.drop(number)
            model.drop(number)
        else:
            assert rewriter.rewrite(number) == model.rewrite(number)


@given(st.integers(0, 65535), st.lists(st.booleans(), max_size=200))
def test_packets_forwarded_in_order_are_contiguous_across_the_16_bit_wrap(
    start: int, wanted: list[bool]
) -> None:
    rewriter, highest, given_numbers = Rewriter(64), 65536 + start, []
    rewriter.sync(highest, 65500)
    for offset, want in enumerate(wanted):
        number = extended(highest, (start + offset) & 0xFFFF)
        highest = number
        if want:
            given_numbers.append(rewriter.rewrite(number))
        else:
            rewriter.drop(number)
    assert given_numbers == list(range(65500, 65500 + sum(wanted)))
