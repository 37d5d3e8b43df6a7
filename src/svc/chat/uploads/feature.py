"""The parts of the feature, built and connected: what the community sees of uploads.

Has no rules of its own. What other features may use: `uploads` to attach what is finished.
"""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

from aiohttp import ClientSession

from svc.base.database import Connection
from svc.base.metrics import Registry
from svc.base.storage import FILESYSTEM
from svc.chat.access.tokens import Asker
from svc.chat.config import ChatConfig
from svc.chat.ground import Ground
from svc.chat.media.requests import MediaRequests
from svc.chat.media.rules import Media, ServerIcon
from svc.chat.media.sweep import Sweep
from svc.chat.media.usage import Usage
from svc.chat.members.rules import Members
from svc.chat.uploads import store
from svc.chat.uploads.commands import JobCommands, WorkerHealth
from svc.chat.uploads.incoming import Incoming
from svc.chat.uploads.limits import Limits
from svc.chat.uploads.measurements import measure
from svc.chat.uploads.portraits import Avatars, Icons
from svc.chat.uploads.queue import Queue, Use
from svc.chat.uploads.requests import UploadRequests
from svc.chat.uploads.rules import Uploads
from svc.chat.uploads.upload import AVATAR, ICON

_PAGE = 100


class UploadsFeature:
    def __init__(
        self,
        ground: Ground,
        chat: ChatConfig,
        session: ClientSession,
        members: Members,
        media: Media,
        uses: Mapping[str, Use],
    ) -> None:
        """`uses` are of purposes that other features have for uploads."""
        config = chat.uploads
        self._database = ground.database
        self._media = media
        self.icon = ServerIcon(ground.database, media)
        self._incoming = Incoming(chat.data_dir)
        kept_here = config.storage.backend == FILESYSTEM
        bounds = Limits(
            icon_bytes=config.icon_max_mb * 1024 * 1024,
            kept_here=kept_here,
            emoji_at_once=config.emoji_concurrency,
            file_bytes=config.file_max_mb * 1024 * 1024,
            file_extensions=config.file_extensions,
        )
        self.avatars = Avatars(ground.database, ground.directory, members, media)
        icons = Icons(ground.database, ground.hub, ground.audit, self.icon)
        uses = {**uses, AVATAR: self.avatars.use(), ICON: icons.use()}
        self.queue = Queue(ground, media, bounds, uses, lambda: secrets.token_urlsafe(16), time.time)
        self.uploads = Uploads(ground, media, self._incoming, self.queue, bounds, time.time)
        self.sweep = Sweep(
            ground.database,
            media,
            config.sweep_interval_ms,
            config.sweep_grace_ms,
            time.time,
            also=self.uploads.tidy_up,
        )
        self.queue.on_used_up.append(self._forget_file)
        self.worker = WorkerHealth(session, config.worker_url, time.monotonic)
        self.media_requests = MediaRequests(media, Usage(ground.database), lambda: self.icon.key)
        self.requests = UploadRequests(self.uploads, self.queue, self.avatars, icons)
        self.commands = JobCommands(self.queue, self._incoming, self.worker.heard)
        # Removals of files that are under way.
        self._removing: set[asyncio.Task[None]] = set()

    async def load(self) -> None:
        await self.icon.load()
        await self.uploads.load()
        await self.queue.load()

    @property
    def waiting(self) -> int:
        """Jobs that wait for a worker."""
        return self.queue.waiting

    @property
    def worker_up(self) -> bool:
        return self.worker.up

    def measure(self, registry: Registry) -> None:
        measure(registry, self.queue, self.sweep.counts, lambda: self.worker.up, self._media.failed_reads)

    def tasks(self) -> list[Callable[[], Awaitable[None]]]:
        return [self.sweep.run, *([self.worker.run] if self.worker.watched else [])]

    def forget(self, connection: Connection, member_id: str) -> None:
        """A step of the write in which a member's data is deleted."""
        self.avatars.forget(connection, member_id)
        self.uploads.make_nameless(connection, member_id)

    async def kept(self, asker: Asker) -> AsyncIterator[object]:
        """A member's own uploads, for taking them along."""
        last = ""
        while page := await store.of_member(self._database, asker.member_id, last, _PAGE):
            for upload in page:
                yield upload.described(self._media.urls)
            last = page[-1].id

    def _forget_file(self, upload_id: str) -> None:
        # What is not removed now, because the server stops, goes with the next tidying.
        task = asyncio.ensure_future(self._incoming.remove(upload_id))
        self._removing.add(task)
        task.add_done_callback(self._removing.discard)
