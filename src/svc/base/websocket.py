"""The server's side of a WebSocket: bounded messages, no compression, and a close that arrives.

Not compressed, because a few bytes of a compressed message can stand for very many. Knows no
message. That clients mask their frames is checked by `http_server`. RFC 6455 section 7.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web

from svc.base.allowance import Allowance
from svc.base.lingering import linger

# Pings and pongs of a client: its library may have a pulse of its own, of some seconds.
PULSE_BURST = 10.0
PULSES_PER_S = 1.0

# aiohttp warns of handshakes that offer no subprotocol of ours, and names what is offered, maybe a token.
logging.getLogger("aiohttp.websocket").setLevel(logging.ERROR)

logger = logging.getLogger(__name__)


class WebSocket(web.WebSocketResponse):
    """Tells a peer that breaks the protocol why it is closed. `options` are those of aiohttp's class."""

    def __init__(
        self, transport: asyncio.Transport, *, max_bytes: int, close_deadline_s: float, **options: Any
    ) -> None:
        """`close_deadline_s` is how long the peer may take to answer a close."""
        self.transport = transport
        # Called before a close is said, whoever wants it: whoever writes beside us must stop then.
        self.on_closing: Callable[[], None] = _nothing
        self._close_deadline_s = close_deadline_s
        # The codes with which aiohttp closes by itself, without a word.
        self._reasons: dict[int, bytes] = {
            WSCloseCode.PROTOCOL_ERROR: b"Not the WebSocket protocol",
            WSCloseCode.INVALID_TEXT: b"The message is not UTF-8",
            WSCloseCode.MESSAGE_TOO_BIG: f"The message is larger than {max_bytes >> 10} KB".encode(),
        }
        # aiohttp refuses what reaches its limit, we what exceeds ours.
        super().__init__(compress=False, max_msg_size=max_bytes + 1, timeout=close_deadline_s, **options)

    async def close(self, *, code: int = WSCloseCode.OK, message: bytes = b"", drain: bool = True) -> bool:
        if not self.closed:
            self.on_closing()
            if not message and code in self._reasons:
                await self._refuse(code)
        return await super().close(code=code, message=message, drain=drain)

    async def _refuse(self, code: int) -> None:
        """Say why, also to a peer that has not finished sending. aiohttp has stopped reading by now."""
        try:
            async with asyncio.timeout(self._close_deadline_s):
                assert self._writer is not None, "a WebSocket that is closed has been prepared"
                # Refuses to send anything after it.
                await self._writer.close(code, self._reasons[code])
            await linger(self.transport, self._close_deadline_s)
        except (TimeoutError, OSError) as error:
            logger.debug("connection lost", extra={"cause": type(error).__name__})


class PulsedWebSocket(WebSocket):
    """Answers pings, and reads pings and pongs more slowly beyond an allowance.

    aiohttp would answer thousands of them before anybody else's turn.
    """

    def __init__(self, transport: asyncio.Transport, **options: Any) -> None:
        super().__init__(transport, autoping=False, **options)
        self._pulses = Allowance(PULSE_BURST, PULSES_PER_S)

    async def receive(self, timeout: float | None = None) -> Any:  # noqa: ASYNC109
        """The next message, or the close."""
        loop = asyncio.get_running_loop()
        while (message := await super().receive(timeout)).type in (WSMsgType.PING, WSMsgType.PONG):
            if wait_s := self._pulses.take(loop.time()):
                await asyncio.sleep(wait_s)
            if message.type is WSMsgType.PING:
                await self.pong(message.data)
        return message


def _nothing() -> None:
    pass
