"""Runs the temporal filter on a capture, and matches its output with the sidecar's record of each packet."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from svc.tools.rtp.filter import Switch, filter_records
from svc.tools.rtpdump import Record, read
from tests.kit.captures import FOLDER, Capture, Packet, capture
from tests.kit.packets import Rtp, read_rtp
from tests.kit.video_decoder import decode

# L1T3 captures with descriptors in the packets: one for each codec, and more for AV1.
THREE_LAYERS = ("vp8_l1t3", "vp9_l1t3", "h264_l1t3", "av1_l1t3", "av1_l1t3_av", "av1_l1t3_loss")
ONE_OF_EACH_CODEC = THREE_LAYERS[:4]


@dataclass(frozen=True)
class Video:
    """The media stream that carries the descriptor in a capture, or the largest stream if none does."""

    source: Capture
    packets: list[Packet]

    @property
    def codec(self) -> str:
        name: str = self.source.sidecar["codec"]
        return name.split("/")[0]

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [packet.row for packet in self.packets]

    def of_layers(self, highest: int) -> list[Packet]:
        return [packet for packet in self.packets if packet.row["dd"]["temporal_id"] <= highest]


@cache
def video(name: str) -> Video:
    source = capture(name)
    by_ssrc: dict[int, list[Packet]] = {}
    for packet in source.packets:
        if "dd" in packet.row:
            by_ssrc.setdefault(packet.row["ssrc"], []).append(packet)
    return Video(source, max(by_ssrc.values(), key=lambda packets: sum(len(p.data) for p in packets)))


@cache
def records(name: str) -> list[Record]:
    with (FOLDER / f"{name}.rtpdump").open("rb") as file:
        return list(read(file))


def at_each_packet(name: str) -> list[Record]:
    """Return the records spaced 1 ms apart, so that a switch at n ms happens before record n."""
    return [replace(record, offset_ms=position) for position, record in enumerate(records(name))]


def sort_key(packet: Packet) -> int:
    """Return the position of the packet's record in its capture."""
    position: int = packet.row["i"]
    return position


def filtered(
    source: Sequence[Record],
    descriptor_id: int | None,
    layer: int,
    switches: Sequence[Switch] = (),
    *,
    spatial_layer: int = -1,
) -> list[Record]:
    # Without a negotiated id, any id works, because no packet uses it.
    return filter_records(
        source,
        descriptor_id=descriptor_id or 99,
        layer=layer,
        spatial_layer=spatial_layer,
        switches=switches,
    ).records


def read_media(sent: Iterable[Record]) -> list[Rtp]:
    return [read_rtp(record.data) for record in sent]


def contiguous(sent: Sequence[Rtp]) -> bool:
    return all(packet.sequence == (sent[0].sequence + i) & 0xFFFF for i, packet in enumerate(sent))


def payload(packet: Packet) -> bytes:
    return read_rtp(packet.data).payload


@cache
def pictures(name: str) -> dict[int, bytes]:
    """Return the digest of every frame in the full stream, keyed by timestamp."""
    stream = video(name)
    return decode(stream.codec, [(packet.header["timestamp"], payload(packet)) for packet in stream.packets])


def check_pictures(name: str, sent: Sequence[Rtp]) -> None:
    """Check that every sent frame decodes to the same image as in the full stream."""
    decoded = decode(video(name).codec, [(packet.timestamp, packet.payload) for packet in sent])
    assert decoded.keys() == {packet.timestamp for packet in sent}
    full = pictures(name)
    assert {timestamp for timestamp in decoded if decoded[timestamp] != full[timestamp]} == set()


@dataclass(frozen=True)
class Shape:
    """The frames that passed the filter.

    A frame passes either completely or not at all, and only if its dependencies have passed.
    """

    frames: frozenset[int]

    @classmethod
    def of(cls, name: str, sent: Sequence[Rtp]) -> "Shape":
        got = {(packet.timestamp, packet.payload) for packet in sent}
        whole: dict[int, bool] = {}
        for packet in video(name).packets:
            going = (packet.header["timestamp"], payload(packet)) in got
            assert whole.setdefault(packet.row["dd"]["frame_number"], going) is going, (
                "only a part of the frame was forwarded"
            )
        frames = frozenset(number for number, going in whole.items() if going)
        for row in video(name).rows:
            number = row["dd"]["frame_number"]
            needed = {number - difference for difference in row["dd"]["fdiffs"]} & whole.keys()
            assert number not in frames or needed <= frames, f"frame {number} lacks {needed - frames}"
        return cls(frames)
