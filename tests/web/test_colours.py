"""Tests that colour tokens have the contrasts that base.css promises, in both themes.

Role colours, which managers choose, are measured in a browser test instead.
"""

import math
import re

import pytest

from svc.chat.pages.routes import WEB_FOLDER

TOKEN = re.compile(
    r"--([\w-]+):\s*(light-dark\()?((?:#\w{6}|oklch\([\d. ]+\))(?:,\s*(?:#\w{6}|oklch\([\d. ]+\)))?)"
)
COLOUR = re.compile(r"#\w{6}|oklch\([\d. ]+\)")
BACKGROUNDS = ("page", "nav", "nav-end", "surface")
# The text colours, each paired with a background.
TEXTS = [
    *((text, back) for text in ("text", "quiet") for back in (*BACKGROUNDS, "raised", "chosen")),
    *((text, back) for text in ("accent", "danger", "success", "warning-text") for back in BACKGROUNDS),
    *((f"on-{fill}", f"{fill}-fill") for fill in ("accent", "danger", "success")),
    ("on-notice", "notice"),
    ("text", "highlight"),
]
# The colours of field borders, the focus ring and indicators, each paired with a background.
MARKS = [(mark, back) for mark in ("edge", "accent", "danger") for back in ("page", "nav", "surface")]


def tokens() -> dict[str, tuple[str, str]]:
    """Return the light and the dark colour of each token."""
    by_token = {}
    for name in ("base.css", "later/colours.css"):
        for token, _, values in TOKEN.findall((WEB_FOLDER / "style" / name).read_text()):
            colours = COLOUR.findall(values)
            by_token[token] = (colours[0], colours[-1])
    return by_token


def luminance(colour: str) -> float:
    """Return the relative luminance (WCAG 2.2) of a hexadecimal or OKLCH colour."""
    if colour.startswith("#"):
        channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (
            channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
            for channel in channels
        )
    else:
        lightness, chroma, hue = (float(value) for value in re.findall(r"[\d.]+", colour))
        a, b = (chroma * turn(math.radians(hue)) for turn in (math.cos, math.sin))
        long, medium, short = (
            (lightness + a * of_a + b * of_b) ** 3
            for of_a, of_b in (
                (0.3963377774, 0.2158037573),
                (-0.1055613458, -0.0638541728),
                (-0.0894841775, -1.2914855480),
            )
        )
        red = 4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short
        green = -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short
        blue = -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short
        red, green, blue = (min(1.0, max(0.0, value)) for value in (red, green, blue))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_known_colours_have_the_expected_contrast() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert contrast("oklch(1 0 0)", "oklch(0 0 0)") == pytest.approx(21, abs=0.01)
    assert contrast("oklch(0.628 0.2577 29.23)", "#ff0000") == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(("pairs", "minimum"), [(TEXTS, 4.5), (MARKS, 3)], ids=["texts", "marks"])
@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_colour_tokens_have_enough_contrast(pairs: list[tuple[str, str]], minimum: float, theme: int) -> None:
    values = tokens()
    contrasts = {pair: contrast(*(values[name][theme] for name in pair)) for pair in pairs}
    assert {pair: round(ratio, 2) for pair, ratio in contrasts.items() if ratio < minimum} == {}
