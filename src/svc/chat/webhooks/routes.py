"""`POST /api/webhooks/<webhook_id>/<token>`: a post received, passed on and answered.

The size is judged before anything is read, and again while it is; then come JSON, the look-up and
the rate limit. The Content-Type is not looked at. Bodies of refusals are those that the
specification writes out, no more and no less. No rules. Spec: chat document sections 4.1, 7.1, 7.2.
"""

import asyncio
import time

from aiohttp import web

from svc.chat.errors import ChatError
from svc.chat.http import answer
from svc.chat.webhooks.body import decode
from svc.chat.webhooks.limits import BODY_DEADLINE_S, MAX_BODY_BYTES
from svc.chat.webhooks.posting import Posting

PATH = "/api/webhooks/{webhook_id}/{token}"
# Written out by the specification, without a message.
_BARE = frozenset(
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
            return _refused(refusal)
        return answer(posted.described())


def url_parts(request: web.Request) -> tuple[str, str]:
    """The id and the token."""
    return request.match_info["webhook_id"], request.match_info["token"]


def now_ms() -> int:
    """For `Posting.admit`."""
    return int(time.monotonic() * 1000)


async def received(request: web.Request) -> bytes:
    """The body, whole. Raises ChatError for one that is too large, or does not come."""
    # The connection stays open until the sender has read the answer: aiohttp reads the rest and drops it.
    if (request.content_length or 0) > MAX_BODY_BYTES:
        raise ChatError("body_too_large")
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_DEADLINE_S):
            async for chunk in request.content.iter_any():
                body += chunk
                if len(body) > MAX_BODY_BYTES:
                    raise ChatError("body_too_large")
    except TimeoutError:
        raise ChatError("too_slow") from None
    except web.RequestPayloadError:  # Not what its Content-Encoding says.
        raise ChatError("invalid_json") from None
    return bytes(body)


def _refused(refusal: ChatError) -> web.Response:
    body = {"error": refusal.code, **refusal.more} if refusal.code in _BARE else refusal.body()
    response = answer(body, refusal.status)
    wait_ms = refusal.more.get("retry_after_ms")
    if isinstance(wait_ms, int):
        response.headers["Retry-After"] = str(-(-wait_ms // 1000))
    return response
