"""Uploads over HTTP: in one request (multipart), or resumable (tus), for whatever they are for.

What the file is for says the path; how it is sent, the headers. No rules.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import replace

from aiohttp import web

from svc.chat.errors import ChatError
from svc.chat.fields import identifier, optional_text, text
from svc.chat.http import READ_DEADLINE_S, answer, arriving, asker, body, nothing, refuse_compressed
from svc.chat.uploads import tus
from svc.chat.uploads.commands import MAX_JOBS_LISTED, described_job
from svc.chat.uploads.multipart import MAX_HEAD_BYTES, FormFile, Malformed
from svc.chat.uploads.portraits import Avatars, Icons
from svc.chat.uploads.queue import Queue
from svc.chat.uploads.rules import Uploads
from svc.chat.uploads.upload import ATTACHMENT, AVATAR, ICON, MAX_ALT_CHARACTERS, Upload, Wish

_MAX_FILE_NAME = 1_000
_ONE = "/api/uploads/{upload_id}"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class UploadRoutes:
    def __init__(self, uploads: Uploads, queue: Queue, avatars: Avatars, icons: Icons) -> None:
        self._uploads = uploads
        self._queue = queue
        self._avatars = avatars
        self._icons = icons

    def table(self) -> list[web.RouteDef]:
        return [
            web.post("/api/channels/{channel_id}/uploads", self.beginning(ATTACHMENT)),
            web.get("/api/uploads", self.list),
            web.get(_ONE, self.show),
            web.patch(_ONE, self.append),
            web.delete(_ONE, self.cancel),
            web.put(_ONE + "/alt", self.describe),
            web.post("/api/me/avatar", self.beginning(AVATAR)),
            web.delete("/api/me/avatar", self.remove_avatar),
            web.post("/api/icon", self.beginning(ICON)),
            web.delete("/api/icon", self.remove_icon),
            web.get("/api/jobs", self.jobs),
            web.post("/api/jobs/{job_id}/retry", self.retry),
        ]

    def beginning(self, purpose: str, target: Callable[[str], str] = lambda name: "") -> Handler:
        """The handler for uploads of a purpose. `target` reads the `name` that the thing is to have."""

        async def begin(request: web.Request) -> web.StreamResponse:
            refuse_compressed(request)
            if purpose == ATTACHMENT:
                channel_id = identifier(request.match_info, "channel_id")
                self._uploads.require_attaching(asker(request).member_id, channel_id)
            if tus.spoken(request.headers):
                said = tus.metadata(request.headers)
                wish = _wish(purpose, tus.length(request.headers), said, target)
                upload = await self._uploads.begin(asker(request).member_id, wish)
                where = {"Location": f"/api/uploads/{upload.id}", **tus.state(upload)}
                return web.Response(status=201, headers=where)
            return await self._whole(request, purpose, target)

        return begin

    async def list(self, request: web.Request) -> web.Response:
        found = await self._uploads.unused(asker(request).member_id)
        return answer({"uploads": [self._described(upload) for upload in found]})

    async def show(self, request: web.Request) -> web.Response:
        """What a tus client asks with HEAD stands in the headers."""
        upload = await self._uploads.find(asker(request).member_id, _upload_id(request))
        shown = answer(self._described(upload))
        shown.headers.update(tus.state(upload))
        return shown

    async def append(self, request: web.Request) -> web.Response:
        refuse_compressed(request)
        if not tus.spoken(request.headers):
            raise ChatError("tus_version", more={"versions": [tus.VERSION]})
        offset = tus.offset(request.headers)
        async with aclosing(arriving(request.content)) as chunks:
            upload = await self._uploads.receive(
                asker(request).member_id, _upload_id(request), offset, chunks
            )
        return web.Response(status=204, headers=tus.state(upload))

    async def cancel(self, request: web.Request) -> web.Response:
        await self._uploads.cancel(asker(request).member_id, _upload_id(request))
        return nothing()

    async def describe(self, request: web.Request) -> web.Response:
        alt = text(await body(request), "alt", most=MAX_ALT_CHARACTERS)
        upload = await self._uploads.describe(asker(request).member_id, _upload_id(request), alt)
        return answer(self._described(upload))

    async def remove_avatar(self, request: web.Request) -> web.Response:
        await self._avatars.remove(asker(request).member_id)
        return nothing()

    async def remove_icon(self, request: web.Request) -> web.Response:
        await self._icons.remove(asker(request).member_id, time.time())
        return nothing()

    async def jobs(self, request: web.Request) -> web.Response:
        return answer({"jobs": [described_job(job) for job in await self._queue.jobs(MAX_JOBS_LISTED)]})

    async def retry(self, request: web.Request) -> web.Response:
        await self._queue.retry(identifier(request.match_info, "job_id"))
        return nothing()

    async def _whole(
        self, request: web.Request, purpose: str, target: Callable[[str], str]
    ) -> web.StreamResponse:
        """One request with the file in it, which is as long as the request at most."""
        if request.content_type != "multipart/form-data":
            raise ChatError("wrong_content_type", "Send multipart/form-data, or speak tus")
        most = self._uploads.most(purpose)
        if (request.content_length or 0) > most + MAX_HEAD_BYTES:
            raise ChatError("upload_too_large", more={"limit": most})
        async with aclosing(arriving(request.content)) as chunks:
            file, file_name = await _file_of(request, chunks)
            said = {"filename": file_name, "name": request.query.get("name", "")}
            length = min(request.content_length or most, most)
            wish = replace(_wish(purpose, length, said, target), resumable=False)
            member_id = asker(request).member_id
            upload = await self._uploads.begin(member_id, wish)
            try:
                async with aclosing(_to_its_end(file)) as pieces:
                    upload = await self._uploads.receive(member_id, upload.id, 0, pieces, last=True)
            except ChatError:
                # Whoever sends it all at once has nothing to go on with.
                if upload.state == "receiving":
                    await self._forgotten(member_id, upload.id)
                raise
        return answer(self._described(upload), 201)

    async def _forgotten(self, member_id: str, upload_id: str) -> None:
        with suppress(ChatError):
            await self._uploads.cancel(member_id, upload_id)

    def _described(self, upload: Upload) -> dict[str, object]:
        return upload.described(self._uploads.urls)


def _upload_id(request: web.Request) -> str:
    return identifier(request.match_info, "upload_id")


def _wish(purpose: str, length: int, said: dict[str, str], target: Callable[[str], str]) -> Wish:
    """What is said of a file that is about to come: `filename`, `alt`, and the `name` of the thing."""
    return Wish(
        purpose=purpose,
        length=length,
        name=optional_text(said, "filename", most=_MAX_FILE_NAME) or "",
        target=target(said.get("name", "")),
        alt=optional_text(said, "alt", most=MAX_ALT_CHARACTERS) or "",
    )


async def _file_of(request: web.Request, chunks: AsyncIterator[bytes]) -> tuple[FormFile, str]:
    """The file in a multipart body, and its name. Raises ChatError."""
    try:
        async with asyncio.timeout(READ_DEADLINE_S):
            file = FormFile(request.headers.get("Content-Type", ""), chunks)
            return file, await file.begin()
    except (Malformed, TimeoutError):
        raise ChatError("invalid_request", "There is no file in this request") from None


async def _to_its_end(file: FormFile) -> AsyncGenerator[bytes, None]:
    try:
        async with aclosing(file.pieces()) as pieces:
            async for piece in pieces:
                yield piece
    except Malformed:
        raise ChatError("upload_cut_short") from None
