"""Anyone with a valid URL can fetch stored media in full, in part, or as "not modified"."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import ClientPayloadError

from svc.base.object_store import FileObjects, StoreFailed
from svc.chat.access.media_urls import PERIOD_S, MediaUrls
from svc.chat.community import Community
from svc.chat.errors import ChatError
from svc.chat.media import endpoints
from svc.chat.media.endpoints import RangeNotSatisfiable, Validators, is_not_modified, requested_range
from svc.chat.media.stored_media import ObjectInfo
from tests.chat.chat_server import ChatServer
from tests.chat.internal_server import server_with_insight
from tests.kit.wait import wait_until

CONTENT = bytes(range(256)) * 2000


@dataclass
class Stored:
    chat: ChatServer
    community: Community
    url: str

    async def get(
        self, url: str = "", method: str = "GET", **headers: str
    ) -> tuple[int, Mapping[str, str], bytes]:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.chat.http.request(method, url or self.url, headers=sent) as response:
            return response.status, response.headers, await response.read()

    async def keep(self, content_type: str, ext: str) -> str:
        media = self.community.media
        return media.url(await media.keep(CONTENT, ext, ObjectInfo(content_type)))


@pytest.fixture
async def stored(variables: dict[str, str]) -> AsyncIterator[Stored]:
    async with server_with_insight(variables) as (chat, community):
        key = await community.media.keep(CONTENT, "webp", ObjectInfo("image/webp"))
        yield Stored(chat, community, community.media.url(key))


async def test_an_image_is_served_with_its_type_and_cannot_run_scripts(stored: Stored) -> None:
    status, headers, content = await stored.get()
    assert (status, content) == (200, CONTENT)
    assert headers["Content-Type"] == "image/webp"
    assert headers["Content-Length"] == str(len(CONTENT))
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert "Content-Disposition" not in headers
    assert headers["Cache-Control"].startswith("private, max-age=")
    assert headers["Cache-Control"].endswith(", immutable")


@pytest.mark.parametrize("content_type", ["text/html", "image/svg+xml", "application/pdf"])
async def test_other_files_are_served_as_downloads(stored: Stored, content_type: str) -> None:
    _, headers, _ = await stored.get(await stored.keep(content_type, "bin"))
    assert headers["Content-Type"] == "application/octet-stream"
    assert headers["Content-Disposition"] == "attachment"


async def test_only_the_requested_range_of_a_video_is_served(stored: Stored) -> None:
    url = await stored.keep("video/mp4", "mp4")
    status, headers, content = await stored.get(url, Range="bytes=1000-1999")
    assert (status, content) == (206, CONTENT[1000:2000])
    assert headers["Content-Range"] == f"bytes 1000-1999/{len(CONTENT)}"
    assert headers["Content-Type"] == "video/mp4"
    status, headers, content = await stored.get(url, Range=f"bytes={len(CONTENT)}-")
    assert status == 416
    assert headers["Content-Range"] == f"bytes */{len(CONTENT)}"


async def test_a_conditional_range_request_for_a_changed_object_gets_the_full_object(stored: Stored) -> None:
    _, headers, _ = await stored.get()
    status, _, _ = await stored.get(Range="bytes=0-9", If_Range=headers["ETag"])
    assert status == 206
    status, _, content = await stored.get(Range="bytes=0-9", If_Range='"another"')
    assert (status, content) == (200, CONTENT)


async def test_an_unchanged_object_is_not_sent_again(stored: Stored) -> None:
    _, headers, _ = await stored.get()
    status, again, content = await stored.get(If_None_Match=headers["ETag"])
    assert (status, content, again["ETag"]) == (304, b"", headers["ETag"])
    status, _, _ = await stored.get(If_Modified_Since=headers["Last-Modified"])
    assert status == 304


async def test_head_returns_all_headers_without_the_content(stored: Stored) -> None:
    status, headers, content = await stored.get(method="HEAD")
    assert (status, content, headers["Content-Length"]) == (200, b"", str(len(CONTENT)))


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        (lambda url: url[:-1] + ("A" if url[-1] != "A" else "B"), 403, "media_address_invalid"),
        (lambda url: url.split("?")[0], 403, "media_address_invalid"),
        (lambda url: url.replace("ends=", "ends=9"), 403, "media_address_invalid"),
        (lambda url: url.replace("ends=", "ends=-"), 403, "media_address_invalid"),
        (lambda url: url.replace("/media/", "/media/x"), 404, "not_found"),
        (lambda url: url.replace("/media/", "/media/..%2f"), 404, "not_found"),
    ],
)
async def test_a_modified_media_url_is_rejected(stored: Stored, change, status, code) -> None:  # type: ignore[no-untyped-def]
    async with stored.chat.http.get(change(stored.url)) as response:
        assert (response.status, (await response.json())["error"]) == (status, code)


async def test_an_object_that_is_not_stored_yet_is_not_served(stored: Stored) -> None:
    key = "uploads/00000000-0000-4000-8000-000000000000.webp"
    media = stored.community.media
    write = stored.community.media._database.write
    await media.objects.put(key, CONTENT, "image/webp")
    await write(lambda connection: media.reserve(connection, key, ObjectInfo("image/webp")))
    status, _, _ = await stored.get(media.url(key))
    assert status == 404
    await write(
        lambda connection: media.mark_stored(connection, key, ObjectInfo("image/webp", bytes=len(CONTENT)))
    )
    status, _, _ = await stored.get(media.url(key))
    assert status == 200


async def test_a_lost_object_is_reported_as_missing(stored: Stored) -> None:
    key = await stored.community.media.keep(CONTENT, "webp", ObjectInfo("image/webp"))
    await stored.community.media.objects.delete(key)
    status, headers, _ = await stored.get(stored.community.media.url(key))
    assert (status, headers["Content-Type"]) == (404, "application/json; charset=utf-8")


async def test_a_client_that_reads_nothing_is_disconnected_and_frees_its_slot(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "WRITE_DEADLINE_S", 0.3)
    monkeypatch.setattr(endpoints, "MAX_STREAMS", 1)
    large = await stored.community.media.keep(bytes(64 * 1024 * 1024), "mp4", ObjectInfo("video/mp4"))
    host, port = stored.chat.address.removeprefix("http://").rsplit(":", 1)
    # The client does not read, so it receives only as much as the system buffers.
    reader, writer = await asyncio.open_connection(host, int(port), limit=1024)
    path = stored.community.media.url(large)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    assert (await reader.readuntil(b" ")) == b"HTTP/1.1 "
    status, _, content = await stored.get()
    assert (status, json.loads(content)["error"]) == (503, "too_many_connections")

    async def slot_is_free() -> bool:
        return (await stored.get())[0] == 200

    await wait_until("the reader is disconnected", slot_is_free, within_s=10)
    writer.close()


async def test_the_connection_closes_without_extra_bytes_if_the_store_fails_midway(stored: Stored) -> None:
    class HalfWay(FileObjects):
        async def read(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
            yield CONTENT[:1000]
            raise StoreFailed("gone")

    stored.community.media._objects = HalfWay(Path("/nowhere"))
    async with stored.chat.http.get(stored.url) as response:
        assert response.status == 200
        with pytest.raises(ClientPayloadError):
            await response.read()


# URLs


def parts(url: str) -> tuple[str, str, str]:
    path, query = url.split("?")
    ends, signature = (pair.split("=")[1] for pair in query.split("&"))
    return path.removeprefix("/media/"), ends, signature


def test_a_url_is_stable_for_hours_and_then_expires() -> None:
    now = [1_000.0 * PERIOD_S]
    urls = MediaUrls("secret", lambda: now[0])
    url = urls.url("uploads/one.webp")
    now[0] += PERIOD_S - 1
    assert urls.url("uploads/one.webp") == url
    assert urls.remaining_s(*parts(url)) == PERIOD_S + 1
    now[0] += 1
    assert urls.url("uploads/one.webp") != url
    now[0] += PERIOD_S
    with pytest.raises(ChatError, match="media_address_over"):
        urls.remaining_s(*parts(url))


def test_a_media_url_from_another_server_is_rejected() -> None:
    ours, theirs = MediaUrls("ours", lambda: 0.0), MediaUrls("theirs", lambda: 0.0)
    with pytest.raises(ChatError, match="media_address_invalid"):
        ours.remaining_s(*parts(theirs.url("uploads/one.webp")))


def test_every_stored_key_in_a_response_gets_a_url() -> None:
    urls = MediaUrls("secret", lambda: 0.0)
    key = "uploads/one.webp"
    shown = urls.with_urls([{"image": {"key": key, "width": 1}, "key": "not one of our keys"}])
    assert shown == [{"image": {"key": key, "width": 1, "url": urls.url(key)}, "key": "not one of our keys"}]


# Ranges and validators

VALIDATORS = Validators('"tag"', 1_000_000)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("bytes=0-0", (0, 1)),
        ("bytes=0-", (0, 100)),
        ("bytes=99-", (99, 100)),
        ("bytes=50-1000", (50, 100)),
        ("bytes=-1", (99, 100)),
        ("bytes=-1000", (0, 100)),
        ("Bytes=5-6", (5, 7)),
        ("bytes=6-5", None),
        ("bytes=-", None),
        ("bytes=0-1,3-4", None),
        ("lines=0-1", None),
        ("bytes=a-b", None),
        ("bytes=٣-", None),
        ("", None),
    ],
)
def test_ranges_follow_rfc_9110(header: str, expected: tuple[int, int] | None) -> None:
    assert requested_range({"Range": header}, 100, VALIDATORS) == expected


@pytest.mark.parametrize("header", ["bytes=100-", "bytes=100-200", "bytes=-0", "bytes=999999999999999999-"])
def test_an_empty_range_cannot_be_satisfied(header: str) -> None:
    with pytest.raises(RangeNotSatisfiable):
        requested_range({"Range": header}, 100, VALIDATORS)


@pytest.mark.parametrize(
    ("headers", "has_it"),
    [
        ({}, False),
        ({"If-None-Match": '"tag"'}, True),
        ({"If-None-Match": 'W/"tag"'}, True),
        ({"If-None-Match": '"a", "tag"'}, True),
        ({"If-None-Match": "*"}, True),
        ({"If-None-Match": '"other"', "If-Modified-Since": VALIDATORS.last_modified}, False),
        ({"If-Modified-Since": VALIDATORS.last_modified}, True),
        ({"If-Modified-Since": "Mon, 12 Jan 1970 13:46:39 GMT"}, False),
        ({"If-Modified-Since": "yesterday"}, False),
    ],
)
def test_an_object_is_recognised_as_unchanged_by_its_etag_or_date(
    headers: dict[str, str], has_it: bool
) -> None:
    assert is_not_modified(headers, VALIDATORS) is has_it
