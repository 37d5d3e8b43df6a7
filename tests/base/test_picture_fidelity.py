"""A re-encoded image looks the same as before: its colours, transparency and animation are preserved."""

import dataclasses
import struct
import zlib
from collections.abc import AsyncIterator, Sequence
from io import BytesIO
from typing import Any

import pytest
import pytest_asyncio
from PIL import Image, ImageCms

from svc.base.pictures import ATTACHED_PICTURE, Picture, Refused, picture_sandbox, rewritten
from svc.base.sandbox import Sandbox
from tests.kit import heif, profiles
from tests.kit.pictures import encoded, png_chunk
from tests.kit.raw_pictures import GREY, GREY_ALPHA, PALETTE, RGB, RGBA, apng, gif, png

COLOUR = (200, 120, 60)
P3 = profiles.in_srgb(profiles.DISPLAY_P3, 2.2, COLOUR)
ADOBE = profiles.in_srgb(profiles.ADOBE_RGB, 2.2, COLOUR)
# The grey value with gamma 1, as sRGB displays it.
LINEAR = (profiles.encoded(128 / 255),) * 3
RED, GREEN, BLUE, CLEAR = (255, 0, 0, 255), (0, 255, 0, 255), (0, 0, 255, 255), (0, 0, 0, 0)
HALF_GREEN = (0, 255, 0, 128)
WHOLE, MIDDLE, CORNER = (0, 0, 24, 24), (8, 8, 8, 8), (16, 16, 8, 8)
COLOURS = (RED[:3], GREEN[:3], BLUE[:3], (9, 9, 9))
# Positions in each frame: outside the changing area, in its middle, and in its corner.
POINTS = ((2, 2), (12, 12), (20, 20))

# The decoder is loaded once for all tests.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    async with picture_sandbox(2) as sandbox:
        yield sandbox


async def rewrite(sandbox: Sandbox, data: bytes, side: int | None = None) -> tuple[Picture, Image.Image]:
    rules = dataclasses.replace(ATTACHED_PICTURE, max_side=side)
    picture = await rewritten(data, rules, deadline_s=30, sandbox=sandbox)
    return picture, Image.open(BytesIO(picture.data))


def solid(mode: str, colour: int | tuple[int, ...]) -> Image.Image:
    return Image.new(mode, (32, 32), colour)


def near(one: object, other: tuple[int, ...], by: int) -> bool:
    assert isinstance(one, tuple)
    return all(abs(a - b) <= by for a, b in zip(one, (*other, 255)[:4], strict=True))


def chunk_of(profile: bytes) -> bytes:
    return png_chunk(b"iCCP", b"x\0\0" + zlib.compress(profile))


def twice(*values: int) -> bytes:
    """Return 8-bit values as 16-bit values, with each byte repeated."""
    return bytes(byte for value in values for byte in (value, value))


def trns(*values: int) -> bytes:
    return png_chunk(b"tRNS", struct.pack(f">{len(values)}H", *values))


def printed(inks: Sequence[int]) -> tuple[float, float, float]:
    """Return the colour that these inks produce on a printer with dull inks that prints grey instead of
    black.
    """
    cyan, magenta, yellow, black = inks
    lightness = (95 - 30 * cyan - 40 * magenta - 5 * yellow) * (1 - 0.7 * black)
    return lightness, 50 * magenta - 30 * cyan, 60 * yellow - 40 * cyan


PLTE = png_chunk(b"PLTE", bytes(COLOUR))
PRINTER = profiles.cmyk(printed)
PAPER, INKS = (0, 0, 0, 0), (0, 255, 0, 255)


def printed_in_srgb(inks: tuple[int, ...]) -> tuple[int, ...]:
    space = ImageCms.ImageCmsProfile(BytesIO(PRINTER))
    shown = ImageCms.profileToProfile(
        solid("CMYK", inks), space, ImageCms.createProfile("sRGB"), outputMode="RGB"
    )
    assert shown is not None
    pixel = shown.getpixel((4, 4))
    assert isinstance(pixel, tuple)
    return tuple(map(int, pixel))


