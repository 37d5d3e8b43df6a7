"""The file in a multipart body, read piece by piece: its name, and what it holds.

It is the first part; what follows it is ignored. Names are UTF-8, whatever charset the body asks
for. Does no I/O of its own. RFC 7578, RFC 2046 section 5.1.
"""

from collections.abc import AsyncGenerator, AsyncIterator

from svc.chat.http import disposition, parameters

# All that stands before the file: a boundary and a few headers.
MAX_HEAD_BYTES = 16 * 1024
# RFC 2046 section 5.1.1.
_MAX_BOUNDARY_CHARACTERS = 70


class Malformed(Exception):
    """The body is not multipart, or ends before the file does."""


class FormFile:
    """Call `begin`, then take `pieces`. `chunks` are the body as it arrives."""

    def __init__(self, content_type: str, chunks: AsyncIterator[bytes]) -> None:
        boundary = parameters(content_type).get("boundary", "")
        if not 0 < len(boundary) <= _MAX_BOUNDARY_CHARACTERS:
            raise Malformed
        self._delimiter = b"\r\n--" + boundary.encode("utf-8", "replace")
        self._chunks = chunks
        # The first boundary may stand at the very beginning.
        self._buffer = bytearray(b"\r\n")

    async def begin(self) -> str:
        """Read as far as the file and return its name, empty where it has none. Raises Malformed."""
        while True:
            start = self._buffer.find(self._delimiter)
            end = self._buffer.find(b"\r\n\r\n", start) if start >= 0 else -1
            # However much of it has come at once.
            if (len(self._buffer) if end < 0 else end) > MAX_HEAD_BYTES:
                raise Malformed
            if end >= 0:
                break
            await self._read()
        head = bytes(self._buffer[start + len(self._delimiter) : end])
        if head.startswith(b"--"):  # The end, and no part before it.
            raise Malformed
        del self._buffer[: end + 4]
        return disposition(head).get("filename", "")

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The file up to the boundary behind it. Raises Malformed."""
        # A file that is empty ends where its head does.
        self._buffer[:0] = b"\r\n"
        skip = 2
        while (end := self._buffer.find(self._delimiter)) < 0:
            # A boundary may have begun.
            sure = len(self._buffer) - len(self._delimiter)
            if sure > skip:
                yield bytes(self._buffer[skip:sure])
                del self._buffer[:sure]
                skip = 0
            await self._read()
        if end > skip:
            yield bytes(self._buffer[skip:end])

    async def _read(self) -> None:
        chunk = await anext(self._chunks, b"")
        if not chunk:
            raise Malformed
        self._buffer += chunk
