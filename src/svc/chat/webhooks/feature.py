"""The parts of the feature, built and connected: what the community sees of webhooks.

Has no rules of its own.
"""

import secrets
from collections.abc import Callable

from svc.base.sealing import SealingKey
from svc.chat.ground import Ground
from svc.chat.media.rules import Media
from svc.chat.messages.profanity import moderated
from svc.chat.messages.rules import Messages
from svc.chat.webhooks.posting import Pictures, Posting
from svc.chat.webhooks.rules import TOKEN_BYTES, Webhooks

# In DATA_DIR, and in backups: without it the URLs that were handed out lead nowhere.
KEY_FILE = "webhook-key"


class WebhooksFeature:
    """`profanity_mode` is the owner's setting; `new_id` makes ids that rise. Raises ConfigError."""

    def __init__(
        self,
        ground: Ground,
        messages: Messages,
        media: Media,
        pictures: Pictures,
        key: SealingKey,
        profanity_mode: Callable[[], str],
    ) -> None:
        self.webhooks = Webhooks(
            ground,
            media,
            key,
            lambda: secrets.token_urlsafe(TOKEN_BYTES),
            lambda name: moderated(name, profanity_mode()).text,
        )
        self.posting = Posting(ground.database, self.webhooks, messages, pictures, media, profanity_mode)
        ground.changes.channel_removed.append(self.webhooks.channel_removed)

    async def load(self) -> None:
        """Once the directory is filled."""
        await self.webhooks.load()
