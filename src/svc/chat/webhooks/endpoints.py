"""Handles posts to webhooks, and requests from members who manage webhooks.

A post's size is checked before and while its body is read. The JSON, the webhook and the rate limit are
checked after that. The Content-Type is ignored. The bodies of error responses are exactly those in
docs/webhooks.md, "When nothing is posted". This module contains no rules.
"""

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from typing import Annotated

from aiohttp import StreamReader, web
from msgspec import UNSET, Meta, UnsetType, structs

from svc.chat.access.directory import Directory
from svc.chat.access.endpoint_permissions import URL_HOLDER, in_channel
from svc.chat.access.permissions import Permission as P
from svc.chat.access.tokens import Session
from svc.chat.control.commands import Commands, command, find_channel
from svc.chat.endpoints import Endpoints, Request, describe_feature, endpoint
from svc.chat.errors import ChatError
from svc.chat.http import TRUSTED_HOPS, answer, refuse_compressed, with_wait
from svc.chat.schemas import MAX_ID_CHARACTERS, Event, Id, Response, string
from svc.chat.webhooks.json_reader import is_json, json_in, value_of
from svc.chat.webhooks.limits import (
    BODY_DEADLINE_S,
    MAX_BODY_BYTES,
    MAX_NAME,
    MAX_PICTURE_BYTES,
)
from svc.chat.webhooks.pictures import Pictures
from svc.chat.webhooks.publisher import MAX_KEPT, Attempt, PostHistory, Publisher
from svc.chat.webhooks.responses import (
    ManagedWebhook,
    ManagedWebhooks,
    OperatorWebhook,
    OperatorWebhooks,
    WebhookDeleted,
    WebhookInfo,
)
from svc.chat.webhooks.rules import Webhook, Webhooks, holder_of

_WEBHOOK_PATH = "/api/webhooks/{webhook_id}"
PATH = f"{_WEBHOOK_PATH}/{{token}}"
_MANAGER = in_channel(P.MANAGE_WEBHOOKS)
_KNOWN = ("unknown_webhook",)
# The schema only documents the limit. A longer name must get the error for names, not the one for malformed
# requests.
_Name = Annotated[str, Meta(extra_json_schema=string(MAX_NAME, 1))]
# Errors whose complete bodies are specified, without a message.
BARE = frozenset(
    {
        *("body_too_large", "empty_message", "invalid_json", "message_too_long"),
        *("no_channel", "not_found", "rate_limited"),
    }
)


class PostEndpoints(Endpoints):
    """The endpoint for posting to a webhook. It has its own OpenAPI document (`openapi/webhook_document`)."""

    def __init__(self, posting: Publisher) -> None:
        self._posting = posting

    @endpoint(URL_HOLDER, "Post a message into the webhook's channel", http=f"POST {PATH}")
    async def post(self, http_request: web.Request) -> web.Response:
        try:
            body = await read_body(http_request)
            try:
                webhook, text = await self._posting.admit(
                    *url_parts(http_request), now_ms(), len(body), lambda: json_in(body)
                )
            except ChatError as refusal:
                # The error for a body that is not JSON takes precedence over all others.
                raise refusal if is_json(body) else ChatError("invalid_json") from None
            payload = await self._posting.run_queued(lambda: value_of(text))
            posted = await self._posting.post(webhook, payload)
        except ChatError as refusal:
            self._posting.refused(*url_parts(http_request), refusal, int(time.time() * 1000))
            return _refused(refusal)
        return answer(posted.receipt())


class NewWebhook(Request):
    name: _Name
    channel_id: Id | None = None


class WebhookChange(Request):
    name: _Name | None = None
    # An explicit null removes the channel. If omitted (UNSET), the channel stays unchanged.
    channel_id: Id | UnsetType | None = UNSET


class RecentPosts(Response):
    posts: Annotated[Sequence[Attempt], Meta(max_length=MAX_KEPT)]


