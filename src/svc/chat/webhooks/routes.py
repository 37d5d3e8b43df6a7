"""Webhooks over HTTP: posts received, passed on and answered; and `/api/webhooks` for who manages them.

Of a post, the size is judged before anything is read, and again while it is; then come JSON, the
look-up and the rate limit. The Content-Type is not looked at. Bodies of refusals are those of
docs/webhooks.md, "When nothing is posted", no more and no less. No rules.
"""

import asyncio
import time

from aiohttp import StreamReader, web

from svc.chat.errors import ChatError
from svc.chat.fields import identifier, optional_identifier, text
from svc.chat.http import TRUSTED_HOPS, answer, asker, body, nothing, refuse_compressed
from svc.chat.webhooks.avatars import Avatars
from svc.chat.webhooks.body import decode
from svc.chat.webhooks.history import PostHistory
from svc.chat.webhooks.limits import BODY_DEADLINE_S, MAX_BODY_BYTES, MAX_NAME, MAX_PICTURE_BYTES
from svc.chat.webhooks.posting import Posting
from svc.chat.webhooks.rules import Webhooks
from svc.chat.webhooks.store import Webhook, holder_of

PATH = "/api/webhooks/{webhook_id}/{token}"
# Written out by the specification, without a message.
BARE = frozenset(
    {
        *("body_too_large", "empty_message", "invalid_json", "message_too_long"),
        *("no_channel", "not_found", "rate_limited"),
    }
)


class PostRoutes:
    def __init__(self, posting: Posting) -> None:
        self._posting = posting

    def table(self) -> list[web.RouteDef]:
        return [web.post(PATH, self.post)]

    async def post(self, request: web.Request) -> web.Response:
        try:
            payload = decode(await received(request))
            webhook = self._posting.admit(*url_parts(request), now_ms())
            posted = await self._posting.post(webhook, payload)
        except ChatError as refusal:
            self._posting.refused(*url_parts(request), refusal, int(time.time() * 1000))
            return _refused(refusal)
        return answer(posted.described())


class WebhookRoutes:
    """For members with the permission to manage webhooks, somewhere."""

    def __init__(self, webhooks: Webhooks, avatars: Avatars, history: PostHistory) -> None:
        self._webhooks = webhooks
        self._avatars = avatars
        self._history = history

    def table(self) -> list[web.RouteDef]:
        one = "/api/webhooks/{webhook_id}"
        return [
            web.get("/api/webhooks", self.list),
            web.post("/api/webhooks", self.create),
            web.get(one, self.show),
            web.patch(one, self.edit),
            web.delete(one, self.delete),
            web.get(one + "/posts", self.posts),
            web.put(one + "/picture", self.set_picture),
            web.delete(one + "/picture", self.remove_picture),
        ]

    async def list(self, request: web.Request) -> web.Response:
        managed = self._webhooks.managed(asker(request).member_id)
        return answer({"webhooks": [self._shown(request, webhook) for webhook in managed]})

    async def show(self, request: web.Request) -> web.Response:
        return answer(self._shown(request, self._webhooks.one(asker(request).member_id, _id(request))))

    async def create(self, request: web.Request) -> web.Response:
        data = await body(request)
        name, channel_id = text(data, "name", most=4 * MAX_NAME), optional_identifier(data, "channel_id")
        webhook = await self._webhooks.create(asker(request).member_id, name, channel_id, time.time())
        return answer(self._shown(request, webhook), 201)

    async def edit(self, request: web.Request) -> web.Response:
        """Here `null` is not absent: it takes the channel away."""
        data = await body(request)
        differences: dict[str, str | None] = {}
        if data.get("name") is not None:
            differences["name"] = text(data, "name", most=4 * MAX_NAME)
        if "channel_id" in data:
            differences["channel_id"] = optional_identifier(data, "channel_id")
        if not differences:
            raise ChatError("invalid_request", "Give name or channel_id")
        asking = asker(request).member_id
        webhook = await self._webhooks.edit(asking, _id(request), differences, time.time())
        return answer(self._shown(request, webhook))

    async def delete(self, request: web.Request) -> web.Response:
        await self._webhooks.delete(asker(request).member_id, _id(request), time.time())
        return nothing()

    async def posts(self, request: web.Request) -> web.Response:
        webhook = self._webhooks.one(asker(request).member_id, _id(request))
        return answer({"posts": [attempt.described() for attempt in self._history.of(webhook.id)]})

    async def set_picture(self, request: web.Request) -> web.Response:
        """The body is the picture itself."""
        asking, webhook_id = asker(request).member_id, _id(request)
        self._webhooks.one(asking, webhook_id)
        data = await received(request, MAX_PICTURE_BYTES)
        key = await self._avatars.keep(data, holder_of(asking))
        webhook = await self._webhooks.set_picture(asking, webhook_id, key, time.time())
        return answer(self._shown(request, webhook))

    async def remove_picture(self, request: web.Request) -> web.Response:
        await self._webhooks.set_picture(asker(request).member_id, _id(request), None, time.time())
        return nothing()

    def _shown(self, request: web.Request, webhook: Webhook) -> dict[str, object]:
        """With what opens it, for who may manage it."""
        token = self._webhooks.token(webhook)
        path = None if token is None else PATH.format(webhook_id=webhook.id, token=token)
        url = path and f"{_base(request)}{path}"
        return {**self._webhooks.described(webhook), "token": token, "url": url}


def url_parts(request: web.Request) -> tuple[str, str]:
    """The id and the token."""
    return request.match_info["webhook_id"], request.match_info["token"]


def now_ms() -> int:
    """For `Posting.admit`."""
    return int(time.monotonic() * 1000)


async def received(request: web.Request, most: int = MAX_BODY_BYTES) -> bytes:
    """The body, whole. Raises ChatError for one that is compressed, too large, or does not come."""
    refuse_compressed(request)
    if (request.content_length or 0) > most:
        raise ChatError("body_too_large")
    content = request.content
    try:
        # Most bodies are there already, with their headers.
        data = content.read_nowait() if content.is_eof() else await _arriving(content, most)
    except (TimeoutError, ConnectionError):  # Who has hung up does not read it.
        raise ChatError("too_slow") from None
    except web.RequestPayloadError:  # Chunks that are none.
        raise ChatError("invalid_json") from None
    if len(data) > most:
        raise ChatError("body_too_large")
    return data


async def _arriving(content: StreamReader, most: int) -> bytes:
    """What has come by the end, or when it is more than it may be."""
    data = bytearray()
    async with asyncio.timeout(BODY_DEADLINE_S):
        async for chunk in content.iter_any():
            data += chunk
            if len(data) > most:
                break
    return bytes(data)


def _refused(refusal: ChatError) -> web.Response:
    told = {"error": refusal.code, **refusal.more} if refusal.code in BARE else refusal.body()
    response = answer(told, refusal.status)
    wait_ms = refusal.more.get("retry_after_ms")
    if isinstance(wait_ms, int):
        response.headers["Retry-After"] = str(-(-wait_ms // 1000))
    return response


def _id(request: web.Request) -> str:
    return identifier(request.match_info, "webhook_id")


def _base(request: web.Request) -> str:
    """How the asker has reached us, which whoever posts from there can too."""
    scheme = request.scheme
    if request.app[TRUSTED_HOPS] and request.headers.get("X-Forwarded-Proto") in ("http", "https"):
        scheme = request.headers["X-Forwarded-Proto"]
    return f"{scheme}://{request.host}"
