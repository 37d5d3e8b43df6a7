"""Files stored without re-encoding are served only as downloads, regardless of their names and contents."""

from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from io import BytesIO
from typing import Any

from aiohttp import FormData

from svc.base.file_types import content_of
from svc.worker.app import RunningWorker, working
from svc.worker.config import read
from tests.chat.chat_server import chat_server
from tests.chat.http_member import newcomer
from tests.kit import heif, hostile_videos, pictures, videos
from tests.worker.conftest import client as client
from tests.worker.conftest import own_worker as own_worker
from tests.worker.conftest import variables as variables
from tests.worker.upload_client import UploadClient, ended

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
HTML = b"<!DOCTYPE html><script>alert(document.domain)</script>"
PDF = b"%PDF-1.7\n1 0 obj<</OpenAction<</S/JavaScript/JS(app.alert(1))>>>>endobj"
ZIP = b"PK\x03\x04" + bytes(60)


async def outcome(client: UploadClient, content: bytes, name: str) -> dict[str, Any]:
    """Upload a file. Return the result, or the event that reports the rejection."""
    async with client.page() as page:
        event = await ended(page, await client.send(content, name=name))
    result: dict[str, Any] = event.get("result") or event
    return result


async def served(client: UploadClient, url: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    async with client.chat.http.get(url, headers=headers) as response:
        return response.status, dict(response.headers), await response.read()


@asynccontextmanager
async def configured(variables: dict[str, str]) -> AsyncIterator[UploadClient]:
    async with chat_server(variables) as chat, working(replace(read(variables), port=0)):
        yield UploadClient(chat, await newcomer(chat, "Owner"), variables)


UNPROCESSED = [
    (PDF, "letter.pdf"),
    (ZIP, "archive.zip"),
    (SVG, "drawing.svg"),
    (HTML, "holiday.png"),
    (HTML, "page.html"),
    (b"MZ" + bytes(200), "setup.exe"),
    (b"BM" + bytes(60) + HTML, "old.bmp"),
    (hostile_videos.EBML.replace(b"webm", b"mine") + HTML, "dump.mkv"),
    # The files below are valid in two formats. Only the first format counts, and it is not an image, so
    # browsers never display the second.
    (PDF + pictures.encoded(pictures.scene(), "PNG"), "both.png"),
    (b"GIF8" + HTML, "nearly.gif"),
    (b"RIFF\x00\x00\x00\x00AVI " + HTML, "film.avi"),
    # These files start like audio but are not audio.
    (b"OggS" + HTML, "song.ogg"),
    (b"ID3\x04" + HTML, "song.mp3"),
    (b"RIFF\x00\x00\x00\x00WAVE" + HTML, "song.wav"),
    (b"\xff\xfb" + HTML, "song.mp3"),
]


async def test_an_unprocessed_file_is_served_as_a_download_with_unchanged_bytes(
    client: UploadClient, own_worker: RunningWorker
) -> None:
    for content, name in UNPROCESSED:
        result = await outcome(client, content, name)
        assert (result["kind"], result["name"], result["bytes"]) == ("file", name, len(content))
        assert (result["width"], result["thumbnail"], result["poster"]) == (None, None, None)
        status, headers, body = await served(client, result["url"])
        assert (status, body) == (200, content)
        assert headers["Content-Type"] == "application/octet-stream"
        assert headers["Content-Disposition"] == "attachment"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Content-Security-Policy"] == "default-src 'none'; sandbox"


async def test_an_image_with_the_wrong_extension_is_re_encoded(
    client: UploadClient, own_worker: RunningWorker
) -> None:
    for name in ("notes.bin", "letter.pdf", "song.mp3", "x"):
        result = await outcome(client, pictures.picture_with_metadata("JPEG"), name)
        assert (result["kind"], result["content_type"]) == ("picture", "image/webp")
        assert pictures.SECRET not in await client.get(result["url"])


async def test_an_archive_appended_to_an_image_is_removed(
    client: UploadClient, own_worker: RunningWorker
) -> None:
    result = await outcome(client, pictures.encoded(pictures.scene(), "PNG") + ZIP + HTML, "polyglot.zip")
    assert result["kind"] == "picture"
    body = await client.get(result["url"])
    assert HTML not in body and ZIP not in body


async def test_a_video_with_the_wrong_extension_is_re_encoded(
    client: UploadClient, own_worker: RunningWorker
) -> None:
    result = await outcome(client, videos.with_places(videos.video(metadata=True)), "backup.zip")
    assert (result["kind"], result["name"]) == ("video", "backup.mp4")
    assert b"+52.52" not in await client.get(result["url"])


async def test_a_broken_image_or_video_is_not_stored_as_a_file(
    client: UploadClient, own_worker: RunningWorker
) -> None:
    picture, video = b"\x89PNG\r\n\x1a\n" + HTML, hostile_videos.EBML + HTML
    assert (await outcome(client, picture, "notes.bin"))["code"] == "invalid_image"
    assert (await outcome(client, video, "notes.bin"))["code"] == "invalid_video"


AUDIO = [
    ("mp3", "libmp3lame", "audio/mpeg", "song.mp3"),
    ("ogg", "libopus", "audio/ogg", "song.bin"),
    ("flac", "flac", "audio/flac", "song.flac"),
    ("wav", "pcm_s16le", "audio/wav", "song.wav"),
    ("mp4", "aac", "audio/mp4", "song.m4a"),
    ("webm", "libopus", "audio/webm", "voice.webm"),
    ("adts", "aac", "audio/aac", "song.aac"),
]


async def test_audio_is_served_in_ranges_and_never_as_a_document(
    client: UploadClient, own_worker: RunningWorker
) -> None:
    for container, codec, content_type, name in AUDIO:
        content = videos.sound_file(container, codec)
        result = await outcome(client, content, name)
        assert (result["kind"], result["content_type"], result["name"]) == ("audio", content_type, name)
        assert result["bytes"] == len(content)
        assert abs(result["duration_ms"] - 2_000) < 200
        status, headers, body = await served(client, result["url"], Range="bytes=10-29")
        assert (status, body) == (206, content[10:30])
        assert headers["Content-Type"] == content_type
        assert headers["Content-Disposition"] == "attachment"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Content-Security-Policy"] == "default-src 'none'; sandbox"


async def test_audio_that_no_browser_can_play_is_served_as_a_download(
    client: UploadClient, own_worker: RunningWorker
) -> None:
    result = await outcome(client, videos.sound_file("matroska", "flac"), "song.mka")
    assert (result["kind"], result["content_type"], result["name"]) == (
        "file",
        "application/octet-stream",
        "song.mka",
    )


NAMES = [
    ("../../etc/passwd", "passwd"),
    ("C:\\Users\\me\\plan.pdf", "plan.pdf"),
    ("invoice\u202efdp.exe", "invoicefdp.exe"),
    ("a\u2066b\u200bcd\u0007.txt", "abcd.txt"),
    ("notes.pdf                  .exe", "notes.pdf .exe"),
    ("x" * 300 + ".pdf", "x" * 96 + ".pdf"),
    ("...", "file"),
    ("<img src=x onerror=alert(1)>.txt", "<img src=x onerror=alert(1)>.txt"),
    ("\u202e", "file"),
]


async def test_the_displayed_name_shows_the_real_file_type(
    client: UploadClient, own_worker: RunningWorker
) -> None:
    for name, shown in NAMES:
        headers = {
            "Tus-Resumable": "1.0.0",
            "Upload-Length": str(len(ZIP)),
            "Upload-Metadata": f"filename {b64encode(name.encode()).decode()}",
            "Authorization": f"Bearer {client.owner.token}",
        }
        async with client.page() as page:
            async with client.chat.http.post("/api/channels/general/uploads", headers=headers) as response:
                where = response.headers["Location"]
            more = {**headers, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
            async with client.chat.http.patch(where, data=ZIP, headers=more) as response:
                assert response.status == 204
            done = await ended(page, where.rpartition("/")[2])
        assert done["result"]["name"] == shown


async def test_a_file_over_the_operators_limit_is_rejected(variables: dict[str, str]) -> None:
    async with configured({**variables, "SVC_FILE_MAX_MB": "1"}) as client:
        large = ZIP + bytes(1024 * 1024)
        headers = {"Authorization": f"Bearer {client.owner.token}"}
        form = FormData()
        form.add_field("file", BytesIO(large), filename="large.zip", content_type="application/octet-stream")
        async with client.chat.http.post(
            "/api/channels/general/uploads", data=form, headers=headers
        ) as response:
            answer = await response.json()
        assert (response.status, answer["error"], answer["limit"]) == (413, "upload_too_large", 1024 * 1024)
        # A video container with only audio counts as a file, so the file limit applies.
        long = videos.sound_file("mp4", "aac", seconds=1.0) + bytes(1024 * 1024)
        assert (await outcome(client, long, "song.m4a"))["code"] == "too_large"


async def test_a_server_that_accepts_no_files_lists_the_accepted_types(variables: dict[str, str]) -> None:
    async with configured({**variables, "SVC_FILE_MAX_MB": "0"}) as client:
        refused = await outcome(client, PDF, "letter.pdf")
        assert refused["code"] == "unsupported_type"
        assert "pictures (PNG" in refused["message"] and "videos (MP4" in refused["message"]
        assert (await outcome(client, videos.sound_file("mp4", "aac"), "song.m4a"))["code"] == "invalid_video"
        assert (await outcome(client, pictures.picture_with_metadata("PNG"), "x.pdf"))["kind"] == "picture"


async def test_only_listed_extensions_are_accepted(variables: dict[str, str]) -> None:
    async with configured({**variables, "SVC_FILE_EXTENSIONS": "pdf, mp3"}) as client:
        assert (await outcome(client, PDF, "letter.PDF"))["kind"] == "file"
        refused = await outcome(client, ZIP, "archive.zip")
        assert refused["code"] == "unsupported_type"
        assert str(refused["message"]).endswith("and files with these extensions: pdf, mp3")
        assert (await outcome(client, ZIP, "archive"))["code"] == "unsupported_type"
        assert (await outcome(client, pictures.picture_with_metadata("PNG"), "x.exe"))["kind"] == "picture"


async def test_a_file_can_be_attached_to_a_message_and_found(
    client: UploadClient, own_worker: RunningWorker
) -> None:
    for name, content in (("letter.pdf", PDF), ("song.mp3", videos.sound_file("mp3", "libmp3lame"))):
        async with client.page() as page:
            upload_id = await client.send(content, name=name)
            done = await ended(page, upload_id)
            sent = await page.ask("message_send", channel_id="general", text="", attachments=[upload_id])
        [attached] = sent["data"]["attachments"]
        assert (attached["kind"], attached["name"], attached["bytes"]) == (
            done["result"]["kind"],
            name,
            len(content),
        )


def test_a_truncated_image_or_video_is_not_accepted_as_a_generic_file() -> None:
    assert content_of(heif.photo(pictures.scene())[:24]) == "picture"
    for format_ in ("PNG", "JPEG", "GIF", "WEBP", "AVIF"):
        assert content_of(pictures.encoded(pictures.scene(), format_)[:16]) == "picture"
    assert content_of(videos.video()[:16]) == "video"
    assert content_of(b"") == content_of(b"\xff") == content_of(SVG[:16]) == "file"
