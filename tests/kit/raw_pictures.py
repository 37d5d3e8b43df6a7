"""Writes PNG, APNG and GIF files chunk by chunk, with features that Pillow's encoders never use."""

import struct
import zlib
from collections.abc import Sequence

from tests.kit.pictures import png_chunk

GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
SIDE = 24
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# The bits per pixel in these GIFs, and the code that clears a decoder's table.
_COLOUR_BITS, _CLEAR = 2, 4


def png(depth: int, kind: int, row: bytes, *chunks: bytes) -> bytes:
    """Return a PNG of 16 x 16 pixels whose rows are identical."""
    header = struct.pack(">IIBBBBB", 16, 16, depth, kind, 0, 0, 0)
    pixels = zlib.compress((b"\0" + row) * 16)
    body = (png_chunk(b"IHDR", header), *chunks, png_chunk(b"IDAT", pixels), png_chunk(b"IEND", b""))
    return _SIGNATURE + b"".join(body)


def apng(
    *frames: tuple[tuple[int, int, int, int], tuple[int, int, int, int], int, int],
    delay: tuple[int, int] = (1, 10),
) -> bytes:
    """Return an APNG of 24 x 24 pixels. A frame is (x, y, width, height), colour, disposal and blending."""
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, RGBA, 0, 0, 0)
    chunks = [png_chunk(b"IHDR", header), png_chunk(b"acTL", struct.pack(">II", len(frames), 0))]
    number = 0
    for at, ((x, y, width, height), colour, disposal, blend) in enumerate(frames):
        control = struct.pack(">5I2H2B", number, width, height, x, y, *delay, disposal, blend)
        pixels = zlib.compress((b"\0" + bytes(colour) * width) * height)
        chunks.append(png_chunk(b"fcTL", control))
        if at == 0:
            chunks.append(png_chunk(b"IDAT", pixels))
        else:
            number += 1
            chunks.append(png_chunk(b"fdAT", struct.pack(">I", number) + pixels))
        number += 1
    return _SIGNATURE + b"".join(chunks) + png_chunk(b"IEND", b"")


def gif(
    *frames: tuple[tuple[int, int, int, int], int, int],
    palette: Sequence[tuple[int, int, int]],
    through: int | None = None,
    delay: int = 10,
) -> bytes:
    """Return a GIF of 24 x 24 pixels.

    A frame is its area, colour number and disposal. Colour `through` is transparent.
    """
    head = b"GIF89a" + struct.pack("<HHBBB", SIDE, SIDE, 0x81, 0, 0) + b"".join(map(bytes, palette))
    pieces = []
    for (x, y, width, height), colour, disposal in frames:
        flags = disposal << 2 | (through is not None)
        pieces.append(b"\x21\xf9\x04" + struct.pack("<BHBB", flags, delay, through or 0, 0))
        pieces.append(
            b"\x2c" + struct.pack("<HHHHB", x, y, width, height, 0) + _packed(colour, width * height)
        )
    return head + b"".join(pieces) + b";"


def _packed(colour: int, count: int) -> bytes:
    """Pack pixels without compression, by clearing the decoder's table before every second pixel."""
    codes = [code for at in range(count) for code in ([colour] if at % 2 else [_CLEAR, colour])]
    bits, length, packed = 0, 0, bytearray()
    for code in [*codes, _CLEAR + 1]:
        bits |= code << length
        length += _COLOUR_BITS + 1
    packed += bits.to_bytes((length + 7) // 8, "little")
    blocks = (packed[at : at + 255] for at in range(0, len(packed), 255))
    return bytes((_COLOUR_BITS,)) + b"".join(bytes((len(block),)) + block for block in blocks) + b"\0"
