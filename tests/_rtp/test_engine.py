"""Tests the engine end to end without I/O. Another SRTP library encrypts and decrypts the datagrams."""

import struct

import pytest

from svc._rtp.engine import ManualEngine
from tests.kit import packets
from tests.kit.call import Call, header, payload, sequences
from tests.kit.participant import (
    AUDIO,
    DESCRIPTOR,
    LEVEL,
    MID,
    OTHER_VIDEO,
    SERVER,
    TWCC,
    VIDEO,
    VIDEO_RTX,
    VP8_DELTA,
    VP8_KEYFRAME,
    Participant,
    deliver,
    new_engine,
    video,
)


@pytest.mark.parametrize("profile", ["AEAD_AES_128_GCM", "AES_CM_128_HMAC_SHA1_80"])
def test_a_packet_reaches_the_receiver_under_a_new_ssrc_with_its_payload_unchanged(profile: str) -> None:
    call = Call(profile=profile)
    call.send(100, 1.0, payload=VP8_KEYFRAME + b"picture", timestamp=4242, marker=True)
    (packet,) = call.bob.media
    got = header(packet)
    assert (got["ssrc"], got["payload_type"], got["timestamp"], got["marker"]) == (5000, VIDEO, 4242, True)
    assert payload(packet) == VP8_KEYFRAME + b"picture"
    assert got["sequence"] < 2**15


def test_nobody_receives_their_own_audio() -> None:
    call = Call()
    call.send(1, 1.0)
    assert call.alice.media == []


def test_hop_by_hop_extensions_are_consumed_and_end_to_end_extensions_are_forwarded() -> None:
    call = Call()
    elements = [(MID, b"1"), (TWCC, b"\0\1"), (LEVEL, b"\x7f"), (DESCRIPTOR, b"abc"), (9, b"unknown")]
    packet = packets.rtp(
        ssrc=1000,
        sequence=1,
        payload_type=VIDEO,
        payload=VP8_KEYFRAME,
        extensions=packets.one_byte_extensions(elements),
    )
    call.alice.send(packet, 1.0)
    call.deliver()
    # The receiver accepted LEVEL but not DESCRIPTOR.
    assert header(call.bob.media[0])["extensions"] == [(LEVEL, b"\x7f")]


def test_the_mid_is_sent_until_the_receiver_reports_on_the_stream() -> None:
    call = Call()
    call.engine.close_down_track(call.down_track)
    call.bob.subscribe(call.forwarder, 6000, extension_ids=[MID], mid="7")
    call.send(1, 1.0)
    assert header(call.bob.media[-1])["extensions"] == [(MID, b"7")]
    call.bob.send_rtcp(packets.receiver_report(1, 6000), 1.1)
    call.send(2, 1.2)
    assert header(call.bob.media[-1])["extensions"] == []


def test_a_down_track_starts_at_a_keyframe_and_its_sequence_numbers_are_contiguous() -> None:
    call = Call()
    call.send(10, 1.0, payload=VP8_DELTA)
    assert call.bob.media == []
    for sequence in range(11, 15):
        call.send(sequence, 1.1, payload=VP8_KEYFRAME if sequence == 11 else VP8_DELTA)
    first = sequences(call.bob)[0]
    assert sequences(call.bob) == [first, first + 1, first + 2, first + 3]


def test_sequence_numbers_continue_across_the_senders_16_bit_wrap() -> None:
    call = Call()
    for sequence in (65534, 65535, 0, 1):
        call.send(sequence, 1.0)
    first = sequences(call.bob)[0]
    assert sequences(call.bob) == [first, first + 1, first + 2, first + 3]


def test_a_late_packet_gets_the_number_reserved_for_it() -> None:
    call = Call()
    for sequence in (1, 2, 4, 3):
        call.send(sequence, 1.0)
    first = sequences(call.bob)[0]
    assert sequences(call.bob) == [first, first + 1, first + 3, first + 2]


