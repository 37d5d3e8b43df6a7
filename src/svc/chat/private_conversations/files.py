"""Stores, serves and deletes the encrypted files in private conversations.

The sender encrypts each file, and sends its key, name and type in an encrypted message. The server therefore
cannot inspect a file, no worker processes it, and it is served as untyped bytes, only to devices in the
group. Files are deleted at the same age as messages. This module contains no HTTP code.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path

from svc.base.database import Connection, Write
from svc.base.fair_shares import FairShares
from svc.base.object_store import StoreFailed
from svc.base.tables import Table
from svc.chat.access.checked_writes import shared_write
from svc.chat.access.tokens import Session
from svc.chat.errors import ChatError
from svc.chat.media.stored_media import PRIVATE, Media, ObjectInfo
from svc.chat.private_conversations import store
from svc.chat.private_conversations.devices import PrivateDevices
from svc.chat.private_conversations.rules import PrivateConversations
from svc.chat.services import Services
from svc.chat.uploads.incoming_files import IncomingFiles
from svc.chat.uploads.limits import MIN_FREE_BYTES

# The maximum size of a file. Browsers encrypt and decrypt files in memory.
MAX_FILE_BYTES = 32 * 1024 * 1024
# The maximum number of simultaneous uploads by all members. Each uses up to 512 KiB of memory.
_MAX_ARRIVING = 32
_SEALED = ObjectInfo("application/octet-stream")
_TOO_MANY_ARRIVE = "The server receives too many files at this moment. Try again when one of yours is done"


@dataclass(frozen=True, slots=True)
class _File:
    id: str
    conversation_id: str
    member_id: str
    sent_at_ms: int


_FILES = Table("private_files", _File)


class PrivateFiles:
    """The encrypted files in private conversations. `now` returns seconds since 1970."""

    def __init__(
        self,
        services: Services,
        media: Media,
        data_dir: Path,
        devices: PrivateDevices,
        conversations: PrivateConversations,
        now: Callable[[], float],
    ) -> None:
        self._database = services.database
        self._media = media
        self._data_dir = data_dir
        self._incoming = IncomingFiles(data_dir)
        self._devices = devices
        self._conversations = conversations
        self._new_id = services.new_id
        self._now = now
        self._receiving = FairShares(_MAX_ARRIVING)

    async def take(
        self, session: Session, conversation_id: str, length: int, chunks: AsyncIterator[bytes]
    ) -> str:
        """Store an encrypted file for the devices in the group. Return its id. Raises ChatError."""
        if not self._media.enabled:
            raise ChatError("uploads_disabled")
        if not 0 < length <= MAX_FILE_BYTES:
            raise ChatError("upload_too_large", more={"limit": MAX_FILE_BYTES})
        self._conversations.require_writable(session.member_id, conversation_id)
        # The sending device need not be in the group yet. Its first message waits until other members'
        # devices add it.
        await self._devices.require_device(session)
        if await self._incoming.free_bytes() < MIN_FREE_BYTES + 2 * length:
            raise ChatError("storage_full")
        if not self._receiving.take(session.member_id):
            raise ChatError("too_many_connections", _TOO_MANY_ARRIVE)
        file_id = self._new_id()
        try:
            return await self._store(session, conversation_id, file_id, length, chunks)
        finally:
            self._receiving.give_back(session.member_id)
            with suppress(OSError):  # The cleanup of uploads removes leftovers.
                await self._incoming.remove(file_id)

    async def key_of(self, session: Session, conversation_id: str, file_id: str) -> str:
        """Return the key of a file's object. Raises ChatError if the device is not in the group."""
        self._conversations.require_member(session.member_id, conversation_id)
        device_id = await self._devices.current(session)
        if not device_id or await store.since(self._database, conversation_id, device_id) is None:
            raise ChatError("no_device")
        known = await _FILES.one(self._database, id=file_id, conversation_id=conversation_id)
        keys = await self._media.keys_of(PRIVATE, file_id) if known else []
        # Check again, because the member may have been removed.
        self._conversations.require_member(session.member_id, conversation_id)
        if not keys:
            raise ChatError("unknown_file")
        return keys[0]

    async def remove(self, session: Session, conversation_id: str, file_id: str) -> None:
        """Delete a file that the requesting member has sent. Raises ChatError."""
        await self._media.remove(await self._remove(session, conversation_id, file_id))

    @shared_write
    def _remove(
        self, session: Session, conversation_id: str, file_id: str
    ) -> Write[Sequence[str], Sequence[str]]:
        self._conversations.require_member(session.member_id, conversation_id)

        def write(connection: Connection) -> Sequence[str]:
            details = {"id": file_id, "conversation_id": conversation_id, "member_id": session.member_id}
            if not _FILES.delete(connection, **details):
                raise ChatError("unknown_file")
            return self._media.condemn(connection, PRIVATE, file_id)

        return Write(write, lambda keys: keys)

    def expire(self, connection: Connection, before_ms: int, maximum: int) -> Sequence[str]:
        """Delete up to `maximum` files that are old enough or whose conversation is gone. Return the keys of
        the objects to remove. Call this within a write transaction.
        """
        deleted = connection.execute(
            "DELETE FROM private_files WHERE id IN (SELECT id FROM private_files WHERE sent_at_ms <= ?"
            " OR conversation_id NOT IN (SELECT id FROM private_conversations) LIMIT ?) RETURNING id",
            (before_ms, maximum),
        ).fetchall()
        return [key for (file_id,) in deleted for key in self._media.condemn(connection, PRIVATE, file_id)]

    async def _store(
        self, session: Session, conversation_id: str, file_id: str, length: int, chunks: AsyncIterator[bytes]
    ) -> str:
        try:
            async with aclosing(_within(chunks, length)) as bounded:
                received = await self._incoming.write(file_id, 0, bounded)
            if received < length:
                raise ChatError("upload_cut_short")
            path = self._data_dir / self._incoming.source(file_id)
            key = await self._media.keep(path, "bin", _SEALED, session.member_id)
        except (OSError, StoreFailed):
            raise ChatError("storage_unavailable") from None
        await self._insert(session, conversation_id, file_id, key)
        return file_id

    @shared_write
    def _insert(self, session: Session, conversation_id: str, file_id: str, key: str) -> Write[None, None]:
        self._conversations.require_writable(session.member_id, conversation_id)

        def write(connection: Connection) -> None:
            self._devices.require(connection, session)
            sent = _File(file_id, conversation_id, session.member_id, int(self._now() * 1000))
            _FILES.insert(connection, sent)
            self._media.refer(connection, key, PRIVATE, file_id)

        return Write(write, lambda _: None)


async def _within(chunks: AsyncIterator[bytes], length: int) -> AsyncGenerator[bytes, None]:
    """Yield the chunks. Raises ChatError if they exceed the announced length."""
    left = length
    async for chunk in chunks:
        left -= len(chunk)
        if left < 0:
            raise ChatError("upload_too_large", more={"limit": length})
        yield chunk
