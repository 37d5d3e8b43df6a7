"""Splits encoded frames into RTP payloads, with one temporal layer: the counterpart of `depacketise`.

See RFC 7741 (VP8), RFC 9628 (VP9), RFC 6184 (H264, packetization mode 1), and section 4 of the AV1 RTP
specification.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.kit.depacketise import FU_A, leb128

TEMPORAL_DELIMITER = 2  # type of an OBU
MAX_BYTES = 400  # bytes of a payload; most frames have several packets


@dataclass(frozen=True)
class Frame:
    unit: bytes
    is_keyframe: bool
    picture_id: int
    tl0: int


def vp8(frame: Frame) -> Iterator[bytes]:
    for at in range(0, len(frame.unit), MAX_BYTES):
        head = bytes([0x80 | (0x10 if at == 0 else 0), 0xE0])
        numbers = struct.pack("!HBB", 0x8000 | frame.picture_id & 0x7FFF, frame.tl0 & 0xFF, 0)
        yield head + numbers + _part(frame.unit, at)


def vp9(frame: Frame) -> Iterator[bytes]:
    for at in range(0, len(frame.unit), MAX_BYTES):
        flags = 0xA0 | (0 if frame.is_keyframe else 0x40) | (0x08 if at == 0 else 0)
        flags |= 0x04 if at + MAX_BYTES >= len(frame.unit) else 0
        numbers = struct.pack("!HBB", 0x8000 | frame.picture_id & 0x7FFF, 0, frame.tl0 & 0xFF)
        yield bytes([flags]) + numbers + _part(frame.unit, at)


def h264(frame: Frame) -> Iterator[bytes]:
    for nal in _nal_units(frame.unit):
        if len(nal) <= MAX_BYTES:
            yield nal
            continue
        for at in range(1, len(nal), MAX_BYTES):
            last = at + MAX_BYTES >= len(nal)
            kind = nal[0] & 31 | (0x80 if at == 1 else 0) | (0x40 if last else 0)
            yield bytes([nal[0] & 0xE0 | FU_A, kind]) + _part(nal, at)


def _nal_units(unit: bytes) -> list[bytes]:
    return [part for part in unit.replace(b"\0\0\0\1", b"\0\0\1").split(b"\0\0\1") if part]


def av1(frame: Frame) -> Iterator[bytes]:
    starts_sequence = 0x08 if frame.is_keyframe else 0
    for obu in _obus(frame.unit):
        for at in range(0, len(obu), MAX_BYTES):
            continues = (0x80 if at else 0) | (0x40 if at + MAX_BYTES < len(obu) else 0)
            yield bytes([continues | 0x10 | starts_sequence]) + _part(obu, at)
            starts_sequence = 0


def _obus(unit: bytes) -> Iterator[bytes]:
    """Yield the OBUs without their sizes. RTP omits temporal delimiters."""
    at = 0
    while at < len(unit):
        assert unit[at] & 0x06 == 0x02, "the encoder writes sizes and no extensions"
        size, body = leb128(unit, at + 1)
        if unit[at] >> 3 & 15 != TEMPORAL_DELIMITER:
            yield bytes([unit[at] & ~0x02]) + unit[body : body + size]
        at = body + size


def _part(data: bytes, at: int) -> bytes:
    return data[at : at + MAX_BYTES]


PACKETISERS: dict[str, Callable[[Frame], Iterator[bytes]]] = {
    "VP8": vp8,
    "VP9": vp9,
    "H264": h264,
    "AV1": av1,
}
