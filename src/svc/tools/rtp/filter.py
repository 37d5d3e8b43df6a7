"""`svc rtp filter`: write a captured stream as the SFU would send it to a receiver that gets only some of the
layers.

The forwarding core does the work (`replay`). This module selects the stream, feeds its packets to the core,
and restores the capture's sequence numbers. The SSRC, payload types, RTP timestamps, payloads and capture
times do not change. Retransmissions, padding-only packets and RTCP are dropped, as in the SFU.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from svc._rtp.descriptor import read_descriptor
from svc._rtp.header import parse_header
from svc.tools.rtp.capture_streams import Repetition, Stream, find_streams, run_containing
from svc.tools.rtp.packets import Packet, read_packets
from svc.tools.rtp.replay import MAX_PACKET, Replay, simple_packet
from svc.tools.rtpdump import Record, RtpdumpError


@dataclass(frozen=True, slots=True)
class Switch:
    """A request for layers up to the given limits, starting at the given time in the capture. -1 means all
    layers.
    """

    at_ms: int
    layer: int
    spatial_layer: int = -1


@dataclass
class Outcome:
    """The result of filtering."""

    ssrc: int
    records: list[Record] = field(default_factory=list)
    packets: int = 0  # number of the stream's packets in the capture
    recovered: int = 0  # number of packets found only as retransmissions
    too_long: int = 0  # number of packets that the core ignores

    def __str__(self) -> str:
        parts = [f"SSRC {self.ssrc}: {len(self.records)} packets written, of {self.packets}"]
        if self.recovered:
            parts.append(f"{self.recovered} recovered from retransmissions")
        if self.too_long:
            parts.append(f"{self.too_long} are longer than {MAX_PACKET} bytes and were left out")
        return "; ".join(parts)


def filter_records(
    records: Iterable[Record],
    *,
    descriptor_id: int,
    layer: int,
    spatial_layer: int = -1,
    switches: Sequence[Switch] = (),
    ssrc: int | None = None,
) -> Outcome:
    """Run the stream that carries the Dependency Descriptor through the core. Streams without a
    descriptor are left unchanged.

    Raises RtpdumpError if the capture has no media, or if the descriptor uses a different id.
    """
    packets = read_packets(records)
    streams = find_streams(packets)
    stream = streams.main(descriptor_id) if ssrc is None else streams.media.get(ssrc)
    if stream is None:
        raise RtpdumpError(
            "the file has no media" if ssrc is None else f"SSRC {ssrc} sends no media in this file"
        )
    descriptors = _descriptor_ids(stream)
    if descriptors and descriptor_id not in descriptors:
        raise RtpdumpError(
            f"extension {descriptor_id} is not a Dependency Descriptor; {descriptors[0]} seems to be one"
        )
    passage = _Passage(stream, streams.repetitions.get(stream.ssrc, []), descriptor_id)
    passage.ask_for(layer, spatial_layer)
    waiting = sorted(switches, key=lambda switch: switch.at_ms)
    for packet in packets:
        while waiting and waiting[0].at_ms <= packet.offset_ms:
            switch = waiting.pop(0)
            passage.ask_for(switch.layer, switch.spatial_layer)
        if isinstance(packet, Packet):
            passage.send(packet)
    return passage.outcome


def _descriptor_ids(stream: Stream) -> list[int]:
    """Return the ids of extensions that parse as Dependency Descriptors, at least one of them with a template
    structure.
    """
    values: dict[int, list[bytes]] = {}
    for packet in stream.packets:
        for extension_id, value in packet.header["extensions"]:
            values.setdefault(extension_id, []).append(value)
    return [
        extension_id
        for extension_id, extension_values in values.items()
        if _are_descriptors(extension_values)
    ]


def _are_descriptors(values: list[bytes]) -> bool:
    structure = None
    for value in values:
        descriptor = read_descriptor(value, structure)
        if isinstance(descriptor, str):
            if structure is not None:
                return False
        elif descriptor["structure"] is not None:
            structure = descriptor["structure"]
    return structure is not None


class _Passage:
    """A stream on its way through the core, with the capture's sequence numbers."""

    def __init__(self, stream: Stream, repetitions: list[Repetition], descriptor_id: int) -> None:
        self.outcome = Outcome(stream.ssrc, packets=len(stream.packets))
        self._ssrcs = {stream.ssrc, *(repetition.stream.ssrc for repetition in repetitions)}
        self._now = 0.0
        self._replay = Replay(
            stream.ssrc,
            repeating=self._ssrcs - {stream.ssrc},
            payload_types=_payload_types(stream, repetitions),
            descriptor_id=descriptor_id,
        )
        copies = {number for repetition in repetitions for number in repetition.numbers}
        self.outcome.recovered = len(copies - set(stream.numbers))
        self._first, _ = run_containing(stream.numbers[:1], copies | set(stream.numbers))
        self._opening = stream.packets[0].header
        self._offset: int | None = None

    def ask_for(self, layer: int, spatial_layer: int) -> None:
        self._replay.set_max_temporal_layer(layer)
        self._replay.set_max_spatial_layer(spatial_layer)

    def send(self, packet: Packet) -> None:
        if packet.header["ssrc"] not in self._ssrcs:
            return
        if len(packet.data) > MAX_PACKET:
            self.outcome.too_long += 1
        self._now = max(self._now, packet.offset_ms / 1000)
        if self._offset is None:
            self._offset = self._open()
        for data in self._replay.send(packet.data, packet.header, self._now):
            number = (int.from_bytes(data[2:4], "big") + self._offset) & 0xFFFF
            renumbered = data[:2] + number.to_bytes(2, "big") + data[4:]
            whole = len(renumbered)
            self.outcome.records.append(Record(packet.offset_ms, renumbered[: whole - packet.cut], whole))

    def _open(self) -> int:
        """Register the receiver before the first packet. Return the offset to add to the core's sequence
        numbers to get the capture's.

        The receiver first gets an artificial packet, numbered just before the first packet. With it, the core
        treats packets that the first packet has overtaken, or that exist only as retransmissions, as late
        instead of older than the stream.
        """
        header = self._opening
        number = self._first - 1
        packet = simple_packet(header["ssrc"], header["payload_type"], number, header["timestamp"])
        parsed = parse_header(packet)
        assert parsed is not None
        (sent,) = self._replay.send(packet, parsed, self._now)
        return number - int.from_bytes(sent[2:4], "big")


def _payload_types(stream: Stream, repetitions: list[Repetition]) -> dict[int, int | None]:
    """Return the payload types of a stream, and those of its retransmissions, each mapped to the type of the
    packets that it retransmits.
    """
    by_number = dict(zip(stream.numbers, stream.packets, strict=True))
    payload_types: dict[int, int | None] = dict.fromkeys(stream.payload_types)
    usual = Counter(packet.header["payload_type"] for packet in stream.packets).most_common(1)[0][0]
    for repetition in repetitions:
        payload_types.update(dict.fromkeys(repetition.stream.payload_types, usual))
        for number, packet in repetition.numbers.items():
            if number in by_number:
                repeated = by_number[number].header["payload_type"]
                payload_types[packet.header["payload_type"]] = repeated
    return payload_types
