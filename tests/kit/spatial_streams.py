"""Reads and decodes browser streams with several spatial layers in one SSRC (SVC).

`tests/data/svc` contains captures from Chromium 156 (VP9 with `L3T3_KEY` and `L2T2`), taken before SRTP
encryption. Extension 13 is the Dependency Descriptor.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from svc._rtp.frames import Reader
from svc._rtp.header import parse_header
from svc.tools.rtpdump import Record, read
from tests.kit.captures import FOLDER
from tests.kit.packets import Rtp, read_rtp
from tests.kit.video_decoder import decode

if TYPE_CHECKING:
    from svc._rtp.frames import FrameFields

DESCRIPTOR = 13
OWN = Path(__file__).parent.parent / "data/svc"
FILES = {
    "av1_l3t3_key": FOLDER / "av1_l3t3_key.rtpdump",
    "vp9_l3t3_key": OWN / "vp9_l3t3_key.rtpdump",
    "vp9_l2t2": OWN / "vp9_l2t2.rtpdump",
}
# FFmpeg's own VP9 decoder rejects layer frames without an index.
DECODERS = {"AV1": "libdav1d", "VP9": "libvpx-vp9"}


@dataclass(frozen=True)
class Layered:
    """A packet in the media stream, and the frame that it belongs to."""

    record: Record
    position: int  # position in the file
    rtp: Rtp
    frame: "FrameFields"


@dataclass(frozen=True)
class Stream:
    codec: str
    records: Sequence[Record]
    packets: Sequence[Layered]

    @property
    def frames(self) -> dict[int, "FrameFields"]:
        return {packet.frame["number"]: packet.frame for packet in self.packets}

    @property
    def starts(self) -> list[int]:
        """Return the timestamps of the pictures that do not depend on other pictures."""
        return sorted({p.rtp.timestamp for p in self.packets if not p.frame["dependencies"]})


@cache
def stream(name: str) -> Stream:
    with FILES[name].open("rb") as file:
        records = list(read(file))
    return Stream(name.split("_")[0].upper(), records, layered(records))


def layered(records: Iterable[Record]) -> list[Layered]:
    """Return the packets of the media stream, with the frames that their descriptors describe."""
    reader = Reader()
    packets: list[Layered] = []
    for position, record in enumerate(records):
        header = None if record.is_rtcp else parse_header(record.data)
        descriptor = dict(header["extensions"]).get(DESCRIPTOR) if header else None
        rtp = None if record.is_rtcp else read_rtp(record.data)
        # RTX packets contain the descriptors of the media packets, after two additional bytes of payload.
        if not header or not descriptor or not rtp or (packets and rtp.ssrc != packets[0].rtp.ssrc):
            continue
        frame = reader.read(descriptor, header["timestamp"])
        assert frame is not None
        packets.append(Layered(record, position, rtp, frame))
    return packets


def decodable(packets: Iterable[Layered]) -> list[Layered]:
    """Return the packets of the frames that a browser would decode, in order.

    These are the complete frames that refer only to decoded frames.
    """
    frames: dict[int, list[Layered]] = {}
    for packet in packets:
        frames.setdefault(packet.frame["number"], []).append(packet)
    decoded: set[int] = set()
    for number, parts in sorted(frames.items()):
        first = min(parts, key=lambda part: (part.rtp.sequence - parts[0].rtp.sequence + 0x8000) & 0xFFFF)
        parts.sort(key=lambda part: (part.rtp.sequence - first.rtp.sequence) & 0xFFFF)
        span = (parts[-1].rtp.sequence - first.rtp.sequence) & 0xFFFF
        whole = first.frame["start"] and parts[-1].frame["end"] and span == len(parts) - 1
        if whole and {number - difference for difference in first.frame["dependencies"]} <= decoded:
            decoded.add(number)
    return [part for number in sorted(decoded) for part in frames[number]]


@cache
def decode_layer(name: str, spatial: int, temporal: int = 7) -> dict[int, bytes]:
    """Return the digest of each picture of a spatial layer, keyed by timestamp.

    Only the frames that the spatial layer needs are decoded.
    """
    source = stream(name)
    frames = source.frames
    highest: dict[int, int] = {}
    for packet in source.packets:
        if packet.frame["spatial_id"] <= spatial and packet.frame["temporal_id"] <= temporal:
            highest[packet.rtp.timestamp] = packet.frame["number"]
    needed: set[int] = set()
    waiting = list(highest.values())
    while waiting:
        number = waiting.pop()
        if number in frames and number not in needed:
            needed.add(number)
            waiting += [number - difference for difference in frames[number]["dependencies"]]
    return pictures(source.codec, [p.rtp for p in source.packets if p.frame["number"] in needed])


def pictures(codec: str, packets: Iterable[Rtp]) -> dict[int, bytes]:
    """Return the digest of each picture, keyed by timestamp."""
    units = [(packet.timestamp, packet.payload) for packet in packets]
    return decode(codec, units, decoder=DECODERS[codec])
