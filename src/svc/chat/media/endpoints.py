"""Handles requests for media: serves stored files to anyone with their URL, and reports the storage in use.

Images and videos were written by our media worker, and other files are unprocessed. No file is trusted. Each
file is served with its recorded type, which is not guessed, and in a sandbox without scripts. All files
except images and videos are sent as downloads. Audio keeps its type, so that the web client can play it. A
request for several ranges gets the whole file, as RFC 9110 section 14.2 allows. See docs/http.md, "Web
client, sockets and descriptions" and docs/configuration.md, "Chat server".
"""

import asyncio
import logging
import re
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import Annotated

from aiohttp import web
from msgspec import Meta

from svc.base.database import Database
from svc.base.file_types import PLAIN_TYPE, SOUND_TYPES
from svc.base.object_store import ObjectDamaged, ObjectMissing, StoreFailed
from svc.base.stream_admission import Reader, Readers
from svc.chat.access.endpoint_permissions import ANYONE, OWNER
from svc.chat.access.media_urls import PREFIX
from svc.chat.endpoints import Endpoints, Request, describe_feature, endpoint
from svc.chat.errors import ChatError
from svc.chat.http import client_address
from svc.chat.media.stored_media import Media, StoredObject
from svc.chat.media.usage import MAX_LISTED, StorageUsage, usage_now
from svc.chat.schemas import string

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


class RangeNotSatisfiable(Exception):
    """None of the requested bytes exist."""


@dataclass(frozen=True, slots=True)
class Validators:
    """The validators for a client's cached copy. The entity tag is strong, because stored objects never
    change.
    """

    etag: str
    modified_s: int

    @property
    def last_modified(self) -> str:
        return format_datetime(datetime.fromtimestamp(self.modified_s, UTC), usegmt=True)


def is_not_modified(headers: Mapping[str, str], validators: Validators) -> bool:
    """Return whether to respond with 304. The date is ignored if there is an If-None-Match (RFC 9110 section
    13.2.2).
    """
    tags = headers.get("If-None-Match")
    if tags is not None:
        # The comparison is weak (RFC 9110 section 13.1.2).
        return any(tag.strip() in ("*", validators.etag, f"W/{validators.etag}") for tag in tags.split(","))
    since = _seconds(headers.get("If-Modified-Since"))
    return since is not None and validators.modified_s <= since


def requested_range(headers: Mapping[str, str], size: int, validators: Validators) -> tuple[int, int] | None:
    """Return the start and end of the requested range, or None for all bytes. Raises RangeNotSatisfiable."""
    match = _RANGE.fullmatch(headers.get("Range", "").strip().lower())
    if match is None or match[0] == "bytes=-" or not _is_current(headers.get("If-Range"), validators):
        return None
    first, last = match[1], match[2]
    if not first:
        start, end = max(0, size - int(last)), size
    else:
        start, end = int(first), min(int(last) + 1, size) if last else size
        if last and int(last) < start:  # Ignore an invalid range (RFC 9110 section 14.1.1).
            return None
    if start >= size or start >= end:
        raise RangeNotSatisfiable
    return start, end


def _is_current(if_range: str | None, validators: Validators) -> bool:
    """Return whether the client's copy is current. The comparison is strong (RFC 9110 section 13.1.5),
    because a range from another version would corrupt the client's copy.
    """
    if if_range is None:
        return True
    return if_range.strip() in (validators.etag, validators.last_modified)


def _seconds(date: str | None) -> int | None:
    try:
        return int(parsedate_to_datetime(date).timestamp()) if date else None
    except (ValueError, OverflowError):
        return None


