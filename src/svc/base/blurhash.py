"""Encodes a blurred image in 28 characters (BlurHash). Clients show it until the real image has loaded.

The hash contains four by three cosine components of the linear light, each rounded to a few bits and written
in base 83. Does not read files.
"""

from collections.abc import Sequence
from itertools import product
from math import copysign, cos, pi

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~"
X_COMPONENTS, Y_COMPONENTS = 4, 3
LENGTH = 4 + 2 * X_COMPONENTS * Y_COMPONENTS

Colour = tuple[float, float, float]


def blurhash(pixels: Sequence[tuple[int, int, int]], width: int) -> str:
    """Return the hash of an sRGB image, given as rows of pixels. A few hundred pixels are enough."""
    linear = [tuple(_LINEAR[channel] for channel in pixel) for pixel in pixels]
    height = len(pixels) // width
    factors = [
        _component(linear, width, height, x, y) for y, x in product(range(Y_COMPONENTS), range(X_COMPONENTS))
    ]
    mean, *rest = factors
    largest = max(abs(channel) for factor in rest for channel in factor)
    quantised_largest = max(0, min(82, int(largest * 166 - 0.5)))
    scale = (quantised_largest + 1) / 166
    size = (X_COMPONENTS - 1) + (Y_COMPONENTS - 1) * 9
    parts = [_digits(size, 1), _digits(quantised_largest, 1), _digits(_rgb(mean), 4)]
    return "".join(parts + [_digits(_encode_ac(factor, scale), 2) for factor in rest])


def _component(linear: Sequence[Sequence[float]], width: int, height: int, x: int, y: int) -> Colour:
    """Return the coefficient of one cosine component.

    Sums along the rows first, which is possible because the waves are separable.
    """
    across = [cos(pi * x * column / width) for column in range(width)]
    totals = [0.0, 0.0, 0.0]
    for row in range(height):
        down = cos(pi * y * row / height)
        line = linear[row * width : (row + 1) * width]
        for channel in range(3):
            totals[channel] += down * sum(
                wave * pixel[channel] for wave, pixel in zip(across, line, strict=True)
            )
    norm = (1 if x == y == 0 else 2) / (width * height)
    return totals[0] * norm, totals[1] * norm, totals[2] * norm


def _rgb(mean: Colour) -> int:
    red, green, blue = (_srgb(channel) for channel in mean)
    return (red << 16) + (green << 8) + blue


def _encode_ac(factor: Colour, scale: float) -> int:
    """Encode three channels in 19 steps each. The steps are finer near zero."""
    steps = [copysign(abs(channel / scale) ** 0.5, channel) * 9 + 9.5 for channel in factor]
    red, green, blue = (max(0, min(18, int(step))) for step in steps)
    return (red * 19 + green) * 19 + blue


def _digits(value: int, length: int) -> str:
    return "".join(_DIGITS[value // 83**position % 83] for position in reversed(range(length)))


def _srgb(linear: float) -> int:
    value = max(0.0, min(1.0, linear))
    encoded = value * 12.92 if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055
    return int(encoded * 255 + 0.5)


_LINEAR = tuple(
    value / 255 / 12.92 if value <= 10 else ((value / 255 + 0.055) / 1.055) ** 2.4 for value in range(256)
)
