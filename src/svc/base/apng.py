"""Composes the frames of an animated PNG as specified, inside the sandbox.

Pillow gets blending and disposal wrong: it makes opaque areas transparent and restores too little. Does not
decode frames. The caller's function decodes each frame as a separate PNG.
"""

import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from PIL import Image

from svc.base.sandbox_protocol import Rejected

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Chunks that precede the frames and apply to all of them: the palette and its transparency.
_SHARED = (b"PLTE", b"tRNS")
_TO_BACKGROUND, _TO_PREVIOUS = 1, 2
_OVER = 1
_CLEAR = (0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class _Control:
    """A frame's fcTL chunk: position, duration and disposal method."""

    width: int
    height: int
    x: int
    y: int
    delay: int
    delay_unit: int
    disposal: int
    blend: int

    @property
    def duration_ms(self) -> float:
        # A denominator of 0 means 100, that is, hundredths of a second.
        return 1000 * self.delay / (self.delay_unit or 100)

    @property
    def box(self) -> tuple[int, int, int, int]:
        return self.x, self.y, self.x + self.width, self.y + self.height


def compose_frames(
    data: bytes, size: tuple[int, int], decoded: Callable[[bytes], Image.Image]
) -> Iterator[tuple[Image.Image, float]]:
    """Yield each frame as it should appear on screen, with its duration in milliseconds. `decoded` converts a
    PNG to RGBA.

    Raises Rejected, and any exception that `decoded` raises.
    """
    canvas = Image.new("RGBA", size, _CLEAR)
    for control, png in _frames(data):
        if not (control.width and control.height and control.box[2] <= size[0] and control.box[3] <= size[1]):
            raise Rejected("invalid_image", "A frame extends beyond the picture")
        part = decoded(png)
        before = canvas.copy() if control.disposal == _TO_PREVIOUS else canvas
        if control.blend == _OVER:
            canvas.alpha_composite(part, (control.x, control.y))
        else:
            canvas.paste(part, (control.x, control.y))
        yield canvas.copy(), control.duration_ms
        canvas = before
        if control.disposal == _TO_BACKGROUND:
            canvas.paste(_CLEAR, control.box)


def _frames(data: bytes) -> Iterator[tuple[_Control, bytes]]:
    """Yield each frame's control chunk, and the frame as a PNG."""
    header, shared = b"", b""
    control: _Control | None = None
    pixels = bytearray()
    for kind, content in _chunks(data):
        if kind == b"IHDR":
            header = content
        elif kind in _SHARED:
            shared += _chunk(kind, content)
        elif kind == b"IDAT" and control is not None:
            pixels += content
        elif kind == b"fdAT" and control is not None:
            pixels += content[4:]
        elif kind in (b"fcTL", b"IEND"):
            if control is not None:
                yield control, _png(header, shared, control, bytes(pixels))
            pixels.clear()
            if kind == b"IEND" or len(content) < 26:
                return
            control = _Control(*struct.unpack(">4x4I2H2B", content[:26]))


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(SIGNATURE)
    while at + 12 <= len(data):
        size = int.from_bytes(data[at : at + 4])
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        at += 12 + size


def _png(header: bytes, shared: bytes, control: _Control, pixels: bytes) -> bytes:
    own = struct.pack(">II", control.width, control.height) + header[8:]
    return SIGNATURE + _chunk(b"IHDR", own) + shared + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
