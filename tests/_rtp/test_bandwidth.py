"""Tests the estimator's edge cases: impossible feedback, probes, and wraparound of numbers and clocks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc._rtp.bandwidth import Estimator

REFERENCE_S = 0.064
CYCLE_S = (1 << 24) * REFERENCE_S
FIRST = 300_000.0
MIN_BPS = 20_000.0


class Link:
    """A link without a queue: packets arrive 30 ms after they are sent, and are reported every 100 ms."""

    def __init__(self, wanted: float = 0.0, *, first_number: int = 0, clock: float = 100.0) -> None:
        self.estimator = Estimator(wanted, first_number)
        self.clock = clock  # the time on the receiver's clock when the sender's clock shows 1 s
        self.now = 1.0
        self.sent: list[tuple[int, float]] = []

    def send(self, count: int = 10, size: int = 1000, seconds: float = 0.1) -> None:
        for _ in range(count):
            self.sent.append((self.estimator.sent(size, self.now), self.now))
            self.now += seconds / count

    def report(self) -> int:
        arrivals = [(number, self.clock + at + 0.03) for number, at in self.sent]
        self.sent.clear()
        reference = int(arrivals[0][1] / REFERENCE_S)
        wrapped = reference % (1 << 24)
        shift = (reference - wrapped) * REFERENCE_S
        return self.estimator.feedback([(number, at - shift) for number, at in arrivals], wrapped, self.now)

    def talk(self, seconds: float, **packets: int) -> None:
        end = self.now + seconds
        while self.now < end:
            self.send(**packets)
            self.report()


def test_the_estimate_reaches_the_sending_rate_on_a_link_that_can_carry_it() -> None:
    link = Link()
    link.talk(3, count=25)
    assert link.estimator.estimate() >= 25 * 1000 * 8 * 10 * 0.95


@pytest.mark.parametrize("number", [400, 5000, 40_000, 65_535])
def test_feedback_for_packets_that_were_never_sent_is_ignored(number: int) -> None:
    link = Link()
    link.talk(1)
    before = link.estimator.estimate()
    assert link.estimator.feedback([(number, 5.0), ((number + 1) & 0xFFFF, None)], 78, link.now) == 0
    assert link.estimator.estimate() == before


def test_repeated_feedback_is_counted_once() -> None:
    link = Link()
    link.send()
    arrivals: list[tuple[int, float | None]] = [(number, 100.0 + at) for number, at in link.sent]
    assert link.estimator.feedback(arrivals, 1578, link.now) == 10
    assert link.estimator.feedback(arrivals, 1578, link.now) == 0
    assert link.estimator.feedback([(number, None) for number, _ in arrivals], 1578, link.now) == 0


def test_a_packet_that_was_reported_lost_may_be_reported_as_received_once() -> None:
    link = Link()
    number = link.estimator.sent(1000, 1.0)
    assert link.estimator.feedback([(number, None)], 1578, 1.1) == 1
    assert link.estimator.feedback([(number, None)], 1578, 1.2) == 0
    assert link.estimator.feedback([(number, 101.15)], 1578, 1.3) == 1
    assert link.estimator.feedback([(number, 101.15)], 1578, 1.4) == 0


@pytest.mark.parametrize(
    "link",
    [
        pytest.param(Link(first_number=65_500), id="the numbers"),
        pytest.param(Link(clock=CYCLE_S - 2), id="the receiver's clock"),
    ],
)
def test_sequence_number_wraparound_does_not_affect_the_estimate(link: Link) -> None:
    link.talk(4, count=25)
    assert link.estimator.estimate() >= 1.9e6


def test_the_number_of_unreported_packets_in_memory_is_limited() -> None:
    link = Link()
    assert link.estimator.capacity() == 256
    for number in range(2000):
        assert link.estimator.sent(1000, 1 + number / 1000) == number
    assert link.estimator.capacity() == 2048
    for number in range(100_000):
        link.estimator.sent(1000, 3 + number / 100_000)
    assert link.estimator.capacity() == 8192


def probe(link: Link) -> int:
    """Send the bytes that the estimator wants to probe with, in bursts 5 ms apart. Return their number."""
    total = 0
    for _ in range(20):
        while (due := link.estimator.bytes_due(link.now)) > 0:
            size = min(due, 1200)
            link.sent.append((link.estimator.sent(size, link.now), link.now))
            total += size
        link.now += 0.005
        link.estimator.advance(link.now)
    return total


def test_no_probes_are_sent_without_demand() -> None:
    link = Link()
    link.talk(3)
    assert link.estimator.bytes_due(link.now) == 0


def test_the_first_probes_are_at_three_and_six_times_the_initial_estimate() -> None:
    link = Link(wanted=1e7)
    link.estimator.advance(link.now)
    # Each rate is probed for 25 ms, plus one burst of 5 ms.
    assert probe(link) == pytest.approx(0.03 * (3 + 6) * FIRST / 8, rel=0.12)


def test_probes_continue_at_twice_the_proven_rate_up_to_the_demand() -> None:
    link = Link(wanted=5e6)
    link.estimator.advance(link.now)
    for _ in range(6):
        probe(link)
        if link.sent:
            link.report()
    assert link.estimator.estimate() == pytest.approx(5e6, rel=0.06)
    assert link.estimator.reason() in ("probe", "use")
    link.estimator.want(4e6)
    link.now += 10
    assert probe(link) == 0


def test_the_estimate_decreases_while_no_reports_arrive() -> None:
    link = Link()
    link.talk(2, count=25)
    before = link.estimator.estimate()
    for _ in range(60):
        link.send()
        link.estimator.advance(link.now)
    assert MIN_BPS <= link.estimator.estimate() < before / 2


def test_losses_in_an_outage_do_not_count_even_if_resent_audio_arrives_after_it() -> None:
    link = Link()
    link.talk(3, count=25)
    before = link.estimator.estimate()
    link.send(count=250, seconds=1)
    outage, link.sent = link.sent, []
    audio = {number for number, _ in outage[5::5]}
    for number in audio:
        link.estimator.resent(number)
    arrival = 100.0 + link.now + 0.03
    statuses = [(number, arrival if number in audio else None) for number, _ in outage]
    assert link.estimator.feedback(statuses, 1600, link.now + 0.06) == 250
    lowest = link.estimator.estimate()
    for _ in range(30):
        link.talk(0.1, count=25)
        lowest = min(lowest, link.estimator.estimate())
    assert lowest >= 0.8 * before
    assert link.estimator.reason() != "loss"


STEPS = st.lists(
    st.tuples(
        st.integers(0, 30),  # packets sent
        st.sampled_from([1, 60, 1200, 65_535]),  # size of each packet in bytes
        st.lists(
            st.tuples(st.integers(0, 65_535), st.none() | st.floats(-70_000, 1_200_000)),
            max_size=20,
        ),
        st.integers(0, (1 << 24) - 1),
        st.sampled_from([0.0, 0.001, 0.1, 5.0, 4000.0]),
    ),
    max_size=40,
)


@settings(max_examples=200)
@given(STEPS)
def test_the_estimate_stays_valid_regardless_of_the_reports(
    steps: list[tuple[int, int, list[tuple[int, float | None]], int, float]],
) -> None:
    link = Link(wanted=1e8)
    for count, size, statuses, reference, later in steps:
        for _ in range(count):
            link.estimator.sent(size, link.now)
        link.estimator.feedback(statuses, reference, link.now)
        link.now += later
        link.estimator.advance(link.now)
        assert MIN_BPS <= link.estimator.estimate() <= 1e9
        assert link.estimator.bytes_due(link.now) <= 65_536
