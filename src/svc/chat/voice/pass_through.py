"""Passes signalling between browsers and the media service through this server, at `/sfu/client`.

This module relays frames, pings and closes. It inspects only the media service's first response. See
docs/signalling.md.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence

from aiohttp import (
    ClientError,
    ClientSession,
    ClientWebSocketResponse,
    ClientWSTimeout,
    WSCloseCode,
    WSMessage,
    WSMsgType,
    web,
)
from aiohttp.typedefs import LooseHeaders

from svc.base.connections import WaitingQueue
from svc.base.graceful_close import abort_unsent
from svc.base.http_connections import recognise
from svc.base.media_services import MediaConfig
from svc.base.signalling_codec import MAX_FRAME_BYTES, EnvelopeError, parse
from svc.base.tasks import until_first_ends
from svc.base.token_bucket import TokenBucket
from svc.base.websocket import WebSocket
from svc.chat.access.endpoint_permissions import ANYONE
from svc.chat.access.origins import Origins
from svc.chat.endpoints import Endpoints, Request, endpoint
from svc.chat.errors import ChatError
from svc.chat.http import client_address, query_number
from svc.chat.schemas import Natural

CONNECT_DEADLINE_S = 5.0
WRITE_DEADLINE_S = 10.0
CLOSE_DEADLINE_S = 5.0
# A side that is silent for longer must have disconnected without a close frame. The media service pings every
# 30 s and closes the connection after 90 s of silence.
SILENCE_DEADLINE_S = 100.0
MAX_SOCKETS = 2048
# The maximum number of sockets that the media service has not admitted yet. It is lower than the media
# service's limit. If it is exceeded, one of these sockets is closed: the oldest from the IP address with the
# most of them.
MAX_NOT_JOINED = 512
# The rate limit for a browser's frames, equal to the media service's limit.
FRAMES_AT_ONCE, FRAMES_PER_S = 200, 20
PASS_THROUGH = "/sfu/client"
# The close code for a lost connection on the other side. The call continues, because the connection may be
# restored soon.
_LOST = 4000

logger = logging.getLogger(__name__)

Side = web.WebSocketResponse | ClientWebSocketResponse


def urls_of(media: MediaConfig) -> list[str]:
    """Return the participants' signalling URL on each media service."""
    return [f"{service.url}/client" for service in media.services]


def pass_through_url(service: int) -> str:
    """Return the URL that passes signalling through this server to the given media service."""
    return f"{PASS_THROUGH}?service={service}" if service else PASS_THROUGH


class ServiceQuery(Request):
    service: Natural | None = None


