"""Sends a track in three encodings through a ManualEngine.

The encoders are real and respond to keyframe requests.

Alice sends, Bob receives, and the test chooses every time and every fault. FFmpeg's encoders stand in for a
browser's.
"""

import itertools
import math
import os
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import av

from svc._rtp.engine import ManualEngine
from svc._rtp.frames import Reader
from svc._rtp.keyframes import is_keyframe
from svc._rtp.picture import picture_of
from tests.kit import packets
from tests.kit.call import header
from tests.kit.depacketise import DEPACKETISERS
from tests.kit.dependency_descriptor import Descriptor, Structure, Template
from tests.kit.packetise import PACKETISERS, Frame
from tests.kit.packets import Rtp, read_rtp
from tests.kit.participant import Participant
from tests.kit.video_decoder import DECODERS, decode, digests

if TYPE_CHECKING:
    from svc._rtp.frames import FrameFields

MID, TWCC, RID, REPAIRED_RID, DESCRIPTOR = 1, 2, 10, 11, 3
RIDS = ("q", "h", "f")
CODECS = {"VP8": 112, "VP9": 106, "H264": 96, "AV1": 45}
RATE = 90_000
TICKS = 3000  # duration of a frame, at 30 frames a second
SIZES = {"q": (64, 64), "h": (96, 96), "f": (160, 128)}
# Three temporal layers, as browsers describe them. The encoders here use only the lowest layer.
L1T3 = Structure(
    [
        Template(0, 0, "SSS", chain_fdiffs=[0]),
        Template(0, 0, "SSS", fdiffs=[1], chain_fdiffs=[1]),
        Template(0, 1, "-DS", fdiffs=[2], chain_fdiffs=[2]),
        Template(0, 2, "--D", fdiffs=[1], chain_fdiffs=[1]),
    ],
    decode_target_protected_by=[0, 0, 0],
    chain_cnt=1,
)
os.environ.setdefault("SVT_LOG", "-1")  # silences the AV1 encoder
NTP_START = 3_900_000_000
ENCODERS = {"VP8": "libvpx", "VP9": "libvpx-vp9", "H264": "libx264", "AV1": "libsvtav1"}
OPTIONS = {
    "VP8": {"deadline": "realtime", "lag-in-frames": "0", "cpu-used": "8"},
    "VP9": {"deadline": "realtime", "lag-in-frames": "0", "cpu-used": "8"},
    "H264": {"preset": "ultrafast", "tune": "zerolatency", "forced-idr": "1"},
    "AV1": {"preset": "12", "svtav1-params": "rc=2:pred-struct=1:lookahead=0:rtc=1:lp=1"},
}


@dataclass(frozen=True)
class FrameNumbers:
    """The frame numbers in the Dependency Descriptors of each encoding."""

    first: Mapping[str, int]
    step: int


# Browsers number the frames of all encodings in one sequence.
SHARED = FrameNumbers({"q": 10, "h": 11, "f": 12}, step=3)
SEPARATE = FrameNumbers({"q": 100, "h": 30_000, "f": 65_500}, step=1)


