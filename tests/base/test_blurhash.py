"""A BlurHash encodes a blurred version of an image, in the format that other decoders understand."""

from itertools import product
from math import cos, pi

import pytest

from svc.base.blurhash import _DIGITS, LENGTH, X_COMPONENTS, Y_COMPONENTS, blurhash

Pixel = tuple[int, int, int]


def number(text: str) -> int:
    value = 0
    for character in text:
        value = value * 83 + _DIGITS.index(character)
    return value


def colour_at(text: str, x: float, y: float) -> tuple[float, ...]:
    """Decode a BlurHash. Return the linear light at the given position, whose coordinates are from 0 to 1."""
    size = number(text[0])
    assert (size % 9 + 1, size // 9 + 1) == (X_COMPONENTS, Y_COMPONENTS)
    largest = (number(text[1]) + 1) / 166
    mean = number(text[2:6])
    factors = [tuple(_linear(mean >> shift & 255) for shift in (16, 8, 0))]
    for at in range(6, LENGTH, 2):
        value = number(text[at : at + 2])
        steps = (value // 361, value // 19 % 19, value % 19)
        factors.append(tuple(_signed_square((step - 9) / 9) * largest for step in steps))
    places = product(range(Y_COMPONENTS), range(X_COMPONENTS))
    waves = [cos(pi * column * x) * cos(pi * row * y) for row, column in places]
    return tuple(
        sum(factor[channel] * wave for factor, wave in zip(factors, waves, strict=True))
        for channel in range(3)
    )


def _linear(value: int) -> float:
    return value / 255 / 12.92 if value <= 10 else ((value / 255 + 0.055) / 1.055) ** 2.4


def _signed_square(value: float) -> float:
    return value * abs(value)


def test_the_blurhash_of_black_is_the_same_as_in_other_implementations() -> None:
    assert blurhash([(0, 0, 0)] * 64, 8) == "L00000fQfQfQfQfQfQfQfQfQfQfQ"


@pytest.mark.parametrize("colour", [(255, 255, 255), (200, 30, 30), (10, 120, 240)])
def test_a_single_colour_is_preserved_in_the_blurhash(colour: Pixel) -> None:
    seen = colour_at(blurhash([colour] * 32 * 32, 32), 0.5, 0.5)
    for channel, value in zip(seen, colour, strict=True):
        assert abs(channel - _linear(value)) < 0.06


def test_a_bright_left_half_is_bright_in_the_blurhash() -> None:
    pixels: list[Pixel] = [(255 - 8 * x, 0, 8 * y) for y in range(32) for x in range(32)]
    text = blurhash(pixels, 32)
    assert len(text) == LENGTH
    assert colour_at(text, 0.1, 0.5)[0] > colour_at(text, 0.9, 0.5)[0] + 0.3
    assert colour_at(text, 0.5, 0.9)[2] > colour_at(text, 0.5, 0.1)[2] + 0.3


@pytest.mark.parametrize(("width", "height"), [(1, 1), (1, 32), (32, 1)])
def test_even_the_smallest_images_have_a_blurhash(width: int, height: int) -> None:
    assert len(blurhash([(9, 99, 199)] * width * height, width)) == LENGTH
