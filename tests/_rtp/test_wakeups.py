"""The core's thread wakes up only for packets and deadlines, and never misses a deadline.

`Clocked` stands in for udploop: it sleeps until the engine's deadline or until the next packet.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import pytest

from svc._rtp.engine import ManualEngine
from tests.kit import packets
from tests.kit.call import Call
from tests.kit.participant import (
    AUDIO,
    LEVEL,
    MID,
    SERVER,
    TWCC,
    VP8_DELTA,
    VP8_KEYFRAME,
    Participant,
    deliver,
    new_engine,
    video,
)

SPACING_S = 0.005
PATIENCE_S = 0.020
# how late a wake-up may be, because of the clock's limited precision
EXACT_S = 1e-6
LOUD = 20  # -dBov

NACK, TRANSPORT_WIDE, PLI, RECEIVER_REPORT = (205, 1), (205, 15), (206, 1), (201, 1)


class Clocked:
    """A loop with a simulated clock, which records when one participant received packets."""

    def __init__(self, engine: ManualEngine, participant: Participant, now: float = 1.0) -> None:
        self.engine = engine
        self.participant = participant
        self.now = now
        self.woken: list[float] = []  # times of wake-ups caused only by a deadline
        self.reports: list[tuple[float, tuple[int, int]]] = []
        self.turn()

    def turn(self) -> None:
        self.engine.advance(self.now)
        deliver(self.engine, self.participant)
        self.reports += [(self.now, (kind, number)) for kind, number, _ in self.participant.reports]
        self.participant.reports.clear()

    def sleep(self, until: float) -> None:
        assert until >= self.now
        while (deadline := self.engine.next_deadline()) <= until:
            assert deadline > self.now, "a turn leaves no deadline that is due"
            self.now = deadline
            self.woken.append(deadline)
            self.turn()
        self.now = until

    def send(self, packet: bytes, at: float) -> None:
        self.sleep(at)
        self.participant.send(packet, at)
        self.turn()

    def when(self, report: tuple[int, int]) -> list[float]:
        return [now for now, which in self.reports if which == report]

    def woken_since(self, begin: float) -> int:
        return sum(now > begin for now in self.woken)


class Clock(Clocked):
    """The clock of a call in which Alice sends video."""

    def __init__(self) -> None:
        self.call = Call()
        super().__init__(self.call.engine, self.call.alice)

    def show(self, sequences: Iterable[int], begin: float, *, pps: int = 300) -> None:
        for n, sequence in enumerate(sequences):
            payload = VP8_DELTA if n else VP8_KEYFRAME
            self.send(video(sequence, payload=payload, twcc=sequence & 0xFFFF), begin + n / pps)

    def ask(self, at: float) -> None:
        """Request a keyframe on Bob's behalf."""
        self.sleep(at)
        self.call.bob.send_rtcp(packets.pli(5000), at)
        self.turn()

    def until_quiet(self) -> float:
        """Run until another keyframe request could be sent, but none is due within a second."""
        self.show(range(1), 1.0)
        while not self.when(PLI):
            self.sleep(self.now + 0.01)
        self.sleep(self.now + 0.6)
        return self.now


def gaps(times: list[float]) -> list[float]:
    return [later - earlier for earlier, later in pairwise(times)]


def sound(sequence: int, *, level: int = 127) -> bytes:
    elements = [(MID, b"0"), (LEVEL, bytes([level])), (TWCC, sequence.to_bytes(2, "big"))]
    extensions = packets.one_byte_extensions(elements)
    return packets.rtp(ssrc=9, sequence=sequence, payload_type=AUDIO, extensions=extensions, payload=b"opus")


def microphone() -> Clocked:
    engine = new_engine()
    alice = Participant(engine, 1001)
    alice.publish("0", "audio")
    return Clocked(engine, alice)


# --- few wake-ups ---


def test_without_senders_the_thread_sleeps() -> None:
    call = Call()
    clock = Clocked(call.engine, call.bob)
    clock.sleep(11.0)
    assert len(clock.woken) <= 20