def new_engine(seed: int = 7 << 32) -> ManualEngine:
    engine = ManualEngine(seed=seed)
    engine.negotiate(
        payloads=[(number, "video", name, RATE, number + 1) for name, number in CODECS.items()],
        mid_id=MID,
        twcc_id=TWCC,
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
    names_encoding: bool = True
    names_section: bool = True  # whether the packets carry the section's mid
    # the next frame's number in the Dependency Descriptor, or None if the packets carry no descriptor
    frame_number: int | None = None
    frame_step: int = 1
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
        # As root, the AV1 encoder gives real-time priority to the thread that opens it.
        with ThreadPoolExecutor(1) as executor:
            executor.submit(context.open).result()
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
        payloads = list(PACKETISERS[self.codec](Frame(unit, is_keyframe, self.picture_id, self.tl0)))
        self.units[DEPACKETISERS[self.codec](payloads)] = number
        self.picture_id += 1
        self.tl0 += 1
        if self.frame_number is not None:
            self.frame_number += self.frame_step
        last = len(payloads) - 1
        return [
            self._packet(payload, number, i == last, self._descriptor(is_keyframe, i == 0, i == last))
            for i, payload in enumerate(payloads)
        ]

    def _descriptor(self, is_keyframe: bool, first: bool, last: bool) -> list[tuple[int, bytes]]:
        if self.frame_number is None:
            return []
        custom = None if is_keyframe or self.frame_step == 1 else [self.frame_step]
        descriptor = Descriptor(
            L1T3,
            0 if is_keyframe else 1,
            frame_number=self.frame_number & 0xFFFF,
            start_of_frame=first,
            end_of_frame=last,
            attached=is_keyframe and first,
            custom_fdiffs=custom,
            custom_chain_fdiffs=custom,
        )
        return [(DESCRIPTOR, descriptor.serialise())]

    def _packet(
        self, payload: bytes, number: int, marker: bool, descriptor: list[tuple[int, bytes]]
    ) -> bytes:
        self.sequence += 1
        extensions = [(RID, self.rid.encode())] if self.names_encoding else []
        section = [(MID, b"1")] if self.names_section else []
        return packets.rtp(
            ssrc=self.ssrc,
            sequence=self.sequence,
            payload_type=CODECS[self.codec],
            timestamp=self.timestamp + number * TICKS,
            marker=marker,
            extensions=packets.two_byte_extensions([*section, *extensions, *descriptor]),
            payload=payload,
        )

    def sender_report(self, number: int) -> bytes:
        """Return a report that maps the sender's clock to this encoding's timestamps."""
        ntp = (NTP_START << 32) + (number << 32) // 30
        return packets.sender_report(self.ssrc, ntp, self.timestamp + number * TICKS & 0xFFFFFFFF)


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
    packets: Sequence[Rtp]
    described: "FrameFields | None"  # by the Dependency Descriptor


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
        names_encoding: bool = True,
        frame_numbers: FrameNumbers | None = None,
        extension_ids: Sequence[int] = (DESCRIPTOR,),
    ) -> None:
        self.codec = codec
        self.engine = new_engine()
        self.alice, self.bob = Participant(self.engine, 1001), Participant(self.engine, 1002)
        self.rtx, self.extension_ids = rtx, extension_ids
        self.open_section(5000)
        self.encodings = {
            rid: Encoding(
                codec,
                rid,
                1000 * (i + 1),
                60_000 + 5_000 * i,
                i << 30,
                900 + 7_000 * i,
                50 * i,
                names_encoding=names_encoding,
            )
            for i, rid in enumerate(RIDS)
            if rid in rids
        }
        # Browsers always send descriptors with AV1.
        numbers = frame_numbers or (SHARED if codec == "AV1" else None)
        if numbers:
            for rid, encoding in self.encodings.items():
                encoding.frame_number, encoding.frame_step = numbers.first[rid], numbers.step
        self.number = 0
        self.reports = reports
        self.got: list[tuple[float, Rtp]] = []
        self.datagrams: list[bytes] = []  # packets to Bob, as they were sent
        self.received: list[bytes] = []  # the same RTP packets, decrypted
        self.descriptors = Reader()
        # descriptors that Bob received, by sequence number
        self.described: dict[int, FrameFields] = {}
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
            extension_ids=self.extension_ids,
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
        self.received += self.bob.media
        for data in self.bob.media:
            packet = read_rtp(data)
            self.got.append((self.now, packet))
            descriptor = dict(header(data)["extensions"]).get(DESCRIPTOR)
            described = self.descriptors.read(descriptor, packet.timestamp) if descriptor else None
            if described:
                self.described[packet.sequence] = described
        self.bob.media.clear()
        for kind, count, body in self.alice.reports:
            if (kind, count) == (206, 1):
                (ssrc,) = struct.unpack("!I", body[4:8])
                encoding = next(encoding for encoding in self.encodings.values() if encoding.ssrc == ssrc)
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
        ends = {packet.sequence for _, packet in ordered if packet.marker}
        return [self._received(group, ends) for group in groups.values()]

    def _received(self, group: list[tuple[float, Rtp]], ends: set[int]) -> Received:
        at, first = group[0]
        of = [packet for _, packet in group]
        picture = picture_of(self.codec, first.payload)
        assert {picture_of(self.codec, packet.payload) for packet in of} == {picture}
        whole = self._starts(first, ends) and of[-1].marker
        whole = whole and of[-1].sequence == (first.sequence + len(of) - 1) & 0xFFFF
        unit = DEPACKETISERS[self.codec]([packet.payload for packet in of]) if whole else b""
        encoding = next((encoding for encoding in self.encodings.values() if unit in encoding.units), None)
        assert encoding or not whole, "the frame was never sent"
        rid, number = (encoding.rid, encoding.units[unit]) if encoding else (None, -1)
        return Received(rid, number, first.timestamp, at, picture, of, self.described.get(first.sequence))

    def _starts(self, packet: Rtp, ends: set[int]) -> bool:
        """Return whether a browser would take this for the first packet of a frame."""
        if self.codec == "H264":
            return is_keyframe("H264", packet.payload) or (packet.sequence - 1) & 0xFFFF in ends
        if self.codec == "AV1":
            return self.described[packet.sequence]["start"]
        return bool(packet.payload[0] & (0x10 if self.codec == "VP8" else 0x08))

    def decodable(self) -> list[Received]:
        """Return the frames that a browser would decode: whole frames that refer only to decoded frames."""
        decoded: set[int] = set()
        frames = []
        for frame in self.frames(gaps=True):
            number, references = self._references(frame)
            if frame.rid and references <= decoded:
                decoded.add(number)
                frames.append(frame)
        return frames

    def _references(self, frame: Received) -> tuple[int, set[int]]:
        """Return how a browser numbers a frame, and the numbers of the frames to which it refers."""
        first = frame.packets[0]
        if frame.described:
            number = frame.described["number"]
            return number, {number - difference for difference in frame.described["dependencies"]}
        if self.codec == "H264":
            number, before = frame.packets[-1].sequence, (first.sequence - 1) & 0xFFFF
        else:
            assert frame.picture[0] is not None
            number, before = frame.picture[0], (frame.picture[0] - 1) & 0x7FFF
        return number, set() if is_keyframe(self.codec, first.payload) else {before}

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
        self.check_pictures(whole)
        return frames

    def check_pictures(self, frames: Sequence[Received]) -> None:
        """Check that decoding these frames alone gives the same images as decoding their full encodings."""
        decoded = decode(
            self.codec, [(frame.timestamp, packet.payload) for frame in frames for packet in frame.packets]
        )
        assert decoded.keys() == {frame.timestamp for frame in frames}
        alone = {
            rid: decode_units(DECODERS[self.codec], encoding.units)
            for rid, encoding in self.encodings.items()
        }
        for frame in frames:
            assert frame.rid and decoded[frame.timestamp] == alone[frame.rid][frame.number], frame


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
