"""Finds the streams in a capture: which SSRCs carry media, and which carry retransmissions (RFC 4588).

A capture lacks the SDP, which would state this. Retransmissions are recognised by their content: an original
sequence number, followed by the payload of the packet with that number. The result therefore does not depend
on payload types, sizes, or the number of retransmissions.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from svc._rtp.sequence import extended
from svc.tools.rtp.packets import Malformed, Packet

ORIGINAL_NUMBER_BYTES = 2


@dataclass
class Stream:
    """The packets of one SSRC, in the order in which they were captured."""

    ssrc: int
    indices: list[int] = field(default_factory=list)  # indices of its packets in the whole capture
    packets: list[Packet] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)  # extended sequence numbers

    def add(self, index: int, packet: Packet) -> None:
        number = packet.header["sequence"]
        self.indices.append(index)
        self.numbers.append(extended(self.numbers[-1], number) if self.numbers else number)
        self.packets.append(packet)

    @property
    def payload_types(self) -> set[int]:
        return {packet.header["payload_type"] for packet in self.packets}

    @property
    def media_bytes(self) -> int:
        return sum(packet.header["payload_length"] for packet in self.packets)

    def carries(self, ext_id: int) -> bool:
        return any(packet.extension(ext_id) is not None for packet in self.packets)

    def number_near(self, index: int, number: int) -> int:
        """Extend a 16-bit sequence number relative to the stream's number at that position in the capture."""
        at = max(bisect_right(self.indices, index) - 1, 0)
        return extended(self.numbers[at], number)


@dataclass(frozen=True)
class Repetition:
    """A stream interpreted as the retransmission of another, with the sequence numbers that its packets
    retransmit.
    """

    stream: Stream
    numbers: dict[int, Packet]  # maps an original's extended sequence number to its retransmission
    agreeing: int  # number of packets that match their original or fill a gap
    contradicting: int  # number of packets that differ from the original to which they refer

    @property
    def is_one(self) -> bool:
        return self.agreeing > self.contradicting


@dataclass(frozen=True)
class Streams:
    media: dict[int, Stream]  # by SSRC
    repetitions: dict[int, list[Repetition]]  # by the SSRC of the media they retransmit

    def source_of(self, ssrc: int) -> int:
        """Return the media SSRC that an SSRC retransmits, or the SSRC itself if it retransmits none."""
        for media, repetitions in self.repetitions.items():
            if any(repetition.stream.ssrc == ssrc for repetition in repetitions):
                return media
        return ssrc

    def main(self, ext_id: int) -> Stream | None:
        """Return the stream with the most media among the streams with the extension, or among all streams if
        none has it.
        """
        streams = [stream for stream in self.media.values() if stream.media_bytes]
        carrying = [stream for stream in streams if stream.carries(ext_id)]
        return max(carrying or streams, key=lambda stream: stream.media_bytes, default=None)


def find_streams(packets: Iterable[Packet | Malformed]) -> Streams:
    streams: dict[int, Stream] = {}
    for index, packet in enumerate(packets):
        if isinstance(packet, Packet):
            ssrc = packet.header["ssrc"]
            streams.setdefault(ssrc, Stream(ssrc)).add(index, packet)
    repetitions: dict[int, list[Repetition]] = {}
    for stream in streams.values():
        others = [other for other in streams.values() if not other.payload_types & stream.payload_types]
        comparisons = [(other.ssrc, compare(other, stream)) for other in others]
        media, repetition = max(comparisons, key=lambda item: item[1].agreeing, default=(0, None))
        if repetition is not None and repetition.is_one:
            repetitions.setdefault(media, []).append(repetition)
    repeating = {repetition.stream.ssrc for group in repetitions.values() for repetition in group}
    media_streams = {ssrc: stream for ssrc, stream in streams.items() if ssrc not in repeating}
    return Streams(media_streams, repetitions)


def compare(media: Stream, stream: Stream) -> Repetition:
    """Return how well `stream` matches a retransmission of `media`."""
    originals = dict(zip(media.numbers, media.packets, strict=True))
    numbers: dict[int, Packet] = {}
    agreeing = contradicting = 0
    absent = []
    for index, packet in zip(stream.indices, stream.packets, strict=True):
        if len(packet.payload) < ORIGINAL_NUMBER_BYTES:
            continue  # The packet contains only padding, sent to probe for bandwidth.
        number = media.number_near(index, int.from_bytes(packet.payload[:ORIGINAL_NUMBER_BYTES], "big"))
        numbers.setdefault(number, packet)
        if number not in originals:
            absent.append(number)
        elif repeats(packet, originals[number]):
            agreeing += 1
        else:
            contradicting += 1
    first, last = run_containing(media.numbers, set(absent))
    agreeing += sum(first <= number <= last for number in absent)
    return Repetition(stream, numbers, agreeing, contradicting)


def repeats(packet: Packet, original: Packet) -> bool:
    same_time = packet.header["timestamp"] == original.header["timestamp"]
    return same_time and packet.payload[ORIGINAL_NUMBER_BYTES:] == original.payload


def run_containing(numbers: Iterable[int], more: set[int]) -> tuple[int, int]:
    """Return a stream's first and last numbers, including the adjoining numbers in `more`."""
    known = set(numbers)
    first, last = min(known), max(known)
    while first - 1 in more:
        first -= 1
    while last + 1 in more:
        last += 1
    return first, last