def test_video_without_loss_wakes_the_thread_almost_only_for_its_packets() -> None:
    clock = Clock()
    clock.show(range(3000), 1.0)
    assert clock.woken_since(1.1) <= 2 * 10
    assert 110 <= len(clock.when(TRANSPORT_WIDE)) <= 135
    assert 10 <= len(clock.when(RECEIVER_REPORT)) <= 12
    assert 5 <= len(clock.when(PLI)) <= 6


def test_speech_wakes_the_thread_almost_only_for_its_packets() -> None:
    clock = microphone()
    for n in range(500):
        clock.send(sound(n, level=LOUD), 1.0 + n / 50)
    assert clock.woken_since(1.1) <= 2 * 10
    assert 95 <= len(clock.when(TRANSPORT_WIDE)) <= 135


def test_a_paused_sender_wakes_the_thread_only_for_its_reports() -> None:
    clock = microphone()
    for n in range(50):
        clock.send(sound(n), 1.0 + n / 50)
    clock.sleep(12.0)
    assert clock.woken_since(2.1) <= 4 * 10
    assert {which for now, which in clock.reports if now > 2.1} == {RECEIVER_REPORT}


def test_wake_ups_keep_their_minimum_interval_no_matter_how_many_deadlines_are_due() -> None:
    """Check a stream of 4,000 packets per second, half of which are lost.

    Without the interval, each loss would have its own request time.
    """
    clock = Clock()
    clock.show(range(0, 4000, 2), 1.0, pps=2000)
    times = clock.when(NACK)
    assert len(times) > 100
    assert min(gaps(times)) >= SPACING_S - EXACT_S


# --- deadlines ---


def test_missing_packets_are_requested_after_10_ms_without_other_packets() -> None:
    clock = Clock()
    begin = clock.until_quiet()
    clock.send(video(2, payload=VP8_DELTA), begin)
    clock.sleep(begin + 0.05)
    assert len(clock.when(NACK)) == 1
    assert 0.010 - EXACT_S <= clock.when(NACK)[0] - begin <= 0.010 + SPACING_S


def test_missing_packets_are_requested_promptly_while_other_packets_arrive() -> None:
    clock = Clock()
    begin = clock.until_quiet()
    clock.show((n for n in range(1, 3000) if n % 100), begin, pps=1000)
    times = clock.when(NACK)
    for gap in range(1, 29):
        # One packet in every hundred is missing.
        missed = begin + (gap * 99) / 1000
        first = min(now for now in times if now >= missed)
        assert 0.010 - EXACT_S <= first - missed <= 0.010 + SPACING_S + EXACT_S


def test_missing_packets_are_requested_again_without_other_packets() -> None:
    clock = Clock()
    begin = clock.until_quiet()
    clock.send(video(2, payload=VP8_DELTA), begin)
    clock.sleep(begin + 3.0)
    assert len(clock.when(NACK)) == 10
    assert all(0.1 - EXACT_S <= gap <= 0.1 + SPACING_S + EXACT_S for gap in gaps(clock.when(NACK)))


def test_too_many_missing_packets_lead_to_an_immediate_keyframe_request() -> None:
    clock = Clock()
    begin = clock.until_quiet()
    clock.send(video(400, payload=VP8_DELTA), begin)
    clock.sleep(begin + 0.1)
    assert len(clock.when(PLI)) == 2
    assert clock.when(PLI)[1] - begin <= SPACING_S + EXACT_S


def test_a_keyframe_is_requested_every_two_seconds_while_no_packets_arrive() -> None:
    clock = Clock()
    clock.show(range(1), 1.0)
    clock.sleep(21.0)
    assert all(2.0 - EXACT_S <= gap <= 2.0 + SPACING_S for gap in gaps(clock.when(PLI)))
    assert len(clock.when(PLI)) >= 9


def test_a_delayed_keyframe_request_is_sent_on_time() -> None:
    clock = Clock()
    begin = clock.until_quiet()
    for at in (begin, begin + 0.95):
        clock.ask(at)
    clock.sleep(begin + 3.1)
    times = [now - begin for now in clock.when(PLI) if now >= begin]
    assert times[0] == 0
    assert any(3.0 - EXACT_S <= after <= 3.0 + SPACING_S + EXACT_S for after in times)


