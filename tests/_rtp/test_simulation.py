"""Simulates whole calls over bad links, and checks the packets that browsers send, request and receive.

Every run also checks, packet by packet, that SRTP authentication succeeds, that payloads are unchanged, that
no index is used to encrypt different bytes, and that sequence numbers and timestamps increase as they must.
See tests.kit.simulation.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from tests.kit.simulation.frames import Frame
from tests.kit.simulation.layers import dependencies, temporal_id
from tests.kit.simulation.link import Conditions
from tests.kit.simulation.receiver import VideoReceiver
from tests.kit.simulation.sender import VideoSender
from tests.kit.simulation.world import World

MORE_SEEDS = pytest.mark.nightly("one seed runs daily")
CLEAN = Conditions()
# "10 % random loss and 5 % reordering", with delays of 20 to 30 ms.
LOSSY = Conditions(jitter_s=0.01, loss=0.10, reorder=0.05)
# Later packets are useless in a conversation, and the SFU does not resend packets older than this either.
DEADLINE_S = 0.6
WARM_UP_S = 2.0
# No receiver can notice that the very last packet is missing.
TAIL_S = 0.1


@dataclass
class Call:
    """One sender, and receivers that each have their own link."""

    seed: int
    up: Conditions = CLEAN
    down: tuple[Conditions, ...] = (CLEAN, CLEAN)
    sender_rtx: bool = True
    receiver_rtx: bool = True
    layers: bool = False
    sizes: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.world = World(self.seed)
        self.sender = VideoSender(
            self.world.join(self.up, self.up), rtx=self.sender_rtx, layers=self.layers, **self.sizes
        )
        self.receivers = [
            VideoReceiver(self.world.join(link, link), self.sender.forwarder, rtx=self.receiver_rtx)
            for link in self.down
        ]

    def hold(self, seconds: float) -> None:
        """Let video flow for `seconds`, including a warm-up. Then wait for the last retransmissions."""
        self.world.run(self.world.now + seconds)
        self.sender.stop()
        self.world.run(self.world.now + 1.5)
        for receiver in self.receivers:
            receiver.check_order()

    def complete(
        self,
        receiver: VideoReceiver,
        deadline_s: float = DEADLINE_S,
        due: Callable[[Frame], bool] = lambda frame: True,
    ) -> float:
        """Return the fraction of the frames captured after the warm-up that were complete in time."""
        begin = self.sender.frames[0].captured + WARM_UP_S
        end = self.sender.frames[-1].captured - TAIL_S
        frames = [frame for frame in self.sender.frames if begin <= frame.captured <= end and due(frame)]
        in_time = [
            frame
            for frame in frames
            if receiver.completed.get(frame.number, float("inf")) - frame.captured <= deadline_s
        ]
        return len(in_time) / len(frames)


def share_resent(receiver: VideoReceiver) -> float:
    sent = receiver.endpoint.invariant.bytes_sent
    return sent[receiver.rtx_ssrc] / sent[receiver.ssrc]


def test_on_a_clean_link_everything_arrives_once_in_order_without_requests() -> None:
    call = Call(seed=1)
    call.hold(30)
    for receiver in call.receivers:
        assert call.complete(receiver, deadline_s=0.1) == 1
        assert list(receiver.parts) == sorted(receiver.parts)
        assert len(receiver.parts) == receiver.packets == call.sender.sent
        assert (receiver.duplicates, receiver.nacks, receiver.plis) == (0, 0, 0)
    assert (call.sender.nacks, call.sender.resent) == (0, 0)


@pytest.mark.parametrize("seed", [1, *(pytest.param(s, marks=MORE_SEEDS) for s in (2, 3))])
@pytest.mark.parametrize(
    ("sender_rtx", "receiver_rtx"),
    [(True, True), (True, False), (False, True)],
    ids=["rtx", "receivers-without-rtx", "sender-without-rtx"],
)
def test_no_frames_are_lost_despite_ten_percent_loss_and_reordering_on_both_links(
    seed: int, sender_rtx: bool, receiver_rtx: bool
) -> None:
    call = Call(seed, up=LOSSY, down=(LOSSY, LOSSY), sender_rtx=sender_rtx, receiver_rtx=receiver_rtx)
    call.hold(WARM_UP_S + 30 + TAIL_S)
    for receiver in call.receivers:
        assert call.complete(receiver) >= 0.999
        assert receiver.duplicates <= 0.005 * receiver.packets
        # If a sequence number was skipped, the packet itself never arrived.
        assert receiver.endpoint.invariant.numbers_left_out(receiver.ssrc) <= call.sender.packets_lost
    assert call.sender.resent <= 0.13 * call.sender.sent


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=MORE_SEEDS)])
def test_few_frames_are_lost_to_burst_losses(seed: int) -> None:
    link = Conditions(jitter_s=0.01, loss=0.05, burst=8)
    call = Call(seed, up=link, down=(link, link))
    call.hold(WARM_UP_S + 30)
    for receiver in call.receivers:
        assert call.complete(receiver) >= 0.99
        assert receiver.duplicates <= 0.005 * receiver.packets


def test_no_frames_are_lost_to_duplicates_or_to_jitter_above_the_frame_interval() -> None:
    link = Conditions(jitter_s=0.06, duplicate=0.05)
    call = Call(seed=1, up=link, down=(link, link))
    call.hold(WARM_UP_S + 30)
    for receiver in call.receivers:
        assert call.complete(receiver) == 1
        assert receiver.nacks == 0
        # The only duplicates are those that the receiver's own link produced.
        assert receiver.duplicates <= 0.06 * receiver.packets
    assert call.sender.nacks == 0


def test_a_receiver_on_a_narrow_link_does_not_affect_the_others() -> None:
    narrow = Conditions(loss=0.02, rate_bps=1_000_000)
    call = Call(seed=1, up=LOSSY, down=(narrow, LOSSY))
    call.hold(WARM_UP_S + 30)
    bad, good = call.receivers
    assert call.complete(good) >= 0.999
    assert good.duplicates <= 0.005 * good.packets
    # A fifth of the traffic, plus the initial credit for resends.
    assert share_resent(bad) <= 0.21
    # Each receiver causes at most one PLI a second. The SFU itself sends one every two seconds.
    assert call.sender.plis <= (WARM_UP_S + 30) * 1.5


def test_a_receiver_that_loses_nearly_everything_is_sent_less() -> None:
    hopeless = Conditions(loss=0.5)
    sent = captured = 0
    for seed in range(1, 3):
        call = Call(seed=seed, down=(hopeless, CLEAN))
        call.hold(WARM_UP_S + 30)
        bad, good = call.receivers
        assert call.complete(good) == 1
        sent += len(bad.endpoint.invariant.media[bad.ssrc])
        captured += call.sender.sent
        assert bad.endpoint.invariant.numbers_left_out(bad.ssrc) == 0
    assert sent < 0.95 * captured


@pytest.mark.parametrize("link", [CLEAN, LOSSY], ids=["clean", "lossy"])
def test_a_sender_that_restarts_during_a_call_continues_seamlessly(link: Conditions) -> None:
    call = Call(seed=1, up=link, down=(link, link))
    begun = []
    for ssrc, sequence in ((2000, 65010), (3000, 12)):
        call.world.run(call.world.now + 5)
        begun.append(len(call.sender.frames))
        call.sender.begin(ssrc=ssrc, sequence=sequence)
    call.hold(5)

    def is_far_from_a_restart(frame: Frame) -> bool:
        # Lost packets in the last frames under the old SSRC can no longer be requested. If the first keyframe
        # under the new SSRC is lost, it is requested again.
        return not any(-5 <= frame.number - first < 10 for first in begun)

    for receiver in call.receivers:
        assert call.complete(receiver, due=is_far_from_a_restart) >= 0.995
        assert max(receiver.completed) >= len(call.sender.frames) - 2
        if link is CLEAN:
            assert receiver.endpoint.invariant.numbers_left_out(receiver.ssrc) == 0
            assert call.complete(receiver) == 1


@pytest.mark.parametrize("receiver_rtx", [True, False], ids=["rtx", "without-rtx"])
@pytest.mark.parametrize("link", [CLEAN, LOSSY], ids=["clean", "lossy"])
def test_a_receiver_gets_exactly_the_layers_that_it_requests(link: Conditions, receiver_rtx: bool) -> None:
    call = Call(seed=1, up=link, down=(link, link), receiver_rtx=receiver_rtx, layers=True)
    fewer, whole = call.receivers
    call.world.engine.set_layer(fewer.down_track, 0)
    call.hold(WARM_UP_S + 30 + TAIL_S)
    lowest = {frame.number for frame in call.sender.frames if temporal_id(frame) == 0}
    assert fewer.frames <= lowest
    assert call.complete(fewer, due=lambda frame: frame.number in lowest) >= 0.999
    assert call.complete(whole) >= 0.999
    for receiver in call.receivers:
        assert receiver.duplicates <= 0.005 * receiver.packets
        assert receiver.endpoint.invariant.numbers_left_out(receiver.ssrc) <= call.sender.packets_lost


@pytest.mark.parametrize("link", [CLEAN, LOSSY], ids=["clean", "lossy"])
def test_a_receiver_that_often_changes_layers_gets_no_frame_without_its_dependencies(
    link: Conditions,
) -> None:
    call = Call(seed=1, up=link, down=(link,), layers=True)
    (receiver,) = call.receivers

    def change() -> None:
        call.world.engine.set_layer(receiver.down_track, call.world.random.choice([0, 1, 2, 255]))

    call.world.every(0.3, change)
    call.hold(WARM_UP_S + 30)
    by_number = {frame.number: frame for frame in call.sender.frames}
    first = min(receiver.completed)
    missing = {
        number
        for number in receiver.frames
        for needed in dependencies(by_number[number])
        if number > first and needed not in receiver.frames
    }
    assert missing == set()
    assert len(receiver.completed) >= 0.999 * len(receiver.frames)
    assert 0.4 < len(receiver.completed) / len(call.sender.frames) < 0.9
    assert receiver.duplicates <= 0.005 * receiver.packets


@pytest.mark.parametrize("layers", [False, True], ids=["whole", "layers"])
@pytest.mark.parametrize("link", [CLEAN, LOSSY], ids=["clean", "lossy"])
def test_a_receiver_that_often_pauses_resumes_at_keyframes_and_misses_no_sequence_number(
    link: Conditions, layers: bool
) -> None:
    call = Call(seed=1, up=link, down=(link, link), layers=layers)
    pausing, other = call.receivers

    def change() -> None:
        call.world.engine.set_paused(pausing.down_track, call.world.random.random() < 0.5)
        if layers:
            call.world.engine.set_layer(pausing.down_track, call.world.random.choice([0, 1, 2, 255]))

    call.world.every(0.7, change)
    call.hold(WARM_UP_S + 30)
    by_number = {frame.number: frame for frame in call.sender.frames}
    first = min(pausing.completed)
    broken = {
        number
        for number in pausing.completed
        for needed in (dependencies(by_number[number]) if layers else [number - 1])
        if number > first and not by_number[number].keyframe and needed not in pausing.frames
    }
    assert broken == set()
    assert 0.1 < len(pausing.completed) / len(call.sender.frames) < 0.7
    if link is CLEAN:
        assert pausing.endpoint.invariant.numbers_left_out(pausing.ssrc) == 0
    assert call.complete(other) >= 0.999


@pytest.mark.nightly("270,000 packets; a sender that restarts crosses the wrap daily")
def test_a_long_call_crosses_the_16_bit_wrap_repeatedly() -> None:
    link = Conditions(loss=0.03, reorder=0.05)
    call = Call(
        seed=1,
        up=link,
        down=(link,),
        sizes={"packets_per_frame": 60, "packets_per_keyframe": 60, "packet_bytes": 60},
    )
    call.sender.pace_s = 0.0005
    call.hold(WARM_UP_S + 80)
    (receiver,) = call.receivers
    assert call.sender.sent > 2 * 65536
    assert max(receiver.parts) > 2 * 65536
    assert call.complete(receiver) >= 0.999
    assert receiver.duplicates <= 0.005 * receiver.packets