def test_a_duplicated_packet_is_forwarded_once() -> None:
    call = Call()
    call.send(1, 1.0)
    rtx = packets.rtp(
        ssrc=1001,
        sequence=7,
        payload_type=VIDEO_RTX,
        extensions=packets.one_byte_extensions([(MID, b"1")]),
        payload=struct.pack("!H", 1) + VP8_KEYFRAME,
    )
    call.alice.send(rtx, 1.1)
    call.deliver()
    assert len(call.bob.media) == 1
    assert call.engine.counters()["dropped_duplicate"] == 1


def test_a_senders_retransmission_is_forwarded_as_the_original_packet() -> None:
    call = Call()
    call.send(1, 1.0)
    call.send(3, 1.0)
    rtx = packets.rtp(
        ssrc=1001,
        sequence=7,
        payload_type=VIDEO_RTX,
        timestamp=55,
        extensions=packets.one_byte_extensions([(MID, b"1")]),
        payload=struct.pack("!H", 2) + VP8_DELTA + b"late",
    )
    call.alice.send(rtx, 1.1)
    call.deliver()
    got = header(call.bob.media[-1])
    assert (got["payload_type"], got["sequence"], got["timestamp"]) == (VIDEO, sequences(call.bob)[0] + 1, 55)
    assert payload(call.bob.media[-1]) == VP8_DELTA + b"late"


def test_padding_only_packets_are_dropped_without_leaving_a_gap() -> None:
    call = Call()
    call.send(1, 1.0)
    call.alice.send(packets.rtp(ssrc=1000, sequence=2, payload_type=VIDEO, padding=100), 1.0)
    call.send(3, 1.0)
    first = sequences(call.bob)[0]
    assert sequences(call.bob) == [first, first + 1]


def test_a_nack_is_answered_on_the_rtx_stream() -> None:
    call = Call()
    for sequence in (1, 2, 3):
        call.send(sequence, 1.0, payload=VP8_KEYFRAME + bytes([sequence]))
    lost = sequences(call.bob)[1]
    call.bob.send_rtcp(packets.nack(5000, [lost]), 1.05)
    call.deliver()
    again = call.bob.media[-1]
    assert (header(again)["ssrc"], header(again)["payload_type"]) == (5001, VIDEO_RTX)
    assert payload(again) == struct.pack("!H", lost) + VP8_KEYFRAME + b"\x02"


def test_without_rtx_a_nack_is_answered_with_the_identical_packet() -> None:
    call = Call(rtx=False)
    sent = []
    for sequence in (1, 2):
        call.alice.send(video(sequence), 1.0)
        sent += [data for data, remote, _ in call.engine.take_datagrams() if remote == call.bob.address]
    number = header(call.bob.inbound.unprotect(sent[0]))["sequence"]
    call.bob.send_rtcp(packets.nack(5000, [number]), 1.05)
    again = [data for data, remote, _ in call.engine.take_datagrams() if remote == call.bob.address]
    assert again == [sent[0]]


def test_a_packet_is_resent_at_most_three_times_and_not_twice_within_a_round_trip() -> None:
    call = Call()
    call.send(1, 1.0)
    number = sequences(call.bob)[0]
    for now in (1.02, 1.021, 1.06, 1.1, 1.2, 1.3):
        call.bob.send_rtcp(packets.nack(5000, [number]), now)
    call.deliver()
    assert len(call.bob.media) - 1 == 3


def test_packets_older_than_600_ms_are_not_resent() -> None:
    call = Call()
    call.send(1, 1.0)
    call.bob.send_rtcp(packets.nack(5000, [sequences(call.bob)[0]]), 1.7)
    call.deliver()
    assert len(call.bob.media) == 1


