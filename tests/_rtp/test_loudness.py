"""Speech starts with sustained loudness and ends after a pause, and each change is reported once."""

from svc._rtp.loudness import Meter
from tests.kit import packets
from tests.kit.participant import AUDIO, LEVEL, MID, Participant, new_engine

LOUD, QUIET = 20, 80  # -dBov


def changes(levels: list[int], *, every: float = 0.02) -> list[tuple[float, bool]]:
    meter = Meter()
    events = []
    for n, level in enumerate(levels):
        if meter.heard(level, 1 + n * every):
            events.append((round(n * every, 2), meter.speaking))
    return events


def test_sustained_loudness_counts_as_speech() -> None:
    assert changes([QUIET] * 5 + [LOUD] * 20) == [(0.18, True)]


def test_a_knock_on_the_table_does_not_count_as_speech() -> None:
    assert changes([QUIET] * 5 + [LOUD] * 1 + [127] * 20) == []


def test_a_breath_between_words_does_not_end_speech() -> None:
    assert changes([LOUD] * 20 + [QUIET] * 15 + [LOUD] * 20) == [(0.08, True)]


def test_a_pause_ends_speech_once() -> None:
    events = changes([LOUD] * 20 + [QUIET] * 60)
    assert [speaking for _, speaking in events] == [True, False]


def test_the_voice_activity_bit_does_not_count_as_loudness() -> None:
    assert changes([0x80 | QUIET] * 50) == []


def test_a_participant_counts_as_silent_once_their_packets_stop() -> None:
    meter = Meter()
    for n in range(20):
        meter.heard(LOUD, 1 + n * 0.02)
    assert not meter.expire_speech(1.5)
    assert meter.expire_speech(2.2)
    assert not meter.speaking


def speak(participant: Participant, sequence: int, level: int, now: float) -> None:
    extensions = packets.one_byte_extensions([(MID, b"0"), (LEVEL, bytes([level]))])
    packet = packets.rtp(
        ssrc=9, sequence=sequence, payload_type=AUDIO, extensions=extensions, payload=b"opus"
    )
    participant.send(packet, now)


def test_the_engine_reports_who_starts_and_stops_speaking() -> None:
    engine = new_engine()
    alice = Participant(engine, 1001)
    alice.publish("0", "audio")
    for n in range(20):
        speak(alice, n, LOUD, 1 + n * 0.02)
    for n in range(100):
        engine.advance(1.4 + n * 0.02)
    events = [(event[0], event[1], event[5]) for event in engine.take_events() if event[0] == "speaking"]
    assert events == [("speaking", alice.transport, 1), ("speaking", alice.transport, 0)]


def test_a_muted_participant_does_not_count_as_speaking() -> None:
    engine = new_engine()
    alice = Participant(engine, 1001)
    forwarder = alice.publish("0", "audio")
    engine.set_muted(forwarder, True)
    for n in range(20):
        speak(alice, n, LOUD, 1 + n * 0.02)
    assert "speaking" not in [event[0] for event in engine.take_events()]
