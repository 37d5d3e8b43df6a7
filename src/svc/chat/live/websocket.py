"""A WebSocket as the live socket wants it: no compression, a pulse, bounded messages, and a
close that arrives.

Knows neither frames nor members. RFC 6455 section 7.
"""

import asyncio
import logging
import struct

from aiohttp import WSMsgType, web

from svc.base.lingering import abort_unsent, linger
from svc.chat.live.closing import CloseCode
from svc.chat.live.frames import MAX_FRAME_BYTES

# A connection that answers no ping is gone after one and a half of these.
HEARTBEAT_S = 30.0
# How long the peer may take to answer our close.
CLOSE_DEADLINE_S = 5.0
# RFC 6455 section 5.5: a control frame carries 125 bytes, two of them for the code.
_MAX_REASON_BYTES = 123
# What aiohttp closes by itself, in words.
_PROTOCOL_REASONS: dict[int, str] = {
    CloseCode.PROTOCOL_ERROR: "Not the WebSocket protocol",
    CloseCode.INVALID_TEXT: "The message is not UTF-8",
    CloseCode.TOO_BIG: f"The message is larger than {MAX_FRAME_BYTES >> 10} KB",
}

logger = logging.getLogger(__name__)


class WebSocket(web.WebSocketResponse):
    def __init__(self, transport: asyncio.Transport) -> None:
        self.transport = transport
        # aiohttp refuses what reaches its limit, we what exceeds ours.
        super().__init__(
            heartbeat=HEARTBEAT_S, compress=False, max_msg_size=MAX_FRAME_BYTES + 1, timeout=CLOSE_DEADLINE_S
        )

    async def end(self, code: int, reason: str) -> None:
        """Close, whether or not the peer takes part in it; returns in time."""
        try:
            async with asyncio.timeout(CLOSE_DEADLINE_S):
                await self.close(code=code, message=reason.encode()[:_MAX_REASON_BYTES])
        except (TimeoutError, OSError) as error:
            logger.debug("live connection lost", extra={"cause": type(error).__name__})
        finally:
            abort_unsent(self.transport)

    async def close(self, *, code: int = 1000, message: bytes = b"", drain: bool = True) -> bool:
        if not message and code in _PROTOCOL_REASONS and not self.closed:
            await self._refuse(code)
        return await super().close(code=code, message=message, drain=drain)

    async def _refuse(self, code: int) -> None:
        """Tell a peer who broke the protocol, and has perhaps not finished sending, why we close.

        aiohttp has stopped reading by now.
        """
        try:
            async with asyncio.timeout(CLOSE_DEADLINE_S):
                reason = struct.pack("!H", code) + _PROTOCOL_REASONS[code].encode()
                await self.send_frame(reason, WSMsgType.CLOSE)
            await linger(self.transport, CLOSE_DEADLINE_S)
        except (TimeoutError, OSError) as error:
            logger.debug("live connection lost", extra={"cause": type(error).__name__})
