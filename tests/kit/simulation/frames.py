"""Creates the simulation's video frames. Each payload contains its frame's number and its own index.

To the engine they look like VP8 (RFC 7741: payload descriptor, then the keyframe bit), and the receiver
verifies their checksum. Nothing is decoded.
"""

import struct
import zlib
from dataclasses import dataclass

# VP8 descriptor and first byte of the frame, frame number, packet index, packets in the frame, checksum.
HEAD = struct.Struct("!BBIHHI")
DESCRIPTOR_FIRST, DESCRIPTOR_REST = 0x10, 0x00
KEYFRAME, DELTA = 0x00, 0x01


@dataclass(frozen=True, slots=True)
class Frame:
    number: int
    captured: float
    packets: int
    keyframe: bool
    since_keyframe: int = 0  # frames


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a frame that one packet carries."""

    frame: int
    index: int
    count: int
    keyframe: bool


def payload(frame: Frame, index: int, size: int) -> bytes:
    """Return the payload of packet `index`, which is unique and has about `size` bytes."""
    filler = struct.pack("!IH", frame.number, index) * (max(size - HEAD.size, 6) // 6)
    return (
        HEAD.pack(
            DESCRIPTOR_REST if index else DESCRIPTOR_FIRST,
            KEYFRAME if frame.keyframe else DELTA,
            frame.number,
            index,
            frame.packets,
            zlib.crc32(filler),
        )
        + filler
    )


def read(data: bytes) -> Part:
    """Parse a received payload. Raises AssertionError if it is damaged."""
    _descriptor, kind, frame, index, count, checksum = HEAD.unpack_from(data)
    assert zlib.crc32(data[HEAD.size :]) == checksum, f"frame {frame} was damaged"
    return Part(frame, index, count, kind == KEYFRAME)
