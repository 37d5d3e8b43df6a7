"""Sources that restart, repeat packets, flood the SFU or take over an address do not affect other streams."""

import struct

import pytest

from svc._rtp.engine import ManualEngine
from tests.kit import packets
from tests.kit.call import Call, header, sequences
from tests.kit.participant import (
    MID,
    VIDEO_RTX,
    VP8_DELTA,
    VP8_KEYFRAME,
    Participant,
    deliver,
    new_engine,
    video,
)

STREAMS = 64


def retransmission(original: int, *, sequence: int = 1) -> bytes:
    return packets.rtp(
        ssrc=1001,
        sequence=sequence,
        payload_type=VIDEO_RTX,
        extensions=packets.one_byte_extensions([(MID, b"1")]),
        payload=struct.pack("!H", original & 0xFFFF) + VP8_DELTA,
    )


@pytest.mark.parametrize("distance", [3001, 20_000, -3000, 32_768])
def test_a_retransmission_never_restarts_the_sequence_numbers(distance: int) -> None:
    # The retransmission may belong to the source that the current one has replaced.
    call = Call()
    call.send(100, 1.0)
    call.alice.send(retransmission(100 + distance), 1.0)
    call.send(101, 1.0, payload=VP8_DELTA)
    first = sequences(call.bob)[0]
    assert sequences(call.bob) == [first, first + 1]


@pytest.mark.parametrize("profile", ["AEAD_AES_128_GCM", "AES_CM_128_HMAC_SHA1_80"])
@pytest.mark.parametrize("number", [33_000, 60_000, 64_500, 65_500])
def test_a_source_whose_sequence_numbers_jump_in_the_first_cycle_continues_immediately(
    number: int, profile: str
) -> None:
    """Check a jump that RFC 3711 section 3.3.1 would treat as a late packet of the previous cycle."""
    call = Call(profile=profile)
    call.send(99, 1.0)
    call.send(100, 1.0)
    for sent in range(number, number + 400):
        call.send(sent & 0xFFFF, 1.0)
    first = sequences(call.bob)[0]
    assert len(sequences(call.bob)) == 402
    # From a receiver's point of view, the new sequence numbers would be behind the previous ones.
    assert sequences(call.bob)[2:] == list(range(sequences(call.bob)[2], sequences(call.bob)[2] + 400))
    assert sequences(call.bob)[2] > first + 1


def test_a_retransmission_with_jumping_numbers_does_not_restart_the_sequence() -> None:
    call = Call()
    call.send(100, 1.0)
    call.alice.send(retransmission(99, sequence=1), 1.0)
    call.alice.send(retransmission(98, sequence=60_000), 1.0)
    call.send(101, 1.0)
    first, last = sequences(call.bob)[0], sequences(call.bob)[-1]
    assert last == first + 1


def test_a_source_with_ssrc_0_is_not_assigned_to_a_track() -> None:
    call = Call()
    call.send(1, 1.0, ssrc=0)
    assert call.bob.media == []
    assert call.engine.counters()["dropped_not_negotiated"] == 1


def test_a_flood_of_sources_is_limited_and_known_sources_continue() -> None:
    call = Call()
    call.send(1, 1.0)
    for n in range(STREAMS):
        call.send(1, 1.0, ssrc=5000 + n, mid=None)
    # Packets from the additional source are not even decrypted, although they have a known mid.
    call.send(1, 1.0, ssrc=9000)
    call.send(2, 1.0)
    assert {header(packet)["ssrc"] for packet in call.bob.media} == {5000}
    assert len(call.bob.media) == 2
    assert [event[0] for event in call.engine.take_events()].count("track") == 1


def test_a_flood_of_rtcp_sources_is_also_limited() -> None:
    call = Call()
    call.send(1, 1.0)
    for n in range(STREAMS):
        call.alice.send_rtcp(packets.rtcp(201, 0, struct.pack("!I", 5000 + n)), 1.0)
    before = call.engine.counters()["dropped_not_negotiated"]
    call.alice.send_rtcp(packets.rtcp(201, 0, struct.pack("!I", 9000)), 1.0)
    assert call.engine.counters()["dropped_not_negotiated"] == before + 1


def test_the_owner_of_an_address_regains_it_with_the_next_check() -> None:
    engine = new_engine()
    alice, bob, carol = (Participant(engine, port) for port in (1001, 1002, 1003))
    forwarder = alice.publish("1", "video")
    bob.subscribe(forwarder, 5000)
    carol.address = alice.address
    carol.check(1.0)
    engine.close_transport(carol.transport)
    alice.check(2.0)
    alice.send(video(1), 2.0)
    deliver(engine, alice, bob)
    assert len(bob.media) == 1


def test_jitter_is_measured_with_the_clock_of_the_current_codec() -> None:
    engine = ManualEngine(seed=1)
    engine.negotiate(
        payloads=[(111, "audio", "opus", 48000, None), (8, "audio", "PCMA", 8000, None)],
        mid_id=MID,
        twcc_id=0,
        level_id=0,
        descriptor_id=0,
        forwarded_ids=[],
    )
    alice = Participant(engine, 1001)
    engine.open_section(alice.transport, 0, "0", "audio", [111, 8], [77])
    for n in range(100):
        payload_type, step = (111, 960) if n < 50 else (8, 160)
        alice.send(
            packets.rtp(ssrc=77, sequence=n, payload_type=payload_type, timestamp=n * step, payload=b"sound"),
            1 + n / 50,
        )
    engine.advance(4.0)
    deliver(engine, alice)
    body = [body for kind, _, body in alice.reports if kind == 201][-1]
    assert struct.unpack("!I", body[16:20])[0] < 3


@pytest.mark.parametrize(("begins_with", "plis"), [(VP8_DELTA, 1), (VP8_KEYFRAME, 0)])
def test_a_replacing_source_gets_a_keyframe_request_unless_it_starts_with_one(
    begins_with: bytes, plis: int
) -> None:
    """Lose packets before the first arrival, where no gap prompts a receiver to request them."""
    call = Call()
    call.send(1, 1.0)
    call.engine.advance(3.5)
    call.deliver()
    call.alice.reports.clear()
    call.send(100, 4.1, ssrc=2000, payload=begins_with)
    call.engine.advance(4.11)
    call.deliver()
    assert sum((kind, number) == (206, 1) for kind, number, _ in call.alice.reports) == plis
