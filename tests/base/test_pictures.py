"""A re-encoded image contains the original's pixels and nothing else. Unsuitable images are rejected with
a reason.

The hostile files are in `tests/base/test_hostile_pictures.py`.
"""

import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from PIL import Image, ImageCms

from svc.base.pictures import Picture, PictureRules, Refused, kind_of, picture_sandbox, rewritten
from svc.base.sandbox import Result, Sandbox
from tests.kit import pictures

ALL = ("PNG", "JPEG", "WEBP", "GIF", "AVIF")
RULES = PictureRules(formats=ALL)
DEADLINE_S = 30.0

# The decoder is loaded once for all tests.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    async with picture_sandbox(2) as sandbox:
        yield sandbox


async def rewrite(sandbox: Sandbox, data: bytes | Path, rules: PictureRules = RULES) -> Picture:
    return await rewritten(data, rules, deadline_s=DEADLINE_S, sandbox=sandbox)


def near(one: tuple[int, ...], other: tuple[int, ...], by: int = 16) -> bool:
    return all(abs(a - b) <= by for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("format_", ALL)
@pytest.mark.parametrize("output", ["WEBP", "AVIF"])
async def test_every_image_format_is_re_encoded(sandbox: Sandbox, format_: str, output: str) -> None:
    rules = dataclasses.replace(RULES, output=output)
    picture = await rewrite(sandbox, pictures.encoded(pictures.scene(), format_), rules)
    image = pictures.decoded(picture.data)
    assert (image.format, image.size) == (output, (64, 48)) == (output, (picture.width, picture.height))
    assert (picture.content_type, picture.ext) == (f"image/{output.lower()}", output.lower())
    shown = image.convert("RGB")
    assert near(_pixel(shown, 40, 10), (200, 30, 30)) and near(_pixel(shown, 40, 40), (30, 30, 200))
    assert kind_of(picture.data) == output


def _pixel(image: Image.Image, x: int, y: int) -> tuple[int, ...]:
    pixel = image.getpixel((x, y))
    assert isinstance(pixel, tuple)
    return pixel


@pytest.mark.parametrize("major", [b"mif1", b"miaf", b"MA1A", b"MA1B"])
async def test_an_avif_file_is_decoded_regardless_of_its_first_brand(sandbox: Sandbox, major: bytes) -> None:
    avif = pictures.encoded(pictures.scene(), "AVIF")
    picture = await rewrite(sandbox, avif[:8] + major + avif[12:])
    assert near(_pixel(pictures.decoded(picture.data).convert("RGB"), 40, 40), (30, 30, 200))


async def test_images_can_also_be_encoded_without_a_separate_sandbox() -> None:
    picture = await rewritten(pictures.encoded(pictures.scene(), "PNG"), RULES, deadline_s=DEADLINE_S)
    assert (picture.width, picture.height) == (64, 48)


async def test_a_file_can_also_be_read_from_disk(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "scene.wrong").write_bytes(pictures.encoded(pictures.scene(), "JPEG"))
    assert (await rewrite(sandbox, tmp_path / "scene.wrong")).frames == 1


@pytest.mark.parametrize("format_", ALL)
@pytest.mark.parametrize("output", ["WEBP", "AVIF"])
async def test_no_file_metadata_remains(sandbox: Sandbox, format_: str, output: str) -> None:
    marked = pictures.picture_with_metadata(format_)
    assert pictures.SECRET in marked
    rules = dataclasses.replace(RULES, output=output, thumbnail_side=16)
    picture = await rewrite(sandbox, marked, rules)
    assert picture.thumbnail is not None
    for written in (picture.data, picture.thumbnail):
        assert pictures.SECRET not in written
        assert not any(
            mark in written for mark in (b"Exif\0", b"EXIF", b"ICCP", b"XMP", b"http://", b"colrprof")
        )
        image = pictures.decoded(written)
        assert dict(image.getexif()) == {}
        assert not {"exif", "xmp", "icc_profile", "comment"} & {
            key for key, value in image.info.items() if value
        }


@pytest.mark.parametrize("orientation", range(1, 9))
async def test_images_are_rotated_upright(sandbox: Sandbox, orientation: int) -> None:
    picture = await rewrite(sandbox, pictures.oriented(orientation))
    image = pictures.decoded(picture.data).convert("RGB")
    assert image.size == (64, 48)
    assert near(_pixel(image, 5, 5), (255, 255, 255)) and near(_pixel(image, 50, 10), (200, 30, 30))
    assert near(_pixel(image, 50, 40), (30, 30, 200))


async def test_colours_are_converted_according_to_the_profile(sandbox: Sandbox) -> None:
    # In a wide colour space, the same numbers represent more intense colours.
    wide = _swapped_profile()
    data = pictures.encoded(Image.new("RGB", (16, 16), (200, 40, 10)), "PNG", icc_profile=wide)
    picture = await rewrite(sandbox, data)
    assert near(_pixel(pictures.decoded(picture.data).convert("RGB"), 8, 8), (10, 40, 200), by=4)


def _swapped_profile() -> bytes:
    """Return an sRGB profile in which red and blue (rXYZ and bXYZ) are swapped."""
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    return profile.replace(b"rXYZ", b"????").replace(b"bXYZ", b"rXYZ").replace(b"????", b"bXYZ")


async def test_an_invalid_profile_is_ignored(sandbox: Sandbox) -> None:
    data = pictures.encoded(pictures.scene(), "PNG", icc_profile=b"no profile" * 20)
    picture = await rewrite(sandbox, data)
    assert near(_pixel(pictures.decoded(picture.data).convert("RGB"), 40, 10), (200, 30, 30))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I;16"])
async def test_every_pixel_format_is_supported(sandbox: Sandbox, mode: str) -> None:
    image = Image.new("I;16", (64, 48), 40_000) if mode == "I;16" else pictures.scene().convert(mode)
    picture = await rewrite(sandbox, pictures.encoded(image, "JPEG" if mode == "CMYK" else "PNG"))
    expected = (156, 156, 156) if mode == "I;16" else image.convert("RGB").getpixel((50, 40))
    assert isinstance(expected, tuple)
    assert near(_pixel(pictures.decoded(picture.data).convert("RGB"), 50, 40), expected)


async def test_transparent_pixels_stay_transparent(sandbox: Sandbox) -> None:
    image = pictures.scene().convert("RGBA")
    image.putalpha(100)
    picture = await rewrite(sandbox, pictures.encoded(image, "PNG"))
    assert _pixel(pictures.decoded(picture.data), 40, 10)[3] == 100


@pytest.mark.parametrize("format_", ["GIF", "WEBP", "PNG", "AVIF"])
async def test_animations_stay_animated(sandbox: Sandbox, format_: str) -> None:
    picture = await rewrite(sandbox, pictures.animation(6, format_))
    image = pictures.decoded(picture.data)
    assert getattr(image, "n_frames", 1) == 6 == picture.frames
    assert abs(picture.duration_ms - 480) <= 6
    image.seek(5)
    assert near(_pixel(image.convert("RGB"), 5, 5), (35, 155, 90), by=24)


@pytest.mark.parametrize(
    ("format_", "loop", "plays"),
    [
        ("GIF", None, 1),
        ("GIF", 0, 0),
        ("GIF", 2, 3),
        ("PNG", 0, 0),
        ("PNG", 3, 3),
        ("WEBP", 0, 0),
        ("WEBP", 4, 4),
    ],
)
async def test_an_animation_keeps_its_number_of_repetitions(
    sandbox: Sandbox, format_: str, loop: int | None, plays: int
) -> None:
    options: dict[str, Any] = {} if loop is None else {"loop": loop}
    image = pictures.decoded((await rewrite(sandbox, pictures.animation(3, format_, **options))).data)
    assert (image.info["loop"], getattr(image, "n_frames", 1)) == (plays, 3)


async def test_the_default_image_of_an_animated_png_is_not_a_frame(sandbox: Sandbox) -> None:
    still, *moving = (Image.new("RGB", (32, 24), colour) for colour in ("red", "blue", "lime"))
    apng = pictures.encoded(
        still, "PNG", save_all=True, append_images=moving, default_image=True, duration=80
    )
    rules = dataclasses.replace(RULES, thumbnail_side=8)
    picture = await rewrite(sandbox, apng, rules)
    image = pictures.decoded(picture.data)
    assert (picture.frames, getattr(image, "n_frames", 1)) == (2, 2)
    assert near(_pixel(image.convert("RGB"), 5, 5), (0, 0, 255), by=24)
    assert picture.thumbnail is not None
    assert near(_pixel(pictures.decoded(picture.thumbnail).convert("RGB"), 5, 5), (255, 0, 0), by=24)
    unmoving = await rewrite(sandbox, apng, dataclasses.replace(rules, animated=False))
    assert near(_pixel(pictures.decoded(unmoving.data).convert("RGB"), 5, 5), (255, 0, 0), by=24)


async def test_only_the_first_frame_is_kept_where_animations_are_not_allowed(sandbox: Sandbox) -> None:
    rules = dataclasses.replace(RULES, animated=False, max_frames=1)
    picture = await rewrite(sandbox, pictures.animation(50, "GIF"), rules)
    assert (picture.frames, picture.duration_ms) == (1, 0)
    assert getattr(pictures.decoded(picture.data), "n_frames", 1) == 1


async def test_large_images_are_scaled_down_and_small_ones_are_not_scaled_up(sandbox: Sandbox) -> None:
    rules = dataclasses.replace(RULES, max_side=32, thumbnail_side=8)
    large = await rewrite(sandbox, pictures.encoded(pictures.noise(400, 200), "JPEG"), rules)
    assert (large.width, large.height) == pictures.decoded(large.data).size == (32, 16)
    assert large.thumbnail is not None
    assert pictures.decoded(large.thumbnail).size == (8, 4) == (large.thumbnail_width, large.thumbnail_height)
    small = await rewrite(sandbox, pictures.encoded(pictures.noise(10, 4), "PNG"), rules)
    assert (small.width, small.height) == (10, 4)


async def test_drawings_are_encoded_losslessly(sandbox: Sandbox) -> None:
    drawing = pictures.scene()
    picture = await rewrite(sandbox, pictures.encoded(drawing, "PNG"))
    assert pictures.decoded(picture.data).convert("RGB").tobytes() == drawing.tobytes()


async def test_an_image_has_a_placeholder_and_a_dominant_colour(sandbox: Sandbox) -> None:
    image = Image.new("RGB", (300, 200), (10, 120, 240))
    image.paste((255, 255, 255), (0, 0, 60, 60))
    picture = await rewrite(sandbox, pictures.encoded(image, "PNG"))
    assert picture.colour == "#0a78f0"
    assert len(picture.placeholder) == 28 and picture.placeholder[0] == "L"


async def test_the_pixel_limit_applies_to_all_frames_together(sandbox: Sandbox) -> None:
    data = pictures.animation(10, "GIF", size=(100, 100))
    assert (await rewrite(sandbox, data, dataclasses.replace(RULES, max_pixels=100_000))).frames == 10
    for rules in (dataclasses.replace(RULES, max_pixels=99_999), dataclasses.replace(RULES, max_frames=9)):
        with pytest.raises(Refused) as caught:
            await rewrite(sandbox, data, rules)
        assert caught.value.code == "too_large"


async def test_an_unaccepted_format_is_rejected_regardless_of_the_file_name(sandbox: Sandbox) -> None:
    with pytest.raises(Refused) as caught:
        await rewrite(sandbox, pictures.animation(2, "GIF"), PictureRules(formats=("PNG", "JPEG")))
    assert caught.value.code == "unsupported_type"
    assert str(caught.value) == "Only pictures of these kinds are accepted: PNG, JPEG"


@pytest.mark.parametrize(
    "lie",
    [
        {"width": 0},
        {"width": 1 << 40},
        {"height": "64"},
        {"frames": 0},
        {"placeholder": "<script>"},
        {"colour": "red"},
        {"colour": "#ffffff;"},
        {"duration_ms": -1},
        {"data": b"<html>"},
        {"more": [b"<svg/>"]},
        {"more": []},
    ],
    ids=str,
)
async def test_a_decoder_gains_nothing_by_returning_forged_results(lie: dict[str, object]) -> None:
    webp = pictures.encoded(pictures.scene(), "WEBP")
    facts: dict[str, object] = {"width": 64, "height": 48, "frames": 1, "duration_ms": 0}
    facts |= {"thumbnail_width": 1, "thumbnail_height": 1, "placeholder": "L" * 28, "colour": "#ffffff"}
    answer = {"data": webp, "more": [webp], **facts}
    with pytest.raises(Refused) as caught:
        await rewritten(
            webp, PictureRules(thumbnail_side=1), deadline_s=1, sandbox=_FixedResult({**answer, **lie})
        )
    assert caught.value.code == "invalid_image"
    picture = await rewritten(
        webp, PictureRules(thumbnail_side=1), deadline_s=1, sandbox=_FixedResult(answer)
    )
    assert picture.data == webp


class _FixedResult(Sandbox):
    """A sandbox whose child returns a fixed result."""

    def __init__(self, answer: dict[str, object]) -> None:
        super().__init__("none", at_once=1, broken="invalid_image")
        self._answer = answer

    async def call(self, *_: object, **__: object) -> Result:
        data, more = self._answer["data"], self._answer["more"]
        assert isinstance(data, bytes) and isinstance(more, list)
        return Result(self._answer, [data, *more])
