"""Builds and connects the modules for files: media, uploads, avatars, emoji and drafts.

Part of `community`. Depends only on these features and contains no business logic. See docs/http.md,
"Uploads" and docs/configuration.md, "Chat server".
"""

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial

from aiohttp import ClientSession

from svc.base.database import Connection, Database
from svc.base.metrics import Registry
from svc.base.object_store_config import FILESYSTEM
from svc.chat.access.media_urls import MediaUrls
from svc.chat.access.tokens import Session
from svc.chat.config import ChatConfig
from svc.chat.control.commands import Commands
from svc.chat.drafts.endpoints import DraftEndpoints
from svc.chat.drafts.rules import Drafts
from svc.chat.emoji.endpoints import EmojiEndpoints
from svc.chat.emoji.rules import Emojis
from svc.chat.endpoints import Endpoints
from svc.chat.media.endpoints import MediaEndpoints
from svc.chat.media.stored_media import MESSAGE, PREVIEW, Media, ServerIcon
from svc.chat.media.sweep import Sweep
from svc.chat.members.rules import Members
from svc.chat.services import Services
from svc.chat.uploads import responses
from svc.chat.uploads.avatars import Avatars, Icons
from svc.chat.uploads.endpoints import UploadEndpoints
from svc.chat.uploads.incoming_files import IncomingFiles
from svc.chat.uploads.limits import Limits
from svc.chat.uploads.measurements import measure
from svc.chat.uploads.queue import Queue
from svc.chat.uploads.rules import Uploads
from svc.chat.uploads.upload import AVATAR, EMOJI, ICON
from svc.chat.uploads.worker_commands import JobCommands, WorkerHealth

logger = logging.getLogger(__name__)


def media_of(config: ChatConfig, database: Database) -> Media:
    """Return the media store. If the configuration rules out uploads, the store rejects every file."""
    urls, storage = MediaUrls(config.jwt_secret, time.time), config.uploads.storage
    if storage.unusable_because:
        logger.warning("uploads are disabled", extra={"because": storage.unusable_because})
    objects = None if storage.unusable_because else storage.open_store(config.data_dir)
    return Media(database, objects, urls, time.time)


class FileModule:
    """The modules for files. `media` is passed in, because it must exist before `members`.

    `moderate_text` returns the permitted form of text or raises ChatError.
    """

    def __init__(
        self,
        services: Services,
        config: ChatConfig,
        session: ClientSession,
        members: Members,
        media: Media,
        moderate_text: Callable[[str], str],
    ) -> None:
        database, settings = services.database, config.uploads
        self._media = media
        self._incoming = IncomingFiles(config.data_dir)
        self.icon = ServerIcon(database, media)
        self.avatars = Avatars(services, members, media)
        self.emoji = Emojis(services, media)
        icons = Icons(services, self.icon)
        bounds = Limits(
            icon_bytes=settings.icon_max_mb * 1024 * 1024,
            kept_here=settings.storage.backend == FILESYSTEM,
            emoji_at_once=settings.emoji_concurrency,
            file_bytes=settings.file_max_mb * 1024 * 1024,
            file_extensions=settings.file_extensions,
        )
        uses = {EMOJI: self.emoji.use(), AVATAR: self.avatars.use(), ICON: icons.use()}
        self.queue = Queue(services, media, bounds, uses, lambda: secrets.token_urlsafe(16), time.time)
        self.uploads = Uploads(services, media, self._incoming, self.queue, bounds, moderate_text)
        self.sweep = Sweep(
            database,
            media,
            settings.sweep_interval_ms,
            settings.sweep_grace_ms,
            time.time,
            also=self.uploads.tidy_up,
        )
        self.queue.on_used_up.append(self._forget_file)
        on_demand = self.queue if settings.worker_on_demand else None
        self.worker = WorkerHealth(session, settings.worker_url, time.monotonic, on_demand)
        self.drafts = Drafts(services, media, self.uploads)
        self.media_endpoints = MediaEndpoints(media, database, lambda: self.icon.key)
        uploads = UploadEndpoints(self.uploads, self.queue, self.avatars, icons)
        begin = partial(uploads.begin, purpose=EMOJI, target=self.emoji.free_name)
        emoji, drafts = EmojiEndpoints(self.emoji, begin), DraftEndpoints(self.drafts)
        self.endpoints: list[Endpoints] = [uploads, self.media_endpoints, emoji, drafts]
        self.commands: list[Commands] = [JobCommands(self.queue, self._incoming, self.worker.note_request)]
        # File removals in progress.
        self._removing: set[asyncio.Task[None]] = set()
        # Delete drafts and uploads together with their channel or member.
        services.changes.channel_deletion.append(self.drafts.forget_channel)
        services.changes.member_removal.extend([self.drafts.forget_member, self.uploads.forget_member])

    # These methods run inside write transactions on messages.

    def release_message(self, connection: Connection, message_id: str) -> None:
        """Release the files of a deleted message."""
        for kind in (MESSAGE, PREVIEW):
            self._media.release(connection, kind, message_id)

    def release_attachments(self, connection: Connection, message_id: str, keys: Sequence[str]) -> None:
        """Release the given attachments of a message."""
        self._media.release_some(connection, MESSAGE, message_id, keys)

    def replace_previews(self, connection: Connection, message_id: str, keys: Sequence[str]) -> set[str]:
        """Replace the images in a message's previews. Return the keys of the new images that still exist."""
        return self._media.refer_only(connection, PREVIEW, message_id, keys)

    def forget(self, connection: Connection, member_id: str) -> None:
        """Delete a leaving member's avatar, the names of their uploads, and their id in emoji. Call this
        within a write transaction.
        """
        self.avatars.forget(connection, member_id)
        self.uploads.make_nameless(connection, member_id)
        self.emoji.forget_member(connection, member_id)

    async def load(self) -> None:
        await self.icon.load()
        await self.uploads.load()
        await self.queue.load()
        await self.emoji.load()

    def welcome(self, session: Session) -> Mapping[str, object]:
        return {**self.emoji.welcome(session), "icon_url": self.icon.address()}

    def measure(self, registry: Registry) -> None:
        measure(registry, self.queue, self.sweep.counts, lambda: self.worker.up, self._media.failed_reads)

    def tasks(self) -> list[Callable[[], Awaitable[None]]]:
        return [self.sweep.run, *([self.worker.run] if self.worker.watched else [])]

    async def export_uploads(self, session: Session) -> AsyncIterator[object]:
        """Yield a member's uploads for their data export."""
        async for upload in self.uploads.of(session.member_id):
            yield responses.upload(upload, self._media.urls)

    def _forget_file(self, upload_id: str) -> None:
        # If a shutdown interrupts the removal, the next cleanup completes it.
        task = asyncio.ensure_future(self._incoming.remove(upload_id))
        self._removing.add(task)
        task.add_done_callback(self._removing.discard)
