"""A participant who joins a call gets video immediately if the last keyframe is recent and complete."""

from random import Random

import pytest

from tests.kit import packets
from tests.kit.call import Call, header, payload, sequences
from tests.kit.participant import VP8_DELTA, VP8_KEYFRAME, Participant, deliver, video
from tests.kit.simulation.layers import temporal_id
from tests.kit.simulation.link import Conditions
from tests.kit.simulation.receiver import VideoReceiver
from tests.kit.simulation.sender import VideoSender
from tests.kit.simulation.world import World


def frame_every_50_ms(call: Call, upto: float, *, without: tuple[int, ...] = ()) -> list[bytes]:
    """Send a keyframe at 10 s and then a frame every 50 ms. Return the payloads."""
    sent = []
    for step in range(round((upto - 10) / 0.05)):
        picture = (VP8_DELTA if step else VP8_KEYFRAME) + bytes([step])
        if step not in without:
            call.send(100 + step, 10 + step * 0.05, payload=picture, timestamp=step * 4500)
            sent.append(picture)
    call.deliver()
    call.alice.reports.clear()
    return sent


def newcomer(call: Call, now: float, *, keyed: bool = True) -> Participant:
    carol = Participant(call.engine, 1003, now=now, keyed=keyed)
    carol.subscribe(call.forwarder, 7000)
    call.engine.advance(now)
    deliver(call.engine, call.alice, call.bob, carol)
    return carol


def plis(participant: Participant) -> int:
    return sum(1 for kind, fmt, _ in participant.reports if (kind, fmt) == (206, 1))


def test_a_late_joiner_gets_a_recent_keyframe_from_the_history_without_a_request() -> None:
    call = Call()
    sent = frame_every_50_ms(call, 10.3)
    carol = newcomer(call, 10.3)
    assert [payload(packet) for packet in carol.media] == sent
    first = sequences(carol)[0]
    assert sequences(carol) == list(range(first, first + len(sent)))
    assert [header(packet)["timestamp"] for packet in carol.media] == [
        step * 4500 for step in range(len(sent))
    ]
    assert plis(call.alice) == 0
    assert len(call.bob.media) == len(sent)


def test_packets_after_the_replayed_keyframe_continue_its_sequence_numbers() -> None:
    call = Call()
    sent = frame_every_50_ms(call, 10.3)
    carol = newcomer(call, 10.3)
    number = sequences(carol)[-1]
    for step in range(3):
        call.alice.send(video(100 + len(sent) + step, payload=VP8_DELTA), 10.32)
    deliver(call.engine, carol)
    assert sequences(carol)[len(sent) :] == [number + 1, number + 2, number + 3]


def test_a_late_joiner_gets_the_video_even_if_their_keys_arrive_late() -> None:
    call = Call()
    carol = Participant(call.engine, 1003, keyed=False)
    carol.subscribe(call.forwarder, 7000)
    sent = frame_every_50_ms(call, 10.3)
    call.engine.set_keys(carol.transport, "AEAD_AES_128_GCM", bytes(28), bytes(28))
    call.engine.advance(10.3)
    to_carol = [data for data, remote, _ in call.engine.take_datagrams() if remote == carol.address]
    assert len(to_carol) == len(sent)


def test_a_late_joiner_with_reduced_layers_gets_only_these_layers_from_the_history() -> None:
    world = World(seed=1)
    sender = VideoSender(world.join(Conditions(), Conditions()), layers=True)
    world.run(1.1)
    carol = Participant(world.engine, 2001, now=world.now, keyed=False)
    world.engine.set_layer(carol.subscribe(sender.forwarder, 7000), 0)
    world.run(1.5)
    sender.stop()
    world.run(1.6)
    world.engine.set_keys(carol.transport, "AEAD_AES_128_GCM", bytes(28), bytes(28))
    world.engine.advance(world.now)
    timestamps = {
        packets.read_rtp(data).timestamp
        for data, remote, _ in world.engine.take_datagrams()
        if remote == carol.address and not packets.is_rtcp(data)
    }
    newest = max(frame.number for frame in sender.frames if frame.keyframe)
    lowest = [frame for frame in sender.frames[newest:] if temporal_id(frame) == 0]
    assert len(timestamps) == len(lowest) > 1


def test_a_keyframe_is_requested_for_a_late_joiner_if_the_last_one_is_too_old() -> None:
    call = Call()
    frame_every_50_ms(call, 10.6)
    carol = newcomer(call, 10.6)
    assert carol.media == []
    call.engine.advance(10.6)
    assert plis(call.alice) == 1


@pytest.mark.parametrize("missing", [0, 1, 3])
def test_a_keyframe_is_requested_for_a_late_joiner_if_a_packet_is_missing(missing: int) -> None:
    call = Call()
    frame_every_50_ms(call, 10.3, without=(missing,))
    carol = newcomer(call, 10.3)
    for step in range(60):
        call.engine.advance(10.3 + step / 100)
    deliver(call.engine, call.alice, carol)
    assert carol.media == []
    assert plis(call.alice) >= 1


def test_no_late_joiner_gets_frames_from_a_replaced_sender() -> None:
    call = Call()
    frame_every_50_ms(call, 10.3)
    call.send(900, 10.3, ssrc=2000, payload=VP8_DELTA)
    carol = newcomer(call, 10.31)
    assert carol.media == []


def test_a_late_joiner_that_requests_a_keyframe_gets_no_packet_twice() -> None:
    call = Call()
    sent = frame_every_50_ms(call, 10.3)
    call.bob.send_rtcp(packets.pli(5000), 10.3)
    call.deliver()
    assert len(call.bob.media) == len(sent)


@pytest.mark.parametrize("layers", [False, True], ids=["whole", "lowest-layer"])
@pytest.mark.parametrize("link", [Conditions(), Conditions(loss=0.05, jitter_s=0.01)], ids=["clean", "lossy"])
def test_late_joiners_at_any_time_can_decode_from_the_first_frame(link: Conditions, layers: bool) -> None:
    world = World(seed=1)
    sender = VideoSender(world.join(link, link), layers=layers)
    world.run(3.0)
    begun: list[tuple[float, VideoReceiver]] = []
    moments = Random(1)
    for _ in range(40):
        world.run(world.now + moments.uniform(0.02, 0.4))
        receiver = VideoReceiver(world.join(Conditions(), Conditions()), sender.forwarder)
        if layers:
            world.engine.set_layer(receiver.down_track, 0)
        begun.append((world.now, receiver))
    world.run(world.now + 2)
    sender.stop()
    world.run(world.now + 1.5)
    frames = {frame.number: frame for frame in sender.frames}
    for at, receiver in begun:
        receiver.check_order()
        first = min(receiver.frames)
        assert frames[first].keyframe
        due = {
            number
            for number, frame in frames.items()
            if number >= first and (not layers or temporal_id(frame) == 0)
        }
        assert due - set(receiver.completed) <= set(list(frames)[-3:])
        # Layers can be requested only once the down track exists. By then, it has already sent the frames in
        # the history.
        assert all(frames[number].captured <= at for number in receiver.frames - due)
    if link == Conditions():
        assert all(min(receiver.completed.values()) - at < 0.2 for at, receiver in begun)
