"""Builds and connects the modules for messages, webhooks and link previews.

Part of `community`. Contains no business logic.
"""

import secrets
from collections.abc import Awaitable, Callable
from functools import partial

from svc.base.pictures import picture_sandbox
from svc.base.sealing_key import SealingKey
from svc.chat.config import ChatConfig
from svc.chat.endpoints import Endpoints
from svc.chat.media.stored_media import Media
from svc.chat.messages.endpoints import MessageEndpoints
from svc.chat.messages.feature import MessagesFeature
from svc.chat.messages.ports import MessagePorts
from svc.chat.outbound_http.connector import AddressGuard
from svc.chat.outbound_http.fetcher import Fetcher
from svc.chat.previews.link_previews import Previews
from svc.chat.server_status.measurements import RequestCounts
from svc.chat.services import Services
from svc.chat.webhooks.compatible.endpoints import CompatibleEndpoints
from svc.chat.webhooks.endpoints import PostEndpoints, WebhookCommands, WebhookEndpoints
from svc.chat.webhooks.pictures import DECODING_PLACES, Pictures
from svc.chat.webhooks.publisher import Publisher
from svc.chat.webhooks.rules import KEY_FILE, TOKEN_BYTES, Webhooks


class MessagingModule:
    """The modules for messages, webhooks and link previews."""

    def __init__(
        self,
        services: Services,
        config: ChatConfig,
        media: Media,
        ports: MessagePorts,
        tally: RequestCounts,
        link_previews: Callable[[], bool],
    ) -> None:
        self.messages = MessagesFeature(services, config.message_cache_ttl_ms, ports)
        self.messages.follow(services.changes)
        self._sandbox = picture_sandbox(DECODING_PLACES)
        fetcher = Fetcher(AddressGuard(config.identity.names))
        pictures = Pictures(fetcher, self._sandbox, media, tally.pictures)
        messages = self.messages.messages
        key = SealingKey.load(config.data_dir / KEY_FILE)
        self.webhooks = Webhooks(
            services, media, key, lambda: secrets.token_urlsafe(TOKEN_BYTES), messages.moderate_text
        )
        services.changes.channel_removed.append(self.webhooks.channel_removed)
        profanity_mode = ports.settings.profanity_mode
        attach = partial(
            pictures.attach, new_id=services.new_id, max_bytes=ports.uploads.max_unprocessed_bytes
        )
        self.posting = Publisher(services.database, self.webhooks, messages, pictures, attach, profanity_mode)
        self.previews = Previews(
            self.messages,
            fetcher,
            pictures.counting(tally.previews),
            tally.previews,
            enabled=lambda: config.link_previews and link_previews(),
        )
        messages.on_posted.append(self.previews.posted)
        messages.on_edited.append(self.previews.posted)
        self.endpoints: list[Endpoints] = [
            MessageEndpoints(self.messages),
            # The routes for posts must precede the others under /api/webhooks, because routes are matched in
            # order.
            PostEndpoints(self.posting),
            WebhookEndpoints(self.webhooks, pictures, self.posting.history),
            CompatibleEndpoints(self.posting),
        ]
        self.commands = [WebhookCommands(self.webhooks, services.directory)]

    async def load(self) -> None:
        """Load the stored state. Call this after the directory is loaded."""
        await self.messages.load()
        await self.webhooks.load()

    def tasks(self) -> list[Callable[[], Awaitable[None]]]:
        return [*self.messages.tasks(), self.previews.run]

    async def close(self) -> None:
        """Stop background work at shutdown."""
        self.messages.close()
        await self._sandbox.close()
        await self.previews.close()
