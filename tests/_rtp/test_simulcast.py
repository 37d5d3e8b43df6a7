"""Each receiver of a track in several encodings gets the right encoding, and switches leave no gap."""

import itertools
import random

import pytest

from tests.kit import packets
from tests.kit.simulcast import CODECS, RID, RIDS, SEPARATE, SHARED, TICKS, FrameNumbers, Received, Scene

MORE_SEEDS = pytest.mark.nightly("one seed runs daily")
every_codec = pytest.mark.parametrize("codec", CODECS)


def rids(frames: list[Received]) -> list[str]:
    """Return the encodings in the order in which they were received, without repetitions."""
    whole = [frame.rid for frame in frames if frame.rid]
    return [rid for i, rid in enumerate(whole) if i == 0 or rid != whole[i - 1]]


def original(rtx: bytes) -> bytes:
    """Return the packet that an RTX packet retransmits (RFC 4588 section 4)."""
    start = 16 + 4 * int.from_bytes(rtx[14:16], "big")
    payload_type = rtx[1] - 1
    ssrc = int.from_bytes(rtx[8:12], "big") - 1
    head = bytes([rtx[0], payload_type]) + rtx[start : start + 2] + rtx[4:8] + ssrc.to_bytes(4, "big")
    return head + rtx[12:start] + rtx[start + 2 :]


def most_missed(frames: list[Received]) -> int:
    """Return the length of the longest run of frames that were not received."""
    numbers = [frame.number for frame in frames if frame.rid]
    return max((after - before - 1 for before, after in itertools.pairwise(numbers)), default=0)


@every_codec
def test_a_receiver_gets_the_largest_encoding_unless_it_requests_less(codec: str) -> None:
    scene = Scene(codec)
    scene.run(20)
    frames = scene.check_stream()
    assert rids(frames)[-1] == "f"
    assert frames[-1].number == scene.number - 1


@every_codec
def test_video_decodes_without_a_gap_across_every_switch(codec: str) -> None:
    scene = Scene(codec)
    scene.run(20)
    for spatial_layer in (0, 1, 255, 1, 0, 2):
        scene.want(spatial_layer)
        scene.run(25)
    frames = scene.check_stream()
    assert rids(frames)[-7:] == ["f", "q", "h", "f", "h", "q", "f"]
    # A switch happens between two frames, or costs the frame in progress.
    assert most_missed(frames) <= 1


@pytest.mark.parametrize("reports", [True, False], ids=["by the sender's clock", "by arrival"])
def test_timestamps_are_continuous_across_switches(reports: bool) -> None:
    scene = Scene("H264", reports=reports)
    scene.run(40)
    for spatial_layer in (0, 2, 1, 2):
        scene.want(spatial_layer)
        scene.run(25)
    frames = scene.check_stream()
    first = frames[0]
    wrong = {
        (frame.timestamp - first.timestamp & 0xFFFFFFFF) - TICKS * (frame.number - first.number)
        for frame in frames
        if frame.rid
    }
    # One tick is added where a frame of the previous encoding had the same timestamp.
    assert wrong <= set(range(10))


def check_descriptors(scene: Scene, max_step: int) -> None:
    """Check that the receiver can decode every whole frame, according to the descriptors it received."""
    frames = scene.check_stream()
    whole = [frame.timestamp for frame in frames if frame.rid]
    assert [frame.timestamp for frame in scene.decodable()] == whole
    numbers = [frame.described["number"] for frame in frames if frame.described]
    assert len(numbers) == len(frames)
    steps = [after - before for before, after in itertools.pairwise(numbers)]
    assert len(steps) > 50
    assert min(steps) >= 1 and max(steps) <= max_step


