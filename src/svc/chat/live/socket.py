"""`/live`: one WebSocket per open page; the member signs in on it, asks and is told.

A page that asks too fast is read more slowly, one that reads too slowly is cut off, one
that does not sign in is turned away. Knows no feature: requests go to the handlers it is
given. Spec: the live socket of the design; chat document section 6.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

from aiohttp import WSCloseCode, WSMsgType, web

from svc.base.database import StorageFailed
from svc.base.tasks import until_first_ends
from svc.chat.access.catalogue import EVENTS, check
from svc.chat.access.directory import Directory
from svc.chat.access.origins import Origins
from svc.chat.access.tokens import AccessTokens, Asker
from svc.chat.errors import ChatError
from svc.chat.live import frames
from svc.chat.live.allowance import Allowance
from svc.chat.live.hub import Hub
from svc.chat.live.outbox import Outbox

Handler = Callable[[Asker, Mapping[str, object]], Awaitable[object]]
Welcome = Callable[[Asker], Mapping[str, object]]

AUTHENTICATION_DEADLINE_S = 10.0
CLOSE_DEADLINE_S = 5.0
# A connection that answers no ping for this long is gone.
HEARTBEAT_S = 30.0
# A person clicking never comes near; a script is slowed down to the lasting rate.
REQUEST_BURST = 30
REQUESTS_PER_S = 10.0
# Each costs some 30 KB and a file descriptor.
MAX_SOCKETS = 4096
TOO_SLOW = 4008

logger = logging.getLogger(__name__)


class LiveSockets:
    """Each of `welcomes` adds to what a member is told on signing in; `handlers` answer events by name."""

    def __init__(
        self,
        hub: Hub,
        directory: Directory,
        tokens: AccessTokens,
        origins: Origins,
        welcomes: Sequence[Welcome],
        handlers: Mapping[str, Handler],
    ) -> None:
        self._hub = hub
        self._directory = directory
        self._tokens = tokens
        self._origins = origins
        self._welcomes = welcomes
        self._handlers = handlers
        self._sockets: set[web.WebSocketResponse] = set()

    def table(self) -> list[web.RouteDef]:
        return [web.get("/live", self.serve)]

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        if not self._origins.permits(request.headers.get("Origin"), request.host):
            raise ChatError("origin_refused")
        if len(self._sockets) >= MAX_SOCKETS:
            raise ChatError("too_many_connections")
        ws = web.WebSocketResponse(heartbeat=HEARTBEAT_S, max_msg_size=frames.MAX_FRAME_BYTES, compress=False)
        await ws.prepare(request)
        self._sockets.add(ws)
        try:
            if signed_in := await self._authenticate(ws):
                await self._converse(ws, *signed_in)
                await self._cut_off(ws, request)
        except OSError:
            logger.debug("live connection lost")
        finally:
            self._sockets.discard(ws)
        return ws

    async def close_all(self) -> None:
        """Say goodbye to every page; they come back when the server does."""
        closing = [
            ws.close(code=WSCloseCode.GOING_AWAY, message=b"The server is stopping") for ws in self._sockets
        ]
        await asyncio.gather(*closing, return_exceptions=True)

    async def _authenticate(self, ws: web.WebSocketResponse) -> tuple[Asker, frames.RequestId] | None:
        """Who signed in, and by which request; None when the socket was closed instead."""
        request_id: frames.RequestId | None = None
        try:
            async with asyncio.timeout(AUTHENTICATION_DEADLINE_S):
                message = await ws.receive()
            if message.type is not WSMsgType.TEXT:
                raise ChatError("auth_required")
            request = frames.parse(message.data)
            request_id = request.id
            return self._asker(request), request_id
        except TimeoutError:
            problem = ChatError("auth_required")
        except ChatError as refusal:
            problem = refusal
        if not ws.closed:
            await ws.send_str(frames.error(problem, request_id))
            await ws.close(code=WSCloseCode.POLICY_VIOLATION, message=problem.code.encode())
        return None

    def _asker(self, request: frames.Request) -> Asker:
        token = request.data.get("access_token")
        if request.event != "authenticate" or not isinstance(token, str):
            raise ChatError("auth_required")
        return self._tokens.verify(token, time.time())

    async def _converse(self, ws: web.WebSocketResponse, asker: Asker, request_id: frames.RequestId) -> None:
        """Answer and push until the page goes, or cannot keep up."""
        outbox = Outbox(ws.send_str)
        # Nothing is awaited between the welcome and the first push after it, so
        # that no change of state falls between them.
        welcome: dict[str, object] = {}
        for part in self._welcomes:
            welcome |= part(asker)
        outbox.send(frames.reply("authenticated", request_id, welcome))
        self._hub.add(asker.member_id, outbox)
        try:
            await until_first_ends(self._read(ws, asker, outbox), outbox.drain())
        except TimeoutError:
            logger.debug("live connection does not take what is written")
        finally:
            self._hub.remove(asker.member_id, outbox)

    async def _read(self, ws: web.WebSocketResponse, asker: Asker, outbox: Outbox) -> None:
        loop = asyncio.get_running_loop()
        allowance = Allowance(REQUEST_BURST, REQUESTS_PER_S, loop.time())
        async for message in ws:
            if delay_s := allowance.take(loop.time()):
                await asyncio.sleep(delay_s)
            text = message.data if message.type is WSMsgType.TEXT else ""
            outbox.send(await self._answer(asker, text))

    async def _answer(self, asker: Asker, text: str) -> str:
        request_id: frames.RequestId | None = None
        try:
            request = frames.parse(text)
            request_id = request.id
            if (handler := self._handlers.get(request.event)) is None:
                raise ChatError("unknown_event")
            check(EVENTS[request.event], self._directory, asker.member_id)
            return frames.reply(request.event, request_id, await handler(asker, request.data))
        except ChatError as problem:
            return frames.error(problem, request_id)
        except StorageFailed:
            return frames.error(ChatError("storage_unavailable"), request_id)
        except Exception:
            logger.exception("live request failed", extra={"member": asker.member_id})
            return frames.error(ChatError("internal_error"), request_id)

    async def _cut_off(self, ws: web.WebSocketResponse, request: web.Request) -> None:
        """End a connection whose reader fell behind; one that ended by itself is left alone."""
        if ws.closed:
            return
        logger.info("live connection cut off, it reads too slowly")
        try:
            async with asyncio.timeout(CLOSE_DEADLINE_S):
                await ws.close(code=TOO_SLOW, message=b"Too slow to keep up")
        except TimeoutError:
            if request.transport is not None:
                request.transport.abort()
