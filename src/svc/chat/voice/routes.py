"""The live events of voice, and `/sfu/client`: signalling on this server's own address.

The pass-through carries frames, pings and closes between a member's browser and the
media service. It reads none of them but the media service's first answer.
docs/signalling.md.
"""

import asyncio
import logging
import time
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

from svc.base.connections import Crowd
from svc.base.envelope import MAX_FRAME_BYTES, EnvelopeError, parse
from svc.base.http_connections import recognise
from svc.base.lingering import abort_unsent
from svc.base.tasks import until_first_ends
from svc.base.websocket import WebSocket
from svc.chat.access.origins import Origins
from svc.chat.access.tokens import Asker
from svc.chat.errors import ChatError
from svc.chat.fields import Data, flag, identifier, text
from svc.chat.http import client_address, query_number
from svc.chat.messages.emoji import MAX_CHARACTERS as MAX_EMOJI_CHARACTERS
from svc.chat.requests import Handler
from svc.chat.voice.moderation import VoiceModeration
from svc.chat.voice.rules import Voice

CONNECT_DEADLINE_S = 5.0
WRITE_DEADLINE_S = 10.0
CLOSE_DEADLINE_S = 5.0
# The media service pings every 30 s and gives up after 90 s; a side that says nothing
# for longer than that is gone, and so is whoever should have told us.
SILENCE_DEADLINE_S = 100.0
MAX_SOCKETS = 2048
# Of those, how many the media service may not have let in yet: fewer than it takes itself. Beyond it the
# one goes that has waited longest, of the address that has most.
MAX_NOT_JOINED = 512
PASS_THROUGH = "/sfu/client"
# As the page of a call that goes on closes it: whose connection broke may be back in a moment.
_LOST = 4000

logger = logging.getLogger(__name__)

Side = web.WebSocketResponse | ClientWebSocketResponse


class VoiceEvents:
    """What members ask for on the live socket."""

    def __init__(self, voice: Voice, moderation: VoiceModeration) -> None:
        self._voice = voice
        self._moderation = moderation

    def handlers(self) -> dict[str, Handler]:
        return {
            "voice_join": self.voice_join,
            "voice_mute_self": self.voice_mute_self,
            "voice_hand": self.voice_hand,
            "voice_lower_hand": self.voice_lower_hand,
            "voice_send": self.voice_send,
            "voice_react": self.voice_react,
            "private_call_decline": self.private_call_decline,
            "voice_mute": self.voice_mute,
            "voice_stop_screen": self.voice_stop_screen,
            "voice_disconnect": self.voice_disconnect,
            "voice_move": self.voice_move,
        }

    async def voice_join(self, asker: Asker, data: Data) -> object:
        return await self._voice.join(asker, identifier(data, "channel_id"), time.time())

    async def voice_mute_self(self, asker: Asker, data: Data) -> object:
        return self._voice.choose(asker.member_id, *_mute_of(data))

    async def voice_hand(self, asker: Asker, data: Data) -> object:
        channel_id, raised = identifier(data, "channel_id"), flag(data, "raised")
        return self._voice.gestures.raise_hand(asker.member_id, channel_id, raised)

    async def voice_lower_hand(self, asker: Asker, data: Data) -> object:
        member_id, channel_id = identifier(data, "member_id"), identifier(data, "channel_id")
        self._voice.gestures.lower_hand(asker.member_id, member_id, channel_id)
        return {}

    async def voice_send(self, asker: Asker, data: Data) -> object:
        channel_id, camera, screen = (
            identifier(data, "channel_id"),
            flag(data, "camera"),
            flag(data, "screen"),
        )
        return self._voice.gestures.send(asker.member_id, channel_id, camera, screen)

    async def voice_react(self, asker: Asker, data: Data) -> object:
        emoji = text(data, "emoji", most=2 * MAX_EMOJI_CHARACTERS, least=1)
        self._voice.gestures.react(asker.member_id, identifier(data, "channel_id"), emoji)
        return {}

    async def private_call_decline(self, asker: Asker, data: Data) -> object:
        self._voice.decline(asker.member_id, identifier(data, "conversation_id"))
        return {}

    async def voice_mute(self, asker: Asker, data: Data) -> object:
        member_id, mute = identifier(data, "member_id"), _mute_of(data)
        return await self._moderation.mute(asker.member_id, member_id, *mute, time.time())

    async def voice_stop_screen(self, asker: Asker, data: Data) -> object:
        await self._moderation.stop_screen(asker.member_id, identifier(data, "member_id"), time.time())
        return {}

    async def voice_disconnect(self, asker: Asker, data: Data) -> object:
        await self._moderation.disconnect(asker.member_id, identifier(data, "member_id"), time.time())
        return {}

    async def voice_move(self, asker: Asker, data: Data) -> object:
        member_id, channel_id = identifier(data, "member_id"), identifier(data, "channel_id")
        await self._moderation.move(asker.member_id, member_id, channel_id, time.time())
        return {}