# The maximum number of streams, each of which has one chunk in memory.
MAX_STREAMS = 256
# A client that accepts no chunk for this long is disconnected.
WRITE_DEADLINE_S = 30.0
# How long clients may cache the icon. A new icon has a new URL.
_ICON_AGE_S = 3600
_NAME = re.compile(r"[0-9a-f-]{36}\.[a-z0-9]{1,8}")
# Types that browsers may display. Files of other types are downloaded.
_PICTURES = ("image/webp", "image/avif", "image/png", "image/jpeg", "image/gif")
_SHOWN = frozenset({*_PICTURES, "video/mp4", "video/webm"})
_NOT_READ = "The server cannot read this file right now. Try again later"
_POLICY = "default-src 'none'; sandbox"
_NOT_SERVED = ("not_found", "too_many_connections", "storage_unavailable", "uploads_disabled")

logger = logging.getLogger(__name__)


class SignedUrlQuery(Request):
    # A malformed or overlong value makes the URL invalid, not the request.
    ends: Annotated[str, Meta(extra_json_schema=string(12))] = ""
    signature: Annotated[str, Meta(extra_json_schema=string(64))] = ""


class UsageQuery(Request):
    limit: Annotated[int, Meta(ge=1, le=MAX_LISTED)] = MAX_LISTED


