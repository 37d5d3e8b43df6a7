"""Reassembles RTP payloads into decodable frames, one at a time.

Based only on the payload format specifications, and written for clarity rather than speed. See RFC 7741
(VP8), RFC 9628 (VP9), RFC 6184 (H264, packetization mode 1), and section 4 of the AV1 RTP specification.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

ANNEX_B_START = b"\0\0\0\1"
TEMPORAL_DELIMITER = bytes([0x12, 0x00])
STAP_A, FU_A = 24, 28


def vp8(payloads: Iterable[bytes]) -> bytes:
    return b"".join(payload[_vp8_descriptor(payload) :] for payload in payloads)


def _vp8_descriptor(payload: bytes) -> int:
    size = 1
    if payload[0] & 0x80:
        extended = payload[1]
        size = 2
        if extended & 0x80:
            size += 2 if payload[2] & 0x80 else 1
        size += bool(extended & 0x40) + bool(extended & 0x30)
    return size


def vp9(payloads: Iterable[bytes]) -> bytes:
    return b"".join(payload[_vp9_descriptor(payload) :] for payload in payloads)


def _vp9_descriptor(payload: bytes) -> int:
    flags, size = payload[0], 1
    has_picture_id, predicted, has_layers, flexible = (flags & bit for bit in (0x80, 0x40, 0x20, 0x10))
    if has_picture_id:
        size += 2 if payload[size] & 0x80 else 1
    if has_layers:
        size += 1 if flexible else 2
    if flexible and predicted:
        while payload[size] & 1:
            size += 1
        size += 1
    return size + (_vp9_structure(payload[size:]) if flags & 0x02 else 0)


def _vp9_structure(data: bytes) -> int:
    spatial_layers, has_resolutions, has_pictures = (data[0] >> 5) + 1, data[0] & 0x10, data[0] & 0x08
    size = 1 + (4 * spatial_layers if has_resolutions else 0)
    if has_pictures:
        pictures = data[size]
        size += 1
        for _ in range(pictures):
            size += 1 + (data[size] >> 2 & 3)
    return size


def h264(payloads: Iterable[bytes]) -> bytes:
    units: list[bytes] = []
    for payload in payloads:
        kind = payload[0] & 31
        if kind == STAP_A:
            units += _aggregated(payload[1:])
        elif kind == FU_A:
            if payload[1] & 0x80:
                units.append(bytes([payload[0] & 0xE0 | payload[1] & 31]))
            units[-1] += payload[2:]
        else:
            units.append(payload)
    return b"".join(ANNEX_B_START + unit for unit in units)


def _aggregated(data: bytes) -> Iterator[bytes]:
    while data:
        size = int.from_bytes(data[:2], "big")
        yield data[2 : 2 + size]
        data = data[2 + size :]


def av1(payloads: Iterable[bytes]) -> bytes:
    units: list[bytes] = []
    for payload in payloads:
        continues, elements = payload[0] & 0x80, _elements(payload)
        if continues:
            units[-1] += elements.pop(0)
        units += elements
    return TEMPORAL_DELIMITER + b"".join(_with_size(unit) for unit in units)


def _elements(payload: bytes) -> list[bytes]:
    """Return the OBU elements. If W gives the number of elements, the last element has no length field."""
    count, at = payload[0] >> 4 & 3, 1
    elements: list[bytes] = []
    while at < len(payload):
        size = len(payload) - at
        if count == 0 or len(elements) < count - 1:
            size, at = leb128(payload, at)
        elements.append(payload[at : at + size])
        at += size
    return elements


def leb128(data: bytes, at: int) -> tuple[int, int]:
    """Read a number. Return it and the position after it."""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def _with_size(unit: bytes) -> bytes:
    """Return an OBU with its size, as in a bitstream (AV1 specification section 5.3)."""
    header = 2 if unit[0] & 0x04 else 1
    assert not unit[0] & 0x02, "RTP omits the size"
    size, left = b"", len(unit) - header
    while left > 0x7F:
        size += bytes([left & 0x7F | 0x80])
        left >>= 7
    return bytes([unit[0] | 0x02]) + unit[1:header] + size + bytes([left]) + unit[header:]


DEPACKETISERS: dict[str, Callable[[Sequence[bytes]], bytes]] = {
    "VP8": vp8,
    "VP9": vp9,
    "H264": h264,
    "AV1": av1,
}