WIDE, ADOBE_RGB = profiles.rgb(profiles.DISPLAY_P3), profiles.rgb(profiles.ADOBE_RGB)
PICTURES = {
    "Display P3 in PNG": (
        encoded(solid("RGB", COLOUR), "PNG", icc_profile=WIDE),
        P3,
    ),
    "Adobe RGB in JPEG": (
        encoded(solid("RGB", COLOUR), "JPEG", quality=95, icc_profile=ADOBE_RGB),
        ADOBE,
    ),
    "Display P3 in WebP": (
        encoded(solid("RGB", COLOUR), "WEBP", icc_profile=WIDE),
        P3,
    ),
    "Adobe RGB in AVIF": (
        encoded(solid("RGB", COLOUR), "AVIF", icc_profile=ADOBE_RGB),
        ADOBE,
    ),
    "Display P3 in HEIC": (
        heif.photo(solid("RGB", COLOUR), properties=[heif.profile(WIDE)]),
        P3,
    ),
    "Display P3 by its numbers in HEIC": (
        heif.photo(solid("RGB", COLOUR), properties=[heif.nclx(12, 13, 6)]),
        P3,
    ),
    "Display P3 by its numbers in PNG": (
        png(8, RGB, bytes(COLOUR) * 16, png_chunk(b"cICP", bytes((12, 13, 0, 1)))),
        P3,
    ),
    "Display P3 by its corners in PNG": (
        png(
            8,
            RGB,
            bytes(COLOUR) * 16,
            png_chunk(b"gAMA", struct.pack(">I", 45455)),
            png_chunk(b"cHRM", struct.pack(">8I", 31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000)),
        ),
        P3,
    ),
    "gamma 1 in PNG": (
        png(8, RGB, bytes((128,)) * 48, png_chunk(b"gAMA", struct.pack(">I", 100_000))),
        LINEAR,
    ),
    "the usual gamma in PNG": (
        png(8, RGB, bytes(COLOUR) * 16, png_chunk(b"gAMA", struct.pack(">I", 45455))),
        COLOUR,
    ),
    "reference white of PQ in PNG": (
        png(8, RGB, bytes((148,)) * 48, png_chunk(b"cICP", bytes((9, 16, 0, 1)))),
        (240, 240, 240),
    ),
    "dim grey of HLG in PNG": (
        png(8, RGB, bytes((64,)) * 48, png_chunk(b"cICP", bytes((9, 18, 0, 1)))),
        (profiles.encoded((64 / 255) ** 2.4 / 3**1.2 * 1000 / 203),) * 3,
    ),
    "a palette": (
        png(
            8,
            PALETTE,
            bytes(16),
            chunk_of(WIDE),
            png_chunk(b"PLTE", bytes(COLOUR)),
        ),
        P3,
    ),
    "grey": (encoded(solid("L", 128), "JPEG", icc_profile=profiles.grey(1)), LINEAR),
    "grey and alpha": (png(8, GREY_ALPHA, bytes((128, 90)) * 16, chunk_of(profiles.grey(1))), (*LINEAR, 90)),
    "16 bits of grey": (png(16, GREY, bytes((128,)) * 32, chunk_of(profiles.grey(1))), LINEAR),
    "paper": (encoded(solid("CMYK", PAPER), "JPEG", icc_profile=PRINTER), printed_in_srgb(PAPER)),
    "inks": (encoded(solid("CMYK", INKS), "JPEG", icc_profile=PRINTER), printed_in_srgb(INKS)),
    "CMYK without a profile": (encoded(solid("CMYK", (0, 255, 255, 0)), "JPEG"), (255, 0, 0)),
    "16 bits of a colour": (
        png(16, RGB, twice(*COLOUR) * 16),
        COLOUR,
    ),
    "1 bit": (png(1, GREY, b"\xff\xff"), (255, 255, 255)),
    "2 bits": (png(2, GREY, b"\xaa" * 4), (170, 170, 170)),
    "a palette that shines through": (
        png(
            4,
            PALETTE,
            b"\x11" * 8,
            png_chunk(b"PLTE", bytes((0, 0, 0, *COLOUR))),
            png_chunk(b"tRNS", b"\xff\x80"),
        ),
        (*COLOUR, 128),
    ),
    **{
        f"{depth} bits of grey, of which one shines through": (png(depth, GREY, row, trns(value)), CLEAR)
        for depth, row, value in (
            (1, b"\xff\xff", 1),
            (2, b"\xaa" * 4, 2),
            (4, b"\xaa" * 8, 10),
            (8, b"\xaa" * 16, 170),
            (16, b"\xaa\x05" * 16, 0xAA05),
        )
    },
    "16 bits of grey, close to one that shines through": (
        png(16, GREY, b"\xaa\x05" * 16, trns(0xAA06)),
        (170,) * 3,
    ),
    "a colour that shines through": (png(8, RGB, bytes(COLOUR) * 16, trns(*COLOUR)), CLEAR),
    "16 bits and alpha": (
        png(16, RGBA, twice(*COLOUR, 128) * 16),
        (*COLOUR, 128),
    ),
}


@pytest.mark.parametrize("side", [None, 10], ids=["equal size", "smaller"])
@pytest.mark.parametrize("name", PICTURES)
async def test_colours_are_preserved(sandbox: Sandbox, name: str, side: int | None) -> None:
    data, colour = PICTURES[name]
    _, image = await rewrite(sandbox, data, side)
    seen = image.convert("RGBA").getpixel((4, 4))
    assert near(seen, colour, 6), seen