def _mute_of(data: Data) -> tuple[bool | None, bool | None]:
    """What is to change, of `muted` and `deafened`."""
    changes = tuple(
        flag(data, name) if data.get(name) is not None else None for name in ("muted", "deafened")
    )
    if changes == (None, None):
        raise ChatError("invalid_request", "muted or deafened is missing")
    return changes[0], changes[1]


def passed_through(service: int) -> str:
    """The address at which members reach a media service by way of us."""
    return f"{PASS_THROUGH}?service={service}" if service else PASS_THROUGH


class SignallingPassThrough:
    """`urls` are the media services' `/client`."""

    def __init__(self, session: ClientSession, urls: Sequence[str], origins: Origins) -> None:
        self._session = session
        self._urls = urls
        self._origins = origins
        self._sockets: set[web.WebSocketResponse] = set()
        self._not_joined: Crowd[asyncio.Transport] = Crowd()

    def __len__(self) -> int:
        return len(self._sockets)

    def table(self) -> list[web.RouteDef]:
        return [web.get(PASS_THROUGH, self.serve)]

    async def serve(self, request: web.Request) -> web.StreamResponse:
        if not self._origins.permits(request.headers.get("Origin"), request.host):
            raise ChatError("origin_refused")
        if len(self._sockets) >= MAX_SOCKETS and not self._make_room(0):
            raise ChatError("too_many_connections")
        if (transport := request.transport) is None:  # Gone already.
            return web.Response()
        url = self._urls[query_number(request, "service", least=0, most=len(self._urls) - 1) or 0]
        browser = WebSocket(
            transport,
            max_bytes=MAX_FRAME_BYTES,
            close_deadline_s=CLOSE_DEADLINE_S,
            autoping=False,
            autoclose=False,
        )
        await browser.prepare(request)
        self._make_room(MAX_NOT_JOINED)
        self._sockets.add(browser)
        self._not_joined.add(transport, client_address(request).limited_as)

        def look(message: WSMessage) -> None:
            """The media service's first words to a participant are a refusal, or they have joined."""
            first = message.type is WSMsgType.TEXT and transport in self._not_joined
            if first and not _refuses(message.data):
                self._not_joined.discard(transport)
                # Who it is, the media service knows; it gives one seat to each.
                recognise(request, f"signalling {id(transport)}")

        try:
            await self._connect_and_carry(browser, url, look)
        finally:
            self._sockets.discard(browser)
            self._not_joined.discard(transport)
            # Not even to be told goodbye.
            abort_unsent(transport)
        return browser

    def _make_room(self, most: int) -> bool:
        """Has a connection ended that had not joined, because there are `most` of them?"""
        leaving = self._not_joined.pushed_out(most)
        if leaving is not None:
            leaving.abort()
        return leaving is not None

    async def close_all(self) -> None:
        code, reason = WSCloseCode.SERVICE_RESTART, b"The server is stopping"
        await asyncio.gather(*(_close(browser, code, reason) for browser in self._sockets))

    async def _connect_and_carry(
        self, browser: web.WebSocketResponse, url: str, look: Callable[[WSMessage], None]
    ) -> None:
        try:
            async with asyncio.timeout(CONNECT_DEADLINE_S):
                sfu = await self._session.ws_connect(
                    url,
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
            await until_first_ends(_carry(browser, sfu), _carry(sfu, browser, look))
        except OSError as fault:
            logger.debug("signalling lost", extra={"fault": repr(fault)})
        finally:
            # Whichever side has not been closed by the other is told that it is alone.
            await _close(sfu, _LOST, b"The participant is gone")
            await _close(browser, WSCloseCode.SERVICE_RESTART, b"The voice server is gone")


async def _carry(
    source: Side, target: Side, look: Callable[[WSMessage], None] = lambda message: None
) -> None:
    """Carry frames one way until a side closes, or is lost; a close is carried over too.

    One frame at a time: while the target does not take it, no more is read from the
    source, and its sender feels that. `look` is shown each.
    """
    while True:
        async with asyncio.timeout(SILENCE_DEADLINE_S):
            message = await source.receive()
        look(message)
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


def _refuses(text: str) -> bool:
    try:
        return parse(text).event == "room_error"
    except EnvelopeError:
        return True


def _close_of(message: WSMessage) -> tuple[int, bytes]:
    """The code and reason to carry over; a close without a code is an ordinary one."""
    code = message.data or WSCloseCode.OK
    if code == WSCloseCode.ABNORMAL_CLOSURE:
        # It stands for "no close was received" and may not be sent (RFC 6455 7.4.1).
        return _LOST, b""
    # A control frame holds 125 bytes, two of them the code.
    return code, (message.extra or "").encode()[:123]


async def _close(side: Side, code: int, reason: bytes) -> None:
    try:
        async with asyncio.timeout(CLOSE_DEADLINE_S):
            await side.close(code=code, message=reason)
    except (OSError, ClientError):
        logger.debug("a side could not be closed in time")
