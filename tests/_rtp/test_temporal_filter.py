"""Temporal filtering of real browser streams leaves no gap and no partial frame, and alters no frame."""

from itertools import permutations

import pytest

from svc._rtp.frames import Reader
from svc._rtp.layers import Selector
from svc.tools.rtp.filter import Switch
from tests.kit.captures import NAMES, capture
from tests.kit.packets import read_rtp
from tests.kit.temporal_filter import (
    ONE_OF_EACH_CODEC,
    THREE_LAYERS,
    Shape,
    at_each_packet,
    check_pictures,
    contiguous,
    filtered,
    payload,
    read_media,
    records,
    sort_key,
    video,
)

WITH_DESCRIPTOR = [name for name in NAMES if any("dd" in packet.row for packet in capture(name).packets)]
WITHOUT_DESCRIPTOR = ["av1_l1t3_noddext", "vp8_l1t3_nodd"]
LAYERS = (0, 1, -1)
ALL_CHANGES = list(permutations(LAYERS, 2))


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", WITH_DESCRIPTOR)
def test_only_frames_of_the_requested_layers_are_forwarded_with_contiguous_numbers(
    name: str, layer: int
) -> None:
    stream = video(name)
    wanted = stream.of_layers(layer if layer >= 0 else 7)
    sent = read_media(filtered(records(name), stream.source.descriptor_id, layer))
    assert contiguous(sent)
    assert sent[0].sequence == stream.packets[0].header["sequence"]
    for packet, original in zip(sent, (read_rtp(packet.data) for packet in wanted), strict=True):
        assert (packet.ssrc, packet.payload_type) == (original.ssrc, original.payload_type)
        assert (packet.timestamp, packet.marker) == (original.timestamp, original.marker)
        assert packet.payload == original.payload


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("name", ["av1_l1t1", *THREE_LAYERS])
def test_forwarded_frames_decode_to_the_same_pictures_as_in_the_full_stream(name: str, layer: int) -> None:
    sent = read_media(filtered(records(name), video(name).source.descriptor_id, layer))
    check_pictures(name, sent)


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", WITHOUT_DESCRIPTOR)
def test_a_stream_without_descriptors_is_forwarded_unfiltered(name: str, layer: int) -> None:
    source = capture(name)
    media = [packet for packet in source.packets if "payload" in packet.row]
    sent = read_media(filtered(records(name), source.descriptor_id, layer))
    assert contiguous(sent)
    assert [packet.payload for packet in sent] == [payload(packet) for packet in media]


# --- a layer change at every packet ---

# Number, spatial id, temporal id, switched layers, dependencies.
Frame = tuple[int, int, int, list[int], list[int]]


def frames_by_packet(name: str) -> list[Frame]:
    """Return the frame that the core parses from each packet of the stream."""
    reader, descriptor_id = Reader(), video(name).source.descriptor_id
    frames = []
    for packet in video(name).packets:
        data = packet.extension(descriptor_id)
        assert data is not None
        read = reader.read(data, packet.header["timestamp"])
        assert read is not None
        frames.append(
            (read["number"], read["spatial_id"], read["temporal_id"], read["switch_to"], read["dependencies"])
        )
    return frames


@pytest.mark.parametrize("name", WITH_DESCRIPTOR)
def test_whole_frames_with_their_dependencies_are_forwarded_after_a_layer_change_at_any_packet(
    name: str,
) -> None:
    frames = frames_by_packet(name)
    for before, after in ALL_CHANGES:
        for position in range(0, len(frames), 1 if name in ONE_OF_EACH_CODEC else 11):
            check_change(frames, position, before, after)


def check_change(frames: list[Frame], position: int, before: int, after: int) -> None:
    selector = Selector()
    selector.set_target(before)
    sent: dict[int, bool] = {}
    for i, frame in enumerate(frames):
        if i == position:
            selector.set_target(after)
        number, going = frame[0], selector.decide(*frame)
        assert sent.setdefault(number, going) is going, f"part of frame {number}"
    # If the change happens within a frame, the old layers still apply to that frame.
    changed_at = frames[position][0] + (position > 0 and frames[position - 1][0] == frames[position][0])
    settled_at = next_switch_point(frames, changed_at) if rises(before, after) else changed_at
    for number, _, temporal_id, _, dependencies in frames:
        if sent[number]:
            assert all(sent.get(number - difference, True) for difference in dependencies), number
        if number < changed_at or number >= settled_at:
            wanted = temporal_id <= (before if number < changed_at else after) % 8
            assert sent[number] == wanted, f"frame {number} of T{temporal_id}, changed at {changed_at}"


def rises(before: int, after: int) -> bool:
    return after % 8 > before % 8


def next_switch_point(frames: list[Frame], number: int) -> int:
    """Return the next frame in the lowest layers from which all other layers can be decoded."""
    return next(
        (
            frame[0]
            for frame in frames
            if frame[0] >= number and (frame[1], frame[2]) == (0, 0) and set(frame[3]) == set(range(8))
        ),
        frames[-1][0] + 1,
    )


@pytest.mark.parametrize(
    "step", [11, pytest.param(1, marks=pytest.mark.nightly("every packet; every eleventh runs daily"))]
)
@pytest.mark.parametrize("name", WITH_DESCRIPTOR)
def test_a_layer_change_leaves_no_gap_in_the_sequence_numbers(name: str, step: int) -> None:
    """Send a capture through the whole core, changing the layers at every `step`th packet."""
    source, descriptor_id = at_each_packet(name), video(name).source.descriptor_id
    packets = video(name).packets[::step]
    for turn, packet in enumerate(packets):
        before, after = ALL_CHANGES[turn % len(ALL_CHANGES)]
        sent = read_media(filtered(source, descriptor_id, before, [Switch(sort_key(packet), after)]))
        assert contiguous(sent)
        Shape.of(name, sent)


@pytest.mark.parametrize(("before", "after"), ALL_CHANGES)
@pytest.mark.parametrize("name", ONE_OF_EACH_CODEC)
def test_every_frame_decodes_correctly_after_a_layer_change(name: str, before: int, after: int) -> None:
    source, descriptor_id = at_each_packet(name), video(name).source.descriptor_id
    packets = video(name).packets
    for packet in packets[len(packets) // 4 :: len(packets) // 3]:
        sent = read_media(filtered(source, descriptor_id, before, [Switch(sort_key(packet), after)]))
        check_pictures(name, sent)


@pytest.mark.nightly("every packet; every third packet of a capture runs daily")
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("before", "after"), ALL_CHANGES)
@pytest.mark.parametrize("name", THREE_LAYERS)
def test_every_frame_decodes_correctly_after_a_layer_change_at_any_packet(
    name: str, before: int, after: int
) -> None:
    source, descriptor_id = at_each_packet(name), video(name).source.descriptor_id
    decoded: set[Shape] = set()
    for packet in video(name).packets:
        sent = read_media(filtered(source, descriptor_id, before, [Switch(sort_key(packet), after)]))
        shape = Shape.of(name, sent)
        assert contiguous(sent)
        if shape not in decoded:
            decoded.add(shape)
            check_pictures(name, sent)
