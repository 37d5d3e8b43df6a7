"""Sends a track in three encodings through a ManualEngine.

The encoders are real and respond to keyframe requests.

Alice sends, Bob receives, and the test chooses every time and every fault. FFmpeg's encoders stand in for a
browser's, and this module packs the frames into packets according to RFC 7741 (VP8), RFC 9628 (VP9) and RFC
6184 (H264).
"""

import itertools
import math
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

import av

from svc._rtp.engine import ManualEngine
from svc._rtp.picture import picture_of
from tests.kit import packets
from tests.kit.call import header
from tests.kit.decoding import DECODERS, decode, digests
from tests.kit.depacketise import DEPACKETISERS, FU_A
from tests.kit.packets import Rtp, read_rtp
from tests.kit.participant import Participant

MID, RID, REPAIRED_RID, DESCRIPTOR = 1, 10, 11, 3
RIDS = ("q", "h", "f")
CODECS = {"VP8": 112, "VP9": 106, "H264": 96}
RATE = 90_000
TICKS = 3000  # duration of a frame, at 30 frames a second
SIZES = {"q": (64, 48), "h": (128, 96), "f": (256, 192)}
MOST_BYTES = 400  # bytes of a payload; most frames have several packets
# A browser's descriptor for VP8 with three temporal layers and templates numbered from 0. The template and
# the frame number precede it.
STRUCTURE = bytes.fromhex("8002044eaaaf2860414d34538a0940409fc059c0")
NTP_START = 3_900_000_000
ENCODERS = {"VP8": "libvpx", "VP9": "libvpx-vp9", "H264": "libx264"}
OPTIONS = {
    "VP8": {"deadline": "realtime", "lag-in-frames": "0", "cpu-used": "8"},
    "VP9": {"deadline": "realtime", "lag-in-frames": "0", "cpu-used": "8"},
    "H264": {"preset": "ultrafast", "tune": "zerolatency", "forced-idr": "1"},
}


def new_engine(seed: int = 7 << 32) -> ManualEngine:
    engine = ManualEngine(seed=seed)
    engine.negotiate(
        payloads=[(number, "video", name, RATE, number + 1) for name, number in CODECS.items()],
        mid_id=MID,
        twcc_id=2,
        level_id=4,
        descriptor_id=DESCRIPTOR,
        forwarded_ids=[DESCRIPTOR],
        rid_id=RID,
        repaired_rid_id=REPAIRED_RID,
    )
    return engine


