"""The parts of the feature, built and connected: what the community sees of webhooks.

Has no rules of its own.
"""

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

from svc.base.database import Connection, Database
from svc.base.sealing import SealingKey
from svc.chat.access.changes import Changes
from svc.chat.access.directory import Directory
from svc.chat.audit.rules import Audit
from svc.chat.live.hub import Hub
from svc.chat.messages.profanity import moderated
from svc.chat.messages.rules import Messages
from svc.chat.webhooks.cards import Wanted
from svc.chat.webhooks.posting import NOTHING_COLLECTED, Collected, Pictures, Posting
from svc.chat.webhooks.rules import TOKEN_BYTES, References, Webhooks

# In DATA_DIR, and in backups: without it the URLs that were handed out lead nowhere.
KEY_FILE = "webhook-key"


class _NoReferences:
    """Where nothing is stored, nothing is referred to."""

    def refer(self, connection: Connection, key: str, kind: str, owner_id: str) -> None:
        pass

    def release(self, connection: Connection, kind: str, owner_id: str) -> None:
        pass


class _NoPictures:
    """Where no pictures can be had."""

    async def collect(self, wanted: Sequence[Wanted]) -> Collected:
        return NOTHING_COLLECTED


NO_REFERENCES, NO_PICTURES = _NoReferences(), _NoPictures()


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
        references: References,
        pictures: Pictures,
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
            references,
            SealingKey.kept_in(data_dir / KEY_FILE),
            new_id,
            lambda: secrets.token_urlsafe(TOKEN_BYTES),
            lambda name: moderated(name, profanity_mode()).text,
        )
        self.posting = Posting(database, self.webhooks, messages, pictures, references, profanity_mode)
        changes.channel_removed.append(self.webhooks.channel_removed)

    async def load(self) -> None:
        """Once the directory is filled."""
        await self.webhooks.load()
