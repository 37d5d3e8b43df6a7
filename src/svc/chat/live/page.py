"""One open page: its WebSocket, what is on the way to it, who has signed in on it, and its end.

Asks and answers nothing; `socket` does.
"""

import asyncio
import logging

from svc.base.lingering import abort_unsent
from svc.base.websocket import PulsedWebSocket
from svc.chat.access.tokens import CLOCK_SLACK_S, LIFETIME_S, LIVE_PROTOCOL, Asker
from svc.chat.live.frames import MAX_FRAME_BYTES, CloseCode
from svc.chat.live.outbox import Outbox, Rounds

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
            protocols=(LIVE_PROTOCOL,),
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


class Page:
    def __init__(self, ws: WebSocket, rounds: Rounds) -> None:
        self.ws = ws
        # Who asks; None until somebody has signed in.
        self.asker: Asker | None = None
        # Whether its member has it before their eyes, as it says.
        self.in_sight = False
        # Whether nobody has touched it for a while, as it says.
        self.idle = False
        self.outbox = Outbox(ws.transport, rounds, self._too_slow)
        self.send = self.outbox.send
        self._rounds = rounds
        ws.on_closing = self._finish
        self._ending: asyncio.Future[None] | None = None

    @property
    def session_id(self) -> str:
        return self.asker.session_id if self.asker else ""

    @property
    def is_ending(self) -> bool:
        return self._ending is not None

    def cut_off(self, code: int, reason: str) -> None:
        """Close, after what was said before. The first reason counts."""
        if self._ending is None:
            self._ending = asyncio.ensure_future(self.ws.end(code, reason))

    async def ended(self) -> None:
        """Return when a close that was begun is over."""
        if self._ending is not None:
            await self._ending

    def check(self, monotonic_s: float, now: float) -> None:
        """To be called every second or so: does the page still read, and is it still signed in?"""
        self.outbox.check(monotonic_s)
        if self.asker is not None and self.asker.lasting:
            return
        left_s = LIFETIME_S if self.asker is None else self.asker.expires_at - now
        # More is left of what a wrong clock has issued.
        if not 0 < left_s <= LIFETIME_S + CLOCK_SLACK_S:
            self.cut_off(CloseCode.TOKEN_EXPIRED, "The access token has expired")

    def _finish(self) -> None:
        """Write what was said before the close, and nothing after it."""
        self._rounds.write()
        self.outbox.finish()

    def _too_slow(self) -> None:
        self.cut_off(CloseCode.TOO_SLOW, "Too slow to keep up")
