"""Receives uploads, attaches processed ones to messages, and deletes abandoned ones.

Bytes are acknowledged once they are on disk. Nobody can see any part of an upload before the worker has
processed it. `queue` handles the processing. This module contains neither HTTP nor SQL code. See
docs/http.md, "Uploads" and docs/configuration.md, "Chat server".
"""

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress

from svc.base.database import Connection, Write
from svc.base.fair_shares import FairShares
from svc.base.file_types import FILE
from svc.chat.access.checked_writes import shared_write
from svc.chat.access.permissions import Permission
from svc.chat.errors import ChatError
from svc.chat.live.hub import only
from svc.chat.media.stored_media import MESSAGE, Media
from svc.chat.services import Services
from svc.chat.uploads import limits, store
from svc.chat.uploads.file_names import readable_file_name
from svc.chat.uploads.incoming_files import IncomingFiles
from svc.chat.uploads.limits import Limits, SpaceUsed, require_place, require_room, takes_long
from svc.chat.uploads.queue import Queue
from svc.chat.uploads.responses import UploadProgress
from svc.chat.uploads.store import Job, JobCounts
from svc.chat.uploads.upload import (
    ATTACHMENT,
    DONE,
    RECEIVING,
    REFUSED,
    USED,
    WAITING,
    NewUpload,
    Upload,
    keys_of,
)

_TIDIED_AT_ONCE = 100
_MAX_LISTED = 100
_PAGE = 100
# The number of bytes needed to tell a document from a video. The size limit for videos may be higher.
_JUDGED_BYTES = 64
_EMPTY = "This file is empty"
_TOO_MANY_ARRIVE = "The server receives too many uploads at this moment. Try again when one of yours is done"

logger = logging.getLogger(__name__)

# Called within the write transaction that changes an upload's alt text. The arguments are the connection, the
# member, the ids of the messages with the upload, the upload's id, and the new text. Returns a function to
# call after the transaction. Raises ChatError.
Describes = Callable[[Connection, str, Sequence[str], str, str], Callable[[], None]]