class MediaEndpoints(Endpoints):
    """Endpoints for media. `icon_key` returns the key of the server's icon, if it has one."""

    def __init__(self, media: Media, database: Database, icon_key: Callable[[], str | None]) -> None:
        self._media = media
        self._database = database
        self._icon_key = icon_key
        # Requests are limited by IP address, because anyone with a file's URL may read it.
        self._readers = Readers(time.monotonic)
        self._store_failed = False

    @endpoint(
        OWNER,
        "Report the storage used by purpose and by member, and by the database",
        http="GET /api/storage",
    )
    async def usage(self, query: UsageQuery) -> StorageUsage:
        return await usage_now(self._database, query.limit)

    # No permission is required, because the endpoint checks the signature in the URL.
    @endpoint(
        ANYONE,
        "Download stored media, whole or by `Range` (RFC 9110). The `url` comes with each file, and expires",
        http="GET /media/{name}",
        refusals=("media_address_invalid", "media_address_over", "range_not_satisfiable", *_NOT_SERVED),
        returns=str,
        media_type="*/*",
    )
    async def media(self, http_request: web.Request, name: str, query: SignedUrlQuery) -> web.StreamResponse:
        if not _NAME.fullmatch(name):
            raise ChatError("not_found")
        left_s = self._media.urls.remaining_s(name, query.ends, query.signature)
        # Shared caches must not store the file, because its URL is the only credential.
        return await self.serve(http_request, PREFIX + name, f"private, max-age={left_s}, immutable")

    @endpoint(
        ANYONE,
        "Download the server's icon",
        http="GET /icon",
        refusals=_NOT_SERVED,
        returns=str,
        media_type="image/*",
    )
    async def icon(self, http_request: web.Request) -> web.StreamResponse:
        key = self._icon_key()
        if key is None:
            raise ChatError("not_found", "This server has no icon")
        return await self.serve(http_request, key, f"public, max-age={_ICON_AGE_S}")

    async def serve(self, request: web.Request, key: str, caching: str) -> web.StreamResponse:
        """Serve the object with the given key. The caller must check the permission first."""
        stored = await self._media.find(key)
        if stored is None:
            raise ChatError("not_found")
        validators = Validators(f'"{key.removeprefix(PREFIX)}"', stored.created_at_ms // 1000)
        headers = {
            "ETag": validators.etag,
            "Last-Modified": validators.last_modified,
            "Cache-Control": caching,
            "Accept-Ranges": "bytes",
            "Content-Security-Policy": _POLICY,
            "X-Content-Type-Options": "nosniff",
        }
        if is_not_modified(request.headers, validators):
            return web.Response(status=304, headers=headers)
        return await self._send(request, stored, validators, headers)

    async def _send(
        self, request: web.Request, stored: StoredObject, validators: Validators, headers: dict[str, str]
    ) -> web.StreamResponse:
        size = stored.facts.bytes
        try:
            part = requested_range(request.headers, size, validators)
        except RangeNotSatisfiable:
            refusal = ChatError("range_not_satisfiable")
            headers = {"Content-Range": f"bytes */{size}"}
            return web.json_response(refusal.body(), status=refusal.status, headers=headers)
        start, end = part or (0, size)
        response = web.StreamResponse(status=200 if part is None else 206, headers=headers)
        if part is not None:
            response.headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
        response.content_type = stored.facts.content_type
        if stored.facts.content_type not in _SHOWN:
            # No file name is sent, because the web client names the download and a player needs no name.
            response.headers["Content-Disposition"] = "attachment"
            if stored.facts.content_type not in SOUND_TYPES:
                response.content_type = PLAIN_TYPE
        response.content_length = end - start
        if request.method == "HEAD":
            return response
        return await self._stream(request, response, stored.key, start, end)

    async def _stream(
        self, request: web.Request, response: web.StreamResponse, key: str, start: int, end: int
    ) -> web.StreamResponse:
        objects, transport = self._media.objects, request.transport
        if transport is None:
            return response  # The client has disconnected.
        maximum = min(MAX_STREAMS, objects.readers_at_once)
        reader = self._readers.admit(client_address(request).limited_as, maximum, transport.abort)
        if reader is None:
            raise ChatError("too_many_connections", "Too many files are being read. Try again in a moment")
        try:
            async with aclosing(objects.read(key, start, end)) as chunks:
                # Read the first chunk before sending the status, because afterwards the request can no longer
                # be rejected.
                first = await self._first(chunks, key)
                await response.prepare(request)
                await self._write_all(request, response, reader, first, chunks, key)
        finally:
            self._readers.leave(reader)
        return response

    async def _first(self, chunks: AsyncGenerator[bytes, None], key: str) -> bytes:
        """Read the first chunk. Log once when the store fails and once when it recovers. Raises ChatError."""
        try:
            chunk = await anext(chunks, b"")
        except ObjectMissing:
            self._note(key, "missing", "there is nothing under this key")
            raise ChatError("not_found") from None
        except ObjectDamaged as fault:
            self._note(key, "damaged", str(fault))
            raise ChatError("internal_error", "This file is damaged on the server") from None
        except StoreFailed as fault:
            self._media.failed_reads[("unavailable",)] += 1
            if not self._store_failed:
                logger.warning("stored media cannot be read", extra={"fault": str(fault)})
            self._store_failed = True
            raise ChatError("storage_unavailable", _NOT_READ) from None
        if self._store_failed:
            logger.info("stored media can be read again")
        self._store_failed = False
        return chunk

    async def _write_all(
        self,
        request: web.Request,
        response: web.StreamResponse,
        reader: Reader,
        chunk: bytes,
        more: AsyncGenerator[bytes, None],
        key: str,
    ) -> None:
        """Send the remaining chunks. On failure, abort the connection.

        The Content-Length has already been sent, so clients can tell that the file is incomplete.
        """
        try:
            while chunk:
                with reader.taking():
                    async with asyncio.timeout(WRITE_DEADLINE_S):
                        await response.write(chunk)
                chunk = await anext(more, b"")
            await response.write_eof()
            return
        except ObjectMissing:
            self._note(key, "missing", "it was removed while it was read")
        except StoreFailed as fault:
            self._note(key, "damaged" if isinstance(fault, ObjectDamaged) else "unavailable", str(fault))
        except (TimeoutError, OSError) as fault:
            # Clients may disconnect at any time, so a disconnect is not an error.
            logger.debug("media was not sent completely", extra={"fault": type(fault).__name__})
        if request.transport is not None:
            request.transport.abort()

    def _note(self, key: str, because: str, fault: str) -> None:
        """Count and log an object that is in the database but cannot be read from the store."""
        self._media.failed_reads[(because,)] += 1
        logger.error("stored media cannot be read", extra={"key": key, "because": because, "fault": fault})


DESCRIPTION = describe_feature(MediaEndpoints)
