"""A receiver that has paused a track gets none of its packets, and resumes with a keyframe and no gap."""

from tests.kit import packets
from tests.kit.call import Call, header, payload, sequences
from tests.kit.participant import VP8_DELTA, VP8_KEYFRAME, Participant, deliver


def plis(participant: Participant) -> int:
    return sum(1 for kind, fmt, _ in participant.reports if (kind, fmt) == (206, 1))


def picture(call: Call, step: int, *, keyframe: bool = False) -> None:
    """Send frame number `step`. The frames start at 10 s and are 50 ms apart."""
    kind = VP8_KEYFRAME if keyframe else VP8_DELTA
    call.send(100 + step, 10 + step * 0.05, payload=kind + bytes([step]), timestamp=step * 4500)


def paused_call() -> Call:
    """Return a call in which Bob has received three frames and has paused the track."""
    call = Call()
    for step in range(3):
        picture(call, step, keyframe=step == 0)
    call.engine.set_paused(call.down_track, True)
    call.engine.advance(10.1)
    call.deliver()
    return call


def test_a_paused_receiver_gets_no_packets_resends_or_keyframes() -> None:
    call = paused_call()
    numbers = sequences(call.bob)
    call.alice.reports.clear()
    for step in range(3, 12):
        picture(call, step, keyframe=step == 6)
    call.bob.send_rtcp(packets.nack(5000, numbers), 10.6)
    call.bob.send_rtcp(packets.pli(5000), 10.6)
    call.alice.send_rtcp(packets.sender_report(1000, 1 << 32, 0), 10.6)
    call.deliver()
    assert sequences(call.bob) == numbers
    assert plis(call.alice) == 0
    assert [kind for kind, _, _ in call.bob.reports] == []


def test_an_unpaused_receiver_requests_a_keyframe_and_continues_with_it() -> None:
    call = paused_call()
    for step in range(3, 20):
        picture(call, step)
    call.alice.reports.clear()
    call.engine.set_paused(call.down_track, False)
    call.engine.advance(11.0)
    call.deliver()
    assert plis(call.alice) == 1
    picture(call, 20)
    picture(call, 21, keyframe=True)
    picture(call, 22)
    first = sequences(call.bob)[0]
    assert sequences(call.bob) == list(range(first, first + 5))
    assert [payload(packet)[-1] for packet in call.bob.media] == [0, 1, 2, 21, 22]
    assert [header(packet)["timestamp"] for packet in call.bob.media] == [
        step * 4500 for step in (0, 1, 2, 21, 22)
    ]


def test_a_receiver_that_unpauses_soon_after_a_keyframe_gets_it_from_the_history() -> None:
    call = paused_call()
    for step in range(3, 9):
        picture(call, step, keyframe=step == 5)
    call.alice.reports.clear()
    call.engine.set_paused(call.down_track, False)
    call.engine.advance(10.45)
    call.deliver()
    assert [payload(packet)[-1] for packet in call.bob.media] == [0, 1, 2, 5, 6, 7, 8]
    assert plis(call.alice) == 0


def test_no_packet_is_sent_twice_after_a_short_pause() -> None:
    call = paused_call()
    call.engine.set_paused(call.down_track, False)
    call.engine.advance(10.15)
    call.deliver()
    assert [payload(packet)[-1] for packet in call.bob.media] == [0, 1, 2]


def test_timestamps_continue_after_another_source_has_taken_over() -> None:
    call = paused_call()
    call.send(7, 10.5, ssrc=2000, payload=VP8_KEYFRAME, timestamp=123_456_789)
    call.engine.set_paused(call.down_track, False)
    call.engine.advance(10.6)
    call.deliver()
    *_, before, after = [header(packet) for packet in call.bob.media]
    assert after["sequence"] == before["sequence"] + 1
    assert after["timestamp"] - before["timestamp"] in range(36_000, 45_001)  # 0.4 to 0.5 s


def test_frequent_pausing_does_not_raise_the_rate_of_keyframes() -> None:
    call = Call()
    for step in range(1, 1201):
        now, before = 10 + step / 20, plis(call.alice)
        for paused in (True, False):
            call.engine.set_paused(call.down_track, paused)
            call.engine.advance(now)
        call.deliver()
        call.send(step, now, payload=VP8_KEYFRAME if plis(call.alice) > before else VP8_DELTA)
    # Without any receiver's requests, there would be 30 keyframe requests in that minute.
    assert 30 <= plis(call.alice) <= 42


def test_a_track_paused_before_the_receiver_is_ready_requests_no_keyframe() -> None:
    call = Call()
    carol = Participant(call.engine, 1003, keyed=False)
    call.engine.set_paused(carol.subscribe(call.forwarder, 7000), True)
    picture(call, 0, keyframe=True)
    picture(call, 20)
    call.engine.advance(11.0)
    call.deliver()
    call.alice.reports.clear()
    call.engine.set_keys(carol.transport, "AEAD_AES_128_GCM", bytes(28), bytes(28))
    call.engine.advance(11.0)
    deliver(call.engine, call.alice, call.bob)
    assert plis(call.alice) == 0