class WebhookEndpoints(Endpoints):
    """The endpoints for members who may manage webhooks in at least one channel."""

    def __init__(self, webhooks: Webhooks, pictures: Pictures, history: PostHistory) -> None:
        self._webhooks = webhooks
        self._pictures = pictures
        self._history = history

    @endpoint(_MANAGER, "List the webhooks that you may manage, oldest first", http="GET /api/webhooks")
    async def managed(self, session: Session, http_request: web.Request) -> ManagedWebhooks:
        managed = self._webhooks.manageable(session.member_id)
        return ManagedWebhooks([self._to_response(http_request, webhook) for webhook in managed])

    @endpoint(_MANAGER, "Get a webhook", http=f"GET {_WEBHOOK_PATH}", refusals=_KNOWN)
    async def show(self, session: Session, http_request: web.Request, webhook_id: Id) -> ManagedWebhook:
        return self._to_response(http_request, self._webhooks.get(session.member_id, webhook_id))

    @endpoint(
        _MANAGER,
        "Create a webhook. Without a channel, this needs the permission on the server, and posts "
        "get `no_channel` until the webhook has one",
        http="POST /api/webhooks",
        refusals=("profanity_refused", "too_many", "unknown_channel"),
        status=201,
    )
    async def create(self, session: Session, http_request: web.Request, body: NewWebhook) -> ManagedWebhook:
        made = await self._webhooks.create(session.member_id, body.name, body.channel_id, time.time())
        return self._to_response(http_request, made)

    @endpoint(
        _MANAGER,
        "Change the name or the channel of a webhook. Needs the permission in the new channel "
        "too. Null removes the channel",
        http=f"PATCH {_WEBHOOK_PATH}",
        refusals=(*_KNOWN, "profanity_refused", "unknown_channel"),
    )
    async def edit(
        self, session: Session, http_request: web.Request, webhook_id: Id, body: WebhookChange
    ) -> ManagedWebhook:
        differences: dict[str, str | None] = {} if body.name is None else {"name": body.name}
        if body.channel_id is not UNSET:
            differences["channel_id"] = body.channel_id
        if not differences:
            raise ChatError("invalid_request", "Give name or channel_id")
        webhook = await self._webhooks.edit(session.member_id, webhook_id, differences, time.time())
        return self._to_response(http_request, webhook)

    @endpoint(
        _MANAGER,
        "Delete a webhook. Its URL returns 404 from then on. Its messages stay",
        http=f"DELETE {_WEBHOOK_PATH}",
        refusals=_KNOWN,
    )
    async def delete(self, session: Session, webhook_id: Id) -> None:
        await self._webhooks.delete(session.member_id, webhook_id, time.time())

    @endpoint(
        _MANAGER,
        "List the outcomes of the last 20 posts since the server started, newest first",
        http=f"GET {_WEBHOOK_PATH}/posts",
        refusals=_KNOWN,
    )
    async def posts(self, session: Session, webhook_id: Id) -> RecentPosts:
        webhook = self._webhooks.get(session.member_id, webhook_id)
        return RecentPosts(self._history.of(webhook.id, partial(self._webhooks.may_view, session.member_id)))

    @endpoint(
        _MANAGER,
        "Change the picture of a webhook: PNG, JPEG, WebP or GIF, up to 8 MB. It is scaled down "
        "to 256 pixels a side",
        http=f"PUT {_WEBHOOK_PATH}/picture",
        refusals=(
            *(*_KNOWN, "invalid_image", "quota_exceeded", "storage_full", "too_slow"),
            *("unsupported_type", "uploads_disabled"),
        ),
        raw_body=("image/*", string(contentMediaType="image/*")),
    )
    async def set_picture(
        self, session: Session, http_request: web.Request, webhook_id: Id
    ) -> ManagedWebhook:
        """Set a webhook's profile picture. The body is the image file."""
        self._webhooks.get(session.member_id, webhook_id)
        data = await read_body(http_request, MAX_PICTURE_BYTES)
        key = await self._pictures.keep(data, holder_of(session.member_id))
        webhook = await self._webhooks.set_picture(session.member_id, webhook_id, key, time.time())
        return self._to_response(http_request, webhook)

    @endpoint(
        _MANAGER, "Remove the picture of a webhook", http=f"DELETE {_WEBHOOK_PATH}/picture", refusals=_KNOWN
    )
    async def remove_picture(self, session: Session, webhook_id: Id) -> None:
        await self._webhooks.set_picture(session.member_id, webhook_id, None, time.time())

    def _to_response(self, request: web.Request, webhook: Webhook) -> ManagedWebhook:
        """Return the webhook with its token, for members who may manage it."""
        token = self._webhooks.token(webhook)
        path = None if token is None else PATH.format(webhook_id=webhook.id, token=token)
        url = path and f"{_base(request)}{path}"
        return ManagedWebhook(**structs.asdict(self._webhooks.to_response(webhook)), token=token, url=url)


