"""The parts of the feature, built and connected: what the community sees of webhooks.

Has no rules of its own.
"""

import secrets
from collections.abc import Callable
from pathlib import Path

from svc.base.database import Database
from svc.base.sandbox import Sandbox
from svc.base.sealing import SealingKey
from svc.base.shares import Turns
from svc.chat.access.changes import Changes
from svc.chat.access.directory import Directory
from svc.chat.audit.rules import Audit
from svc.chat.live.hub import Hub
from svc.chat.media.rules import Media
from svc.chat.messages.profanity import moderated
from svc.chat.messages.rules import Messages
from svc.chat.webhooks.avatars import Avatars
from svc.chat.webhooks.posting import Pictures, Posting
from svc.chat.webhooks.rules import TOKEN_BYTES, Webhooks

# In DATA_DIR, and in backups: without it the URLs that were handed out lead nowhere.
KEY_FILE = "webhook-key"


class WebhooksFeature:
    """`profanity_mode` is the owner's setting; `new_id` makes ids that rise. Raises ConfigError."""

    def __init__(
        self,
        database: Database,
        directory: Directory,
        hub: Hub,
        audit: Audit,
        changes: Changes,
        messages: Messages,
        media: Media,
        sandbox: Sandbox,
        pictures: Pictures,
        decoding: Turns,
        *,
        data_dir: Path,
        new_id: Callable[[], str],
        profanity_mode: Callable[[], str],
    ) -> None:
        self.webhooks = Webhooks(
            database,
            directory,
            hub,
            audit,
            media,
            SealingKey.kept_in(data_dir / KEY_FILE),
            new_id,
            lambda: secrets.token_urlsafe(TOKEN_BYTES),
            lambda name: moderated(name, profanity_mode()).text,
        )
        self.posting = Posting(database, self.webhooks, messages, pictures, media, profanity_mode)
        self.avatars = Avatars(media, sandbox, decoding)
        changes.channel_removed.append(self.webhooks.channel_removed)

    async def load(self) -> None:
        """Once the directory is filled."""
        await self.webhooks.load()
