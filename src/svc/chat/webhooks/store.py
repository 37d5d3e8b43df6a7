"""The table of webhooks. SQL only; the secrets in it are sealed by then."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from svc.base.database import Database
from svc.base.tables import Table
from svc.chat.described import Id, TimeMs
from svc.chat.webhooks.limits import MAX_NAME


@dataclass(frozen=True, slots=True)
class Webhook:
    id: str
    name: str
    channel_id: str | None
    picture: str | None  # the key of a stored object
    token_fingerprint: bytes
    token_sealed: bytes
    created_by: str | None
    created_at_ms: int


@dataclass(frozen=True, slots=True)
class ShownWebhook:
    id: Id
    name: Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]
    channel_id: Id | None
    picture: str | None
    # None: the operator.
    created_by: Id | None
    created_at_ms: TimeMs


WEBHOOKS = Table("webhooks", Webhook)


def holder_of(member_id: str | None) -> str:
    """Whose share of the server the webhooks of a member take: theirs together. None is the operator."""
    return f"webhooks of {member_id or 'the operator'}"


async def load(database: Database, limit: int) -> list[Webhook]:
    return await WEBHOOKS.all(database, "ORDER BY id LIMIT ?", limit)
