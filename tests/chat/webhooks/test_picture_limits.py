"""A message's images are limited in size, in total size and in time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from svc.base.sandbox import Sandbox
from svc.chat.media.stored_media import Media
from svc.chat.webhooks import pictures as pictures_module
from svc.chat.webhooks.limits import MAX_ICON_BYTES, MAX_PICTURE_BYTES
from tests.chat.webhooks.picture_server import MEGABYTE, PNG, codes, padded, scene_of, wanted
from tests.kit.private_internet import CountedPage, answer, on_an_internet, opening
from tests.kit.wait import eventually


@pytest.mark.parametrize("max_bytes", [MAX_PICTURE_BYTES, MAX_ICON_BYTES], ids=["8 MB", "1 MB"])
def test_an_image_of_the_maximum_size_is_accepted_and_a_larger_one_is_not(
    tmp_path: Path, max_bytes: int
) -> None:
    pages = {"/fits": answer(padded(max_bytes)), "/over": answer(padded(max_bytes + 1))}

    async def body() -> None:
        async with scene_of(pages, tmp_path) as on:
            collected = await on.collect(
                wanted("fits", max_bytes=max_bytes), wanted("over", max_bytes=max_bytes)
            )
            assert codes(collected) == {"over": "too_large"}
            assert collected.pictures.keys() == {"fits"}

    on_an_internet(body, tmp_path)


def test_images_of_32_megabytes_in_total_are_accepted_and_one_more_is_not(tmp_path: Path) -> None:
    large = {f"/{at}": answer(padded(MAX_PICTURE_BYTES)) for at in range(4)}

    async def late(writer: asyncio.StreamWriter) -> None:
        await arrived.wait()
        writer.write(answer(PNG))
        await writer.drain()

    arrived = asyncio.Event()

    async def watch(media: Media) -> None:
        await eventually("the other pictures are stored", lambda: len(media.in_hand()) == 4, within_s=10)
        arrived.set()

    async def body() -> None:
        async with scene_of({**large, "/late": late}, tmp_path) as on, asyncio.TaskGroup() as group:
            group.create_task(watch(on.media))
            refs = [*(wanted(str(at)) for at in range(4)), wanted("late")]
            collected = await on.collect(*refs)
            assert codes(collected) == {"late": "media_budget"}
            assert len(collected.pictures) == 4
            assert on.outcomes == {("ok",): 4, ("media_budget",): 1}

    on_an_internet(body, tmp_path)


def test_as_many_images_are_stored_as_fit_within_the_limit(tmp_path: Path) -> None:
    large = {f"/{at}": answer(padded(MAX_PICTURE_BYTES)) for at in range(9)}

    async def body() -> None:
        async with scene_of(large, tmp_path) as on:
            collected = await on.collect(*map(wanted, "012345678"))
            assert len(collected.pictures) == 4
            assert list(codes(collected).values()) == ["media_budget"] * 5

    on_an_internet(body, tmp_path)


def test_an_oversized_image_does_not_use_up_the_budget_of_others(tmp_path: Path) -> None:
    large = {f"/{at}": answer(padded(MAX_PICTURE_BYTES)) for at in range(4)}
    over = opening() + padded(MAX_PICTURE_BYTES + 1)

    async def body() -> None:
        async with scene_of({**large, "/over": over, "/over2": over}, tmp_path) as on:
            collected = await on.collect(*map(wanted, ("over", "over2", *"0123")))
            assert collected.pictures.keys() == set("0123")
            # The other four images may use up the budget before the sizes of the oversized images are known.
            assert codes(collected).keys() == {"over", "over2"}
            assert set(codes(collected).values()) <= {"too_large", "media_budget"}

    on_an_internet(body, tmp_path)


def test_images_are_omitted_if_the_server_is_over_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures_module, "MAX_HELD_BYTES", 4 * MEGABYTE)
    release = asyncio.Event()

    async def half(writer: asyncio.StreamWriter) -> None:
        file = answer(padded(2 * MEGABYTE))
        writer.write(file[: len(file) // 2])
        await writer.drain()
        await release.wait()
        writer.write(file[len(file) // 2 :])
        await writer.drain()

    async def body() -> None:
        async with scene_of({"/slow": half, "/a": answer(padded(3 * MEGABYTE))}, tmp_path) as on:
            first = asyncio.create_task(on.pictures.collect([wanted("slow")], "one"))
            await eventually("part of the picture has arrived", lambda: on.pictures.memory.taken, within_s=10)
            second = await on.pictures.collect([wanted("a")], "another")
            assert codes(second) == {"a": "timeout"}
            release.set()
            assert (await first).pictures.keys() == {"slow"}
            assert on.pictures.memory.taken == 0

    on_an_internet(body, tmp_path)


def test_images_that_arrive_after_the_deadline_are_omitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures_module, "DOWNLOAD_DEADLINE_S", 1.0)

    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(opening())
        while True:
            writer.write(b".")
            await writer.drain()
            await asyncio.sleep(0.02)

    async def body() -> None:
        slow = {f"/slow{at}": drip for at in range(20)}
        async with scene_of({"/good": answer(PNG), **slow}, tmp_path) as on:
            collected = await on.collect(wanted("good"), *(wanted(path[1:]) for path in slow))
            assert collected.pictures.keys() == {"good"}
            # Images that have not started downloading also time out.
            assert set(codes(collected).values()) == {"timeout"}

    on_an_internet(body, tmp_path)


def test_images_that_wait_too_long_for_the_decoder_are_omitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures_module, "DOWNLOAD_DEADLINE_S", 1.0)
    monkeypatch.setattr(pictures_module, "STORE_DEADLINE_S", 0.0)

    async def body() -> None:
        async with scene_of({"/a": answer(PNG)}, tmp_path) as on, busy(on.pictures.sandbox):
            assert codes(await on.collect(wanted("a"))) == {"a": "timeout"}

    on_an_internet(body, tmp_path)


@asynccontextmanager
async def busy(sandbox: Sandbox) -> AsyncIterator[None]:
    async with sandbox._slots, sandbox._slots:
        yield


def test_concurrent_downloads_for_one_message_are_limited(tmp_path: Path) -> None:
    async def body() -> None:
        page = CountedPage(PNG, pictures_module.DOWNLOADS_AT_ONCE)
        pages = {f"/{at}": page for at in range(20)}
        async with scene_of(pages, tmp_path) as on:
            collected = await on.collect(*(wanted(str(at)) for at in range(20)))
            assert len(collected.pictures) == 20
            assert page.maximum == pictures_module.DOWNLOADS_AT_ONCE

    on_an_internet(body, tmp_path)
