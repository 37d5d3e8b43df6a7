"""Provides the HTTP server of every program: aiohttp's server, hardened against malicious clients.

- Malformed HTTP gets a 400 with our own message. No response names the library. The request is not logged,
  because the malformed line may contain a webhook's secret.
- A body is never decompressed: a few KB can expand to gigabytes, and aiohttp decompresses on the event loop,
  even if the handler does not read the body.
- A path may contain at most MAX_SLASHES slashes, and the host in an absolute URL must be valid.
- After a response, only a limited amount of the remaining request is read. Then the connection is closed.
- A WebSocket client must mask its frames (RFC 6455 section 5.1).

Defines no paths. See RFC 9112 section 9.6.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from aiohttp import web
from aiohttp.http import RawRequestMessage, WebSocketReader
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.web import RequestPayloadError

from svc.base.graceful_close import linger
from svc.base.http_connections import HttpConnection

# After the response, up to this many remaining bytes of the request are discarded, so that the connection can
# be reused. If more bytes remain, or an unknown number, the connection is closed.
MAX_IGNORED_BYTES = 1024 * 1024
# A client may send its whole request before it reads the response, so up to this much of it is discarded.
MAX_DISCARDED_BYTES = 64 * 1024 * 1024
LINGER_S = 10.0
# aiohttp looks up every prefix of a path that ends at a slash: 8,000 slashes take 9 ms, as long as 20
# requests. Our paths have fewer than ten slashes.
MAX_SLASHES = 100
_NAME = "svc"
_IMPOSSIBLE_HOST = web.RequestKey("impossible_host", bool)
# The reserved bits of a frame. If one of them is set, aiohttp's reader rejects the frame with 1002, the
# required code for an unmasked frame.
_NO_FRAME = b"\x70\x00"
_MASK = 0x80

Raised = TypeVar("Raised", bound=BaseException)


class Runner(web.AppRunner):
    """A runner that serves `application` with an `HttpServer`."""

    def __init__(self, application: web.Application, *, shutdown_timeout: float) -> None:
        super().__init__(application, access_log=None, shutdown_timeout=shutdown_timeout)
        application.on_response_prepare.append(_set_server_header)

    async def _make_server(self) -> web.Server:
        made = await super()._make_server()
        return HttpServer(
            made.request_handler,
            request_factory=made.request_factory,
            handler_cancellation=made.handler_cancellation,
            **made._kwargs,
        )


class HttpServer(web.Server):
    """A factory that creates a protocol for each connection."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.request_factory = _with_a_host(self.request_factory)

    def __call__(self) -> HttpConnection:
        return _Connection(self, loop=self._loop, **{**self._kwargs, "auto_decompress": False})


class SwitchableServer:
    """An HTTP server whose application can be replaced while its connections stay open. All applications must
    have the same maximum body size.
    """

    def __init__(self, current: web.Server) -> None:
        self.current = current
        self.server = HttpServer(self._handle, request_factory=self._make, access_log=None)

    def _make(self, *parts: Any) -> web.BaseRequest:
        return self.current.request_factory(*parts)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        # The application may have changed since the request's head arrived.
        return await self.current.request_handler(request)


class _Connection(HttpConnection):
    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Return the response to malformed HTTP, or to an exception that no handler caught."""
        if isinstance(exc, ConnectionError) and (request.transport is None or request.transport.is_closing()):
            # The client disconnected, or its connection was closed to make room. That is not an error and
            # must not be logged.
            raise exc
        # aiohttp logs the error, and raises ConnectionError if a response is already being sent.
        super().handle_error(request, status, exc, message)
        if status < 500:
            if exc is not None:
                without_traceback(exc)
            error, words = "invalid_request", "The server cannot read this as an HTTP/1.1 request"
        else:
            error, words = "internal_error", "The server failed to handle this request. The error was logged"
        answer = _refusal(status, error, words)
        answer.force_close()
        return answer

    async def _handle_request(
        self,
        request: web.BaseRequest,
        start_time: float | None,
        request_handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]],
    ) -> tuple[web.StreamResponse, bool]:
        if _IMPOSSIBLE_HOST in request or request.rel_url.raw_path.count("/") > MAX_SLASHES:
            request_handler = self._refuse_the_address
        return await super()._handle_request(request, start_time, request_handler)

    async def _refuse_the_address(self, request: web.BaseRequest) -> web.StreamResponse:
        return self.handle_error(request, 400, HttpProcessingError(code=400))

    def log_exception(self, *args: Any, **fields: Any) -> None:
        if not isinstance(fields.get("exc_info"), HttpProcessingError | RequestPayloadError):
            super().log_exception(*args, **fields)

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        if resp.status == 417:  # aiohttp sends a 417 before any middleware runs.
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
    """A filter that passes on the bytes from a WebSocket client up to the first unmasked frame."""

    def __init__(self, reader: WebSocketReader) -> None:
        self._reader = reader
        # The start of a frame whose length field is still incomplete.
        self._head = b""
        # The remaining bytes of the current frame.
        self._left = 0
        self._refused = False

    def feed_eof(self) -> None:
        self._reader.feed_eof()

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        if self._refused:
            return True, b""
        if self._head:
            data = self._head + data
        # The position at which the next frame begins.
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


def without_traceback(refusal: Raised) -> Raised:
    """Return a caught exception without its traceback.

    The traceback refers back to the exception through the request, in a cycle of sixty objects. Without this
    function, Python would constantly collect such cycles while thousands of requests are rejected.
    """
    refusal.__context__ = None
    return refusal.with_traceback(None)


def _with_a_host(factory: Callable[..., web.BaseRequest]) -> Callable[..., web.BaseRequest]:
    """Return a request factory that also accepts an absolute URL with an invalid host.

    aiohttp's own factory raises an exception outside any handler, so it would log a traceback and never
    respond.
    """

    def make(message: RawRequestMessage, *others: Any) -> web.BaseRequest:
        try:
            _ = message.url.host
        except ValueError:
            request = factory(message._replace(url=message.url.relative()), *others)
            request[_IMPOSSIBLE_HOST] = True
            return request
        return factory(message, *others)

    return make


def _refusal(status: int, error: str, message: str) -> web.Response:
    body = json.dumps({"error": error, "message": message}).encode()
    return web.Response(status=status, body=body, content_type="application/json", headers={"Server": _NAME})


def _has_much_left(request: web.BaseRequest) -> bool:
    length = request.content_length
    return not request.content.is_eof() and (length is None or length > MAX_IGNORED_BYTES)


async def _set_server_header(_: web.Request, response: web.StreamResponse) -> None:
    # At this point, aiohttp has already added a header with its own name and version.
    response.headers["Server"] = _NAME
