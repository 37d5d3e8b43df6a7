"""The worker processes members' uploads from the queue of a real chat server."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from svc.base.object_store_config import DEFAULT_FOLDER
from svc.worker.app import RunningWorker, working
from svc.worker.config import read
from tests.chat.chat_server import chat_server
from tests.chat.http_member import newcomer
from tests.kit import heif, hostile_videos, pictures, videos
from tests.kit.object_stores import MOTO, RCLONE, Stores
from tests.kit.wait import eventually
from tests.worker.upload_client import UploadClient, ended


async def test_an_image_is_served_without_its_metadata(
    client: UploadClient, own_worker: RunningWorker
) -> None:
    async with client.page() as page:
        upload_id = await client.send(pictures.picture_with_metadata("JPEG"), name="holiday.jpg")
        done = await ended(page, upload_id)
        sent = await page.ask("message_send", channel_id="general", text="look", attachments=[upload_id])
    [attached] = sent["data"]["attachments"]
    assert (attached["name"], attached["content_type"]) == ("holiday.webp", "image/webp")
    assert (attached["width"], attached["height"]) == (64, 48)
    assert len(attached["placeholder"]) == 28 and attached["colour"].startswith("#")
    assert done["result"]["key"] == attached["key"]
    served = await client.get(attached["url"])
    assert pictures.SECRET not in served and pictures.decoded(served).size == (64, 48)


async def test_a_video_is_served_without_locations_and_with_a_poster(
    client: UploadClient, own_worker: RunningWorker
) -> None:
    film = videos.with_places(videos.video(size=(640, 360), metadata=True))
    async with client.page() as page:
        done = await ended(page, await client.send(film, name="film.mov"))
    result = done["result"]
    assert (result["name"], result["content_type"], result["duration_ms"]) == ("film.mp4", "video/mp4", 2000)
    served = await client.get(result["url"])
    assert b"+52.52" not in served and videos.first_frame(served).width == 640
    assert pictures.decoded(await client.get(result["poster"]["url"])).size == (640, 360)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"\x89PNG\r\n\x1a\n", "invalid_image"),
        (pictures.gif_bomb(1600, 1000), "too_large"),
        (hostile_videos.EBML, "invalid_video"),
    ],
)
async def test_a_hostile_file_is_rejected_with_a_reason(
    client: UploadClient, own_worker: RunningWorker, content: bytes, code: str
) -> None:
    async with client.page() as page:
        upload_id = await client.send(content)
        refused = await ended(page, upload_id)
    assert (refused["code"], bool(refused["message"])) == (code, True)
    assert (await client.upload(upload_id))["refusal"]["code"] == code


@pytest.mark.parametrize("kind", [RCLONE, MOTO])
async def test_an_object_in_a_bucket_is_served_from_the_bucket(
    kind: str, variables: dict[str, str], stores: Stores
) -> None:
    variables |= stores.variables(kind)
    async with chat_server(variables) as chat, working(replace(read(variables), port=0)):
        client = UploadClient(chat, await newcomer(chat, "Owner"), variables)
        async with client.page() as page:
            picture = await ended(page, await client.send(pictures.picture_with_metadata("JPEG")))
            film = await ended(page, await client.send(videos.video(size=(640, 360))))
        served = await client.get(picture["result"]["url"])
        assert pictures.SECRET not in served and pictures.decoded(served).size == (64, 48)
        assert videos.first_frame(await client.get(film["result"]["url"])).width == 640
        assert pictures.decoded(await client.get(film["result"]["poster"]["url"])).size == (640, 360)
    assert not (Path(variables["DATA_DIR"]) / DEFAULT_FOLDER).exists()


async def test_an_uploaded_avatar_icon_and_emoji_take_effect(
    client: UploadClient, own_worker: RunningWorker
) -> None:
    large = pictures.encoded(pictures.noise(700, 700), "PNG")
    async with client.page() as page:
        for path in ("/api/me/avatar", "/api/icon", "/api/emoji?name=party"):
            await ended(page, await client.send(large, path))
    icon = pictures.decoded(await client.get("/icon"))
    assert (icon.format, icon.size) == ("WEBP", (512, 512))
    [emoji] = (await client.owner.done("GET", "/api/emoji"))["emoji"]
    assert emoji["name"] == "party"
    assert pictures.decoded(await client.get(emoji["url"])).size == (128, 128)


async def test_a_heic_photo_is_accepted_wherever_an_image_is(
    client: UploadClient, own_worker: RunningWorker
) -> None:
    photo = heif.photo(pictures.scene(128, 96), tile=64, exif=pictures.exif_of(6))
    async with client.page() as page:
        attached = (await ended(page, await client.send(photo, name="IMG_0001.HEIC")))["result"]
        for path in ("/api/me/avatar", "/api/icon", "/api/emoji?name=photo"):
            await ended(page, await client.send(photo, path))
    assert (attached["kind"], attached["name"]) == ("picture", "IMG_0001.webp")
    [emoji] = (await client.owner.done("GET", "/api/emoji"))["emoji"]
    for url in (attached["url"], "/icon", emoji["url"]):
        served = await client.get(url)
        assert pictures.SECRET not in served and pictures.decoded(served).size == (128, 96)


async def test_several_workers_process_each_job_only_once(client: UploadClient) -> None:
    config = replace(read(client.variables), port=0)
    async with AsyncExitStack() as stack, client.page() as page:
        ids = await asyncio.gather(
            *(client.send(pictures.encoded(pictures.noise(60 + n, 40), "PNG")) for n in range(15))
        )
        workers = [await stack.enter_async_context(working(config)) for _ in range(3)]
        left = set(ids)
        while left:
            frame = await page._next_push()
            if frame["event"] == "upload_done":
                left.remove(frame["data"]["id"])
        await eventually("all uploads are finished", lambda: sum(map(finished, workers)) >= 15, within_s=10)
        assert sum(map(finished, workers)) == 15


def finished(worker: RunningWorker) -> float:
    """Return the number of jobs that have finished, regardless of their outcome."""
    lines = worker.measurements.registry.exposition()[0].decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("svc_worker_jobs_total"))
