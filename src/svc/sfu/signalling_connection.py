"""Manages a WebSocket connection from a participant or a chat server: reads and writes frames, and sends
pings.

Reading is paced: a client that sends too much is slowed down through TCP. Sending never waits: frames queue
up to a limit, and a client that reads too slowly is disconnected. A ping is sent every 30 s. The connection
is closed after 90 s of silence. Does not interpret events. See docs/signalling.md.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable

from aiohttp import WSCloseCode, WSMsgType

from svc.base.signalling_codec import (
    MAX_FRAME_BYTES,
    Envelope,
    EnvelopeError,
    Payload,
    parse,
    serialise_payload,
    serialise_text,
)
from svc.base.token_bucket import TokenBucket
from svc.base.websocket import WebSocket
from svc.sfu.close_codes import CloseCode

ERROR = "room_error"
PING_INTERVAL_S = 30.0
SILENCE_LIMIT_S = 90.0
# The timeout for the peer's operating system to accept one frame.
SEND_DEADLINE_S = 10.0
# The timeout for the peer's reply to our close frame.
CLOSE_DEADLINE_S = 2.0
# The maximum size of the send queue. Only one offer is pending at a time, so this is many times the queue of
# an honest client. It also exceeds the largest sync_response.
MAX_QUEUED_CHARACTERS = 4 * 1024 * 1024
# A control frame carries at most 125 bytes. Two of them are the close code (RFC 6455 section 5.5).
_MAX_REASON_BYTES = 123
# A message counts as one token per this many characters, plus one, because parsing the JSON in a frame of the
# maximum size takes 10 ms.
_CHARACTERS_OF_A_TURN = 16 * 1024

_GOODBYES = (WSCloseCode.OK, WSCloseCode.GOING_AWAY)

logger = logging.getLogger(__name__)


class Socket(WebSocket):
    """A WebSocket without automatic pings, because `Connection` sends them."""

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__(
            transport, max_bytes=MAX_FRAME_BYTES, close_deadline_s=CLOSE_DEADLINE_S, autoping=False
        )


class Connection:
    """One client's open WebSocket. One task reads with `receive`, and another writes with `write`."""

    def __init__(
        self,
        socket: Socket,
        pace: TokenBucket,
    ) -> None:
        # Whether the peer closed the connection normally, as a browser does when its page is closed.
        self.closed_cleanly = False
        self.on_pulse: Callable[[], None] = lambda: None  # called when a ping is sent
        # The maximum length of a message in characters. Longer messages are rejected.
        self.most_characters = MAX_FRAME_BYTES
        # Called with the peer's identity once the peer has authenticated on this connection.
        self.on_proof: Callable[[str], None] = lambda owner: None
        self._socket = socket
        self._pace = pace
        self._now = asyncio.get_running_loop().time
        self._queue: deque[str] = deque()
        self._queued_characters = 0
        self._something_to_do = asyncio.Event()
        self._closing: tuple[CloseCode, str] | None = None
        self._received_at = self._now()
        self._ping_at = self._now() + PING_INTERVAL_S

    @property
    def closing(self) -> bool:
        """Whether this service has closed the connection."""
        return self._closing is not None

    async def receive(self) -> Envelope | None:
        """Return the next frame, or None after the last frame. Raises EnvelopeError for an invalid frame."""
        while self._closing is None:
            message = await self._socket.receive()
            self._received_at = self._now()
            size = len(message.data) if message.type is WSMsgType.TEXT else 0
            if wait_s := self._pace.take(self._received_at, 1 + size // _CHARACTERS_OF_A_TURN):
                await asyncio.sleep(wait_s)
            match message.type:
                case WSMsgType.TEXT:
                    if size > self.most_characters:
                        raise EnvelopeError("The message is too long")
                    return parse(message.data)
                case WSMsgType.PING:
                    await self._socket.pong(message.data)
                case WSMsgType.PONG:
                    pass
                case WSMsgType.BINARY:
                    raise EnvelopeError("The message is not a text frame")
                case WSMsgType.CLOSE:
                    self.closed_cleanly = message.data in _GOODBYES
                    break
                case _:
                    break
        return None

    def push(self, payload: Payload) -> None:
        """Queue an event."""
        self._queue_frame(serialise_payload(payload))

    def send_error(self, reason: str) -> None:
        """Queue a `room_error`, the only event whose data is a bare string."""
        self._queue_frame(serialise_text(ERROR, reason))

    def close(self, code: CloseCode, reason: str) -> None:
        """Close after sending all queued frames. Only the first reason counts."""
        if self._closing is None:
            self._closing = code, reason
            self._something_to_do.set()

    async def write(self) -> None:
        """Send queued frames and pings until closed. Then close the socket in any case."""
        try:
            while self._closing is None:
                await self._flush()
                await self._pause()
            await self._flush()
            code, reason = self._closing
            await self._socket.close(code=code, message=reason.encode()[:_MAX_REASON_BYTES])
        except (TimeoutError, OSError) as error:
            logger.debug("connection lost", extra={"cause": type(error).__name__})
        finally:
            self._socket.transport.abort()

    def drop(self) -> None:
        """Abort the connection immediately, without a close frame."""
        if self._socket.transport is not None:
            self._socket.transport.abort()

    def _queue_frame(self, frame: str) -> None:
        if self._closing is not None:
            return
        if self._queued_characters + len(frame) > MAX_QUEUED_CHARACTERS:
            self.close(CloseCode.POLICY, "Reading too slowly")
            return
        self._queue.append(frame)
        self._queued_characters += len(frame)
        self._something_to_do.set()

    async def _flush(self) -> None:
        while self._queue:
            frame = self._queue.popleft()
            async with asyncio.timeout(SEND_DEADLINE_S):
                await self._socket.send_str(frame)
            self._queued_characters -= len(frame)

    async def _pause(self) -> None:
        """Wait until a frame is queued or a ping is due."""
        try:
            async with asyncio.timeout_at(self._ping_at):
                await self._something_to_do.wait()
            self._something_to_do.clear()
        except TimeoutError:
            await self._ping()

    async def _ping(self) -> None:
        now = self._now()
        if now - self._received_at >= SILENCE_LIMIT_S:
            self.close(CloseCode.SILENT, f"No sign of life for {SILENCE_LIMIT_S:.0f} s")
            return
        self._ping_at = now + PING_INTERVAL_S
        self.on_pulse()
        async with asyncio.timeout(SEND_DEADLINE_S):
            await self._socket.ping()