@pytest.mark.parametrize(
    ("codec", "numbers", "max_step"),
    [("VP8", SHARED, 9), ("VP9", SHARED, 9), ("AV1", SHARED, 9), ("VP8", SEPARATE, 4096)],
    ids=["VP8", "VP9", "AV1", "each encoding counts on its own"],
)
def test_descriptors_refer_only_to_frames_that_the_receiver_has(
    codec: str, numbers: FrameNumbers, max_step: int
) -> None:
    scene = Scene(codec, frame_numbers=numbers)
    scene.run(20)
    for spatial_layer in (0, 2, 1, 2):
        scene.want(spatial_layer)
        scene.run(15)
    check_descriptors(scene, max_step)
    assert scene.frames()[-1].rid == "f"


@pytest.mark.parametrize("layer", [0, 1])
def test_descriptors_continue_for_a_receiver_with_fewer_temporal_layers(layer: int) -> None:
    scene = Scene("VP8", frame_numbers=SHARED)
    scene.engine.set_layer(scene.down_track, layer)
    scene.run(20)
    for spatial_layer in (0, 1, 0):
        scene.want(spatial_layer)
        scene.run(15)
    check_descriptors(scene, 9)
    assert scene.frames()[-1].rid == "q"


def test_an_upward_switch_requests_a_keyframe_only_from_the_new_encoding() -> None:
    scene = Scene("VP8")
    scene.want(0)
    scene.run(40)
    before = len(scene.plis)
    scene.want(1)
    scene.run(10)
    assert {rid for _, rid in scene.plis[before:]} <= {"h", "q"}
    assert (40, "h") in scene.plis
    assert scene.frames()[-1].rid == "h"


def test_the_current_encoding_continues_until_the_new_encodings_keyframe_arrives() -> None:
    scene = Scene("VP8")
    scene.want(0)
    scene.run(40)
    scene.want(2)
    largest = scene.encodings["f"]
    frame, requests = largest.frame, []

    def late(number: int) -> list[bytes]:
        if largest.keyframe_requested:
            requests.append(number)
            largest.keyframe_requested = len(requests) > 1
        return frame(number)

    largest.frame = late  # type: ignore[method-assign]
    scene.run(40)
    frames = scene.check_stream()
    assert rids(frames)[-2:] == ["q", "f"]
    assert most_missed(frames) == 0


@pytest.mark.parametrize("stopping", ["f", "hf", "qh"])
def test_receivers_switch_away_from_an_encoding_that_stops_and_return_when_it_resumes(stopping: str) -> None:
    scene = Scene("VP8")
    if "f" not in stopping:
        scene.want(0)
    scene.run(40)
    for rid in stopping:
        scene.encodings[rid].sending = False
    scene.run(40)
    frames = scene.frames()
    # 0.3 s until the encoding counts as stopped, plus the time until a keyframe arrives.
    assert most_missed(frames) <= 12
    left = [rid for rid in RIDS if rid not in stopping]
    assert frames[-1].rid == (left[-1] if "f" in stopping else left[0])
    for rid in stopping:
        scene.encodings[rid].sending = True
    scene.run(40)
    assert scene.check_stream()[-1].rid == ("f" if "f" in stopping else "q")


def test_a_static_screen_is_not_mistaken_for_a_stopped_encoding() -> None:
    scene = Scene("VP8")
    scene.run(40)
    for _ in range(4):
        for encoding in scene.encodings.values():
            encoding.sending = False
        scene.run(29)
        for encoding in scene.encodings.values():
            encoding.sending = True
        scene.run(1)
    assert rids(scene.check_stream())[-1:] == ["f"]
    assert scene.engine.counters()["encoding_switches"] <= 2


class FaultyLink:
    """A link that delays a tenth of the packets by a frame, like retransmissions, shuffles others, and loses
    a share of them permanently.
    """

    def __init__(self, chance: random.Random, loss: float) -> None:
        self.chance, self.loss = chance, loss
        self.held: list[bytes] = []
        self.lost = 0

    def __call__(self, sent: list[bytes]) -> list[bytes]:
        late, self.held = self.held, []
        now: list[bytes] = []
        for packet in sent:
            if self.chance.random() < self.loss:
                self.lost += 1
            else:
                (self.held if self.chance.random() < 0.1 else now).append(packet)
        for i in range(len(now) - 1):
            if self.chance.random() < 0.2:
                now[i], now[i + 1] = now[i + 1], now[i]
        return now + late