async def frames_of(sandbox: Sandbox, data: bytes) -> list[list[Any]]:
    _, image = await rewrite(sandbox, data)
    seen = []
    for number in range(getattr(image, "n_frames", 1)):
        image.seek(number)
        frame = image.convert("RGBA")
        seen.append([frame.getpixel(point) for point in POINTS])
    return seen


ANIMATIONS = {
    "GIF, kept": (
        gif((WHOLE, 0, 1), (MIDDLE, 1, 1), (CORNER, 2, 1), palette=COLOURS),
        (RED, GREEN, BLUE),
    ),
    "GIF, to the background": (
        gif((WHOLE, 0, 1), (MIDDLE, 1, 2), (CORNER, 2, 1), palette=COLOURS, through=3),
        (RED, CLEAR, BLUE),
    ),
    "GIF, to a background that has a colour": (
        gif((WHOLE, 0, 1), (MIDDLE, 1, 2), (CORNER, 2, 1), palette=COLOURS),
        (RED, CLEAR, BLUE),
    ),
    "GIF, all to the background": (
        gif((WHOLE, 0, 2), (MIDDLE, 1, 1), (CORNER, 2, 1), palette=COLOURS),
        (CLEAR, GREEN, BLUE),
    ),
    "GIF, as before": (
        gif((WHOLE, 0, 1), (MIDDLE, 1, 3), (CORNER, 2, 1), palette=COLOURS),
        (RED, RED, BLUE),
    ),
    "GIF that begins in its middle": (
        gif((MIDDLE, 0, 1), (MIDDLE, 1, 1), (CORNER, 2, 1), palette=COLOURS),
        (CLEAR, GREEN, BLUE),
    ),
    "APNG, over": (
        apng((WHOLE, RED, 0, 0), (MIDDLE, HALF_GREEN, 0, 1), (CORNER, BLUE, 0, 1)),
        (RED, (127, 128, 0), BLUE),
    ),
    "APNG, instead": (
        apng((WHOLE, RED, 0, 0), (MIDDLE, HALF_GREEN, 0, 0), (CORNER, BLUE, 0, 1)),
        (RED, HALF_GREEN, BLUE),
    ),
    "APNG, to the background": (
        apng((WHOLE, RED, 0, 0), (MIDDLE, HALF_GREEN, 1, 1), (CORNER, BLUE, 0, 1)),
        (RED, CLEAR, BLUE),
    ),
    "APNG, as before": (
        apng((WHOLE, RED, 0, 0), (MIDDLE, GREEN, 2, 1), (CORNER, BLUE, 0, 1)),
        (RED, RED, BLUE),
    ),
    "APNG, all of the first to the background": (
        apng((WHOLE, RED, 2, 0), (MIDDLE, GREEN, 0, 1), (CORNER, BLUE, 0, 1)),
        (CLEAR, GREEN, BLUE),
    ),
    "WebP": (
        encoded(
            solid("RGBA", RED),
            "WEBP",
            lossless=True,
            save_all=True,
            append_images=[solid("RGBA", GREEN), solid("RGBA", HALF_GREEN)],
        ),
        (HALF_GREEN,) * 3,
    ),
}


@pytest.mark.parametrize("name", ANIMATIONS)
async def test_animation_frames_are_combined_correctly_after_re_encoding(sandbox: Sandbox, name: str) -> None:
    data, last = ANIMATIONS[name]
    seen = await frames_of(sandbox, data)
    assert len(seen) == 3
    assert all(near(one, other, 2) for one, other in zip(seen[2], last, strict=True)), seen


@pytest.mark.parametrize(
    ("data", "durations"),
    [
        # Browsers show frames of at most 10 ms for 100 ms.
        *(
            (gif((WHOLE, 0, 1), (WHOLE, 1, 1), palette=COLOURS, delay=delay), [shown, shown])
            for delay, shown in ((0, 100), (1, 100), (2, 20), (7, 70))
        ),
        (apng(*((WHOLE, colour, 0, 0) for colour in (RED, GREEN, BLUE)), delay=(1, 60)), [17, 16, 17]),
        (apng(*((WHOLE, colour, 0, 0) for colour in (RED, GREEN)), delay=(5, 0)), [50, 50]),
    ],
)
async def test_animation_frames_keep_their_duration(
    sandbox: Sandbox, data: bytes, durations: list[int]
) -> None:
    picture, image = await rewrite(sandbox, data)
    shown = []
    for number in range(picture.frames):
        image.seek(number)
        image.load()
        shown.append(image.info["duration"])
    assert (shown, picture.duration_ms) == (durations, sum(durations))


async def test_a_frame_that_extends_beyond_the_image_is_rejected(sandbox: Sandbox) -> None:
    with pytest.raises(Refused) as caught:
        await rewrite(sandbox, apng((WHOLE, RED, 0, 0), ((20, 20, 8, 8), GREEN, 0, 0)))
    assert caught.value.code == "invalid_image"
