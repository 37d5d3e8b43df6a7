"""Tests pacing in the whole core. A full link delays and drops whole video frames, and nothing else."""

import pytest

from tests.kit import packets
from tests.kit.call import header
from tests.kit.estimated_downlink import Downlink
from tests.kit.participant import (
    AUDIO,
    DESCRIPTOR,
    MID,
    TWCC,
    VIDEO,
    VP8_DELTA,
    VP8_KEYFRAME,
    deliver,
)
from tests.kit.simulation.frames import Frame
from tests.kit.simulation.layers import dependencies, descriptor

RATE_BPS = 1_000_000
PLI = (206, 1)


class PacedDownlink(Downlink):
    """A call in which Alice sends Bob audio and paced video over a link with a known rate."""

    def __init__(self, *, layers: bool = False) -> None:
        super().__init__(extension_ids=(MID, TWCC, DESCRIPTOR), rate_bps=RATE_BPS)
        self.layers = layers
        self.frames: list[Frame] = []
        self.keyframe_at = 0
        self.microphone = self.alice.publish("0", "audio")
        self.bob.subscribe(self.microphone, 6100, kind="audio", extension_ids=(TWCC,), mid="5")
        self.spoken = 0
        self.engine.want_bandwidth(self.bob.transport, RATE_BPS)
        self.engine.set_paced(self.down_track, True)
        # Let the core learn the estimate, which does not exceed the link's capacity.
        self.show(1000)
        self.run(2, frame_bytes=1500)
        self.engine.take_events()

    def show(self, size: int, *, keyframe: bool = False) -> Frame:
        """Send a frame in packets of 1,000 bytes."""
        number = len(self.frames)
        if keyframe or not self.frames:
            self.keyframe_at = number
        is_keyframe = number == self.keyframe_at
        frame = Frame(number + 1, self.now, -(-size // 1000), is_keyframe, number - self.keyframe_at)
        self.frames.append(frame)
        for index in range(frame.packets):
            first = VP8_KEYFRAME if frame.keyframe and index == 0 else VP8_DELTA
            elements = [(MID, b"1")]
            if self.layers:
                elements.append((DESCRIPTOR, descriptor(frame, index)))
            packet = packets.rtp(
                ssrc=1000,
                sequence=self.sequence & 0xFFFF,
                payload_type=VIDEO,
                timestamp=3000 * frame.number,
                marker=index == frame.packets - 1,
                extensions=packets.two_byte_extensions(elements)
                if any(len(value) > 16 for _, value in elements)
                else packets.one_byte_extensions(elements),
                payload=first + bytes(min(size - 1000 * index, 1000)),
            )
            self.sequence += 1
            self.alice.send(packet, self.now)
        self.take_in()
        return frame

    def speak(self) -> None:
        self.spoken += 1
        extensions = packets.one_byte_extensions([(MID, b"0")])
        self.alice.send(
            packets.rtp(
                ssrc=1100,
                sequence=self.spoken,
                payload_type=AUDIO,
                timestamp=960 * self.spoken,
                extensions=extensions,
                payload=bytes(80),
            ),
            self.now,
        )
        self.take_in()

    def run(self, seconds: float, *, frame_bytes: int = 0) -> None:
        """Advance the clock while Alice sends 25 frames of the given size a second and Bob sends reports."""
        end, next_frame, next_report = self.now + seconds, self.now, self.now + 0.1
        while self.now < end:
            self.now += 0.005
            if frame_bytes and self.now >= next_frame:
                next_frame += 0.04
                self.show(frame_bytes)
            self.engine.advance(self.now)
            self.take_in()
            if self.now >= next_report:
                next_report += 0.1
                self.report_all()

    def shown(self) -> list[int]:
        """Return the numbers of the frames that Bob has received completely."""
        got: dict[int, int] = {}
        for packet in self.bob.media:
            if header(packet)["ssrc"] == 6000 and header(packet)["payload_length"]:
                number = header(packet)["timestamp"] // 3000
                got[number] = got.get(number, 0) + 1
        return [number for number, count in got.items() if count == self.frames[number - 1].packets]

    def numbers(self) -> list[int]:
        return [header(packet)["sequence"] for packet in self.bob.media if header(packet)["ssrc"] == 6000]

    def requests(self) -> int:
        return sum((kind, count) == PLI for kind, count, _ in self.alice.reports)


def in_order(numbers: list[int]) -> bool:
    return numbers == [(numbers[0] + i) & 0xFFFF for i in range(len(numbers))]


def test_audio_overtakes_a_large_frame_that_is_sent_at_the_paced_rate() -> None:
    downlink = PacedDownlink()
    downlink.run(0.1)
    downlink.bob.media.clear()
    frame = downlink.show(12_000)
    at_once = len(downlink.bob.media)
    assert 0 < at_once < frame.packets
    downlink.speak()
    assert header(downlink.bob.media[-1])["ssrc"] == 6100
    downlink.run(0.15)
    assert frame.number in downlink.shown()
    assert in_order(downlink.numbers())


def test_a_frame_that_exceeds_the_queue_is_dropped_whole_and_video_resumes_at_a_requested_keyframe() -> None:
    downlink = PacedDownlink()
    downlink.run(3)
    downlink.bob.media.clear()
    downlink.alice.reports.clear()
    sent = [downlink.show(9_000) for _ in range(6)]
    downlink.run(0.5)
    shown = downlink.shown()
    assert 0 < len(shown) < len(sent)
    assert shown == [frame.number for frame in sent[: len(shown)]]
    assert downlink.requests() >= 1
    late = downlink.show(2000)
    keyframe = downlink.show(5000, keyframe=True)
    downlink.run(0.3)
    assert late.number not in downlink.shown() and keyframe.number in downlink.shown()
    assert in_order(downlink.numbers())
    assert downlink.engine.counters()["dropped_paced"] > 0


def test_upper_temporal_layers_are_dropped_first_and_no_frame_lacks_its_dependencies() -> None:
    downlink = PacedDownlink(layers=True)
    downlink.bob.media.clear()
    before = downlink.frames[-1].number
    for _ in range(40):
        downlink.show(9000)
        downlink.run(0.025)
    downlink.run(0.5)
    shown = [number for number in downlink.shown() if number > before]
    known = set(downlink.shown()) | set(range(before + 1))
    assert 10 < len(shown) < 40
    for number in shown:
        assert set(dependencies(downlink.frames[number - 1])) <= known
    layers = [downlink.frames[number - 1].since_keyframe % 4 for number in shown]
    assert layers.count(0) > layers.count(3) + layers.count(1)
    assert in_order(downlink.numbers())


def test_a_large_keyframe_and_the_frames_after_it_are_delivered() -> None:
    downlink = PacedDownlink()
    downlink.bob.media.clear()
    keyframe = downlink.show(50_000, keyframe=True)
    downlink.run(0.6, frame_bytes=800)
    downlink.run(0.6)
    assert downlink.shown() == list(range(keyframe.number, downlink.frames[-1].number + 1))


def test_everything_is_sent_immediately_to_a_receiver_that_does_not_allow_adaptation() -> None:
    downlink = PacedDownlink()
    downlink.show(9_000)
    downlink.engine.set_paced(downlink.down_track, False)
    downlink.engine.advance(downlink.now)
    downlink.take_in()
    frames = [downlink.show(9_000) for _ in range(6)]
    assert [frame.number for frame in frames] == downlink.shown()[-6:]
    assert in_order(downlink.numbers())


@pytest.mark.parametrize("how", ["paused", "closed", "gone"])
def test_a_track_that_ends_leaves_no_waiting_packets_behind(how: str) -> None:
    downlink = PacedDownlink()
    downlink.show(12_000)
    before = len(downlink.bob.media)
    if how == "paused":
        downlink.engine.set_paused(downlink.down_track, True)
    elif how == "closed":
        downlink.engine.close_down_track(downlink.down_track)
    else:
        downlink.engine.close_transport(downlink.bob.transport)
    downlink.run(0.5)
    later = [header(packet) for packet in downlink.bob.media[before:] if header(packet)["ssrc"] == 6000]
    # Padding fills the sequence numbers that were already assigned, so that Bob sees no gap.
    assert all(packet_header["payload_length"] == 0 for packet_header in later)
    assert bool(later) == (how == "paused")
    assert in_order(downlink.numbers())


def test_retransmissions_overtake_waiting_video() -> None:
    downlink = PacedDownlink()
    lost = header(next(packet for packet in downlink.bob.media if header(packet)["ssrc"] == 6000))["sequence"]
    last = downlink.numbers()[-1]
    downlink.show(12_000)
    before = len(downlink.bob.media)
    downlink.bob.send_rtcp(packets.nack(6000, [last]), downlink.now)
    deliver(downlink.engine, downlink.alice, downlink.bob)
    assert [header(packet)["ssrc"] for packet in downlink.bob.media[before:]] == [6001]
    assert lost != last