def test_a_keyframe_request_too_soon_after_a_pli_is_delayed_and_then_sent_on_time() -> None:
    clock = Clock()
    begin = clock.until_quiet()
    clock.ask(begin)
    # When a receiver joins, the camera gets a request on its behalf half a second after the last request.
    clock.sleep(begin + 0.45)
    clock.call.bob.subscribe(clock.call.forwarder, 6000)
    clock.turn()
    clock.sleep(begin + 0.6)
    times = [now - begin for now in clock.when(PLI) if now > begin]
    assert times == [pytest.approx(0.5, abs=SPACING_S + EXACT_S)]


def test_a_new_source_gets_a_keyframe_request_if_the_start_of_its_keyframe_is_lost() -> None:
    clock = Clock()
    begin = clock.until_quiet()
    clock.send(video(101, ssrc=2000, payload=VP8_DELTA), begin)
    clock.sleep(begin + 0.1)
    times = [now - begin for now in clock.when(PLI) if now >= begin]
    assert times == [pytest.approx(0, abs=SPACING_S + EXACT_S)]


def test_transport_wide_feedback_is_sent_every_75_to_95_ms_while_packets_arrive() -> None:
    for pps in (20, 50, 300):
        clock = Clock()
        clock.show(range(pps * 3), 1.0, pps=pps)
        clock.sleep(5.0)
        times = clock.when(TRANSPORT_WIDE)
        assert all(0.075 - EXACT_S <= gap <= 0.095 + EXACT_S for gap in gaps(times)), pps
        # The last packet is reported as quickly as any other packet.
        assert 1.0 + (pps * 3 - 1) / pps <= times[-1] <= 1.0 + (pps * 3 - 1) / pps + 0.095 + EXACT_S


def test_receiver_reports_are_sent_every_900_ms_to_1_s() -> None:
    clock = Clock()
    clock.show(range(1000), 1.0, pps=50)
    assert all(0.9 - EXACT_S <= gap <= 1.0 + EXACT_S for gap in gaps(clock.when(RECEIVER_REPORT)))


def test_silence_ends_speaking_after_600_ms_without_packets() -> None:
    clock = microphone()
    for n in range(20):
        clock.send(sound(n, level=LOUD), 1.0 + n / 50)
    last = clock.now
    assert [event[5] for event in clock.engine.take_events() if event[0] == "speaking"] == [1]
    clock.sleep(last + 0.599)
    assert "speaking" not in [event[0] for event in clock.engine.take_events()]
    clock.sleep(last + 0.6 + SPACING_S)
    assert [event[5] for event in clock.engine.take_events() if event[0] == "speaking"] == [0]


def test_packets_for_a_blocked_link_are_dropped_after_100_ms() -> None:
    clock = Clock()
    begin = clock.until_quiet()
    clock.engine.limit(0)
    for n in range(1, 200):
        clock.send(video(n, payload=VP8_DELTA), begin)
    # For up to 100 ms, a burst may explain the queue.
    clock.sleep(begin + 0.099)
    assert clock.engine.counters()["dropped_overload_video"] == 0
    clock.sleep(begin + 0.111)
    assert clock.engine.counters()["dropped_overload_video"] > 100
    # After this, no packets are waiting, and the thread goes back to sleep.
    clock.sleep(begin + 1.1)
    assert clock.woken_since(begin + 0.111) <= 10


class SelectedLater(ManualEngine):
    def select(
        self,
        transport: int,
        remote: tuple[str, int] | tuple[str, int, int],
        local: str,
        ssrcs: Sequence[int] = (),
    ) -> None:
        """Ignore this call, so that the path is selected later."""


def test_a_sender_gets_pending_feedback_as_soon_as_a_path_is_selected() -> None:
    engine = new_engine(kind=SelectedLater)
    alice = Participant(engine, 1001)
    alice.publish("1", "video")
    clock = Clocked(engine, alice)
    clock.send(video(1), 1.0)
    clock.sleep(1.1)
    assert clock.reports == []
    ManualEngine.select(engine, alice.transport, alice.address, SERVER)
    # A command wakes the thread up.
    clock.turn()
    clock.sleep(1.1 + SPACING_S)
    assert RECEIVER_REPORT in [which for _, which in clock.reports]
