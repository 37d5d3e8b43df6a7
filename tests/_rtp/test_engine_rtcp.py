"""The engine sends reports, NACKs and PLIs to senders, and translates, answers or consumes the RTCP packets
that it receives.
"""

import struct

import pytest

from tests.kit import packets
from tests.kit.call import Call, sequences
from tests.kit.participant import AUDIO, MID, VP8_DELTA, VP8_KEYFRAME, Participant, deliver, new_engine


@pytest.mark.parametrize("request_", [packets.pli, packets.fir])
def test_a_receivers_keyframe_request_becomes_one_pli_to_the_sender(request_: object) -> None:
    call = Call()
    call.send(1, 10.0)
    call.alice.reports.clear()
    call.bob.send_rtcp(request_(5000), 10.6)  # type: ignore[operator]
    call.deliver()
    assert [(kind, fmt, body[4:8]) for kind, fmt, body in call.alice.reports if kind == 206] == [
        (206, 1, struct.pack("!I", 1000))
    ]


def plis(participant: Participant) -> int:
    return sum(1 for kind, fmt, _ in participant.reports if (kind, fmt) == (206, 1))


def test_each_forwarder_sends_a_pli_every_two_seconds() -> None:
    call = Call()
    for step in range(1, 2001):
        now = step / 100
        if step % 5 == 0:
            call.send(step // 5, now)
        call.engine.advance(now)
    call.deliver()
    assert 9 <= plis(call.alice) <= 12


def two_requests(again_at: float | None) -> list[float]:
    """Have a receiver request a keyframe at 10.55 s and at `again_at`, without sending it one. Return the
    times of the requests that reach the sender.
    """
    call, times = Call(), []
    call.send(1, 10.0)
    call.engine.advance(10.0)
    call.deliver()
    for step in range(1055, 1500):
        before, now = plis(call.alice), step / 100
        if now in (10.55, again_at):
            call.bob.send_rtcp(packets.pli(5000), now)
        call.engine.advance(now)
        call.deliver()
        if plis(call.alice) > before:
            times.append(now)
    return times


def test_a_keyframe_request_that_comes_too_early_is_delayed_rather_than_lost() -> None:
    once, twice = two_requests(None), two_requests(10.6)
    assert once[0] == 10.55
    assert sorted(set(twice) - set(once)) == [pytest.approx(13.55, abs=0.02)]


@pytest.mark.parametrize(("lost", "requests"), [(7, 0), (8, 1), (100, 1)])
def test_an_outage_too_long_for_resends_leads_to_a_keyframe_request(lost: int, requests: int) -> None:
    call = Call()
    for sequence in range(1, 102):
        call.send(sequence, 10.0)
    call.engine.advance(10.55)
    call.deliver()
    before = plis(call.alice)
    missing = packets.nack(5000, sequences(call.bob)[1 : lost + 1])
    for step in range(5):  # The receiver repeats the NACK until the keyframe arrives.
        call.bob.send_rtcp(missing, 11.0 + 0.05 * step)
        call.deliver()
    assert plis(call.alice) - before == requests


def test_a_receiver_that_keeps_asking_does_not_delay_the_first_request_of_another() -> None:
    call = Call()
    carol = Participant(call.engine, 1003)
    carol.subscribe(call.forwarder, 7000)
    call.send(1, 10.0, payload=VP8_KEYFRAME)
    call.engine.advance(10.0)
    for step in range(1060, 1361, 5):
        # Keyframes arrive, but Bob cannot decode them.
        now, before = step / 100, plis(call.alice)
        call.bob.send_rtcp(packets.pli(5000), now)
        call.engine.advance(now)
        call.deliver()
        call.send(step, now, payload=VP8_KEYFRAME)
    assert plis(call.alice) == before + 1, "Bob's second request goes through after 3 s"
    carol.send_rtcp(packets.pli(7000), now + 0.03)
    call.deliver()
    assert plis(call.alice) == before + 2


def test_no_keyframe_is_ever_requested_for_audio() -> None:
    engine = new_engine()
    alice = Participant(engine, 1001)
    alice.publish("0", "audio")
    for step in range(500):
        alice.send(
            packets.rtp(
                ssrc=9,
                sequence=step,
                payload_type=AUDIO,
                payload=b"opus",
                extensions=packets.one_byte_extensions([(MID, b"0")]),
            ),
            1 + step / 50,
        )
        engine.advance(1 + step / 50)
    deliver(engine, alice)
    assert plis(alice) == 0


def test_missing_packets_are_requested_from_the_sender() -> None:
    call = Call()
    call.send(1, 1.0)
    call.send(4, 1.0)
    call.engine.advance(1.03)
    call.deliver()
    (body,) = [body for kind, fmt, body in call.alice.reports if (kind, fmt) == (205, 1)]
    assert body[4:] == struct.pack("!IHH", 1000, 2, 1)


def test_the_sender_gets_receiver_reports_with_the_engines_statistics() -> None:
    call = Call()
    for sequence in (1, 2, 4):
        call.send(sequence, 1.0)
    call.alice.send_rtcp(packets.sender_report(1000, 0x1111_2222_3333_4444, 0), 1.2)
    call.engine.advance(2.5)
    call.deliver()
    body = [body for kind, _, body in call.alice.reports if kind == 201][-1]
    ssrc, lost, highest, _jitter, lsr, dlsr = struct.unpack("!IIIIII", body[4:28])
    assert (ssrc, lost & 0xFFFFFF, highest, lsr) == (1000, 1, 4, 0x2222_3333)
    assert dlsr == pytest.approx(1.3 * 65536, rel=0.01)


def test_the_sender_gets_transport_wide_feedback() -> None:
    call = Call()
    for sequence in range(1, 6):
        call.send(sequence, 1.0 + sequence / 100, twcc=sequence)
    call.engine.advance(1.2)
    call.deliver()
    feedback = [body for kind, fmt, body in call.alice.reports if (kind, fmt) == (205, 15)]
    reported = sum(struct.unpack("!H", body[10:12])[0] for body in feedback)
    assert reported == 5


def test_a_sender_report_is_translated_for_the_receiver() -> None:
    call = Call()
    call.send(1, 1.0, payload=VP8_KEYFRAME + bytes(98))
    call.alice.send_rtcp(
        packets.sender_report(1000, 0xAAAA_BBBB_CCCC_DDDD, 777, packets=9999, octets=9999), 1.2
    )
    call.deliver()
    sr = [body for kind, _, body in call.bob.reports if kind == 200][-1]
    assert struct.unpack("!IQIII", sr) == (5000, 0xAAAA_BBBB_CCCC_DDDD, 777, 1, 100)
    sdes = [body for kind, _, body in call.bob.reports if kind == 202][-1]
    assert sdes.startswith(struct.pack("!IBB", 5000, 1, 5) + b"alice")


def test_receivers_bandwidth_estimates_and_reports_are_not_forwarded() -> None:
    call = Call()
    call.send(1, 10.0)
    call.alice.reports.clear()
    call.bob.send_rtcp(packets.remb(5000), 10.05)
    call.bob.send_rtcp(packets.receiver_report(1, 5000), 10.05)
    call.deliver()
    assert call.alice.reports == []


def test_a_keyframe_is_requested_when_a_receiver_becomes_ready() -> None:
    call = Call()
    carol = Participant(call.engine, 1003, keyed=False)
    carol.subscribe(call.forwarder, 5000)
    # The keyframe that the new down track requested has already passed.
    call.send(1, 10.0)
    call.send(2, 10.6, payload=VP8_DELTA)
    before = plis(call.alice)
    call.engine.set_keys(carol.transport, "AEAD_AES_128_GCM", bytes(28), bytes(28))
    call.engine.advance(10.6)
    call.deliver()
    assert plis(call.alice) == before + 1


def test_a_keyframe_satisfies_a_delayed_request() -> None:
    call = Call()
    call.send(1, 1.0)
    periodic = 1.0
    while not plis(call.alice):
        periodic += 0.01
        call.engine.advance(periodic)
        call.deliver()
    # For the next two seconds, the core requests no keyframe unless a receiver asks for one.
    for after in (0.6, 0.7):
        call.bob.send_rtcp(packets.pli(5000), periodic + after)
    call.send(2, periodic + 0.8, payload=VP8_KEYFRAME)
    before = plis(call.alice)
    for step in range(80, 190):
        call.engine.advance(periodic + step / 100)
    call.deliver()
    assert plis(call.alice) == before == 2


def test_a_receiver_that_cannot_decode_does_not_raise_the_keyframe_rate_for_everybody() -> None:
    call = Call()
    for step in range(1, 1201):
        now, before = 10 + step / 20, plis(call.alice)
        call.bob.send_rtcp(packets.pli(5000), now)
        call.engine.advance(now)
        call.deliver()
        call.send(step, now, payload=VP8_KEYFRAME if plis(call.alice) > before else VP8_DELTA)
    # The service itself sends 30 requests in that minute. Forwarding each of the receiver's would make it 60.
    assert 30 <= plis(call.alice) <= 42
