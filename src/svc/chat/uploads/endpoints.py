"""Handles requests for uploads: receiving a file in one request (multipart) or in several (tus), and
reporting its progress.

The path determines the purpose of the file, and the headers determine how it is sent. tus.io defines the tus
protocol. This module contains no rules.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Annotated

from aiohttp import web
from msgspec import Meta

from svc.chat.access.endpoint_permissions import MEMBER, OWNER, Requirement, in_channel
from svc.chat.access.permissions import Permission as P
from svc.chat.access.tokens import Session
from svc.chat.endpoints import Endpoints, Request, Run, convert, describe_feature, endpoint
from svc.chat.errors import ChatError
from svc.chat.http import READ_DEADLINE_S, answer, media_type, received_chunks, refuse_compressed, session_of
from svc.chat.schemas import Event, Id, string
from svc.chat.uploads import protocols, responses
from svc.chat.uploads.avatars import Avatars, Icons
from svc.chat.uploads.protocols import MAX_HEAD_BYTES, FormFile, MalformedBody
from svc.chat.uploads.queue import Queue
from svc.chat.uploads.responses import AllJobs, IconChanged
from svc.chat.uploads.rules import Uploads
from svc.chat.uploads.upload import ATTACHMENT, AVATAR, ICON, MAX_ALT_CHARACTERS, RECEIVING, NewUpload, Upload

_MAX_FILE_NAME = 1_000
_UPLOAD_PATH = "/api/uploads/{upload_id}"

# The error codes that any upload can return, regardless of its purpose.
BEGINNING = (
    *("profanity_refused", "quota_exceeded", "storage_full", "too_many", "too_many_connections"),
    *("tus_version", "upload_cut_short", "upload_too_large", "uploads_disabled", "wrong_content_type"),
)


class FormBody(Request):
    file: Annotated[str, Meta(extra_json_schema={"contentMediaType": "application/octet-stream"})]


class UploadTexts(Request):
    filename: Annotated[str, Meta(max_length=_MAX_FILE_NAME)] = ""
    alt: Annotated[str, Meta(max_length=MAX_ALT_CHARACTERS)] = ""


class NewAlt(Request):
    alt: Annotated[str, Meta(max_length=MAX_ALT_CHARACTERS)]


def _upload_endpoint(needs: Requirement, summary: str, http: str, *more: str) -> Callable[[Run], Run]:
    return endpoint(
        needs,
        f"{summary} as multipart, or with tus 1.0.0 if `Tus-Resumable` is set. Events report the outcome",
        http=http,
        refusals=(*BEGINNING, *more),
        status=201,
        raw_body=("multipart/form-data", FormBody),
        returns=responses.Upload,
    )


class UploadEndpoints(Endpoints):
    def __init__(self, uploads: Uploads, queue: Queue, avatars: Avatars, icons: Icons) -> None:
        self._uploads = uploads
        self._queue = queue
        self._avatars = avatars
        self._icons = icons

    @_upload_endpoint(
        in_channel(P.ATTACH_FILES),
        "Upload a file for a message",
        "POST /api/channels/{channel_id}/uploads",
        "unknown_channel",
    )
    async def attach(self, session: Session, http_request: web.Request, channel_id: Id) -> web.Response:
        self._uploads.require_attaching(session.member_id, channel_id)
        return await self.begin(http_request, ATTACHMENT)

    @_upload_endpoint(MEMBER, "Upload your avatar", "POST /api/me/avatar", "in_timeout")
    async def set_avatar(self, session: Session, http_request: web.Request) -> web.Response:
        self._avatars.require_may_set(session.member_id)
        return await self.begin(http_request, AVATAR)

    @endpoint(MEMBER, "Remove your avatar", http="DELETE /api/me/avatar")
    async def remove_avatar(self, session: Session) -> None:
        await self._avatars.remove(session.member_id)

    @_upload_endpoint(OWNER, "Upload the server icon", "POST /api/icon")
    async def set_icon(self, http_request: web.Request) -> web.Response:
        return await self.begin(http_request, ICON)

    @endpoint(OWNER, "Remove the server icon", http="DELETE /api/icon")
    async def remove_icon(self, session: Session) -> None:
        await self._icons.remove(session.member_id, time.time())

    @endpoint(
        MEMBER,
        "List your unattached uploads, newest first",
        http="GET /api/uploads",
    )
    async def unused(self, session: Session) -> responses.Uploads:
        uploads = await self._uploads.unused(session.member_id)
        return responses.Uploads([self._to_response(upload) for upload in uploads])

    @endpoint(
        MEMBER,
        "Get one of your uploads. The headers `Upload-Offset` and `Upload-Length` answer the HEAD "
        "requests of tus",
        http=f"GET {_UPLOAD_PATH}",
        refusals=("unknown_upload",),
        returns=responses.Upload,
    )
    async def show(self, session: Session, http_request: web.Request, upload_id: Id) -> web.Response:
        """Return an upload. The response includes the headers that a tus client needs from a HEAD request."""
        upload = await self._uploads.find(session.member_id, upload_id)
        response = answer(self._to_response(upload))
        response.headers.update(protocols.state(upload))
        return response

    # A piece of an upload counts little toward the rate limit, because the bytes are limited separately.
    @endpoint(
        MEMBER,
        "Continue an upload with tus from `Upload-Offset` on",
        http=f"PATCH {_UPLOAD_PATH}",
        refusals=(
            *("offset_mismatch", "quota_exceeded", "storage_full", "too_many_connections", "tus_version"),
            *("unknown_upload", "upload_busy", "upload_complete", "upload_cut_short", "upload_too_large"),
            "wrong_content_type",
        ),
        raw_body=(protocols.PATCH_TYPE, string(contentMediaType=protocols.PATCH_TYPE)),
        cost=0.1,
    )
    async def append(self, session: Session, http_request: web.Request, upload_id: Id) -> web.StreamResponse:
        refuse_compressed(http_request)
        if not protocols.uses_tus(http_request.headers):
            raise ChatError("tus_version", more={"versions": [protocols.VERSION]})
        offset = protocols.offset(http_request.headers)
        async with aclosing(received_chunks(http_request.content)) as chunks:
            upload = await self._uploads.receive(session.member_id, upload_id, offset, chunks)
        return web.Response(status=204, headers=protocols.state(upload))

    @endpoint(
        MEMBER,
        "Delete an unattached upload",
        http=f"DELETE {_UPLOAD_PATH}",
        refusals=("unknown_upload", "upload_busy"),
    )
    async def cancel(self, session: Session, upload_id: Id) -> None:
        await self._uploads.cancel(session.member_id, upload_id)

    @endpoint(
        MEMBER,
        "Describe a file in words. With `send_messages`, this also changes the description of a "
        "file in your posted message",
        http=f"PUT {_UPLOAD_PATH}/alt",
        refusals=("forbidden", "in_timeout", "profanity_refused", "unknown_channel", "unknown_upload"),
    )
    async def describe(self, session: Session, upload_id: Id, body: NewAlt) -> responses.Upload:
        return self._to_response(await self._uploads.describe(session.member_id, upload_id, body.alt))

    @endpoint(OWNER, "List the jobs of the media worker, failed (`dead`) jobs first", http="GET /api/jobs")
    async def jobs(self) -> AllJobs:
        return await self._queue.all()

    @endpoint(
        OWNER,
        "Retry a failed job",
        http="POST /api/jobs/{job_id}/retry",
        refusals=("unknown_job",),
    )
    async def retry(self, job_id: Id) -> None:
        await self._queue.retry(job_id)

    async def begin(
        self, request: web.Request, purpose: str, target: Callable[[str], str] = lambda name: ""
    ) -> web.Response:
        """Start a tus upload, or receive a whole file, for the given purpose. `target` parses the `name` of
        the result.
        """
        refuse_compressed(request)
        if not protocols.uses_tus(request.headers):
            return await self._whole(request, purpose, target)
        new_upload = _new_upload(
            purpose, protocols.length(request.headers), protocols.metadata(request.headers), target
        )
        upload = await self._uploads.begin(session_of(request).member_id, new_upload)
        where = {"Location": f"/api/uploads/{upload.id}", **protocols.state(upload)}
        return web.Response(status=201, headers=where)

    async def _whole(self, request: web.Request, purpose: str, target: Callable[[str], str]) -> web.Response:
        """Receive a file in a single request. The file cannot be longer than the request."""
        if media_type(request.headers.get("Content-Type", "")) != "multipart/form-data":
            raise ChatError("wrong_content_type", "Send multipart/form-data, or use tus")
        maximum = self._uploads.maximum(purpose)
        if (request.content_length or 0) > maximum + MAX_HEAD_BYTES:
            raise ChatError("upload_too_large", more={"limit": maximum})
        async with aclosing(received_chunks(request.content)) as chunks:
            file, file_name = await _file_of(request, chunks)
            names = {"filename": file_name, "name": request.query.get("name", "")}
            length = min(request.content_length or maximum, maximum)
            new_upload = replace(_new_upload(purpose, length, names, target), resumable=False)
            member_id = session_of(request).member_id
            upload = await self._uploads.begin(member_id, new_upload)
            try:
                async with aclosing(_to_its_end(file)) as pieces:
                    upload = await self._uploads.receive(member_id, upload.id, 0, pieces, last=True)
            except ChatError:
                # An upload in a single request cannot be resumed.
                if upload.state == RECEIVING:
                    with suppress(ChatError):
                        await self._uploads.cancel(member_id, upload.id)
                raise
        return answer(self._to_response(upload), 201)

    def _to_response(self, upload: Upload) -> responses.Upload:
        return responses.upload(upload, self._uploads.urls)


def _new_upload(purpose: str, length: int, names: dict[str, str], target: Callable[[str], str]) -> NewUpload:
    """Parse the fields of a new upload: `filename`, `alt`, and the `name` of the result."""
    words = convert(names, UploadTexts)
    return NewUpload(
        purpose=purpose,
        length=length,
        name=words.filename,
        target=target(names.get("name", "")),
        alt=words.alt,
    )


async def _file_of(request: web.Request, chunks: AsyncIterator[bytes]) -> tuple[FormFile, str]:
    """Find the file in a multipart body and return the file and its name. Raises ChatError."""
    try:
        async with asyncio.timeout(READ_DEADLINE_S):
            file = FormFile(request.headers.get("Content-Type", ""), chunks)
            return file, await file.begin()
    except (MalformedBody, TimeoutError):
        raise ChatError("invalid_request", "There is no file in this request") from None


async def _to_its_end(file: FormFile) -> AsyncGenerator[bytes, None]:
    try:
        async with aclosing(file.pieces()) as pieces:
            async for piece in pieces:
                yield piece
    except MalformedBody:
        raise ChatError("upload_cut_short") from None


_UPLOADER = "the member who uploaded it"
DESCRIPTION = describe_feature(
    UploadEndpoints,
    pushes=[
        Event(
            "upload_progress",
            "The media worker made progress with an upload, from 0 to 1",
            responses.UploadProgress,
            _UPLOADER,
            kept=False,
        ),
        Event(
            "upload_done",
            "An upload was checked, and encoded again if it is a picture or a video",
            responses.Upload,
            _UPLOADER,
        ),
        Event(
            "upload_refused",
            "An upload was refused. `code` is the reason",
            responses.UploadRefused,
            _UPLOADER,
        ),
        Event("icon_changed", "The server icon was changed or removed", IconChanged, "everybody"),
    ],
    welcome={"icon_url": str | None},
)
