"""Who gets what again, and when: the SFU between a sender and a receiver that both lose packets.

Whole calls over bad lines are in test_simulation; here is each rule by itself.
"""

import struct

import pytest

from tests.kit import packets
from tests.kit.call import Call, header, payload, sequences
from tests.kit.participant import VP8_DELTA, VP8_KEYFRAME, Participant


def numbered(sequence: int, *, keyframe: bool = False) -> bytes:
    return (VP8_KEYFRAME if keyframe else VP8_DELTA) + struct.pack("!I", sequence)


def contents(participant: Participant) -> list[bytes]:
    """The payloads received, in the order of their numbers."""
    return [payload(packet) for packet in sorted(participant.media, key=lambda p: header(p)["sequence"])]


def test_a_keyframe_whose_first_packet_is_overtaken_is_forwarded_whole() -> None:
    call = Call()
    sent = {sequence: numbered(sequence, keyframe=sequence == 10) for sequence in range(9, 15)}
    for sequence in (9, 11, 12, 10, 13, 14):
        call.send(sequence, 1.0, payload=sent[sequence])
    first = min(sequences(call.bob))
    assert sorted(sequences(call.bob)) == list(range(first, first + 5))
    assert contents(call.bob) == [sent[sequence] for sequence in range(10, 15)]


def test_what_is_still_missing_when_a_late_keyframe_starts_keeps_its_number() -> None:
    call = Call()
    sent = {sequence: numbered(sequence, keyframe=sequence == 10) for sequence in range(10, 14)}
    for sequence in (11, 13, 10, 12):
        call.send(sequence, 1.0, payload=sent[sequence])
    assert contents(call.bob) == [sent[sequence] for sequence in range(10, 14)]


def test_a_nack_that_crosses_the_late_packet_on_its_way_is_not_answered() -> None:
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
    # A round trip later it must have been lost.
    call.bob.send_rtcp(packets.nack(5000, [missing]), 1.20)
    call.deliver()
    assert len(call.bob.media) == 5


@pytest.mark.parametrize(("asked_for", "resends"), [(1, 3), (120, 6)])
def test_a_receiver_that_loses_much_may_have_a_packet_more_often(asked_for: int, resends: int) -> None:
    call = Call()
    for sequence in range(1, 1001):
        call.send(sequence, 1.0 + sequence / 10_000, payload=VP8_KEYFRAME + bytes(200))
    numbers = sequences(call.bob)[-asked_for:]
    call.bob.send_rtcp(packets.nack(5000, numbers), 1.1)
    call.deliver()
    before = len(call.bob.media)
    for attempt in range(20):
        call.bob.send_rtcp(packets.nack(5000, numbers[-1:]), 1.1 + attempt * 0.025)
    call.deliver()
    # Once in 100 ms: that is five times in all, where three are not the limit.
    assert len(call.bob.media) - before == min(resends, 5) - 1


def test_the_numbers_of_a_sender_that_jumped_are_reported_from_its_new_beginning() -> None:
    call = Call()
    for sequence in (60000, 60001, 5, 6):
        call.send(sequence, 1.0)
    call.engine.advance(2.5)
    call.deliver()
    body = [body for kind, _, body in call.alice.reports if kind == 201][-1]
    assert struct.unpack_from("!II", body, 8) == (0, 6)


@pytest.mark.parametrize("rtx", [True, False])
def test_a_fast_tracks_packets_can_all_be_asked_for_until_they_are_too_old(rtx: bool) -> None:
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