@dataclass
class Encoding:
    """One encoder and its source. The test sets the first sequence number and timestamp."""

    codec: str
    rid: str
    ssrc: int
    sequence: int
    timestamp: int
    picture_id: int
    tl0: int
    sending: bool = True
    keyframe_requested: bool = True
    named: bool = True
    names_section: bool = True  # whether the packets name the media section
    # the next frame's number in the Dependency Descriptor, or None if the packets carry no descriptor
    frame_number: int | None = None
    keyframes: int = 0
    units: dict[bytes, int] = field(default_factory=dict)  # maps a frame's bytes to its number
    _context: av.VideoCodecContext = field(init=False)

    def __post_init__(self) -> None:
        context = av.CodecContext.create(ENCODERS[self.codec], "w")
        assert isinstance(context, av.VideoCodecContext)
        context.width, context.height = SIZES[self.rid]
        context.pix_fmt = "yuv420p"
        context.time_base = Fraction(1, 30)
        context.bit_rate = 40 * context.width * context.height
        context.gop_size = 9999
        context.options = OPTIONS[self.codec]
        context.thread_count = 1
        self._context = context

    def frame(self, number: int) -> list[bytes]:
        """Return the packets of one frame."""
        picture = _picture(number, *SIZES[self.rid])
        picture.pts = number
        if self.keyframe_requested:
            picture.pict_type = av.video.frame.PictureType.I
        is_keyframe, self.keyframe_requested = self.keyframe_requested, False
        self.keyframes += is_keyframe
        (unit,) = (bytes(packet) for packet in self._context.encode(picture))
        payloads = list(PACKETISERS[self.codec](self, unit, is_keyframe))
        self.units[DEPACKETISERS[self.codec](payloads)] = number
        self.picture_id += 1
        self.tl0 += 1
        if self.frame_number is not None:
            self.frame_number += 1
        last = len(payloads) - 1
        return [
            self._packet(payload, number, i == last, self._descriptor(is_keyframe, i == 0, i == last))
            for i, payload in enumerate(payloads)
        ]

    def _descriptor(self, is_keyframe: bool, first: bool, last: bool) -> list[tuple[int, bytes]]:
        if self.frame_number is None:
            return []
        template = (0x80 if first else 0) | (0x40 if last else 0) | (0 if is_keyframe else 1)
        structure = STRUCTURE if is_keyframe and first else b""
        return [(DESCRIPTOR, struct.pack("!BH", template, self.frame_number & 0xFFFF) + structure)]

    def _packet(
        self, payload: bytes, number: int, marker: bool, descriptor: list[tuple[int, bytes]]
    ) -> bytes:
        self.sequence += 1
        named = [(RID, self.rid.encode())] if self.named else []
        section = [(MID, b"1")] if self.names_section else []
        return packets.rtp(
            ssrc=self.ssrc,
            sequence=self.sequence,
            payload_type=CODECS[self.codec],
            timestamp=self.timestamp + number * TICKS,
            marker=marker,
            extensions=packets.two_byte_extensions([*section, *named, *descriptor]),
            payload=payload,
        )

    def vp8(self, unit: bytes, _is_keyframe: bool) -> Iterator[bytes]:
        for at in range(0, len(unit), MOST_BYTES):
            head = bytes([0x80 | (0x10 if at == 0 else 0), 0xE0])
            yield (
                head
                + struct.pack("!HBB", 0x8000 | self.picture_id & 0x7FFF, self.tl0 & 0xFF, 0)
                + _part(unit, at)
            )

    def vp9(self, unit: bytes, is_keyframe: bool) -> Iterator[bytes]:
        for at in range(0, len(unit), MOST_BYTES):
            flags = 0xA0 | (0 if is_keyframe else 0x40) | (0x08 if at == 0 else 0)
            flags |= 0x04 if at + MOST_BYTES >= len(unit) else 0
            numbers = struct.pack("!HBB", 0x8000 | self.picture_id & 0x7FFF, 0, self.tl0 & 0xFF)
            yield bytes([flags]) + numbers + _part(unit, at)

    def h264(self, unit: bytes, _is_keyframe: bool) -> Iterator[bytes]:
        for nal in _nal_units(unit):
            if len(nal) <= MOST_BYTES:
                yield nal
                continue
            for at in range(1, len(nal), MOST_BYTES):
                last = at + MOST_BYTES >= len(nal)
                kind = nal[0] & 31 | (0x80 if at == 1 else 0) | (0x40 if last else 0)
                yield bytes([nal[0] & 0xE0 | FU_A, kind]) + _part(nal, at)

    def sender_report(self, number: int) -> bytes:
        """Return a report that maps the sender's clock to this encoding's timestamps."""
        ntp = (NTP_START << 32) + (number << 32) // 30
        return packets.sender_report(self.ssrc, ntp, self.timestamp + number * TICKS & 0xFFFFFFFF)


PACKETISERS: dict[str, Callable[[Encoding, bytes, bool], Iterator[bytes]]] = {
    "VP8": Encoding.vp8,
    "VP9": Encoding.vp9,
    "H264": Encoding.h264,
}


def _part(data: bytes, at: int) -> bytes:
    return data[at : at + MOST_BYTES]


def _nal_units(unit: bytes) -> list[bytes]:
    return [part for part in unit.replace(b"\0\0\0\1", b"\0\0\1").split(b"\0\0\1") if part]


WAVE = bytes(128 + int(90 * math.sin(i / 9) * math.sin(i / 61)) for i in range(4096))


