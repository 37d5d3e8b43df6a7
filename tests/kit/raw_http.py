"""Speaks HTTP and WebSocket byte by byte, for requests that only a hostile client would send."""

import asyncio
import json
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

DEADLINE_S = 60.0
_UPGRADE = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)


@dataclass
class RawResponse:
    status: int
    head: str
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class RawConnection:
    """A connection to a server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def ask(
        self, method: str, path: str, headers: Sequence[str] = (), body: bytes = b""
    ) -> RawResponse:
        """Send a request with `body` unchanged. Only `headers` can declare the body's length."""
        lines = [f"{method} {path} HTTP/1.1", "Host: test", *headers, "", ""]
        await self.send("\r\n".join(lines).encode("utf-8", "surrogateescape") + body)
        return await self.answer()

    async def answer(self) -> RawResponse:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        lengths = [line for line in head.lower().splitlines() if line.startswith("content-length:")]
        length = int(lengths[0].partition(":")[2]) if lengths else 0
        return RawResponse(int(head.split()[1]), head, await self.reader.readexactly(length))

    async def upgrade(self, path: str) -> None:
        answer = await self.ask("GET", path, _UPGRADE)
        assert answer.status == 101, answer

    async def closing(self) -> tuple[int, str]:
        """Return the code and reason of the next close frame, ignoring other frames."""
        while True:
            first, length = await self.reader.readexactly(2)
            if length == 126:
                (length,) = struct.unpack("!H", await self.reader.readexactly(2))
            payload = await self.reader.readexactly(length)
            if first & 0x0F == 8:
                return struct.unpack("!H", payload[:2])[0], payload[2:].decode()

    async def ended(self) -> None:
        """Read until the server closes the connection."""
        while await self.reader.read(65_536):
            pass


@asynccontextmanager
async def raw_connection(address: str) -> AsyncIterator[RawConnection]:
    """Open a connection to the server at an http:// URL, with a time limit."""
    parts = urlsplit(address)
    async with asyncio.timeout(DEADLINE_S):
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        try:
            yield RawConnection(reader, writer)
        finally:
            writer.close()
