"""The HTTP server of every program: aiohttp's, with what a stranger meets first made ours.

- What is not HTTP gets a 400 in our own words. No answer names the library, and a stranger's
  mistake is not logged: the line that could not be read may hold a webhook's secret.
- A body is never decompressed: a few KB can stand for gigabytes, and aiohttp inflates on the
  event loop, even what nobody reads.
- After an answer little more of a request is read, then the connection is closed.
- A WebSocket client must mask its frames (RFC 6455 section 5.1).

Knows no path. RFC 9112 section 9.6.
"""

import json
from collections.abc import Callable
from typing import Any, TypeVar, cast

from aiohttp import web
from aiohttp.http import WebSocketReader
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.web import RequestPayloadError

from svc.base.http_connections import HttpConnection
from svc.base.lingering import linger

# What is left of a request that has been answered is read and ignored up to this length, so that
# the connection can be used again. After more, or an unknown length, it is closed.
MAX_IGNORED_BYTES = 1024 * 1024
# A client that sends everything before it reads the answer: so much of it is thrown away first.
MAX_DISCARDED_BYTES = 64 * 1024 * 1024
LINGER_S = 10.0
_NAME = "svc"
# Reserved bits: aiohttp's reader refuses them with 1002, as we refuse an unmasked frame.
_NO_FRAME = b"\x70\x00"
_MASK = 0x80

Raised = TypeVar("Raised", bound=BaseException)


class Runner(web.AppRunner):
    """Runs `application` as aiohttp's does, on the server described above."""

    def __init__(self, application: web.Application, *, shutdown_timeout: float) -> None:
        super().__init__(application, access_log=None, shutdown_timeout=shutdown_timeout)
        application.on_response_prepare.append(_say_our_name)

    async def _make_server(self) -> web.Server:
        made = await super()._make_server()
        return HttpServer(
            made.request_handler,
            request_factory=made.request_factory,
            handler_cancellation=made.handler_cancellation,
            **made._kwargs,
        )


class HttpServer(web.Server):
    """Makes the protocol of each connection."""

    def __call__(self) -> HttpConnection:
        return _Connection(self, loop=self._loop, **{**self._kwargs, "auto_decompress": False})


class _Connection(HttpConnection):
    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """aiohttp calls it for what is not HTTP, and for a fault that no handler caught."""
        if isinstance(exc, ConnectionError) and (request.transport is None or request.transport.is_closing()):
            # The client has gone, or was closed for others: no fault, and no line in the log.
            raise exc
        # Logs what is to be logged. Raises ConnectionError when an answer is on its way already.
        super().handle_error(request, status, exc, message)
        if status < 500:
            if exc is not None:
                forgotten(exc)
            error, words = "invalid_request", "The server cannot read this as an HTTP/1.1 request"
        else:
            error, words = "internal_error", "The server failed to handle this; it has been logged"
        answer = _refusal(status, error, words)
        answer.force_close()
        return answer

    def log_exception(self, *args: Any, **fields: Any) -> None:
        if not isinstance(fields.get("exc_info"), HttpProcessingError | RequestPayloadError):
            super().log_exception(*args, **fields)

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        if resp.status == 417:  # By aiohttp, before any middleware.
            resp = _refusal(417, "expectation_failed", "The server knows no Expect but 100-continue")
        unread = _has_much_left(request)
        if unread:
            resp.force_close()
        finished = await super().finish_response(request, resp, start_time)
        if unread and self.transport is not None:
            await linger(self.transport, LINGER_S, MAX_DISCARDED_BYTES)
            self.force_close()
        return finished

    def set_parser(self, parser: WebSocketReader, data_received_cb: Callable[[], None] | None = None) -> None:
        super().set_parser(cast(WebSocketReader, _MaskedFrames(parser)), data_received_cb)


class _MaskedFrames:
    """Passes on what a WebSocket client sends, up to the first frame that is not masked."""

    def __init__(self, reader: WebSocketReader) -> None:
        self._reader = reader
        # The beginning of a frame whose length is not known yet.
        self._head = b""
        # How much of the current frame is still to come.
        self._left = 0
        self._refused = False

    def feed_eof(self) -> None:
        self._reader.feed_eof()

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        if self._refused:
            return True, b""
        if self._head:
            data = self._head + data
        # Where the next frame begins.
        at, end = self._left, len(data)
        while at + 1 < end:
            second = data[at + 1]
            if not second & _MASK:
                self._refused = True
                return self._reader.feed_data(data[:at] + _NO_FRAME)
            length, head = second & 0x7F, 2
            if length > 125:
                head = 4 if length == 126 else 10
                if at + head > end:
                    break
                length = int.from_bytes(data[at + 2 : at + head], "big")
            at += head + 4 + length
        if at < end:
            self._head, self._left = data[at:], 0
            return self._reader.feed_data(data[:at])
        self._head, self._left = b"", at - end
        return self._reader.feed_data(data)


def forgotten(refusal: Raised) -> Raised:
    """An exception that has been caught, without the way it came.

    That way leads through the request and back to the exception, a circle of sixty objects: while requests
    are refused by the thousand, Python would look for such circles all the time.
    """
    refusal.__context__ = None
    return refusal.with_traceback(None)


def _refusal(status: int, error: str, message: str) -> web.Response:
    body = json.dumps({"error": error, "message": message}).encode()
    return web.Response(status=status, body=body, content_type="application/json", headers={"Server": _NAME})


def _has_much_left(request: web.BaseRequest) -> bool:
    length = request.content_length
    return not request.content.is_eof() and (length is None or length > MAX_IGNORED_BYTES)


async def _say_our_name(_: web.Request, response: web.StreamResponse) -> None:
    # aiohttp has put its own name and version here by now.
    response.headers["Server"] = _NAME
