"""`GET /media/…`: stored media, to whoever has a good address of it; and `GET /icon`.

What is served was written by our own media worker, and is all the same served as if it were
not: with the type that is known of it, never guessed, in a sandbox without scripts, and what is
no picture and no video as a download. Spec: chat document sections 4.1 and 8.3.
"""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from aiohttp import web

from svc.base.objects import ObjectMissing, StoreFailed
from svc.chat.access.media_urls import PREFIX
from svc.chat.errors import ChatError
from svc.chat.media.facts import StoredObject
from svc.chat.media.ranges import RangeNotSatisfiable, Validators, has_it_already, wanted
from svc.chat.media.rules import Media

# Each holds one chunk. Beyond it a page tries again.
MAX_STREAMS = 256
# Somebody who takes no chunk for so long has gone.
WRITE_DEADLINE_S = 30.0
# The icon may be another tomorrow, and its address tells which it is.
_ICON_AGE_S = 3600
_NAME = re.compile(r"[0-9a-f-]{36}\.[a-z0-9]{1,8}")
# What browsers show; everything else they are told to save.
_PICTURES = ("image/webp", "image/avif", "image/png", "image/jpeg", "image/gif")
_SHOWN = frozenset({*_PICTURES, "video/mp4", "video/webm"})
_POLICY = "default-src 'none'; sandbox"

logger = logging.getLogger(__name__)


class MediaRoutes:
    """`icon_key` says what the server's icon is, if it has one."""

    def __init__(self, media: Media, icon_key: Callable[[], str | None]) -> None:
        self._media = media
        self._icon_key = icon_key
        self._streams = 0

    def table(self) -> list[web.RouteDef]:
        return [web.get("/media/{name}", self.media), web.get("/icon", self.icon)]

    async def media(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        asked = request.query
        if not _NAME.fullmatch(name):
            raise ChatError("not_found")
        left_s = self._media.urls.remaining_s(name, asked.get("ends", ""), asked.get("signature", ""))
        # Not for caches that several people share: the address is the permission.
        return await self._serve(request, PREFIX + name, f"private, max-age={left_s}, immutable")

    async def icon(self, request: web.Request) -> web.StreamResponse:
        key = self._icon_key()
        if key is None:
            raise ChatError("not_found", "This server has no icon")
        return await self._serve(request, key, f"public, max-age={_ICON_AGE_S}")

    async def _serve(self, request: web.Request, key: str, caching: str) -> web.StreamResponse:
        found = await self._media.find(key)
        if found is None:
            raise ChatError("not_found")
        validators = Validators(f'"{key.removeprefix(PREFIX)}"', found.created_at_ms // 1000)
        headers = {
            "ETag": validators.etag,
            "Last-Modified": validators.last_modified,
            "Cache-Control": caching,
            "Accept-Ranges": "bytes",
            "Content-Security-Policy": _POLICY,
            "X-Content-Type-Options": "nosniff",
        }
        if has_it_already(request.headers, validators):
            return web.Response(status=304, headers=headers)
        return await self._send(request, found, validators, headers)

    async def _send(
        self, request: web.Request, found: StoredObject, validators: Validators, headers: dict[str, str]
    ) -> web.StreamResponse:
        size = found.facts.bytes
        try:
            part = wanted(request.headers, size, validators)
        except RangeNotSatisfiable:
            refusal = ChatError("range_not_satisfiable")
            headers = {"Content-Range": f"bytes */{size}"}
            return web.json_response(refusal.body(), status=refusal.status, headers=headers)
        start, end = part or (0, size)
        response = web.StreamResponse(status=200 if part is None else 206, headers=headers)
        if part is not None:
            response.headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
        response.content_type = found.facts.content_type
        if found.facts.content_type not in _SHOWN:
            response.content_type = "application/octet-stream"
            response.headers["Content-Disposition"] = "attachment"
        response.content_length = end - start
        if request.method == "HEAD":
            return response
        return await self._stream(request, response, found.key, start, end)

    async def _stream(
        self, request: web.Request, response: web.StreamResponse, key: str, start: int, end: int
    ) -> web.StreamResponse:
        if self._streams >= MAX_STREAMS:
            raise ChatError("too_many_connections")
        self._streams += 1
        try:
            async with aclosing(self._media.objects.read(key, start, end)) as chunks:
                # The first chunk comes before the status: until then there can be a refusal.
                first = await _first(chunks)
                await response.prepare(request)
                await _write_all(request, response, first, chunks)
        finally:
            self._streams -= 1
        return response


async def _first(chunks: AsyncGenerator[bytes, None]) -> bytes:
    """Raises ChatError."""
    try:
        return await anext(chunks, b"")
    except ObjectMissing:
        raise ChatError("not_found") from None
    except StoreFailed:
        raise ChatError("storage_unavailable") from None


async def _write_all(
    request: web.Request, response: web.StreamResponse, chunk: bytes, more: AsyncGenerator[bytes, None]
) -> None:
    """What cannot be written to its end is cut off: its length was said, and nobody takes it for whole."""
    try:
        while chunk:
            async with asyncio.timeout(WRITE_DEADLINE_S):
                await response.write(chunk)
            chunk = await anext(more, b"")
        await response.write_eof()
    except (ObjectMissing, StoreFailed, TimeoutError, OSError) as fault:
        logger.info("media was not sent to its end", extra={"fault": type(fault).__name__})
        if request.transport is not None:
            request.transport.abort()