def url_parts(request: web.Request) -> tuple[str, str]:
    return request.match_info["webhook_id"], request.match_info["token"]


def now_ms() -> int:
    """Return the current time for `Publisher.admit`."""
    return int(time.monotonic() * 1000)


async def read_body(request: web.Request, maximum: int = MAX_BODY_BYTES) -> bytes:
    """Return the whole body. Raises ChatError if it is compressed, too large or too slow."""
    refuse_compressed(request)
    if (request.content_length or 0) > maximum:
        raise ChatError("body_too_large")
    content = request.content
    try:
        # Most bodies arrive together with their headers.
        data = content.read_nowait() if content.is_eof() else await _receiving(content, maximum)
    except (TimeoutError, ConnectionError):  # If the client has disconnected, nobody reads the response.
        raise ChatError("too_slow") from None
    except web.RequestPayloadError:  # The chunked encoding is invalid.
        raise ChatError("invalid_json") from None
    if len(data) > maximum:
        raise ChatError("body_too_large")
    return data


async def _receiving(content: StreamReader, maximum: int) -> bytes:
    """Return the body's data. Stop reading above the limit."""
    data = bytearray()
    async with asyncio.timeout(BODY_DEADLINE_S):
        async for chunk in content.iter_any():
            data += chunk
            if len(data) > maximum:
                break
    return bytes(data)


def _refused(refusal: ChatError) -> web.Response:
    body = {"error": refusal.code, **refusal.more} if refusal.code in BARE else refusal.body()
    return with_wait(answer(body, refusal.status), refusal)


def _base(request: web.Request) -> str:
    """Return this server's URL as the client used it. It also works for senders on the client's network."""
    scheme = request.scheme
    if request.app[TRUSTED_HOPS] and request.headers.get("X-Forwarded-Proto") in ("http", "https"):
        scheme = request.headers["X-Forwarded-Proto"]
    return f"{scheme}://{request.host}"


class WebhookCommands(Commands):
    """The operator's commands. They return tokens, because the operator has the key that seals them."""

    def __init__(self, webhooks: Webhooks, directory: Directory) -> None:
        self._webhooks = webhooks
        self._directory = directory

    @command("webhook_create")
    async def create(self, channel: Id, name: _Name) -> OperatorWebhook:
        channel_id = find_channel(self._directory, channel)
        return self._to_response(await self._webhooks.create(None, name, channel_id, time.time()))

    @command("webhook_list")
    async def list(self) -> OperatorWebhooks:
        return OperatorWebhooks([self._to_response(webhook) for webhook in self._webhooks.manageable(None)])

    @command("webhook_edit")
    async def edit(
        self,
        webhook_id: Id,
        name: _Name | None = None,
        channel: Annotated[str, Meta(max_length=MAX_ID_CHARACTERS)] | None = None,
    ) -> OperatorWebhook:
        """Edit a webhook. An empty `channel` removes the channel."""
        differences: dict[str, str | None] = {} if name is None else {"name": name}
        if channel is not None:
            differences["channel_id"] = find_channel(self._directory, channel) if channel else None
        if not differences:
            raise ChatError("invalid_request", "Give name or channel")
        return self._to_response(await self._webhooks.edit(None, webhook_id, differences, time.time()))

    @command("webhook_delete")
    async def delete(self, webhook_id: Id) -> None:
        await self._webhooks.delete(None, webhook_id, time.time())

    def _to_response(self, webhook: Webhook) -> OperatorWebhook:
        token = self._webhooks.token(webhook)
        path = None if token is None else PATH.format(webhook_id=webhook.id, token=token)
        shown = structs.asdict(self._webhooks.to_response(webhook))
        return OperatorWebhook(shown.pop("id"), token, path, **shown)


_MANAGERS = "members who may manage the webhook"
DESCRIPTION = describe_feature(
    WebhookEndpoints,
    pushes=[
        Event("webhook_created", "A webhook was created", WebhookInfo, _MANAGERS),
        Event(
            "webhook_updated",
            "A webhook changed, or you may manage it now",
            WebhookInfo,
            _MANAGERS,
        ),
        Event(
            "webhook_deleted",
            "A webhook was deleted, or you may no longer manage it",
            WebhookDeleted,
            "members who could manage the webhook",
        ),
    ],
)
