"""A WebSocket as the live socket wants it: with a pulse, and an end that comes in time.

Knows neither frames nor members. RFC 6455 section 7.
"""

import asyncio
import logging

from svc.base.lingering import abort_unsent
from svc.base.websocket import PulsedWebSocket
from svc.chat.live.frames import MAX_FRAME_BYTES

# A connection that answers no ping is gone after one and a half of these.
HEARTBEAT_S = 30.0
# How long the peer may take to answer our close.
CLOSE_DEADLINE_S = 5.0
# RFC 6455 section 5.5: a control frame carries 125 bytes, two of them for the code.
_MAX_REASON_BYTES = 123

logger = logging.getLogger(__name__)


class WebSocket(PulsedWebSocket):
    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__(
            transport,
            max_bytes=MAX_FRAME_BYTES,
            close_deadline_s=CLOSE_DEADLINE_S,
            heartbeat=HEARTBEAT_S,
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