class Uploads:
    """The rules for uploads. `moderate_text` returns the permitted form of text or raises ChatError."""

    def __init__(
        self,
        services: Services,
        media: Media,
        incoming: IncomingFiles,
        queue: Queue,
        bounds: Limits,
        moderate_text: Callable[[str], str],
    ) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._new_id = services.new_id
        self._media = media
        self._incoming = incoming
        self._queue = queue
        self._bounds = bounds
        self._moderate_text = moderate_text
        self.on_described: list[Describes] = []
        self.urls = media.urls
        # The ids of uploads that are being received.
        self._busy: set[str] = set()
        self._receiving = FairShares(limits.MAX_ARRIVING)

    def maximum(self, purpose: str) -> int:
        """Return the maximum size in bytes of an upload for the given purpose."""
        return self._bounds.of(purpose)

    def max_unprocessed_bytes(self, name: str) -> int:
        """Return the maximum size of an unprocessed file with this name, or 0 if such files are rejected."""
        return self._bounds.of_kind(FILE, name)

    def require_attaching(self, member_id: str, channel_id: str) -> None:
        """Raise ChatError unless the member may attach files in the channel."""
        self._directory.require(member_id, Permission.ATTACH_FILES, channel_id)

    # Methods that receive uploads.

    async def begin(self, member_id: str, new: NewUpload) -> Upload:
        """Create an upload. Raises ChatError if there is no space for it."""
        if not self._media.enabled:
            raise ChatError("uploads_disabled")
        maximum = self.maximum(new.purpose)
        if new.length == 0:
            raise ChatError("invalid_request", _EMPTY)
        if new.length > maximum:
            raise ChatError("upload_too_large", more={"limit": maximum})
        disk_bytes = await self._incoming.free_bytes()
        upload = Upload(
            id=self._new_id(),
            member_id=member_id,
            purpose=new.purpose,
            name=self._moderate_text(readable_file_name(new.name)),
            target=new.target,
            alt=self._moderate_text(new.alt),
            length=new.length,
            received=0,
            reserved=min(new.length, limits.EXPECTED_BYTES),
            state=RECEIVING,
            result=None,
            refusal=None,
            created_at_ms=self._queue.now_ms(),
        )

        return await self._insert(upload, disk_bytes, resumable=new.resumable)

    @shared_write
    def _insert(self, upload: Upload, disk_bytes: int, *, resumable: bool) -> Write[None, Upload]:
        self._directory.member(upload.member_id)

        def insert(connection: Connection) -> None:
            self._forget_empty(connection)
            stored = self._room(connection, upload.member_id, disk_bytes)
            require_place(stored)
            # The whole upload must fit, although space is reserved only for the first bytes.
            require_room(stored, upload.length)
            store.UPLOADS.insert(connection, upload, resumable=resumable, changed_at_ms=upload.created_at_ms)

        return Write(insert, lambda _: upload)

    async def receive(
        self, member_id: str, upload_id: str, offset: int, chunks: AsyncIterator[bytes], *, last: bool = False
    ) -> Upload:
        """Receive the next bytes of an upload. When the upload is complete, it is queued for the worker.

        If `last` is set, the upload ends with these bytes, even if it is shorter than announced. If the
        connection is lost, the received bytes are kept. Raises ChatError.
        """
        if upload_id in self._busy:
            raise ChatError("upload_busy")
        if not self._receiving.take(member_id):
            raise ChatError("too_many_connections", _TOO_MANY_ARRIVE)
        # Mark the upload as busy before reading its state, so that two requests cannot act on the same state.
        self._busy.add(upload_id)
        try:
            await self._receive(await self.find(member_id, upload_id), offset, chunks, last)
        finally:
            self._busy.discard(upload_id)
            self._receiving.give_back(member_id)
        return await self.find(member_id, upload_id)

    async def cancel(self, member_id: str, upload_id: str) -> None:
        """Cancel an unattached upload and delete it. Raises ChatError."""
        upload = await self.find(member_id, upload_id)
        if upload.id in self._busy:
            raise ChatError("upload_busy")
        await self._release_file(upload)

    # Methods that read and describe uploads.

    async def find(self, member_id: str, upload_id: str) -> Upload:
        """Return one of the member's uploads. Raises ChatError."""
        upload = await store.UPLOADS.one(self._database, id=upload_id)
        if upload is None or upload.member_id != member_id:
            raise ChatError("unknown_upload")
        return upload

    async def unused(self, member_id: str) -> list[Upload]:
        return await store.unused_of_member(self._database, member_id, _MAX_LISTED)

    async def of(self, member_id: str) -> AsyncIterator[Upload]:
        """Yield all of a member's uploads, oldest first."""
        last = ""
        while page := await store.of_member(self._database, member_id, last, _PAGE):
            for upload in page:
                yield upload
            last = page[-1].id

    async def describe(self, member_id: str, upload_id: str, alt: str) -> Upload:
        """Set a file's alt text, even after the file has been posted. Raises ChatError."""
        upload = await self.find(member_id, upload_id)
        if upload.state == REFUSED or upload.purpose != ATTACHMENT:
            raise ChatError("unknown_upload")
        await self._describe(member_id, upload_id, self._moderate_text(alt))
        return await self.find(member_id, upload_id)

    @shared_write
    def _describe(
        self, member_id: str, upload_id: str, alt: str
    ) -> Write[Sequence[Callable[[], None]], None]:
        def change(connection: Connection) -> Sequence[Callable[[], None]]:
            now = store.UPLOADS.get(connection, id=upload_id)
            key = keys_of(now.result)[0] if now is not None and now.state == USED else ""
            where = self._media.owners(connection, key, MESSAGE)
            store.UPLOADS.edit(connection, {"alt": alt}, id=upload_id)
            return [describe(connection, member_id, where, upload_id, alt) for describe in self.on_described]

        def changed(callbacks: Sequence[Callable[[], None]]) -> None:
            for follow in callbacks:
                follow()

        return Write(change, changed)

    # Methods to call within a write transaction.

    def attach(
        self, connection: Connection, member_id: str, message_id: str, upload_ids: Sequence[str]
    ) -> list[object]:
        """Attach finished uploads to a message, each at most once. Return the attachments. Raises
        ChatError.
        """
        attached = [self._attachable(connection, member_id, upload_id) for upload_id in upload_ids]
        for upload in attached:
            for key in keys_of(upload.result):
                self._media.refer(connection, key, MESSAGE, message_id)
            store.UPLOADS.edit(connection, {"state": USED}, id=upload.id)
        return [upload.attachment() for upload in attached]

    def attachable_keys(self, connection: Connection, member_id: str, upload_ids: Sequence[str]) -> list[str]:
        """Return the keys of the stored objects in the member's finished uploads. Raises ChatError."""
        attached = [self._attachable(connection, member_id, upload_id) for upload_id in upload_ids]
        return [key for upload in attached for key in keys_of(upload.result)]

    def forget_member(self, connection: Connection, member_id: str) -> None:
        """Delete a leaving member's unfinished and rejected uploads."""
        for upload_id in store.unfinished_ids(connection, member_id):
            self._drop(connection, upload_id)

    def make_nameless(self, connection: Connection, member_id: str) -> None:
        """Delete the names and alt texts of a member's uploads. Messages have their own copies."""
        store.UPLOADS.edit(connection, {"name": "", "alt": ""}, member_id=member_id)

    # Methods that delete abandoned uploads.

    async def load(self) -> None:
        """Delete uploads that a restart has interrupted. Call this before any upload begins."""
        await self._database.write(store.forget_cut_off)

    async def tidy_up(self) -> None:
        """Delete abandoned uploads and remove unreferenced files."""
        if not self._media.enabled:
            return
        await self._database.write(self._expire, self._queue.store_counts)
        await self._incoming.remove_but(await self._database.write(store.with_files))

    def _expire(self, connection: Connection) -> JobCounts:
        now_ms = self._queue.now_ms()
        unfinished = now_ms - int(limits.UNFINISHED_KEPT_S * 1000)
        refused = now_ms - int(limits.REFUSED_KEPT_S * 1000)
        dead = now_ms - int(limits.DEAD_KEPT_S * 1000)
        self._forget_empty(connection)
        expired = store.expired_ids(connection, RECEIVING, unfinished, _TIDIED_AT_ONCE)
        expired += store.expired_ids(connection, "refused", refused, _TIDIED_AT_ONCE)
        expired += store.expired_failures(connection, dead, _TIDIED_AT_ONCE)
        for upload_id in expired:
            if upload_id not in self._busy:
                self._drop(connection, upload_id)
        return self._queue.count(connection)

    def _forget_empty(self, connection: Connection) -> None:
        """Delete uploads that have received nothing for too long, because they count toward the limits. Call
        this within a write transaction.
        """
        before_ms = self._queue.now_ms() - int(limits.EMPTY_KEPT_S * 1000)
        for upload_id in store.empty(connection, before_ms, _TIDIED_AT_ONCE):
            if upload_id not in self._busy:
                self._drop(connection, upload_id)

    def _room(self, connection: Connection, member_id: str, disk_bytes: int) -> SpaceUsed:
        return SpaceUsed(
            own=store.load(connection, member_id),
            everyone=store.load(connection),
            kept=self._media.stored_bytes(connection, member_id),
            disk_bytes=disk_bytes,
            kept_here=self._bounds.kept_here,
        )

    async def _reserve(self, upload: Upload, reserved: int, wanted: int) -> int:
        """Reserve more space for an upload. Return the total reserved. Raises ChatError."""
        more = min(upload.length, wanted + limits.RESERVED_AT_ONCE) - reserved
        disk_bytes = await self._incoming.free_bytes()

        def reserve(connection: Connection) -> None:
            require_room(self._room(connection, upload.member_id, disk_bytes), more)
            reserving = {"reserved": reserved + more}
            if not store.UPLOADS.edit(connection, reserving, id=upload.id, state=RECEIVING):
                raise ChatError("unknown_upload")

        await self._database.write(reserve)
        return reserved + more

    async def _within_bounds(self, upload: Upload, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Yield the chunks up to the announced length, after reserving space for them. Raises ChatError."""
        at, reserved = upload.received, upload.reserved
        async for chunk in chunks:
            at += len(chunk)
            if at > upload.length:
                raise ChatError("upload_too_large", more={"limit": upload.length})
            if at > reserved:
                reserved = await self._reserve(upload, reserved, at)
            yield chunk

    async def _receive(self, upload: Upload, offset: int, chunks: AsyncIterator[bytes], last: bool) -> None:
        if upload.state != RECEIVING:
            raise ChatError("upload_complete")
        if offset != upload.received:
            raise ChatError("offset_mismatch", more={"offset": upload.received})
        received = await self._write(upload, chunks)
        if last and received == 0:
            await self._release_file(upload)
            raise ChatError("invalid_request", _EMPTY)
        if last or received == upload.length:
            await self._complete(upload, await self._kind(upload, received), received)
        elif offset < _JUDGED_BYTES <= received:
            # The kind is now known, so reject a file that is too large before the rest is sent.
            await self._kind(upload, upload.length)

    async def _write(self, upload: Upload, chunks: AsyncIterator[bytes]) -> int:
        try:
            await self._incoming.write(upload.id, upload.received, self._within_bounds(upload, chunks))
        except OSError as fault:
            logger.error("an upload cannot be written", extra={"fault": str(fault)})
            raise ChatError("storage_unavailable") from None
        finally:
            received = 0
            with suppress(OSError):
                received = await self._incoming.length_of(upload.id)
                await self._database.write(
                    lambda c: store.set_received(c, upload.id, received, self._queue.now_ms())
                )
        return received

    async def _kind(self, upload: Upload, length: int) -> str:
        """Return the kind of a file. If it is too large for its kind, delete the upload and raise
        ChatError.
        """
        kind = upload.purpose
        if kind == ATTACHMENT:
            kind = await self._incoming.content(upload.id, length)
        maximum = self._bounds.of_kind(kind, upload.name)
        # If the kind is not permitted (0), the worker rejects the file with an error that lists the permitted
        # kinds.
        if maximum and length > maximum:
            await self._release_file(upload)
            raise ChatError("upload_too_large", more={"limit": maximum})
        return kind

    async def _complete(self, upload: Upload, kind: str, length: int) -> None:
        now_ms = self._queue.now_ms()

        def complete(connection: Connection) -> JobCounts:
            if not store.set_waiting(connection, upload.id, length, now_ms):
                raise ChatError("unknown_upload")
            store.JOBS.insert(connection, Job(upload.id, kind, takes_long(kind, length), now_ms, now_ms))
            return self._queue.count(connection)

        def completed(counts: JobCounts) -> None:
            self._queue.store_counts(counts)
            progress = UploadProgress(upload.id, "waiting", 0.0)
            self._hub.push("upload_progress", progress, only(upload.member_id), kept=False)

        await self._database.write(complete, completed)

    async def _release_file(self, upload: Upload) -> None:
        await self._database.write(
            lambda connection: self._drop(connection, upload.id), self._queue.store_counts
        )
        # If the file cannot be removed now, the next cleanup removes it.
        with suppress(OSError):
            await self._incoming.remove(upload.id)

    def _attachable(self, connection: Connection, member_id: str, upload_id: str) -> Upload:
        upload = store.UPLOADS.get(connection, id=upload_id)
        if upload is None or (upload.member_id, upload.purpose) != (member_id, ATTACHMENT):
            raise ChatError("unknown_upload")
        if upload.state in (RECEIVING, WAITING):
            raise ChatError("upload_not_done")
        if upload.state != DONE:
            raise ChatError("unknown_upload")
        return upload

    def _drop(self, connection: Connection, upload_id: str) -> JobCounts:
        """Delete an upload, or only its job if the upload is in use. Call this within a write transaction."""
        self._queue.drop(connection, upload_id)
        upload = store.UPLOADS.get(connection, id=upload_id)
        if upload is not None and upload.state != USED:
            store.UPLOADS.delete(connection, id=upload_id)
        return self._queue.count(connection)
