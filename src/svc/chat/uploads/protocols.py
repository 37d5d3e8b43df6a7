"""Parses uploads over HTTP: many requests from a tus client, or one multipart body.

Resumable uploads follow tus 1.0.0: the core protocol with the extensions creation, termination and expiration
(tus.io/protocols/resumable-upload). In a multipart body, the file is the first part. Later parts are ignored,
and names are UTF-8, regardless of the declared charset (RFC 7578, RFC 2046 section 5.1). This module performs
no I/O.
"""

from base64 import b64decode
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime

from svc.chat.errors import ChatError
from svc.chat.http import disposition, parameters
from svc.chat.uploads.limits import EMPTY_KEPT_S, UNFINISHED_KEPT_S
from svc.chat.uploads.upload import RECEIVING, Upload

VERSION = "1.0.0"
PATCH_TYPE = "application/offset+octet-stream"
# The response headers for OPTIONS. They list the supported features of tus. The maximum size is missing,
# because it depends on the purpose.
OPTIONS = {
    "Tus-Resumable": VERSION,
    "Tus-Version": VERSION,
    "Tus-Extension": "creation,termination,expiration",
}
# The headers that pages of other permitted sites may read, and the headers that they may send.
EXPOSED = (*OPTIONS, "Location", "Upload-Expires", "Upload-Length", "Upload-Offset")
REQUEST_HEADERS = ("Tus-Resumable", "Upload-Length", "Upload-Metadata", "Upload-Offset")
_MAX_METADATA_CHARACTERS = 8 * 1024


def uses_tus(headers: Mapping[str, str]) -> bool:
    """Return whether the request uses tus. Raises ChatError if it uses another version of tus."""
    version = headers.get("Tus-Resumable")
    if version is None:
        return False
    if version != VERSION:
        raise ChatError("tus_version", more={"versions": [VERSION]})
    return True


def length(headers: Mapping[str, str]) -> int:
    """Return the declared length of the upload. Raises ChatError."""
    return _number(headers, "Upload-Length")


def offset(headers: Mapping[str, str]) -> int:
    """Return the position in the upload where the request's data begins. Raises ChatError."""
    if headers.get("Content-Type") != PATCH_TYPE:
        raise ChatError("wrong_content_type", f"The Content-Type must be {PATCH_TYPE}")
    return _number(headers, "Upload-Offset")


def metadata(headers: Mapping[str, str]) -> dict[str, str]:
    """Parse upload metadata of the form `key base64,key base64,…`, where values are optional. Raises
    ChatError.
    """
    metadata_header = headers.get("Upload-Metadata", "")
    if len(metadata_header) > _MAX_METADATA_CHARACTERS:
        raise ChatError("invalid_request", "Upload-Metadata is too long")
    values: dict[str, str] = {}
    for pair in filter(None, (part.strip() for part in metadata_header.split(","))):
        name, _, value = pair.partition(" ")
        try:
            values[name] = b64decode(value, validate=True).decode()
        except ValueError:  # The value is not base64, or does not decode to UTF-8.
            raise ChatError("invalid_request", "Upload-Metadata must be names and base64") from None
    return values


def state(upload: Upload) -> dict[str, str]:
    """Return an upload's tus response headers: its progress and, if it is unfinished, its expiry."""
    response_headers = {
        "Tus-Resumable": VERSION,
        "Upload-Offset": str(upload.received),
        "Upload-Length": str(upload.length),
    }
    if upload.state == RECEIVING:
        kept_s = UNFINISHED_KEPT_S if upload.received else EMPTY_KEPT_S
        ends = datetime.fromtimestamp(upload.created_at_ms / 1000 + kept_s, UTC)
        response_headers["Upload-Expires"] = format_datetime(ends, usegmt=True)
    return response_headers


def _number(headers: Mapping[str, str], name: str) -> int:
    value = headers.get(name, "")
    if not (value.isascii() and value.isdecimal() and len(value) <= 15):
        raise ChatError("invalid_request", f"{name} must be a whole number")
    return int(value)


# The maximum size of the data before the file: a boundary and a few headers.
MAX_HEAD_BYTES = 16 * 1024
# The longest boundary (RFC 2046 section 5.1.1).
_MAX_BOUNDARY_CHARACTERS = 70


class MalformedBody(Exception):
    """The body is not valid multipart, or ends before the file does."""


class FormFile:
    """The file in a multipart body. `chunks` yields the body. Call `begin`, then iterate over `pieces`."""

    def __init__(self, content_type: str, chunks: AsyncIterator[bytes]) -> None:
        boundary = parameters(content_type).get("boundary", "")
        if not 0 < len(boundary) <= _MAX_BOUNDARY_CHARACTERS:
            raise MalformedBody
        self._delimiter = b"\r\n--" + boundary.encode("utf-8", "replace")
        self._chunks = chunks
        # A line break precedes each boundary. Add a line break, because a body may start with a boundary.
        self._buffer = bytearray(b"\r\n")

    async def begin(self) -> str:
        """Read up to the start of the file. Return its name, or an empty string. Raises MalformedBody."""
        while True:
            start = self._buffer.find(self._delimiter)
            end = self._buffer.find(b"\r\n\r\n", start) if start >= 0 else -1
            # The limit also applies if the end of the headers has arrived.
            if (len(self._buffer) if end < 0 else end) > MAX_HEAD_BYTES:
                raise MalformedBody
            if end >= 0:
                break
            await self._read()
        head = bytes(self._buffer[start + len(self._delimiter) : end])
        if head.startswith(b"--"):  # The final boundary, without any part before it.
            raise MalformedBody
        del self._buffer[: end + 4]
        return disposition(head).get("filename", "")

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """Yield the file's content up to the boundary after it. Raises MalformedBody."""
        # Add a line break, because the boundary directly follows the headers if the file is empty.
        self._buffer[:0] = b"\r\n"
        skip = 2
        while (end := self._buffer.find(self._delimiter)) < 0:
            # Hold back the last bytes, which may be the beginning of a boundary.
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
            raise MalformedBody
        self._buffer += chunk
