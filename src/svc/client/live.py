"""Manages the bot's live socket: connects, signs in, listens, and reconnects until it succeeds.

`session` decides which frames to send. The delay between attempts increases. The bot stops only if the server
rejects it permanently.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable

from aiohttp import ClientError, ClientSession, ClientWebSocketResponse, ClientWSTimeout, WSMsgType

from svc.base.backoff import Backoff
from svc.client.requests import Refused
from svc.client.session import Received, SendFrame, Session

# The timeout for connecting and signing in.
SIGN_IN_DEADLINE_S = 30.0
CLOSE_DEADLINE_S = 5.0
# The interval between pings. The connection counts as lost if a ping is not answered within half of this
# interval.
HEARTBEAT_S = 20.0
FIRST_WAIT_S, MAX_WAIT_S = 0.25, 15.0
# The maximum size of a received frame. The state sent at sign-in is half a MiB with 10,000 members online.
MAX_FRAME_BYTES = 16 * 1024 * 1024
# The codes of temporary errors, after which the bot reconnects.
_PASSING = frozenset({"internal_error", "rate_limited", "server_stopping", "storage_unavailable"})
# Too many copies of the bot are running, so reconnecting would disconnect another copy.
_TOO_MANY_PAGES = 4009

logger = logging.getLogger(__name__)


class Live:
    """The connection to a server's live socket. It reconnects whenever it is lost.

    `on_received` is awaited for one event at a time, so a slow handler slows down reading.
    """

    def __init__(
        self, http: ClientSession, session: Session, on_received: Callable[[Received], Awaitable[None]]
    ) -> None:
        self._http = http
        self._session = session
        self._on_received = on_received
        self._waits = Backoff(FIRST_WAIT_S, MAX_WAIT_S, jitter=random.random)

    async def run(self) -> None:
        """Listen until cancelled. Raises Refused if reconnecting cannot help."""
        while True:
            wait_s = None
            try:
                await self._connection()
            except Refused as refused:
                if refused.code not in _PASSING:
                    raise
                wait_s = refused.retry_after_s
            except (ClientError, OSError, TimeoutError, ValueError) as error:
                logger.info("connection lost", extra={"cause": str(error) or type(error).__name__})
            await asyncio.sleep(self._waits.next_delay() if wait_s is None else wait_s)

    async def _connection(self) -> None:
        self._session.begin()
        async with asyncio.timeout(SIGN_IN_DEADLINE_S) as deadline:
            async with self._http.ws_connect(
                "/live",
                headers=self._session.handshake,
                heartbeat=HEARTBEAT_S,
                max_msg_size=MAX_FRAME_BYTES,
                timeout=ClientWSTimeout(ws_close=CLOSE_DEADLINE_S),
            ) as ws:
                while not self._session.signed_in:
                    await self._take(ws)
                deadline.reschedule(None)
                self._waits.reset()
                while not ws.closed:
                    await self._take(ws)
                if ws.close_code == _TOO_MANY_PAGES:
                    raise Refused("too_many_pages", "Too many instances of this bot are running")

    async def _take(self, ws: ClientWebSocketResponse) -> None:
        message = await ws.receive()
        if message.type is not WSMsgType.TEXT:
            if not self._session.signed_in:
                raise ConnectionError("closed before the sign-in")
            return
        received = self._session.process(message.data)
        if isinstance(received, SendFrame):
            await ws.send_str(received.text)
        elif received is not None:
            await self._on_received(received)
