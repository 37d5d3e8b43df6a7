"""Tests retransmission by an SFU between a sender and a receiver that both lose packets.

test_simulation covers whole calls over bad links. The tests in this module cover each rule separately.
"""

import struct

import pytest

from tests.kit import packets
from tests.kit.call import Call, header, payload, sequences
from tests.kit.participant import AUDIO, VP8_DELTA, VP8_KEYFRAME, Participant, deliver, new_engine


def numbered(sequence: int, *, keyframe: bool = False) -> bytes:
    return (VP8_KEYFRAME if keyframe else VP8_DELTA) + struct.pack("!I", sequence)


def contents(participant: Participant) -> list[bytes]:
    """Return the received payloads in the order of their sequence numbers."""
    return [payload(packet) for packet in sorted(participant.media, key=lambda p: header(p)["sequence"])]


def test_a_keyframe_with_a_reordered_first_packet_is_forwarded_whole() -> None:
    call = Call()
    sent = {sequence: numbered(sequence, keyframe=sequence == 10) for sequence in range(9, 15)}
    for sequence in (9, 11, 12, 10, 13, 14):
        call.send(sequence, 1.0, payload=sent[sequence])
    first = min(sequences(call.bob))
    assert sorted(sequences(call.bob)) == list(range(first, first + 5))
    assert contents(call.bob) == [sent[sequence] for sequence in range(10, 15)]


def test_packets_missing_when_a_late_keyframe_starts_keep_their_numbers() -> None:
    call = Call()
    sent = {sequence: numbered(sequence, keyframe=sequence == 10) for sequence in range(10, 14)}
    for sequence in (11, 13, 10, 12):
        call.send(sequence, 1.0, payload=sent[sequence])
    assert contents(call.bob) == [sent[sequence] for sequence in range(10, 14)]


def test_a_nack_that_crosses_the_late_packet_triggers_no_resend() -> None:
    call = Call()
    for sequence in (1, 3, 4):
        call.send(sequence, 1.0)
    missing = sequences(call.bob)[0] + 1
    call.bob.send_rtcp(packets.nack(5000, [missing]), 1.04)
    call.deliver()
    assert len(call.bob.media) == 3
    call.send(2, 1.06)
    call.bob.send_rtcp(packets.nack(5000, [missing]), 1.08)
    call.deliver()
    assert len(call.bob.media) == 4
    # More than a round trip later, the first resend must have been lost.
    call.bob.send_rtcp(packets.nack(5000, [missing]), 1.20)
    call.deliver()
    assert len(call.bob.media) == 5


@pytest.mark.parametrize(("requests", "resends"), [(1, 3), (120, 6)])
def test_a_receiver_with_heavy_loss_may_get_a_packet_resent_more_often(requests: int, resends: int) -> None:
    call = Call()
    for sequence in range(1, 1001):
        call.send(sequence, 1.0 + sequence / 10_000, payload=VP8_KEYFRAME + bytes(200))
    numbers = sequences(call.bob)[-requests:]
    call.bob.send_rtcp(packets.nack(5000, numbers), 1.1)
    call.deliver()
    before = len(call.bob.media)
    for attempt in range(20):
        call.bob.send_rtcp(packets.nack(5000, numbers[-1:]), 1.1 + attempt * 0.025)
    call.deliver()
    # With one resend every 100 ms there would be five, but the limit is three.
    assert len(call.bob.media) - before == min(resends, 5) - 1


def test_reports_to_a_sender_whose_sequence_numbers_jumped_count_from_the_new_start() -> None:
    call = Call()
    for sequence in (60000, 60001, 5, 6):
        call.send(sequence, 1.0)
    call.engine.advance(2.5)
    call.deliver()
    body = [body for kind, _, body in call.alice.reports if kind == 201][-1]
    assert struct.unpack_from("!II", body, 8) == (0, 6)


@pytest.mark.parametrize("rtx", [True, False])
def test_all_recent_packets_in_a_fast_track_can_be_requested(rtx: bool) -> None:
    call = Call(rtx=rtx)
    for sequence in range(1000):
        call.send(sequence, 1.0 + sequence * 0.0005)
    numbers = sequences(call.bob)
    assert len(set(numbers)) == 1000
    wanted = numbers[:100] + numbers[400:500]
    call.bob.send_rtcp(packets.nack(5000, wanted), 1.55)
    again = [
        data for data, _, _ in call.engine.take_datagrams() if data[0] >= 128 and not packets.is_rtcp(data)
    ]
    if rtx:
        assert len(again) == len(wanted)
    else:
        assert [int.from_bytes(data[2:4], "big") for data in again] == wanted


class Voice:
    """Audio from Alice on mid 0. Bob, whose round-trip time is known, receives it under SSRC 5000."""

    def __init__(self, round_trip_s: float) -> None:
        self.engine = new_engine()
        self.alice, self.bob = Participant(self.engine, 1001), Participant(self.engine, 1002)
        self.bob.subscribe(self.alice.publish("0", "audio", ssrcs=[77]), 5000, kind="audio")
        self.send_frame(1, 1.0)
        self.alice.send_rtcp(packets.sender_report(77, 0x0000_AAAA_BBBB_0000, 0), 1.0)
        self.bob.send_rtcp(packets.receiver_report(1, 5000, lsr=0xAAAA_BBBB), 1.0 + round_trip_s)

    def send_frame(self, sequence: int, now: float) -> None:
        self.alice.send(packets.rtp(ssrc=77, sequence=sequence, payload_type=AUDIO, payload=b"opus"), now)

    def received(self) -> list[int]:
        deliver(self.engine, self.alice, self.bob)
        return [number - sequences(self.bob)[0] for number in sequences(self.bob)]


def test_lost_audio_is_requested_and_forwarded_late() -> None:
    voice = Voice(0.05)
    voice.send_frame(2, 1.1)
    voice.send_frame(4, 1.14)
    voice.engine.advance(1.151)
    assert voice.received() == [0, 1, 3]
    nacks = [body for kind, count, body in voice.alice.reports if (kind, count) == (205, 1)]
    assert [struct.unpack_from("!IH", body, 4) for body in nacks] == [(77, 3)]
    voice.send_frame(3, 1.19)
    assert voice.received() == [0, 1, 3, 2]


@pytest.mark.parametrize(("round_trip_s", "again"), [(0.14, True), (0.16, False)])
def test_a_listener_within_150_ms_gets_the_identical_audio_packet_again(
    round_trip_s: float, again: bool
) -> None:
    voice = Voice(round_trip_s)
    assert voice.received() == [0]
    voice.send_frame(2, 1.3)
    [(lost, _, _)] = voice.engine.take_datagrams()
    number = header(voice.bob.inbound.unprotect(lost))["sequence"]
    voice.bob.send_rtcp(packets.nack(5000, [number]), 1.32)
    assert [data for data, _, _ in voice.engine.take_datagrams()] == [lost] * again