def test_resends_are_limited_to_a_fifth_of_the_receivers_traffic() -> None:
    call = Call()
    for sequence in range(1, 1001):
        call.send(sequence, 1.0, payload=VP8_KEYFRAME + bytes(1000))
    numbers = sequences(call.bob)
    call.bob.send_rtcp(packets.nack(5000, numbers[:300]), 1.1)
    call.deliver()
    assert 55 <= len(call.bob.media) - 1000 <= 65  # 64 KB of credit, in packets of 1 KB


def audio_call() -> tuple[ManualEngine, Participant, Participant, int]:
    engine = new_engine()
    alice, bob = Participant(engine, 1001), Participant(engine, 1002)
    forwarder = alice.publish("0", "audio", ssrcs=[77])
    bob.subscribe(forwarder, 5000, kind="audio")
    return engine, alice, bob, forwarder


def speak(alice: Participant, sequence: int) -> None:
    alice.send(packets.rtp(ssrc=77, sequence=sequence, payload_type=AUDIO, payload=b"opus"), 1.0)


def test_the_audio_of_a_muted_participant_stops_immediately_and_resumes_without_a_gap() -> None:
    engine, alice, bob, forwarder = audio_call()
    speak(alice, 1)
    engine.set_muted(forwarder, True)
    speak(alice, 2)
    engine.set_muted(forwarder, False)
    speak(alice, 3)
    deliver(engine, alice, bob)
    first = sequences(bob)[0]
    assert sequences(bob) == [first, first + 1]


def test_a_deafened_participant_gets_no_audio() -> None:
    engine, alice, bob, _ = audio_call()
    engine.set_deafened(bob.transport, True)
    speak(alice, 1)
    deliver(engine, alice, bob)
    assert bob.media == []
    engine.set_deafened(bob.transport, False)
    speak(alice, 2)
    deliver(engine, alice, bob)
    assert len(bob.media) == 1


def test_an_unsignalled_source_without_a_mid_is_dropped() -> None:
    call = Call()
    call.send(1, 1.0, mid=None)
    assert call.bob.media == []
    assert call.engine.counters()["dropped_not_negotiated"] == 1


def test_a_payload_type_that_was_never_offered_is_dropped() -> None:
    call = Call()
    call.alice.send(
        packets.rtp(
            ssrc=1000,
            sequence=1,
            payload_type=55,
            payload=b"x",
            extensions=packets.one_byte_extensions([(MID, b"1")]),
        ),
        1.0,
    )
    assert call.engine.counters()["dropped_not_negotiated"] == 1


def test_a_restarted_sender_continues_without_a_gap_at_its_keyframe() -> None:
    call = Call()
    call.send(1, 1.0)
    call.send(2, 1.0)
    call.send(900, 1.1, ssrc=2000, payload=VP8_DELTA)
    call.send(901, 1.1, ssrc=2000, payload=VP8_KEYFRAME)
    first = sequences(call.bob)[0]
    assert sequences(call.bob) == [first, first + 1, first + 2]
    assert [event[0] for event in call.engine.take_events()].count("track") == 2


def test_at_most_sixteen_sources_from_a_participant_become_tracks() -> None:
    call = Call()
    for n in range(40):
        call.send(1, 1.0, ssrc=3000 + n)
    assert [event[0] for event in call.engine.take_events()].count("track") == 16


def test_media_from_an_unverified_address_is_dropped() -> None:
    call = Call()
    call.engine.receive(call.alice.outbound.protect(video(1)), ("203.0.113.9", 5), SERVER, 1.0)
    assert call.engine.counters()["dropped_unknown_source"] == 1


def test_media_that_fails_authentication_is_dropped() -> None:
    call = Call()
    data = bytearray(call.alice.outbound.protect(video(1)))
    data[-1] ^= 1
    call.engine.receive(bytes(data), call.alice.address, SERVER, 1.0)
    assert call.engine.counters()["dropped_unauthenticated"] == 1