every_seed = pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=MORE_SEEDS) for s in (1, 2))])


@every_codec
@every_seed
def test_reordering_does_not_corrupt_frames_at_a_switch(codec: str, seed: int) -> None:
    scene = Scene(codec)
    chance = random.Random(seed)
    link = FaultyLink(chance, 0)
    scene.run(20)
    scene.link = link
    for _ in range(12):
        scene.want(chance.choice([0, 1, 2]))
        scene.run(chance.randint(5, 25))
    scene.link = lambda sent: [*link.held, *sent]
    scene.run(1)
    scene.link = list
    scene.run(20)
    scene.check_stream(gaps=True)


@every_codec
@every_seed
def test_every_frame_that_a_browser_decodes_is_correct_despite_losses(codec: str, seed: int) -> None:
    scene = Scene(codec)
    chance = random.Random(seed)
    link = FaultyLink(chance, 0.02)
    scene.run(20)
    scene.link = link
    for spatial_layer in (0, 2, 1, 0, 1, 2):
        scene.want(spatial_layer)
        scene.run(chance.randint(8, 16))
        # A browser requests a keyframe when it cannot decode.
        scene.bob.send_rtcp(packets.pli(scene.ssrc), scene.now)
    scene.link = list
    scene.run(20)
    shown = scene.decodable()
    scene.check_pictures(shown)
    assert link.lost > 10 and len(scene.frames(gaps=True)) > len(shown) > 40
    assert shown[-1].number == scene.number - 1
    assert set(rids(shown)) == set(RIDS)


@pytest.mark.parametrize("rtx", [False, True], ids=["the packet itself", "RTX"])
def test_packets_from_before_a_switch_are_resent_unchanged(rtx: bool) -> None:
    scene = Scene("VP8", rtx=rtx, frame_numbers=SHARED)
    scene.run(40)
    scene.want(0)
    while scene.frames()[-1].rid != "q":
        scene.run(1)
    scene.run(3)
    newest = scene.got[-1][1].sequence
    scene.bob.send_rtcp(packets.nack(5000, [newest - back & 0xFFFF for back in range(40)]), scene.now)
    again = [data for data, remote, _ in scene.engine.take_datagrams() if remote == scene.bob.address]
    assert len(again) > 20
    if rtx:
        again = [original(scene.bob.inbound.unprotect(data)) for data in again]
    assert set(again) <= set(scene.received if rtx else scene.datagrams)
    # At most four frames followed the switch, so more than four timestamps cover both encodings.
    assert len({data[4:8] for data in again}) > 4


def test_late_joiners_and_resumed_receivers_start_with_the_requested_encoding() -> None:
    scene = Scene("VP8")
    scene.want(1)
    scene.run(40)
    scene.engine.set_paused(scene.down_track, True)
    scene.run(10)
    scene.want(2)
    scene.engine.set_paused(scene.down_track, False)
    scene.run(20)
    assert rids(scene.frames())[-2:] == ["h", "f"]


def test_a_source_that_does_not_identify_its_encoding_is_not_forwarded() -> None:
    scene = Scene("VP8")
    scene.run(10)
    scene.alice.send(
        packets.rtp(
            ssrc=7000,
            sequence=1,
            payload_type=CODECS["VP8"],
            extensions=packets.one_byte_extensions([(1, b"1"), (RID, b"x")]),
            payload=b"\x10\0",
        ),
        scene.now,
    )
    scene.run(10)
    assert scene.engine.counters()["dropped_not_negotiated"] > 0
    assert scene.check_stream()[-1].rid == "f"


