"""Implements a minimal HTTP/1.1 client for load tests. It sends the given bytes, whether well-formed or not.

It trusts the server more than a client should: responses have no size limit. It does not interpret requests.
"""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from svc.tools.bench.tls import tls_of

# The timeout for a response. It is longer than any response takes and keeps a hung instance from blocking
# the benchmark.
ANSWER_DEADLINE_S = 30.0
_NO_BODY = (204, 304)


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    headers: Mapping[str, str]  # names in lower case
    body: bytes

    def json(self) -> dict[str, object]:
        body = json.loads(self.body or b"{}")
        return body if isinstance(body, dict) else {}


class Caller:
    """A client for an http:// or https:// URL. It reconnects if the server has closed the connection."""

    def __init__(self, address: str, source: str = "") -> None:
        parts = urlsplit(address)
        self._tls = tls_of(address)
        self._place = (parts.hostname, parts.port or (443 if self._tls else 80))
        self._source = (source, 0) if source else None
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, data: bytes) -> Response:
        """Send a request and read the response. Raises OSError, EOFError or ValueError."""
        async with asyncio.timeout(ANSWER_DEADLINE_S):
            if self._streams is not None:
                # If the server has closed an idle connection, send the request on a new connection.
                with suppress(ConnectionError, EOFError):
                    return await self._exchange(*self._streams, data)
                self.close()
            self._streams = await asyncio.open_connection(
                *self._place, ssl=self._tls, local_addr=self._source
            )
            return await self._exchange(*self._streams, data)

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None

    async def _exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, data: bytes
    ) -> Response:
        try:
            writer.write(data)
            answer = await _answer(reader)
        except BaseException:
            self.close()
            raise
        if answer.headers.get("connection", "").lower() == "close":
            self.close()
        return answer


async def _answer(reader: asyncio.StreamReader) -> Response:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    status = int(head[0].split(" ")[1])
    pairs = (line.partition(":") for line in head[1:] if line)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    if status in _NO_BODY or status < 200:
        return Response(status, headers, b"")
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return Response(status, headers, await _chunks(reader))
    return Response(status, headers, await reader.readexactly(int(headers.get("content-length", "0"))))


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    parts = []
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        parts.append((await reader.readexactly(size + 2))[:-2])
    await reader.readuntil(b"\r\n")
    return b"".join(parts)
