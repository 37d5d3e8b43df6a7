"""Represents one connected client: its WebSocket, outgoing frames and member.

`socket` handles its requests.
"""

import asyncio
import logging
from collections.abc import Sequence

from svc.base.graceful_close import abort_unsent
from svc.base.websocket import PulsedWebSocket
from svc.chat.access.tokens import CLOCK_SLACK_S, LIFETIME_S, LIVE_PROTOCOL, Session
from svc.chat.live.frames import MAX_FRAME_BYTES, CloseCode
from svc.chat.live.outbox import Outbox, WriteScheduler

# A connection that does not answer a ping is considered lost after one and a half intervals.
HEARTBEAT_S = 30.0
# How long the client has to respond to our close frame.
CLOSE_DEADLINE_S = 5.0
# A control frame carries at most 125 bytes, two of which hold the code (RFC 6455 section 5.5).
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
        """Close the socket within the timeout, whether or not the client cooperates."""
        try:
            async with asyncio.timeout(CLOSE_DEADLINE_S):
                await self.close(code=code, message=reason.encode()[:_MAX_REASON_BYTES])
        except (TimeoutError, OSError) as error:
            logger.debug("live connection lost", extra={"cause": type(error).__name__})
        finally:
            abort_unsent(self.transport)


class ConnectedClient:
    """A connected client as the hub sees it, regardless of which process has its socket."""

    # The client's outgoing queue, or None if its socket is in another process.
    outbox: Outbox | None = None

    def __init__(self) -> None:
        # The member's session, or None before sign-in.
        self.session: Session | None = None
        # Whether the client has reported that it is visible.
        self.in_sight = False
        # Whether the client has reported that nobody has used it for a while.
        self.idle = False

    @property
    def session_id(self) -> str:
        return self.session.session_id if self.session else ""

    def cut_off(self, code: int, reason: str) -> None:
        """Close the client's socket."""
        raise NotImplementedError

    def check_token(self, now: float) -> None:
        """Disconnect the client if its token has expired."""
        if self.session is not None and self.session.lasting:
            return
        left_s = LIFETIME_S if self.session is None else self.session.expires_at - now
        # A longer remaining time means that the clock was wrong when the token was issued.
        if not 0 < left_s <= LIFETIME_S + CLOCK_SLACK_S:
            self.cut_off(CloseCode.TOKEN_EXPIRED, "The access token has expired")


class LocalClient(ConnectedClient):
    """A client whose socket is in this process."""

    outbox: Outbox

    def __init__(self, ws: WebSocket, scheduler: WriteScheduler) -> None:
        super().__init__()
        self.ws = ws
        self.outbox = Outbox(ws.transport, scheduler, self._too_slow)
        self.send = self.outbox.send
        self._scheduler = scheduler
        ws.on_closing = self._finish
        self._ending: asyncio.Future[None] | None = None

    def send_welcome(self, welcome: Sequence[bytes]) -> None:
        """Write the frames of a welcome. The queue's limit does not apply, because the missed events may
        exceed it.
        """
        self.outbox.write_now(b"".join(welcome))

    @property
    def is_ending(self) -> bool:
        return self._ending is not None

    def cut_off(self, code: int, reason: str) -> None:
        """Close the socket after the queued frames. Later calls have no effect."""
        if self._ending is None:
            self._ending = asyncio.ensure_future(self.ws.end(code, reason))

    async def ended(self) -> None:
        """Wait until a close in progress is complete."""
        if self._ending is not None:
            await self._ending

    def check(self, monotonic_s: float, now: float) -> None:
        """Disconnect the client if it has stopped reading or its token has expired. Call this about once a
        second.
        """
        self.outbox.check(monotonic_s)
        self.check_token(now)

    def _finish(self) -> None:
        """Write the frames that are already queued, then stop writing."""
        self._scheduler.write()
        self.outbox.finish()

    def _too_slow(self) -> None:
        self.cut_off(CloseCode.TOO_SLOW, "Too slow to keep up")