def test_a_single_encoding_is_forwarded_even_without_a_rid() -> None:
    scene = Scene("VP8", rids=["f"], names_encoding=False)
    scene.run(20)
    assert rids(scene.check_stream()) == ["f"]


def test_packets_from_a_restarted_track_need_neither_a_mid_nor_a_rid() -> None:
    scene = Scene("VP8")
    scene.run(20)
    for ssrc in (6000, 7000):
        scene.engine.close_forwarder(scene.forwarder)
        scene.got.clear()
        scene.open_section(ssrc)
        for encoding in scene.encodings.values():
            encoding.names_encoding = encoding.names_section = False
        scene.run(30)
        assert rids(scene.check_stream())[-1] == "f"
        # The core also remembers an encoding that was not sent this time.
        scene.encodings["h"].sending = False
    scene.encodings["h"].sending = True
    scene.want(1)
    scene.run(40)
    assert rids(scene.check_stream())[-1] == "h"


@every_codec
def test_a_receiver_on_a_congested_link_gets_no_larger_encoding_before_the_keyframe(codec: str) -> None:
    scene = Scene(codec)
    scene.run(50)
    smallest = scene.encodings["q"]
    frame = smallest.frame

    def late(number: int) -> list[bytes]:
        requested, smallest.keyframe_requested = (
            smallest.keyframe_requested,
            smallest.keyframe_requested and number > 55,
        )
        packets_of_frame = frame(number)
        smallest.keyframe_requested |= requested and number <= 55
        return packets_of_frame

    smallest.frame = late  # type: ignore[method-assign]
    scene.engine.set_spatial_layer(scene.down_track, 0, True)
    scene.run(20)
    frames = scene.frames()
    assert rids(frames)[-2:] == ["f", "q"]
    assert max(frame.number for frame in frames if frame.rid == "f") == 49
    assert most_missed(frames) == 6


def test_a_receiver_that_constantly_changes_its_request_causes_few_keyframes() -> None:
    scene = Scene("VP8")
    scene.run(40)
    before = len(scene.plis)
    for step in range(1000):
        scene.want((0, 2, 1, 255)[step % 4])
        if step % 33 == 32:
            scene.run(1)
    scene.want(2)
    scene.run(60)
    # Each of the three encodings gets at most one keyframe request every half second.
    assert len(scene.plis) - before <= 3 * 7
    assert rids(scene.check_stream())[-1] == "f"


def test_a_smaller_encoding_that_is_not_sent_does_not_stop_a_larger_one() -> None:
    scene = Scene("VP8", rids="f")
    scene.run(40)
    scene.engine.set_spatial_layer(scene.down_track, 0, True)
    scene.run(40)
    assert most_missed(scene.check_stream()) == 0


def test_each_receivers_encoding_and_each_layers_bytes_are_reported_to_python() -> None:
    scene = Scene("VP8")
    scene.run(40)
    scene.want(1)
    scene.run(40)
    scene.encodings["f"].sending = False
    scene.run(40)
    events = scene.engine.take_events()
    encodings = [(a, b) for kind, _, _, _, _, a, b, _ in events if kind == "encoding"]
    assert encodings[-1] == (scene.down_track, 1)
    reports = [(data, a, b, c) for kind, _, data, _, _, a, b, c in events if kind == "rates"]
    covered = sum(elapsed for _, elapsed, _, _ in reports[1:]) / 1e6
    assert covered == pytest.approx(len(reports[1:]) * 0.25, rel=0.2)
    active = [flowing for _, _, flowing, _ in reports]
    assert active[1] == 0b111 and active[-1] == 0b011
    sizes = [list(memoryview(data).cast("I")) for data, _, _, _ in reports]
    assert all(len(layers) == 9 for layers in sizes)
    assert sizes[1][6] > sizes[1][3] > sizes[1][0] > 0 and sizes[-1][6] == 0