class SignallingPassThrough(Endpoints):
    def __init__(
        self,
        session: ClientSession,
        origins: Origins,
        urls: Callable[[], Sequence[str]],
        headers: Callable[[web.Request], LooseHeaders] = lambda _: {},
    ) -> None:
        """Create the endpoint. `urls` returns the media services' URLs, and `headers` the headers for a
        member's handshake.
        """
        self._session = session
        self._urls, self._headers = urls, headers
        self._origins = origins
        self._sockets: set[web.WebSocketResponse] = set()
        self._not_joined: WaitingQueue[asyncio.Transport] = WaitingQueue()

    def __len__(self) -> int:
        return len(self._sockets)

    @endpoint(
        ANYONE,
        "Open the signalling WebSocket of an SFU, passed through by this server",
        http=f"GET {PASS_THROUGH}",
        accepts=ServiceQuery,
        refusals=("origin_refused", "too_many_connections"),
    )
    async def serve(self, http_request: web.Request) -> web.StreamResponse:
        if not self._origins.permits(http_request.headers.get("Origin"), http_request.host):
            raise ChatError("origin_refused")
        if len(self._sockets) >= MAX_SOCKETS and not self._make_room(0):
            raise ChatError("too_many_connections")
        if (transport := http_request.transport) is None:  # The client has already disconnected.
            return web.Response()
        urls = self._urls()
        url = urls[query_number(http_request, "service", minimum=0, maximum=len(urls) - 1) or 0]
        headers = self._headers(http_request)
        browser = WebSocket(
            transport,
            max_bytes=MAX_FRAME_BYTES,
            close_deadline_s=CLOSE_DEADLINE_S,
            autoping=False,
            autoclose=False,
        )
        await browser.prepare(http_request)
        self._make_room(MAX_NOT_JOINED)
        self._sockets.add(browser)
        self._not_joined.add(transport, client_address(http_request).limited_as)

        def inspect(message: WSMessage) -> None:
            """Mark the participant as joined if the media service's first response is not an error."""
            first = message.type is WSMsgType.TEXT and transport in self._not_joined
            if first and not _refuses(message.data):
                self._not_joined.discard(transport)
                # The connection now belongs to an authenticated member: the media service has verified the
                # identity, and each participant has only one seat.
                recognise(http_request, f"signalling {id(transport)}")

        try:
            await self._connect_and_carry(browser, url, headers, inspect)
        finally:
            self._sockets.discard(browser)
            self._not_joined.discard(transport)
            # Abort the transport without a closing handshake.
            abort_unsent(transport)
        return browser

    def _make_room(self, maximum: int) -> bool:
        """Close one of the connections that have not joined yet, if there are at least `maximum` of them.
        Return whether a connection was closed.
        """
        leaving = self._not_joined.evict(maximum)
        if leaving is not None:
            leaving.abort()
        return leaving is not None

    async def close_all(self) -> None:
        code, reason = WSCloseCode.SERVICE_RESTART, b"The server is stopping"
        await asyncio.gather(*(_close(browser, code, reason) for browser in self._sockets))

    async def _connect_and_carry(
        self,
        browser: web.WebSocketResponse,
        url: str,
        headers: LooseHeaders,
        inspect: Callable[[WSMessage], None],
    ) -> None:
        try:
            async with asyncio.timeout(CONNECT_DEADLINE_S):
                sfu = await self._session.ws_connect(
                    url,
                    headers=headers,
                    autoping=False,
                    autoclose=False,
                    max_msg_size=MAX_FRAME_BYTES + 1,
                    timeout=ClientWSTimeout(ws_close=CLOSE_DEADLINE_S),
                )
        except (ClientError, OSError) as fault:
            logger.debug("media service refused a participant", extra={"fault": repr(fault)})
            await _close(browser, WSCloseCode.BAD_GATEWAY, b"The voice server cannot be reached")
            return
        try:
            pace = TokenBucket(FRAMES_AT_ONCE, FRAMES_PER_S)
            await until_first_ends(_carry(browser, sfu, pace=pace), _carry(sfu, browser, inspect))
        except OSError as fault:
            logger.debug("signalling lost", extra={"fault": repr(fault)})
        finally:
            # Close both sides, because only one may have closed. Closing a closed side has no effect.
            await _close(sfu, _LOST, b"The participant is gone")
            await _close(browser, WSCloseCode.BAD_GATEWAY, b"The voice server is gone")


async def _carry(
    source: Side,
    target: Side,
    inspect: Callable[[WSMessage], None] = lambda message: None,
    pace: TokenBucket | None = None,
) -> None:
    """Relay frames in one direction until either side closes or is lost. A close is also relayed.

    Only one frame is in flight. The next frame is read only after the target has accepted this one, so the
    sender experiences backpressure. `pace` is the rate limit, or None if the source is trusted. `inspect` is
    called with each frame.
    """
    while True:
        async with asyncio.timeout(SILENCE_DEADLINE_S):
            message = await source.receive()
        inspect(message)
        if message.type is WSMsgType.CLOSE:
            code, reason = _close_of(message)
            await _close(source, code, b"")
            await _close(target, code, reason)
            return
        if message.type in (WSMsgType.CLOSED, WSMsgType.CLOSING, WSMsgType.ERROR):
            return
        data = message.data.encode() if message.type is WSMsgType.TEXT else message.data
        if pace is not None:
            # Sleep even if the wait is 0 s, so that other connections can run. Writing a small frame does not
            # yield.
            await asyncio.sleep(pace.take(asyncio.get_running_loop().time()))
        async with asyncio.timeout(WRITE_DEADLINE_S):
            await target.send_frame(data, message.type)


def _refuses(text: str) -> bool:
    try:
        return parse(text).event == "room_error"
    except EnvelopeError:
        return True


def _close_of(message: WSMessage) -> tuple[int, bytes]:
    """Return the code and reason to pass on. A close without a code is a normal close."""
    code = message.data or WSCloseCode.OK
    if code == WSCloseCode.ABNORMAL_CLOSURE:
        # 1006 means that no close frame was received, and must not be sent (RFC 6455 section 7.4.1).
        return _LOST, b""
    # A control frame has room for 125 bytes, of which the code takes two.
    return code, (message.extra or "").encode()[:123]


async def _close(side: Side, code: int, reason: bytes) -> None:
    try:
        async with asyncio.timeout(CLOSE_DEADLINE_S):
            await side.close(code=code, message=reason)
    except (OSError, ClientError):
        logger.debug("a side could not be closed in time")
