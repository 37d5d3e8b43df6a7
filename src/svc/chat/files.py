"""Everything about files, built and connected: stored media, uploads, portraits, emoji and drafts.

A part of `community` that stands alone; it knows these features and no others, and has no rules of
its own. docs/http.md, "Uploads" and docs/configuration.md, "Chat server".
"""

import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from aiohttp import ClientSession

from svc.base.database import Connection, Database
from svc.chat.access.media_urls import MediaUrls
from svc.chat.access.tokens import Asker
from svc.chat.config import ChatConfig
from svc.chat.control.commands import Commands
from svc.chat.drafts.requests import DraftRequests
from svc.chat.drafts.rules import Drafts
from svc.chat.emoji.requests import EmojiRequests
from svc.chat.emoji.rules import Emojis
from svc.chat.ground import Changes, Ground
from svc.chat.media.rules import MESSAGE, PREVIEW, Media
from svc.chat.members.rules import Members
from svc.chat.requests import Requests
from svc.chat.uploads.feature import UploadsFeature
from svc.chat.uploads.rules import Posts
from svc.chat.uploads.upload import EMOJI

logger = logging.getLogger(__name__)


def media_of(config: ChatConfig, database: Database) -> Media:
    """Stored media, or what stands for it where nothing can be stored."""
    urls, storage = MediaUrls(config.jwt_secret, time.time), config.uploads.storage
    if storage.unusable_because:
        logger.warning("uploads are disabled", extra={"because": storage.unusable_because})
    objects = None if storage.unusable_because else storage.opened(config.data_dir)
    return Media(database, objects, urls, time.time)


class Files:
    """What the community sees; `media` must be there before the members are."""

    def __init__(
        self,
        ground: Ground,
        config: ChatConfig,
        session: ClientSession,
        members: Members,
        media: Media,
    ) -> None:
        database, directory, hub = ground.database, ground.directory, ground.hub
        self._media = media
        self.emoji = Emojis(database, hub, ground.audit, media)
        uses = {EMOJI: self.emoji.use()}
        self.uploads = UploadsFeature(ground, config, session, members, media, uses)
        self.drafts = Drafts(database, directory, hub, media, self.uploads.uploads)
        self.attached = self.uploads.uploads.attach
        self.kept = self.uploads.kept
        asked = self.uploads.requests
        begin = partial(asked.begin, purpose=EMOJI, target=self.emoji.free_name)
        emoji, drafts = EmojiRequests(self.emoji, begin), DraftRequests(self.drafts)
        self.requests: list[Requests] = [asked, self.uploads.media_requests, emoji, drafts]
        self.commands: list[Commands] = [self.uploads.commands]

    def hang_on(self, posts: Posts[Any]) -> None:
        """Where files hang once they are posted."""
        self.uploads.uploads.posts = posts

    def follow(self, changes: Changes) -> None:
        """Let go of what hangs on channels and members that go."""
        changes.channel_deletion.append(self.drafts.forget_channel)
        changes.member_removal.extend([self.drafts.forget_member, self.uploads.uploads.forget_member])

    def released(self, connection: Connection, message_id: str) -> None:
        """A step of the write that deletes a message."""
        for kind in (MESSAGE, PREVIEW):
            self._media.release(connection, kind, message_id)

    def let_go(self, connection: Connection, message_id: str, keys: Sequence[str]) -> None:
        """A step of the write in which a message lets go of some of its files."""
        self._media.let_go(connection, MESSAGE, message_id, keys)

    def forget(self, connection: Connection, member_id: str) -> None:
        """A step of the write in which a member's data is deleted."""
        self.uploads.forget(connection, member_id)
        self.emoji.forget_member(connection, member_id)

    async def load(self) -> None:
        await self.uploads.load()
        await self.emoji.load()

    def icon_url(self) -> str | None:
        return self.uploads.icon.address()

    def welcome(self, asker: Asker) -> Mapping[str, object]:
        return self.emoji.welcome(asker)

    def tasks(self) -> list[Callable[[], Awaitable[None]]]:
        return self.uploads.tasks()
