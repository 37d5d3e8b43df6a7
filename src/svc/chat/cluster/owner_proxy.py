"""Passes HTTP requests from relays and former owners on to the owner, and streams the responses back.

During a takeover, requests wait for the new owner. A request is repeated only if it is a read, or if no owner
can have processed it. Does not serve WebSockets. See RFC 9110 section 7.6.1.
"""

import asyncio
import contextlib
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager

from aiohttp import (
    ClientConnectorError,
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    TCPConnector,
    web,
)
from yarl import URL

from svc.base.http_connections import recognise
from svc.chat.cluster.relay_protocol import LINK_PATH
from svc.chat.errors import ChatError
from svc.chat.http import received_chunks

# How long requests wait for an owner. A normal takeover is faster.
OWNER_WITHIN_S = 10.0
NO_OWNER = "No node owns the community at the moment. Nothing was changed; try again"
# The maximum number of connections to the owner. Further requests wait for a free connection.
_MAX_TO_OWNER = 256
_CONNECT_S = 5.0
# Even the owner's slowest responses begin within a minute.
_SILENT_S = 120.0
# Larger bodies are streamed. They can be sent again only if the owner has not requested them.
_MAX_REPEATED_BYTES = 64 * 1024
_CHUNK_BYTES = 64 * 1024
_PAUSE_S = 0.2
# Headers that apply to a single connection only.
_HOP_BY_HOP = frozenset(
    (
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"),
        *("te", "trailer", "transfer-encoding", "upgrade", "expect"),
    )
)
_READING = frozenset(("GET", "HEAD", "OPTIONS"))
# Error codes that mean that the node has not processed the request.
_RETRYABLE_CODES = frozenset(("not_owner", "server_stopping"))
_MAX_REFUSAL_BYTES = 4096
_AUTOMATIC = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
_IN_DOUBT = "The owner of the community has changed. The change may still be stored; try again in a moment"


class NotProcessed(Exception):
    """No owner has processed the request."""


class Body:
    """A request's body. It is stored if it is small enough to be sent again, and streamed otherwise."""

    def __init__(self, request: web.Request, stored: bytes | None) -> None:
        self._request, self.stored = request, stored
        # Whether any part of a streamed body has been read from the client.
        self.is_begun = False

    @property
    def can_be_repeated(self) -> bool:
        return not self.is_begun

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        self.is_begun = True
        async for chunk in received_chunks(self._request.content):
            yield chunk


