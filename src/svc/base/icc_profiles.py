"""Creates ICC profiles (ICC.1) for images that declare their colours as code points (H.273) or as a PNG's
gamma.

Images that look the same in sRGB get no profile. High dynamic range (PQ and HLG) is compressed into the range
of a display: reference white, 203 cd/m² in BT.2408, is mapped close to white, and brighter light even closer.
Converts no pixels.
"""

import math
import struct
from collections.abc import Callable, Sequence

# The chromaticities x and y of white, red, green and blue.
Chromaticities = tuple[float, ...]
Curve = Callable[[float], float]
Matrix = list[list[float]]

_D65 = (0.3127, 0.3290)
_SRGB = (*_D65, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06)
_PRIMARIES: dict[int, Chromaticities] = {
    1: _SRGB,
    2: _SRGB,  # unspecified in H.273
    5: (*_D65, 0.64, 0.33, 0.29, 0.60, 0.15, 0.06),
    6: (*_D65, 0.630, 0.340, 0.310, 0.595, 0.155, 0.070),
    7: (*_D65, 0.630, 0.340, 0.310, 0.595, 0.155, 0.070),
    9: (*_D65, 0.708, 0.292, 0.170, 0.797, 0.131, 0.046),
    11: (0.314, 0.351, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060),
    12: (*_D65, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060),
}
_PQ, _HLG = 16, 18
_WHITE_NITS, _HLG_PEAK_NITS = 203.0, 1000.0
# Light above this value is compressed.
_KNEE = 0.7
# The number of points on a curve, which is interpolated linearly between them.
_STEPS = 1024
# Bradford's matrix for chromatic adaptation, and the white point of profiles.
_BRADFORD: Matrix = [[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]]
_D50 = [0.9642, 1.0, 0.8249]
# Gammas that differ by less than this, such as 1/2.2 and 0.45455, look the same.
_CLOSE = 0.02


def profile_of_code_points(primaries: int, transfer: int) -> bytes | None:
    """Return a profile for these colour primaries and transfer characteristics, given as H.273 code
    points.
    """
    chromaticities = _PRIMARIES.get(primaries)
    curve = {4: _power(2.2), 5: _power(2.8), 8: _power(1.0), _PQ: _pq, _HLG: _hlg}.get(transfer, _srgb)
    if chromaticities is None or (chromaticities == _SRGB and curve is _srgb):
        return None
    return _profile(chromaticities, curve)


def profile_of_gamma(gamma: float | None, chromaticities: Sequence[float] | None) -> bytes | None:
    """Return a profile for the gamma and the chromaticities that a PNG states (gAMA and cHRM)."""
    usual = gamma is None or abs(gamma * 2.2 - 1) < _CLOSE
    near = chromaticities is None or all(
        abs(one - other) < _CLOSE / 2 for one, other in zip(chromaticities, _SRGB, strict=True)
    )
    if (usual and near) or (gamma is not None and not 0.05 < gamma < 20):
        return None
    curve = _srgb if usual or gamma is None else _power(1 / gamma)
    return _profile(_SRGB if near or chromaticities is None else tuple(chromaticities), curve)


def _profile(chromaticities: Chromaticities, curve: Curve) -> bytes | None:
    try:
        columns = zip(*_to_connection_space(chromaticities), strict=True)
    except ZeroDivisionError:
        return None  # Primaries on one line span no colour space.
    table = b"".join(struct.pack(">H", round(65535 * curve(step / (_STEPS - 1)))) for step in range(_STEPS))
    shape = b"curv" + struct.pack(">II", 0, _STEPS) + table
    tags = {
        **{name: _xyz(column) for name, column in zip((b"rXYZ", b"gXYZ", b"bXYZ"), columns, strict=True)},
        b"wtpt": _xyz(_D50),
        **dict.fromkeys((b"rTRC", b"gTRC", b"bTRC"), shape),
    }
    at = 128 + 4 + 12 * len(tags)
    places, body = b"", b""
    for name, tag in tags.items():
        places += struct.pack(">4sII", name, at + len(body), len(tag))
        body += tag
    head = struct.pack(">I4xI4s4s4s", at + len(body), 0x02400000, b"mntr", b"RGB ", b"XYZ ")
    head += struct.pack(">6H4s28x", 2026, 1, 1, 0, 0, 0, b"acsp") + _to_fixed_point(_D50)
    return head.ljust(128, b"\0") + struct.pack(">I", len(tags)) + places + body


def _to_connection_space(chromaticities: Chromaticities) -> Matrix:
    """Return the matrix from linear light to XYZ, with white adapted to the white point of profiles."""
    white, *colours = (
        [x / y, 1.0, (1 - x - y) / y] for x, y in zip(chromaticities[::2], chromaticities[1::2], strict=True)
    )
    mixed = _transpose(colours)
    parts = _multiply(_inverse(mixed), white)
    to_xyz = [[value * part for value, part in zip(row, parts, strict=True)] for row in mixed]
    seen, wanted = _multiply(_BRADFORD, white), _multiply(_BRADFORD, _D50)
    scaled = [[value * b / a for value in row] for row, a, b in zip(_BRADFORD, seen, wanted, strict=True)]
    return _product(_product(_inverse(_BRADFORD), scaled), to_xyz)


def _power(exponent: float) -> Curve:
    return lambda value: value**exponent


def _srgb(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def _pq(value: float) -> float:
    """Decode SMPTE ST 2084."""
    root = value ** (32 / 2523)
    light = max(root - 107 / 128, 0) / (2413 / 128 - 2392 / 128 * root)
    return _compress(light ** (8192 / 1305) * 10_000 / _WHITE_NITS)


def _hlg(value: float) -> float:
    """Decode ARIB STD-B67 for a display with 1,000 cd/m²."""
    scene = (
        value * value / 3 if value <= 0.5 else (math.exp((value - 0.55991073) / 0.17883277) + 0.28466892) / 12
    )
    return _compress(min(scene, 1.0) ** 1.2 * _HLG_PEAK_NITS / _WHITE_NITS)


def _compress(light: float) -> float:
    return light if light <= _KNEE else 1 - (1 - _KNEE) * math.exp((_KNEE - light) / (1 - _KNEE))


def _transpose(matrix: Sequence[Sequence[float]]) -> Matrix:
    return [list(row) for row in zip(*matrix, strict=True)]


def _multiply(matrix: Matrix, vector: Sequence[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def _product(one: Matrix, other: Matrix) -> Matrix:
    return [_multiply(_transpose(other), row) for row in one]


def _inverse(matrix: Matrix) -> Matrix:
    (a, b, c), (d, e, f), (g, h, i) = matrix
    minors = [
        [e * i - f * h, c * h - b * i, b * f - c * e],
        [f * g - d * i, a * i - c * g, c * d - a * f],
        [d * h - e * g, b * g - a * h, a * e - b * d],
    ]
    determinant = a * minors[0][0] + b * minors[1][0] + c * minors[2][0]
    return [[value / determinant for value in row] for row in minors]


def _xyz(values: Sequence[float]) -> bytes:
    return b"XYZ " + bytes(4) + _to_fixed_point(values)


def _to_fixed_point(values: Sequence[float]) -> bytes:
    """Return fixed-point numbers with 16 fractional bits. Values from an invalid colour space are clamped."""
    return struct.pack(">3i", *(max(-(2**31), min(2**31 - 1, round(value * 65536))) for value in values))
