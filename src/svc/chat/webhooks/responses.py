"""Response types of webhooks, and the event about a deleted webhook."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from svc.chat.schemas import Id, Response, TimeMs
from svc.chat.webhooks.limits import MAX_NAME, MAX_WEBHOOKS


class ShownWebhook(Response):
    id: Id
    name: Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]
    channel_id: Id | None
    picture: str | None
    # None for the operator.
    created_by: Id | None
    created_at_ms: TimeMs


class ManagedWebhook(ShownWebhook):
    # None if the webhook was sealed with a different key than the installation's.
    token: str | None
    url: str | None


class ManagedWebhooks(Response):
    webhooks: Annotated[Sequence[ManagedWebhook], Meta(max_length=MAX_WEBHOOKS)]


class WebhookDeleted(Response):
    webhook_id: Id
