"""Breaks a captured stream down into frames, losses and rates over time, as data for `plot`.

A frame consists of the packets with the same frame_number or, without descriptors, with the same timestamp.
Draws nothing.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from svc._rtp.frames import Reader
from svc.tools.rtp.capture_streams import Repetition, Stream, find_streams
from svc.tools.rtp.packets import Packet, read_packets
from svc.tools.rtpdump import Record, RtpdumpError

# Bitrates are means over this interval: long enough for some frames of each layer, short enough to show
# keyframes.
INTERVAL_S = 0.5
REPEATED = "repeated"


@dataclass
class Frame:
    at_s: float  # time of the first packet in the picture, whose spatial layers share a timestamp
    timestamp: int
    layer: str  # like S0T1; "" if unknown
    keyframe: bool  # refers to no other frame
    size: int = 0  # bytes, including RTP headers
    below: int = 0  # bytes of the spatial layers below it


@dataclass(frozen=True, slots=True)
class Loss:
    """A packet that is missing from the stream."""

    at_s: float  # time of the packet before it
    recovered: bool  # found as a retransmission


@dataclass
class Timeline:
    ssrc: int
    frames: list[Frame] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    kbps: dict[str, list[float]] = field(default_factory=dict)  # for each layer, one value per interval

    @property
    def layers(self) -> list[str]:
        return sorted({frame.layer for frame in self.frames})


def timeline(records: Iterable[Record], descriptor_id: int | None, ssrc: int | None = None) -> Timeline:
    """Analyse the stream that carries the Dependency Descriptor. Raises RtpdumpError if there is no media."""
    streams = find_streams(read_packets(records))
    stream = streams.main(descriptor_id or 0) if ssrc is None else streams.media.get(ssrc)
    if stream is None:
        raise RtpdumpError(
            "the file has no media" if ssrc is None else f"SSRC {ssrc} sends no media in this file"
        )
    repetitions = streams.repetitions.get(stream.ssrc, [])
    result = Timeline(stream.ssrc, losses=_losses(stream, repetitions))
    rates: defaultdict[str, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
    frames = _Frames(descriptor_id)
    for packet in stream.packets:
        layer = frames.add(packet)
        rates[layer][_interval(packet)] += _kbps(packet)
    for packet in (packet for repetition in repetitions for packet in repetition.stream.packets):
        rates[REPEATED][_interval(packet)] += _kbps(packet)
    result.frames = frames.pictures()
    intervals = 1 + max(max(by_interval) for by_interval in rates.values())
    result.kbps = {
        layer: [by_interval[i] for i in range(intervals)] for layer, by_interval in sorted(rates.items())
    }
    return result


class _Frames:
    """Frames, assembled from packets."""

    def __init__(self, descriptor_id: int | None) -> None:
        self.frames: dict[int, Frame] = {}
        self._descriptor_id = descriptor_id
        self._reader = Reader()

    def add(self, packet: Packet) -> str:
        """Add a packet and return the layer of its frame."""
        timestamp = packet.header["timestamp"]
        data = packet.extension(self._descriptor_id) if self._descriptor_id is not None else None
        description = self._reader.recall(timestamp) if data is None else self._reader.read(data, timestamp)
        at_s = packet.offset_ms / 1000
        if description is None:
            # Negative, so that it never equals a frame number.
            frame = self.frames.setdefault(-1 - timestamp, Frame(at_s, timestamp, "", False))
        else:
            layer = f"S{description['spatial_id']}T{description['temporal_id']}"
            keyframe = not description["dependencies"]
            frame = self.frames.setdefault(description["number"], Frame(at_s, timestamp, layer, keyframe))
        frame.size += len(packet.data)
        return frame.layer

    def pictures(self) -> list[Frame]:
        """Return all frames, stacking the frames of one picture."""
        lowest: dict[int, Frame] = {}
        height: defaultdict[int, int] = defaultdict(int)
        for _, frame in sorted(self.frames.items()):
            frame.at_s = lowest.setdefault(frame.timestamp, frame).at_s
            frame.below = height[frame.timestamp]
            height[frame.timestamp] += frame.size
        return list(self.frames.values())


def _losses(stream: Stream, repetitions: list[Repetition]) -> list[Loss]:
    times = {
        number: packet.offset_ms / 1000 for number, packet in zip(stream.numbers, stream.packets, strict=True)
    }
    copies = {number for repetition in repetitions for number in repetition.numbers}
    losses = []
    at_s = 0.0
    for number in range(min(times), max(times)):
        if number not in times:
            losses.append(Loss(at_s, number in copies))
        at_s = times.get(number, at_s)
    return losses


def _interval(packet: Packet) -> int:
    return int(packet.offset_ms / 1000 / INTERVAL_S)


def _kbps(packet: Packet) -> float:
    return len(packet.data) * 8 / 1000 / INTERVAL_S
