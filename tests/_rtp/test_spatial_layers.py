"""A receiver of a stream with spatial layers (SVC) decodes exactly the pictures in its layer.

Real streams from Chromium go through the whole core. See docs/signalling.md, "Several encodings".
"""

import itertools
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from svc.tools.rtp.filter import Switch
from svc.tools.rtpdump import Record
from tests.kit.packets import Rtp
from tests.kit.spatial_streams import (
    DESCRIPTOR,
    FILES,
    Layered,
    decodable,
    decode_layer,
    layered,
    pictures,
    stream,
)
from tests.kit.temporal_filter import contiguous, filtered, read_media

every_stream = pytest.mark.parametrize("name", FILES)


def check_markers(name: str, sent: Sequence[Rtp]) -> None:
    """Check that only the last packet of each picture (all frames with one timestamp) has the marker bit.

    Chromium sets no marker bit in a picture whose largest layer it dropped.
    """
    marked = {packet.rtp.timestamp for packet in stream(name).packets if packet.rtp.marker}
    for packet, following in itertools.pairwise(sent):
        is_last = packet.timestamp != following.timestamp
        assert packet.marker == is_last or (is_last and packet.timestamp not in marked), packet.sequence
    assert sent[-1].marker


@every_stream
@pytest.mark.parametrize("temporal", [0, -1])
@pytest.mark.parametrize("spatial", [0, 1, 2, -1])
def test_a_receiver_decodes_exactly_the_pictures_in_its_layer(name: str, spatial: int, temporal: int) -> None:
    source = stream(name)
    sent = read_media(filtered(source.records, DESCRIPTOR, temporal, spatial_layer=spatial))
    assert contiguous(sent)
    check_markers(name, sent)
    wanted = [p for p in source.packets if p.frame["spatial_id"] <= spatial % 8]
    wanted = [p for p in wanted if p.frame["temporal_id"] <= temporal % 8]
    assert [packet.payload for packet in sent] == [packet.rtp.payload for packet in wanted]
    assert pictures(source.codec, sent) == decode_layer(name, spatial % 8, temporal % 8)


@every_stream
@pytest.mark.parametrize(
    "step",
    [123, pytest.param(41, marks=pytest.mark.nightly("three times as many positions as in the daily run"))],
)
@pytest.mark.parametrize(("before", "after"), list(itertools.permutations((0, 1, -1), 2)))
def test_video_continues_with_whole_pictures_after_a_change_at_any_packet(
    name: str, before: int, after: int, step: int
) -> None:
    source = stream(name)
    # The records are 1 ms apart, so a switch at n ms happens before record n.
    records = [replace(record, offset_ms=position) for position, record in enumerate(source.records)]
    shown = {True: decode_layer(name, before % 8), False: decode_layer(name, after % 8)}
    decoded: dict[tuple[tuple[int, bytes], ...], dict[int, bytes]] = {}
    for packet in source.packets[1::step]:
        switch = Switch(packet.position, -1, after)
        sent = read_media(filtered(records, DESCRIPTOR, -1, [switch], spatial_layer=before))
        assert contiguous(sent)
        check_markers(name, sent)
        changed_at = change(source.packets, packet, before % 8, after % 8)
        # Many changes take effect at the same picture.
        content = tuple((packet.timestamp, packet.payload) for packet in sent)
        if content not in decoded:
            decoded[content] = pictures(source.codec, sent)
        assert decoded[content] == {at: shown[at < changed_at][at] for at in shown[True]}


def change(packets: Sequence[Layered], at: Layered, before: int, after: int) -> int:
    """Return the timestamp of the first picture in which a change takes effect."""
    later = [packet for packet in packets if packet.position >= at.position and packet.frame["start"]]
    first = [packet for packet in later if packet.frame["spatial_id"] == 0]
    if after > before:
        first = [packet for packet in first if before + 1 in packet.frame["opens"]]
    return first[0].rtp.timestamp if first else packets[-1].rtp.timestamp + 1


def reordered(name: str, chance: random.Random, loss: float) -> list[Record]:
    """Return the stream's packets as a faulty link delivers them: a tenth are late, and the fraction `loss`
    is lost.
    """
    source = stream(name)
    own = {packet.position for packet in source.packets}
    places = [i + (chance.random() < 0.1) * chance.uniform(1, 9) for i in range(len(source.records))]
    # The first packet stays first, because earlier packets would not belong to the stream.
    order = sorted(sorted(own), key=lambda i: places[i] if i > min(own) else 0)
    order = [i for i in order if i == min(own) or chance.random() >= loss]
    return [replace(source.records[source_index], offset_ms=i) for i, source_index in enumerate(order)]


def random_switches(chance: random.Random, count: int) -> list[Switch]:
    return [Switch(at, -1, chance.choice([0, 1, 2])) for at in sorted(chance.sample(range(9, count), 12))]


@every_stream
@pytest.mark.parametrize("seed", range(4))
def test_late_and_reordered_packets_do_not_corrupt_pictures(name: str, seed: int) -> None:
    """Deliver all packets, some of them after packets of later pictures."""
    source, chance = stream(name), random.Random(seed)
    records = reordered(name, chance, 0)
    switches = random_switches(chance, len(records))
    sent = read_media(filtered(records, DESCRIPTOR, -1, switches, spatial_layer=1))
    first = sent[0].sequence
    sent.sort(key=lambda packet: (packet.sequence - first) & 0xFFFF)
    assert contiguous(sent)
    # Each picture must be complete, so that it decodes to the same result as a stream with only one of the
    # layers.
    decoded = pictures(source.codec, [packet for packet in sent if packet.payload])
    layers = [decode_layer(name, layer) for layer in (0, 1, 2)]
    assert decoded.keys() == layers[0].keys()
    wrong = [
        (at - min(decoded)) // 4500
        for at, digest in decoded.items()
        if all(layer[at] != digest for layer in layers)
    ]
    assert not wrong


@every_stream
def test_every_picture_that_a_browser_decodes_is_correct_despite_losses(name: str) -> None:
    source = stream(name)
    layers = [decode_layer(name, layer) for layer in (0, 1, 2)]
    lost, shown_layers = 0, set()
    for seed in range(4):
        chance = random.Random(seed)
        records = reordered(name, chance, 0.03)
        switches = random_switches(chance, len(records))
        sent = layered(filtered(records, DESCRIPTOR, -1, switches, spatial_layer=1))
        shown = decodable(packet for packet in sent if packet.rtp.payload)
        highest = {packet.rtp.timestamp: packet.frame["spatial_id"] for packet in shown}
        assert pictures(source.codec, [packet.rtp for packet in shown]) == {
            at: layers[layer][at] for at, layer in highest.items()
        }
        lost += len(layers[0]) - len(highest)
        shown_layers |= set(highest.values())
    assert lost and shown_layers == {packet.frame["spatial_id"] for packet in source.packets}