def _picture(number: int, width: int, height: int) -> av.VideoFrame:
    """Return a frame of a moving pattern."""
    frame = av.VideoFrame(width, height, "yuv420p")
    for depth, plane in enumerate(frame.planes):
        # The padding at the end of each row is not displayed.
        starts = (
            (7 * row + 11 * number * (row // 16 + 1) + 500 * depth) % 3000 for row in range(plane.height)
        )
        plane.update(b"".join(WAVE[start : start + plane.line_size] for start in starts))
    return frame


@dataclass
class Received:
    """One frame as Bob received it."""

    rid: str | None  # None if some of its packets did not arrive
    number: int
    timestamp: int
    first_at: float
    picture: tuple[int | None, int | None]


class Scene:
    """A call in which Alice sends a track in three encodings, at 30 frames a second.

    Bob receives it and sends no feedback.
    """

    def __init__(
        self,
        codec: str,
        *,
        rids: Iterable[str] = RIDS,
        reports: bool = True,
        rtx: bool = True,
        named: bool = True,
        frame_numbers: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self.codec = codec
        self.engine = new_engine()
        self.alice, self.bob = Participant(self.engine, 1001), Participant(self.engine, 1002)
        self.rtx = rtx
        self.open_section(5000)
        self.encodings = {
            rid: Encoding(
                codec, rid, 1000 * (i + 1), 60_000 + 5_000 * i, i << 30, 900 + 7_000 * i, 50 * i, named=named
            )
            for i, rid in enumerate(RIDS)
            if rid in rids
        }
        for rid, first in frame_numbers.items():
            self.encodings[rid].frame_number = first
        self.number = 0
        self.reports = reports
        self.got: list[tuple[float, Rtp]] = []
        self.datagrams: list[bytes] = []  # packets to Bob, as they were sent
        # frame numbers in the descriptors that Bob received, one per frame
        self.frame_numbers: list[int] = []
        # Changes one frame's packets on their way to the service, for example by dropping some.
        self.link: Callable[[list[bytes]], list[bytes]] = list
        self.plis: list[tuple[int, str]] = []  # (frame, rid)

    def open_section(self, ssrc: int) -> None:
        """Connect a track from Alice to Bob with the given SSRC."""
        self.ssrc = ssrc
        numbers = [number + extra for number in CODECS.values() for extra in (0, 1)]
        self.forwarder = self.engine.open_section(
            self.alice.transport, 0, "1", "video", numbers, [], list(RIDS)
        )
        self.down_track = self.engine.open_down_track(
            self.forwarder,
            self.bob.transport,
            mid="4",
            mid_id=0,
            ssrc=ssrc,
            rtx_ssrc=ssrc + 1 if self.rtx else 0,
            payload_types=numbers if self.rtx else list(CODECS.values()),
            extension_ids=[DESCRIPTOR],
            mixed=True,
            cname="alice",
        )

    @property
    def now(self) -> float:
        return 1.0 + self.number / 30

    def run(self, frames: int) -> None:
        for _ in range(frames):
            for encoding in self.encodings.values():
                if self.reports and self.number % 30 == 0:
                    self.alice.send_rtcp(encoding.sender_report(self.number), self.now)
                if encoding.sending:
                    for packet in self.link(encoding.frame(self.number)):
                        self.alice.send(packet, self.now)
            self.engine.advance(self.now + 0.02)
            self._deliver()
            self.number += 1

    def _deliver(self) -> None:
        sent = self.engine.take_datagrams()
        for data, remote, _local in sent:
            (self.bob if remote == self.bob.address else self.alice).take_in(data)
        self.datagrams += [data for data, remote, _ in sent if remote == self.bob.address]
        self.got += [(self.now, read_rtp(packet)) for packet in self.bob.media]
        for packet in self.bob.media:
            descriptor = dict(header(packet)["extensions"]).get(DESCRIPTOR, b"")
            if descriptor and descriptor[0] & 0x80:
                self.frame_numbers.append(int.from_bytes(descriptor[1:3], "big"))
        self.bob.media.clear()
        for kind, count, body in self.alice.reports:
            if (kind, count) == (206, 1):
                (ssrc,) = struct.unpack("!I", body[4:8])
                encoding = next(each for each in self.encodings.values() if each.ssrc == ssrc)
                encoding.keyframe_requested = True
                self.plis.append((self.number, encoding.rid))
        self.alice.reports.clear()

    def want(self, spatial_layer: int) -> None:
        self.engine.set_spatial_layer(self.down_track, spatial_layer)

    # --- results ---

    def frames(self, *, gaps: bool = False) -> list[Received]:
        """Return Bob's frames in numerical order, which must have no gaps unless `gaps` allows them."""
        bob = [(at, packet) for at, packet in self.got if packet.ssrc == self.ssrc]
        media = {packet.sequence: (at, packet) for at, packet in reversed(bob)}
        first = self.got[0][1].sequence
        ordered = [
            media[sequence] for sequence in sorted(media, key=lambda number: (number - first) & 0xFFFF)
        ]
        numbers = [(packet.sequence - first) & 0xFFFF for _, packet in ordered]
        assert gaps or numbers == list(range(len(ordered)))
        groups: dict[int, list[tuple[float, Rtp]]] = {}
        for at, packet in ordered:
            groups.setdefault(packet.timestamp, []).append((at, packet))
        return [self._received(group) for group in groups.values()]

    def _received(self, group: list[tuple[float, Rtp]]) -> Received:
        payloads = [packet.payload for _, packet in group]
        unit = DEPACKETISERS[self.codec](payloads)
        picture = picture_of(self.codec, payloads[0])
        assert {picture_of(self.codec, payload) for payload in payloads} == {picture}
        of = next((each for each in self.encodings.values() if unit in each.units), None)
        at, first = group[0]
        return Received(of.rid if of else None, of.units[unit] if of else -1, first.timestamp, at, picture)

    def check_stream(self, *, gaps: bool = False) -> list[Received]:
        """Check that timestamps and picture IDs increase, and that every decoded frame is identical to the
        encoder's frame.
        """
        frames = self.frames(gaps=gaps)
        whole = [frame for frame in frames if frame.rid]
        for before, after in itertools.pairwise(frames):
            assert 0 < (after.timestamp - before.timestamp) & 0xFFFFFFFF < 2**31
            if before.picture[0] is not None and after.picture[0] is not None:
                assert (after.picture[0] - before.picture[0]) & 0x7FFF == 1, (before, after)
            if before.picture[1] is not None and after.picture[1] is not None:
                assert (after.picture[1] - before.picture[1]) & 0xFF == 1, (before, after)
        shown = {frame.timestamp for frame in whole}
        packets_of = [(p.timestamp, p.payload) for p in self._in_order() if p.timestamp in shown]
        decoded = decode(self.codec, packets_of)
        assert decoded.keys() == shown
        alone = {rid: self._alone(encoding) for rid, encoding in self.encodings.items()}
        for frame in whole:
            assert frame.rid and decoded[frame.timestamp] == alone[frame.rid][frame.number], frame
        return frames

    def _in_order(self) -> list[Rtp]:
        media = {packet.sequence: packet for _, packet in self.got if packet.ssrc == self.ssrc}
        first = self.got[0][1].sequence
        return [media[sequence] for sequence in sorted(media, key=lambda number: (number - first) & 0xFFFF)]

    def _alone(self, encoding: Encoding) -> dict[int, bytes]:
        """Return the digest of each frame of one encoding, decoded on its own."""
        return decode_units(DECODERS[self.codec], encoding.units)


def decode_units(decoder: str, units: dict[bytes, int]) -> dict[int, bytes]:
    """Return the digest of each frame, by frame number."""
    context = av.CodecContext.create(decoder, "r")
    assert isinstance(context, av.VideoCodecContext)
    context.thread_count = 1
    pictures: dict[int, bytes] = {}
    for unit, number in units.items():
        packet = av.Packet(unit)
        packet.pts = number
        pictures.update(digests(context.decode(packet)))
    pictures.update(digests(context.decode(None)))
    return pictures