def test_a_replayed_packet_is_dropped() -> None:
    call = Call()
    data = call.alice.outbound.protect(video(1))
    for _ in range(2):
        call.engine.receive(data, call.alice.address, SERVER, 1.0)
    assert call.engine.counters()["dropped_unauthenticated"] == 1


def test_closing_a_transport_ends_its_tracks_and_is_reported() -> None:
    call = Call()
    call.send(1, 1.0)
    call.engine.take_events()
    call.engine.close_transport(call.alice.transport)
    call.engine.advance(2.0)
    assert [(event[0], event[1]) for event in call.engine.take_events()] == [("closed", call.alice.transport)]
    call.alice.send(video(2), 2.1)
    assert len(call.bob.media) == 1
    assert call.engine.counters()["dropped_unknown_source"] == 1


def test_a_receiver_that_has_left_gets_no_more_packets() -> None:
    call = Call()
    call.send(1, 1.0)
    call.engine.close_transport(call.bob.transport)
    call.send(2, 1.1)
    assert len(call.bob.media) == 1


def test_commands_for_closed_objects_do_nothing() -> None:
    call = Call()
    call.engine.close_transport(call.alice.transport)
    call.engine.set_muted(call.forwarder, True)
    call.engine.close_forwarder(call.forwarder)
    call.engine.close_down_track(call.down_track)
    call.engine.set_layer(call.down_track, 0)
    call.engine.open_down_track(
        call.forwarder,
        call.bob.transport,
        mid="4",
        mid_id=0,
        ssrc=1,
        rtx_ssrc=0,
        payload_types=[],
        extension_ids=[],
        mixed=False,
        cname="",
    )
    call.engine.advance(3.0)


def test_garbage_with_any_first_byte_is_counted_and_dropped() -> None:
    call = Call()
    for first in range(256):
        for length in (0, 1, 2, 11, 12, 20, 60, 1500, 1501):
            call.engine.receive(bytes([first]) * length, call.alice.address, SERVER, 1.0)
    assert call.bob.media == []


def test_a_stopped_engine_sends_nothing() -> None:
    engine = new_engine()
    outlet = vars(engine)["_outlet"]
    for _ in range(300):
        engine.send_stun(b"\0\1" + bytes(18), ("198.51.100.7", 1), SERVER)
    del engine
    assert outlet.take() == []


def test_a_stream_without_recognisable_keyframes_is_forwarded_after_a_timeout() -> None:
    # Some H264 encoders respond to a PLI with a complete picture that is not an IDR picture.
    call = Call()
    for step in range(200):
        call.send(step, 1.0 + step / 50, payload=VP8_DELTA)
    assert 30 <= len(call.bob.media) <= 60  # the frames sent in the last of the four seconds


def test_each_forwarded_packet_is_logged_if_packet_logs_are_on() -> None:
    call = Call()
    call.send(7, 1.0)
    assert "forwarded" not in [event[0] for event in call.engine.take_events()]
    call.engine.set_verbose(True)
    call.send(8, 1.1)
    number = sequences(call.bob)[-1]
    events = [
        (event[1], event[5], event[6], event[7])
        for event in call.engine.take_events()
        if event[0] == "forwarded"
    ]
    assert events == [(call.bob.transport, 1000, 5000, 8 << 16 | number)]


def test_a_codec_change_is_reported_once() -> None:
    engine = new_engine()
    alice = Participant(engine, 1001)
    alice.publish("1", "video")
    for step in range(100):
        payload_type = VIDEO if step < 50 else OTHER_VIDEO
        extensions = packets.one_byte_extensions([(MID, b"1")])
        packet = packets.rtp(
            ssrc=1000,
            sequence=step,
            payload_type=payload_type,
            extensions=extensions,
            payload=VP8_KEYFRAME,
        )
        alice.send(packet, 1.0 + step / 50)
    tracks = [(event[5], event[6]) for event in engine.take_events() if event[0] == "track"]
    assert tracks == [(1000, VIDEO), (1000, OTHER_VIDEO)]
