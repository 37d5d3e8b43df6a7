"""Handles requests for a member's counts token, and for the counts that another server's web client shows.

A sandboxed frame without an origin sends the token in a body of type text/plain. This needs no preflight
request, and proxies do not log the token. See docs/servers.md.
"""

import asyncio
import base64
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Annotated

from aiohttp import web
from msgspec import Meta

from svc.chat.access.endpoint_permissions import PERSON, URL_HOLDER
from svc.chat.access.tokens import Session
from svc.chat.authentication.sessions import Throttle
from svc.chat.endpoints import Endpoints, Request, describe_feature, endpoint
from svc.chat.http import answer, client_address
from svc.chat.messages.history import UnreadTotals
from svc.chat.schemas import Response
from svc.chat.unread_counts.counts_tokens import MAX_TOKEN_CHARACTERS, CountsTokens

_OWN = "/api/me/counts-token"
# The rate limit per member. A page requests the counts once a minute, and a member may have a few pages open
# on each of several devices.
BURST, PER_S = 60, 1.0
# The maximum size of an icon, enough for the media worker's icons of at most 512 × 512 pixels. A larger icon
# is omitted.
MAX_PICTURE_BYTES = 128 * 1024
PICTURE_DEADLINE_S = 5.0

logger = logging.getLogger(__name__)


class OwnCountsToken(Response):
    """The member's counts token. `token` is null if there is none."""

    token: str | None


class WantedCounts(Request):
    token: Annotated[str, Meta(max_length=MAX_TOKEN_CHARACTERS)]
    picture: bool = False


class ServerCounts(Response):
    """The server's name, the member's counts, and the icon (WebP in base64) if it was requested and
    exists.
    """

    name: str
    unread: Annotated[int, Meta(ge=0)]
    mentions: Annotated[int, Meta(ge=0)]
    picture: str | None


class RailEndpoints(Endpoints):
    """The endpoints for counts tokens and counts. `totals` returns a member's counts, `name` the server's
    name, and `picture` the bytes of its icon.
    """

    def __init__(
        self,
        tokens: CountsTokens,
        totals: Callable[[str], UnreadTotals],
        name: Callable[[], str],
        picture: Callable[[int], Awaitable[bytes | None]],
    ) -> None:
        self._tokens = tokens
        self._totals, self._name, self._picture = totals, name, picture
        self._requests = Throttle(BURST, PER_S)

    @endpoint(
        PERSON, "Return your counts token, with which another page shows your counts", http=f"GET {_OWN}"
    )
    async def show(self, session: Session) -> OwnCountsToken:
        return OwnCountsToken(self._tokens.of(session.member_id))

    @endpoint(
        PERSON,
        "Create a counts token, which permits nothing but `POST /api/counts`. It replaces the previous one",
        http=f"POST {_OWN}",
    )
    async def renew(self, session: Session) -> OwnCountsToken:
        return OwnCountsToken(await self._tokens.renew(session.member_id))

    @endpoint(PERSON, "Revoke your counts token", http=f"DELETE {_OWN}")
    async def revoke(self, session: Session) -> None:
        await self._tokens.revoke(session.member_id)

    @endpoint(
        URL_HOLDER,
        "Return how many unread messages and mentions the member of a counts token has, without muted "
        "channels. Pages of every origin may read the response",
        http="POST /api/counts",
        refusals=("token_invalid", "too_many_requests"),
        returns=ServerCounts,
    )
    async def counts(self, http_request: web.Request, body: WantedCounts) -> web.StreamResponse:
        now = time.monotonic()
        member_id = self._tokens.verify(body.token, client_address(http_request).limited_as, now)
        self._requests.take(member_id, now)
        totals = self._totals(member_id)
        picture = await self._encoded_picture() if body.picture else None
        response = answer(ServerCounts(self._name(), totals.unread, totals.mentions, picture))
        # Sent only after the token has been verified, because otherwise any page could learn from an error
        # that this is a chat server.
        response.headers["Access-Control-Allow-Origin"] = "*"
        return response

    async def _encoded_picture(self) -> str | None:
        try:
            async with asyncio.timeout(PICTURE_DEADLINE_S):
                picture = await self._picture(MAX_PICTURE_BYTES)
        except TimeoutError:
            logger.warning("the server's icon was not read in time")
            return None
        return None if picture is None else base64.b64encode(picture).decode()


DESCRIPTION = describe_feature(RailEndpoints)