class Proxy:
    """A proxy that forwards requests to the owner. `counts` is the number of responses per status.

    `owner_url` waits for the owner's URL, and raises ChatError if there is none in time. `is_secure` returns
    whether clients use TLS to reach this process. If it is None, the headers about the client are passed on
    unchanged.
    """

    def __init__(
        self,
        owner_url: Callable[[], Awaitable[str]],
        http: ClientSession,
        is_secure: Callable[[], bool] | None = None,
    ) -> None:
        self._owner_url, self._http, self._is_secure = owner_url, http, is_secure
        self.counts: Counter[tuple[str, ...]] = Counter()
        # The time limits of requests that are waiting for a response, keyed by the owner's URL.
        self._waiting: defaultdict[str, set[asyncio.Timeout]] = defaultdict(set)

    def abandon(self, owner_url: str) -> None:
        """Stop waiting for responses from a replaced owner, because a paused owner would never send them."""
        now = asyncio.get_running_loop().time()
        for limit in self._waiting.pop(owner_url, ()):
            limit.reschedule(now)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        # Clients may not use the owner's internal endpoint.
        if request.path == LINK_PATH or not request.raw_path.startswith("/"):
            raise ChatError("not_found")
        body = Body(request, await _small_body(request))
        give_up_at = asyncio.get_running_loop().time() + OWNER_WITHIN_S
        while True:
            url = await self._owner_url()
            try:
                return await self._pass(url, request, body)
            except NotProcessed:
                if not body.can_be_repeated or asyncio.get_running_loop().time() > give_up_at:
                    raise ChatError("server_stopping") from None
                await asyncio.sleep(_PAUSE_S)

    async def _pass(self, owner_url: str, request: web.Request, body: Body) -> web.StreamResponse:
        """Pass a request on to one owner. Raises NotProcessed or ChatError."""
        async with self._forward(owner_url, request, body) as answer:
            if answer.status == 503 and await _is_unprocessed(answer):
                raise NotProcessed
            self.counts[(str(answer.status),)] += 1
            token = request.headers.get("Authorization", "")
            if token and answer.status < 400:
                # The owner has accepted the token, so the connection now belongs to an authenticated client.
                recognise(request, hashlib.sha256(token.encode()).hexdigest())
            headers = _end_to_end(answer.headers.items())
            response = web.StreamResponse(status=answer.status, reason=answer.reason, headers=headers)
            await response.prepare(request)
            if request.method != "HEAD":
                try:
                    async for chunk in answer.content.iter_chunked(_CHUNK_BYTES):
                        await response.write(chunk)
                except (ClientError, TimeoutError):
                    # Closing the connection is the only way to show that the response is incomplete.
                    if request.transport is not None:
                        request.transport.abort()
                    return response
            await response.write_eof()
            return response

    @asynccontextmanager
    async def _forward(
        self, owner_url: str, request: web.Request, body: Body
    ) -> AsyncIterator[ClientResponse]:
        url = URL(owner_url + request.raw_path, encoded=True)
        data = body.chunks() if body.stored is None else body.stored
        limit = asyncio.timeout(None)
        self._waiting[owner_url].add(limit)
        try:
            async with limit:
                answer = await self._http.request(
                    request.method,
                    url,
                    headers=self.headers(request),
                    data=data or None,
                    # A node that does not own the community can then reject the request before the body is
                    # sent.
                    expect100=body.stored is None,
                    allow_redirects=False,
                    skip_auto_headers=_AUTOMATIC,
                )
        except ClientConnectorError:
            raise NotProcessed from None
        except (ClientError, OSError, TimeoutError):
            if request.method in _READING:
                raise NotProcessed from None
            raise ChatError("storage_unavailable", _IN_DOUBT) from None
        finally:
            self._waiting[owner_url].discard(limit)
        try:
            yield answer
        finally:
            if answer.content.at_eof():
                answer.release()
            else:
                answer.close()

    def headers(self, request: web.Request) -> list[tuple[str, str]]:
        """Return the headers to forward to the owner, with the client's address in X-Forwarded-For."""
        headers = _end_to_end(request.headers.items())
        if self._is_secure is None:
            return headers
        headers.append(("X-Forwarded-For", request.remote or ""))
        is_secure = self._is_secure()
        if is_secure or "X-Forwarded-Proto" not in request.headers:
            headers = [header for header in headers if header[0].lower() != "x-forwarded-proto"]
            headers.append(("X-Forwarded-Proto", "https" if is_secure else "http"))
        return headers

    def handshake_headers(self, request: web.Request) -> list[tuple[str, str]]:
        """Return the headers for opening a WebSocket to the owner, without those from the client's own
        handshake.
        """
        return [
            header for header in self.headers(request) if not header[0].lower().startswith("sec-websocket-")
        ]


@asynccontextmanager
async def session_to_owner() -> AsyncIterator[ClientSession]:
    async with ClientSession(
        connector=TCPConnector(limit=_MAX_TO_OWNER),
        timeout=ClientTimeout(sock_connect=_CONNECT_S, sock_read=_SILENT_S),
        cookie_jar=DummyCookieJar(),
        auto_decompress=False,
    ) as session:
        yield session


def _end_to_end(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    received = list(headers)
    listed = ",".join(value for name, value in received if name.lower() == "connection")
    hop_by_hop = _HOP_BY_HOP.union(name.strip().lower() for name in listed.split(","))
    return [(name, value) for name, value in received if name.lower() not in hop_by_hop]


async def _small_body(request: web.Request) -> bytes | None:
    """Return the body if it is small enough to be sent again, or None if it is streamed. Raises ChatError."""
    if not request.body_exists:
        return b""
    if request.content_length is None or request.content_length > _MAX_REPEATED_BYTES:
        return None
    return b"".join([chunk async for chunk in received_chunks(request.content)])


async def _is_unprocessed(answer: ClientResponse) -> bool:
    """Return whether a 503 response comes from a node that does not own the community or is stopping."""
    if answer.content_type != "application/json" or not 0 < (answer.content_length or 0) < _MAX_REFUSAL_BYTES:
        return False
    body = await answer.content.read()
    answer.content.unread_data(body)
    with contextlib.suppress(ValueError, AttributeError):
        return json.loads(body).get("error") in _RETRYABLE_CODES
    return False
