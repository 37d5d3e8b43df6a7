"""A HEIC photo from a phone or a camera is converted to an ordinary image."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from PIL import Image

from svc.base.pictures import ATTACHED_PICTURE, Picture, picture_sandbox, rewritten
from svc.base.sandbox import Sandbox
from tests.kit import heif, pictures

DEADLINE_S = 30.0
SIZE = (128, 96)
WHITE, RED, BLUE, LIME = (255, 255, 255), (200, 30, 30), (30, 30, 200), (0, 255, 0)
# The positions of white, red and blue in the scene.
POINTS = ((10, 8), (100, 20), (40, 80))

# The decoder is loaded once for all tests.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    async with picture_sandbox(2) as sandbox:
        yield sandbox


async def rewrite(sandbox: Sandbox, data: bytes) -> tuple[Picture, Image.Image]:
    picture = await rewritten(data, ATTACHED_PICTURE, deadline_s=DEADLINE_S, sandbox=sandbox)
    return picture, pictures.decoded(picture.data)


def shows(image: Image.Image, *colours: tuple[int, ...]) -> bool:
    seen = [image.convert("RGB").getpixel(point) for point in POINTS]
    return all(
        isinstance(one, tuple) and all(abs(a - b) <= 8 for a, b in zip(one, other, strict=True))
        for one, other in zip(seen, colours, strict=True)
    )


@pytest.mark.parametrize(
    "photo",
    [
        heif.photo(pictures.scene(*SIZE)),
        heif.photo(pictures.scene(*SIZE), tile=64),
        heif.photo(pictures.scene(*SIZE), tile=80),
        heif.photo(pictures.scene(*SIZE), bits=10),
        heif.photo(pictures.scene(*SIZE), brands=(b"mif1", b"mif1", b"miaf")),
        heif.photo(pictures.scene(*SIZE), brands=(b"MiHB", b"mif1", b"MiHB")),
        # The main photo is not always the first one.
        heif.photo(pictures.scene(*SIZE), before=[Image.new("RGB", (64, 64), "lime")]),
    ],
    ids=["one", "tiles", "tiles beyond the edge", "10 bits", "general brands", "MiHB", "second of two"],
)
async def test_a_photo_is_shown_in_its_intended_orientation(sandbox: Sandbox, photo: bytes) -> None:
    picture, image = await rewrite(sandbox, photo)
    assert (picture.content_type, picture.frames, image.size) == ("image/webp", 1, SIZE)
    assert shows(image, WHITE, RED, BLUE)


@pytest.mark.parametrize(
    ("properties", "back"),
    [
        ([heif.turned(1)], [Image.Transpose.ROTATE_270]),
        ([heif.turned(2)], [Image.Transpose.ROTATE_180]),
        ([heif.turned(3)], [Image.Transpose.ROTATE_90]),
        ([heif.mirrored(0)], [Image.Transpose.FLIP_TOP_BOTTOM]),
        ([heif.mirrored(1)], [Image.Transpose.FLIP_LEFT_RIGHT]),
        ([heif.turned(1), heif.mirrored(1)], [Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.ROTATE_270]),
    ],
)
@pytest.mark.parametrize("tile", [None, 64])
async def test_the_orientation_follows_the_heic_properties(
    sandbox: Sandbox, properties: list[bytes], back: list[Image.Transpose], tile: int | None
) -> None:
    lying = pictures.scene(*SIZE)
    for turn in back:
        lying = lying.transpose(turn)
    # The orientation in EXIF duplicates the properties and is ignored if they exist.
    photo = heif.photo(lying, tile=tile, properties=properties, exif=pictures.exif_of(6))
    _, image = await rewrite(sandbox, photo)
    assert image.size == SIZE and shows(image, WHITE, RED, BLUE)


async def test_no_metadata_about_the_location_or_the_camera_remains(sandbox: Sandbox) -> None:
    photo = heif.photo(
        pictures.scene(*SIZE),
        tile=64,
        exif=pictures.exif_of(1),
        xmp=b"<x:xmpmeta>" + pictures.SECRET,
        properties=[heif.profile(pictures.srgb_profile() + pictures.SECRET)],
    )
    assert photo.count(pictures.SECRET) == 3
    picture, image = await rewrite(sandbox, photo)
    assert picture.thumbnail is None or pictures.SECRET not in picture.thumbnail
    assert not any(mark in picture.data for mark in (pictures.SECRET, b"EXIF", b"ICCP", b"XMP"))
    assert not {"exif", "xmp", "icc_profile"} & {key for key, value in image.info.items() if value}


async def test_transparency_is_preserved(sandbox: Sandbox) -> None:
    alpha = Image.new("L", SIZE, 100)
    _, image = await rewrite(sandbox, heif.photo(pictures.scene(*SIZE), alpha=alpha))
    pixel = image.getpixel((100, 20))
    assert isinstance(pixel, tuple) and abs(pixel[3] - 100) <= 2
