"""Implements the server side of a WebSocket, with bounded messages, no compression, and a close frame that
reaches the client.

Compression is off because a few compressed bytes can expand to an enormous message. This module does not
interpret messages. `http_server` checks that clients mask their frames. See RFC 6455 section 7.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.abc import AbstractStreamWriter

from svc.base.graceful_close import linger
from svc.base.token_bucket import TokenBucket

# The rate limit for a client's pings and pongs. A client's library may send pings every few seconds.
PULSE_BURST = 10.0
PULSES_PER_S = 1.0
# The maximum number of messages returned in one iteration of the event loop. One read can yield thousands.
MESSAGES_AT_ONCE = 16

# aiohttp warns about handshakes that offer none of our subprotocols, and logs the offer, which may contain a
# token.
logging.getLogger("aiohttp.websocket").setLevel(logging.ERROR)

logger = logging.getLogger(__name__)


class WebSocket(web.WebSocketResponse):
    """A WebSocket that closes with a reason on protocol errors. `options` are passed to aiohttp's class."""

    def __init__(
        self, transport: asyncio.Transport, *, max_bytes: int, close_deadline_s: float, **options: Any
    ) -> None:
        """Create a WebSocket. `close_deadline_s` is the timeout for the peer's reply to a close frame."""
        self.transport = transport
        # Called before a close frame is sent by either side. Other writers must then stop.
        self.on_closing: Callable[[], None] = _do_nothing
        self._close_deadline_s = close_deadline_s
        # The codes that aiohttp uses when it closes a WebSocket on its own, without a reason.
        self._reasons: dict[int, bytes] = {
            WSCloseCode.PROTOCOL_ERROR: b"Not the WebSocket protocol",
            WSCloseCode.INVALID_TEXT: b"The message is not UTF-8",
            WSCloseCode.MESSAGE_TOO_BIG: f"The message is larger than {max_bytes >> 10} KB".encode(),
        }
        # aiohttp rejects messages that reach its limit. Our messages may reach the limit, but not exceed it.
        super().__init__(compress=False, max_msg_size=max_bytes + 1, timeout=close_deadline_s, **options)

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter:
        writer = await super().prepare(request)
        self._reader: Any = _PacedQueue(self._reader)
        return writer

    async def close(self, *, code: int = WSCloseCode.OK, message: bytes = b"", drain: bool = True) -> bool:
        if not self.closed:
            self.on_closing()
            if not message and code in self._reasons:
                await self._refuse(code)
        return await super().close(code=code, message=message, drain=drain)

    async def _refuse(self, code: int) -> None:
        """Send the close frame with a reason, even to a peer that is still sending. aiohttp has already
        stopped reading.
        """
        try:
            async with asyncio.timeout(self._close_deadline_s):
                assert self._writer is not None, "a WebSocket that is closed has been prepared"
                # Closing the writer makes later sends fail.
                await self._writer.close(code, self._reasons[code])
            await linger(self.transport, self._close_deadline_s)
        except (TimeoutError, OSError) as error:
            logger.debug("connection lost", extra={"cause": type(error).__name__})


class PulsedWebSocket(WebSocket):
    """A WebSocket that answers pings, and reads more slowly when pings and pongs exceed a rate limit.

    aiohttp would answer thousands of pings in one iteration of the event loop.
    """

    def __init__(self, transport: asyncio.Transport, **options: Any) -> None:
        super().__init__(transport, autoping=False, **options)
        self._pulses = TokenBucket(PULSE_BURST, PULSES_PER_S)

    async def receive(self, timeout: float | None = None) -> Any:  # noqa: ASYNC109
        """Return the next message, which may be a close message."""
        loop = asyncio.get_running_loop()
        while (message := await super().receive(timeout)).type in (WSMsgType.PING, WSMsgType.PONG):
            if wait_s := self._pulses.take(loop.time()):
                await asyncio.sleep(wait_s)
            if message.type is WSMsgType.PING:
                await self.pong(message.data)
        return message


class _PacedQueue:
    """A queue of received messages that lets the event loop continue now and then.

    Reading a message that has already arrived would never give up the event loop. A closing socket also reads
    and discards all messages up to the peer's close.
    """

    def __init__(self, queue: Any) -> None:
        self._queue = queue
        self._taken = 0
        self.feed_data = queue.feed_data
        self.set_exception = queue.set_exception

    async def read(self) -> Any:
        self._taken += 1
        if not self._taken % MESSAGES_AT_ONCE:
            await asyncio.sleep(0)
        return await self._queue.read()


def _do_nothing() -> None:
    pass
