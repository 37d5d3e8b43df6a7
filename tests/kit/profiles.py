"""Writes wide-gamut, grey and CMYK colour profiles for tests, tag by tag (ICC.1)."""

import struct
from collections.abc import Callable, Sequence
from itertools import product

Matrix = tuple[tuple[float, float, float], ...]

# The columns are red, green and blue in the profile connection space (XYZ for D50).
DISPLAY_P3: Matrix = ((0.5151, 0.2920, 0.1571), (0.2412, 0.6922, 0.0666), (-0.0011, 0.0419, 0.7841))
ADOBE_RGB: Matrix = ((0.6097, 0.2053, 0.1492), (0.3111, 0.6257, 0.0632), (0.0195, 0.0609, 0.7446))
_TO_SRGB: Matrix = ((3.1339, -1.6169, -0.4906), (-0.9788, 1.9161, 0.0335), (0.0719, -0.2290, 1.4052))
_D50 = (0.9642, 1.0, 0.8249)


def rgb(space: Matrix, gamma: float = 2.2) -> bytes:
    columns = zip(*space, strict=True)
    tags = {name: _xyz(column) for name, column in zip((b"rXYZ", b"gXYZ", b"bXYZ"), columns, strict=True)}
    return _profile(
        b"mntr", b"RGB ", b"XYZ ", {**tags, **dict.fromkeys((b"rTRC", b"gTRC", b"bTRC"), _curve(gamma))}
    )


def grey(gamma: float) -> bytes:
    return _profile(b"mntr", b"GRAY", b"XYZ ", {b"kTRC": _curve(gamma)})


def cmyk(lab: Callable[[Sequence[int]], tuple[float, float, float]]) -> bytes:
    """Return the profile of a printer, given the colour (L*, a*, b*) for each combination of present and
    absent inks.
    """
    identity = bytes(range(256))
    corners = b"".join(
        bytes((round(lightness * 2.55), round(a + 128), round(b + 128)))
        for lightness, a, b in map(lab, product((0, 1), repeat=4))
    )
    unit = struct.pack(">9i", 65536, 0, 0, 0, 65536, 0, 0, 0, 65536)
    table = b"mft1" + bytes(4) + bytes((4, 3, 2, 0)) + unit + identity * 4 + corners + identity * 3
    return _profile(b"prtr", b"CMYK", b"Lab ", {b"A2B0": table, b"A2B1": table})


def in_srgb(space: Matrix, gamma: float, colour: Sequence[int]) -> tuple[int, ...]:
    """Convert a pixel's colour from this space to sRGB."""
    linear = [(value / 255) ** gamma for value in colour]
    absolute = [sum(a * b for a, b in zip(row, linear, strict=True)) for row in space]
    return tuple(encoded(sum(a * b for a, b in zip(row, absolute, strict=True))) for row in _TO_SRGB)


def encoded(linear: float) -> int:
    linear = min(1.0, max(0.0, linear))
    return round(255 * (12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055))


def _profile(kind: bytes, space: bytes, connection: bytes, tags: dict[bytes, bytes]) -> bytes:
    text = b"test\0"
    tags = {
        b"desc": b"desc" + struct.pack(">II", 0, len(text)) + text + bytes(78),
        **tags,
        b"wtpt": _xyz(_D50),
    }
    table, body, at = b"", b"", 128 + 4 + 12 * len(tags)
    for name, tag in tags.items():
        table += struct.pack(">4sII", name, at + len(body), len(tag))
        body += tag + bytes(-len(tag) % 4)
    head = struct.pack(">I4sI4s4s4s", at + len(body), b"test", 0x02400000, kind, space, connection)
    head += struct.pack(">6H4s", 2026, 1, 1, 0, 0, 0, b"acsp") + bytes(28) + _s15(_D50)
    return head.ljust(128, b"\0") + struct.pack(">I", len(tags)) + table + body


def _curve(gamma: float) -> bytes:
    return b"curv" + struct.pack(">IIH", 0, 1, round(gamma * 256)) + bytes(2)


def _xyz(values: Sequence[float]) -> bytes:
    return b"XYZ " + bytes(4) + _s15(values)


def _s15(values: Sequence[float]) -> bytes:
    return struct.pack(">3i", *(round(value * 65536) for value in values))
