"""The live event `voice_join`, and `/sfu/client`: signalling on this server's own address.

The pass-through carries frames, pings and closes between a member's browser and the
media service and reads none of them. Spec: media document sections 4 and 6.2.
"""

import asyncio
import logging
import time
from collections.abc import Mapping

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

from svc.base.envelope import MAX_FRAME_BYTES
from svc.base.tasks import until_first_ends
from svc.chat.access.origins import Origins
from svc.chat.access.tokens import Asker
from svc.chat.errors import ChatError
from svc.chat.fields import identifier
from svc.chat.live.socket import Handler
from svc.chat.voice.rules import MediaLink, Voice

CONNECT_DEADLINE_S = 5.0
WRITE_DEADLINE_S = 10.0
CLOSE_DEADLINE_S = 5.0
# The media service pings every 30 s and gives up after 90 s; a side that says nothing
# for longer than that is gone, and so is whoever should have told us.
SILENCE_DEADLINE_S = 100.0
MAX_SOCKETS = 2048

logger = logging.getLogger(__name__)

Side = web.WebSocketResponse | ClientWebSocketResponse


class VoiceEvents:
    """What members ask for on the live socket."""

    def __init__(self, voice: Voice, link: MediaLink) -> None:
        self._voice = voice
        self._link = link

    def handlers(self) -> dict[str, Handler]:
        return {"voice_join": self.voice_join}

    async def voice_join(self, asker: Asker, data: Mapping[str, object]) -> object:
        channel_id = identifier(data, "channel_id")
        return await self._voice.join(self._link, asker.member_id, channel_id, time.time())


class SignallingPassThrough:
    """`url` is the media service's `/client`."""

    def __init__(self, session: ClientSession, url: str, origins: Origins) -> None:
        self._session = session
        self._url = url
        self._origins = origins
        self._sockets: set[web.WebSocketResponse] = set()

    def __len__(self) -> int:
        return len(self._sockets)

    def table(self) -> list[web.RouteDef]:
        return [web.get("/sfu/client", self.serve)]

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        if not self._origins.permits(request.headers.get("Origin"), request.host):
            raise ChatError("origin_refused")
        if len(self._sockets) >= MAX_SOCKETS:
            raise ChatError("too_many_connections")
        browser = web.WebSocketResponse(
            autoping=False, autoclose=False, max_msg_size=MAX_FRAME_BYTES + 1, compress=False
        )
        await browser.prepare(request)
        self._sockets.add(browser)
        try:
            await self._connect_and_carry(browser)
        finally:
            self._sockets.discard(browser)
            # What it has not taken by now, not even to be told goodbye, it never will.
            if request.transport is not None and request.transport.get_write_buffer_size():
                request.transport.abort()
        return browser

    async def close_all(self) -> None:
        code, reason = WSCloseCode.SERVICE_RESTART, b"The server is stopping"
        await asyncio.gather(*(_close(browser, code, reason) for browser in self._sockets))

    async def _connect_and_carry(self, browser: web.WebSocketResponse) -> None:
        try:
            async with asyncio.timeout(CONNECT_DEADLINE_S):
                sfu = await self._session.ws_connect(
                    self._url,
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
            await until_first_ends(_carry(browser, sfu), _carry(sfu, browser))
        except OSError as fault:
            logger.debug("signalling lost", extra={"fault": repr(fault)})
        finally:
            # Whichever side has not been closed by the other is told that it is alone.
            await _close(sfu, WSCloseCode.GOING_AWAY, b"The participant is gone")
            await _close(browser, WSCloseCode.SERVICE_RESTART, b"The voice server is gone")


async def _carry(source: Side, target: Side) -> None:
    """Carry frames one way until a side closes, or is lost; a close is carried over too.

    One frame at a time: while the target does not take it, no more is read from the
    source, and its sender feels that.
    """
    while True:
        async with asyncio.timeout(SILENCE_DEADLINE_S):
            message = await source.receive()
        if message.type is WSMsgType.CLOSE:
            code, reason = _close_of(message)
            await _close(source, code, b"")
            await _close(target, code, reason)
            return
        if message.type in (WSMsgType.CLOSED, WSMsgType.CLOSING, WSMsgType.ERROR):
            return
        async with asyncio.timeout(WRITE_DEADLINE_S):
            await _pass_on(message, target)


async def _pass_on(message: WSMessage, target: Side) -> None:
    match message.type:
        case WSMsgType.TEXT:
            await target.send_str(message.data)
        case WSMsgType.BINARY:
            await target.send_bytes(message.data)
        case WSMsgType.PING:
            await target.ping(message.data)
        case WSMsgType.PONG:
            await target.pong(message.data)


def _close_of(message: WSMessage) -> tuple[int, bytes]:
    """The code and reason to carry over; a close without a code is an ordinary one."""
    code = message.data or WSCloseCode.OK
    if code == WSCloseCode.ABNORMAL_CLOSURE:
        # It stands for "no close was received" and may not be sent (RFC 6455 7.4.1).
        return WSCloseCode.OK, b""
    # A control frame holds 125 bytes, two of them the code.
    return code, (message.extra or "").encode()[:123]


async def _close(side: Side, code: int, reason: bytes) -> None:
    try:
        async with asyncio.timeout(CLOSE_DEADLINE_S):
            await side.close(code=code, message=reason)
    except (OSError, ClientError):
        logger.debug("a side could not be closed in time")
