"""A hostile image affects only its own job: it is rejected with a reason, or re-encoded without its hostile
parts.
"""

import dataclasses
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from svc.base.pictures import ALL_FORMATS, Picture, PictureRules, Refused, picture_sandbox, rewritten
from svc.base.sandbox import Sandbox
from tests.kit import hostile_pictures, pictures

RULES = PictureRules(formats=ALL_FORMATS)
SMALL = dataclasses.replace(RULES, max_pixels=1_000_000, max_frames=20)
CODES = {"unsupported_type", "invalid_image", "too_large", "timeout"}
DEADLINE_S = 15.0

# The decoder is loaded once for all tests.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    async with picture_sandbox(2) as sandbox:
        yield sandbox


async def outcome(
    sandbox: Sandbox, data: bytes, rules: PictureRules = RULES, deadline_s: float = DEADLINE_S
) -> Picture | Refused:
    try:
        return await rewritten(data, rules, deadline_s=deadline_s, sandbox=sandbox)
    except Refused as refused:
        return refused


@pytest.mark.timeout(300)
async def test_hostile_images_are_rejected(sandbox: Sandbox) -> None:
    for name, (data, codes) in hostile_pictures.refused().items():
        result = await outcome(sandbox, data, deadline_s=3)
        assert isinstance(result, Refused), (name, result)
        assert result.code in codes, (name, result.detail)
        assert str(result), name


async def test_unusual_but_harmless_images_are_encoded_cleanly(sandbox: Sandbox) -> None:
    for name, data in hostile_pictures.harmless().items():
        result = await outcome(sandbox, data)
        assert isinstance(result, Picture), (name, result.code, result.detail)
        assert not any(mark in result.data for mark in (b"<script", b"PK\x03\x04", b"Exif")), name
        assert pictures.decoded(result.data).format == "WEBP", name


@pytest.mark.parametrize("format_", hostile_pictures.FORMATS)
async def test_truncated_images_are_rejected_or_encoded_cleanly(sandbox: Sandbox, format_: str) -> None:
    whole = hostile_pictures.plain(format_)
    for length in range(0, len(whole), max(1, len(whole) // 40)):
        result = await outcome(sandbox, whole[:length])
        if isinstance(result, Refused):
            assert result.code in ("unsupported_type", "invalid_image"), (length, result.detail)


@pytest.mark.parametrize("seed", [1])
async def test_mutated_images_are_rejected_or_encoded_cleanly(sandbox: Sandbox, seed: int) -> None:
    await survives(sandbox, seed, rounds=40)


@pytest.mark.nightly("10,000 mutations; forty run daily")
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(2, 12))
async def test_many_mutated_images_are_rejected_or_encoded_cleanly(sandbox: Sandbox, seed: int) -> None:
    await survives(sandbox, seed, rounds=1000)


async def survives(sandbox: Sandbox, seed: int, rounds: int) -> None:
    for name, data in hostile_pictures.mutations(seed, rounds):
        result = await outcome(sandbox, data, SMALL)
        if isinstance(result, Refused):
            assert result.code in CODES, (name, result.detail)
        else:
            assert pictures.SECRET not in result.data, name
            assert pictures.decoded(result.data).size == (result.width, result.height), name
    assert isinstance(await outcome(sandbox, pictures.encoded(pictures.scene(), "PNG")), Picture)
