"""Response types for webhooks and posts, and the event for a deleted webhook."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from svc.chat.schemas import Id, Response, TimeMs
from svc.chat.webhooks import json_reader
from svc.chat.webhooks.json_reader import PROBLEM_CODES, PayloadWarning
from svc.chat.webhooks.limits import BLOCK_MS, MAX_NAME, MAX_PROBLEMS, MAX_WEBHOOKS


class WebhookInfo(Response):
    id: Id
    name: Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]
    channel_id: Id | None
    picture: str | None
    # None if the operator created the webhook.
    created_by: Id | None
    created_at_ms: TimeMs


class ManagedWebhook(WebhookInfo):
    # None if the token was sealed with a key other than the server's current key.
    token: str | None
    url: str | None


class ManagedWebhooks(Response):
    webhooks: Annotated[Sequence[ManagedWebhook], Meta(max_length=MAX_WEBHOOKS)]


class OperatorWebhook(Response):
    """A webhook as `svc admin` shows it."""

    webhook_id: Id
    token: str | None
    path: str | None
    name: str
    channel_id: Id | None
    picture: str | None
    created_by: Id | None
    created_at_ms: TimeMs


class OperatorWebhooks(Response):
    webhooks: Sequence[OperatorWebhook]


class WebhookDeleted(Response):
    webhook_id: Id


class Receipt(Response):
    message_id: str
    conversation_id: str
    warnings: Sequence[PayloadWarning]


class Problem(Response):
    path: str
    code: Annotated[str, Meta(extra_json_schema={"enum": [*PROBLEM_CODES]})]
    message: str
    limit: Annotated[int, Meta(ge=1)] | UnsetType = UNSET


Problems = Annotated[Sequence[Problem], Meta(min_length=1, max_length=MAX_PROBLEMS)]
RetryAfterMs = Annotated[int, Meta(ge=1, le=BLOCK_MS)]


def problem(of: json_reader.Problem) -> Problem:
    message = of.words or PROBLEM_CODES[of.code].format(limit=of.limit)
    return Problem(of.path, of.code, message, UNSET if of.limit is None else of.limit)


class NamedProblem(Response):
    path: str
    code: str
