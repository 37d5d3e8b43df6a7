"""Everything about what is said, built and connected: messages, webhooks that post them, link previews.

A part of `community` that stands alone, and has no rules of its own.
"""

from collections.abc import Awaitable, Callable

from svc.base.pictures import picture_sandbox
from svc.base.sealing import SealingKey
from svc.base.shares import Turns
from svc.chat.config import ChatConfig
from svc.chat.fetching.connecting import Guard
from svc.chat.fetching.fetcher import Fetcher
from svc.chat.ground import Ground
from svc.chat.media.rules import Media
from svc.chat.messages.feature import MessagesFeature
from svc.chat.messages.requests import MessageRequests
from svc.chat.messages.rules import Surroundings
from svc.chat.previews.rules import Previews
from svc.chat.requests import Requests
from svc.chat.status.measurements import Tally
from svc.chat.webhooks.compatible.requests import CompatibleRequests
from svc.chat.webhooks.feature import KEY_FILE, WebhooksFeature
from svc.chat.webhooks.pictures import DECODING_PLACES, Avatars, Pictures
from svc.chat.webhooks.requests import PostRequests, WebhookCommands, WebhookRequests


class Talking:
    """What the community sees."""

    def __init__(
        self,
        ground: Ground,
        config: ChatConfig,
        media: Media,
        surroundings: Surroundings,
        tally: Tally,
        link_previews: Callable[[], bool],
    ) -> None:
        self.messages = MessagesFeature(ground, config.message_cache_ttl_ms, surroundings)
        self.messages.follow(ground.changes)
        self._sandbox, decoding = picture_sandbox(DECODING_PLACES), Turns(DECODING_PLACES)
        fetcher = Fetcher(Guard(config.identity.names))
        pictures = Pictures(fetcher, self._sandbox, media, tally.pictures, decoding)
        self.webhooks = WebhooksFeature(
            ground,
            self.messages.messages,
            media,
            pictures,
            SealingKey.kept_in(config.data_dir / KEY_FILE),
            surroundings.profanity_mode,
        )
        self.previews = Previews(
            self.messages,
            media,
            fetcher,
            pictures.counting(tally.previews),
            tally.previews,
            enabled=lambda: config.link_previews and link_previews(),
        )
        self.messages.messages.on_posted.append(self.previews.posted)
        self.messages.messages.on_edited.append(self.previews.posted)
        posting, webhooks = self.webhooks.posting, self.webhooks.webhooks
        self.requests: list[Requests] = [
            MessageRequests(self.messages),
            # Before the rest of /api/webhooks, for they are looked through in this order.
            PostRequests(posting),
            WebhookRequests(webhooks, Avatars(media, self._sandbox, decoding), posting.history),
            CompatibleRequests(posting),
        ]
        self.commands = [WebhookCommands(webhooks, ground.directory)]

    async def load(self) -> None:
        """Once the directory is filled."""
        await self.messages.load()
        await self.webhooks.load()

    def tasks(self) -> list[Callable[[], Awaitable[None]]]:
        return [*self.messages.tasks(), self.previews.run]

    async def close(self) -> None:
        """The server stops."""
        self.messages.close()
        await self._sandbox.close()
        await self.previews.close()
