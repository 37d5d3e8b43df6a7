"""Implements a minimal WebSocket client for load tests: one asyncio protocol without tasks, extensions or
certificate verification.

It trusts the server more than a client should: frames have no size limit. Its masking key is zero, which
makes masking unnecessary. RFC 6455 section 5.3 does not forbid this. It does not interpret messages.
"""

import asyncio
import base64
import os
from collections.abc import Callable
from urllib.parse import urlsplit

from svc.tools.bench.errors import BenchError
from svc.tools.bench.tls import tls_of

OPEN_DEADLINE_S = 20.0
_TEXT, _CLOSE, _PING, _PONG = 0x81, 0x88, 0x89, 0x8A


class WebSocket(asyncio.Protocol):
    """A client's connection. `on_text` is called with each message, as bytes. `protocols` are the
    subprotocols that a web client would offer.
    """

    def __init__(self, host: str, path: str, on_text: Callable[[bytes], None], protocols: str = "") -> None:
        self._host = host
        self._protocols = protocols
        self._path = path
        self.on_text = on_text
        self.received_bytes = 0
        self.is_open = False
        # The code in the close frame, or 1006 if the connection closed without a close frame.
        self.close_code: int | None = None
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._rest = b""
        self._transport: asyncio.Transport | None = None

    async def wait_open(self) -> None:
        async with asyncio.timeout(OPEN_DEADLINE_S):
            await self._opened

    def send(self, payload: bytes, opcode: int = _TEXT) -> None:
        assert self._transport is not None
        size = len(payload)
        if size < 126:
            header = bytes((opcode, 0x80 | size))
        else:
            header = bytes((opcode, 0x80 | 126)) + size.to_bytes(2, "big")
        self._transport.write(header + b"\0\0\0\0" + payload)

    def abort(self) -> None:
        """Drop the connection without a close frame."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        key = base64.b64encode(os.urandom(16)).decode()
        lines = (
            f"GET {self._path} HTTP/1.1",
            f"Host: {self._host}",
            *("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"),
            f"Sec-WebSocket-Key: {key}",
            *([f"Sec-WebSocket-Protocol: {self._protocols}"] if self._protocols else ()),
        )
        transport.write("\r\n".join([*lines, "", ""]).encode())

    def connection_lost(self, error: Exception | None) -> None:
        self.is_open = False
        self.close_code = self.close_code or 1006
        if not self._opened.done():
            self._opened.set_exception(BenchError("the server closed a connection before it was open"))

    def data_received(self, data: bytes) -> None:
        self.received_bytes += len(data)
        if self._rest:
            data = self._rest + data
        at = 0 if self.is_open else self._handshake(data)
        self._rest = data[self._frames(data, at) :]

    def _handshake(self, data: bytes) -> int:
        """Return the offset of the first frame, or the length of the data while the response is
        incomplete.
        """
        head, end, _ = data.partition(b"\r\n\r\n")
        if not end:
            return 0
        if not head.startswith(b"HTTP/1.1 101"):
            status = head.partition(b"\r\n")[0].decode(errors="replace")
            if not self._opened.done():
                self._opened.set_exception(BenchError(f"the server refused a live socket: {status}"))
            self.abort()
            return len(data)
        if self._opened.done():  # The response arrived after the timeout, so nobody is waiting for it.
            self.abort()
            return len(data)
        self.is_open = True
        self._opened.set_result(None)
        return len(head) + len(end)

    def _frames(self, data: bytes, at: int) -> int:
        """Process all complete frames from offset `at` on. Return the offset of the remaining data."""
        end = len(data)
        while self.is_open and at + 2 <= end:
            size, start = data[at + 1], at + 2
            if size == 126:
                size, start = int.from_bytes(data[at + 2 : at + 4], "big"), at + 4
            elif size == 127:
                size, start = int.from_bytes(data[at + 2 : at + 10], "big"), at + 10
            if start + size > end:
                break
            self._take(data[at], data[start : start + size])
            at = start + size
        return at

    def _take(self, opcode: int, payload: bytes) -> None:
        if opcode == _TEXT:
            self.on_text(payload)
        elif opcode == _PING:
            self.send(payload, _PONG)
        elif opcode == _CLOSE:
            self.close_code = int.from_bytes(payload[:2], "big") or 1005
            self.send(payload[:2], _CLOSE)
            self.is_open = False


async def connect(url: str, on_text: Callable[[bytes], None], protocols: str = "") -> WebSocket:
    """Open a WebSocket at a ws:// or wss:// URL. Raises BenchError."""
    parts = urlsplit(url)
    loop, tls = asyncio.get_running_loop(), tls_of(url)
    try:
        _, socket = await loop.create_connection(
            lambda: WebSocket(parts.netloc, parts.path, on_text, protocols),
            parts.hostname or "",
            parts.port or (443 if tls else 80),
            ssl=tls,
        )
        await socket.wait_open()
    except (OSError, TimeoutError) as fault:
        raise BenchError(f"cannot reach {url}: {fault or 'no answer'}") from None
    return socket
