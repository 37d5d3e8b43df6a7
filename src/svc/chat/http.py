"""Helps endpoints identify the requesting member, read the body, and build responses and errors.

Every feature uses this module, but this module imports no feature. Before an endpoint runs, the application
checks the request against `endpoint_permissions` and stores the member's session in the request.
"""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator
from urllib.parse import unquote

from aiohttp import StreamReader, web
from aiohttp.typedefs import Handler
from msgspec import json

from svc.base.database import StorageFailed
from svc.base.http_server import without_traceback
from svc.base.strict_json import loads_object
from svc.chat.access.client_address import FORWARDING_HEADERS, ClientAddress, client_behind_proxies
from svc.chat.access.tokens import Session
from svc.chat.errors import ChatError, from_status

SESSION = web.RequestKey("session", Session)
# The conventional status, not defined by any RFC, for a client that disconnected before the response.
CLIENT_GONE = 499
# The number of trusted proxies in front of the server, set by the application.
TRUSTED_HOPS = web.AppKey("trusted_hops", int)

# A client that sends nothing for this long is considered disconnected, but can resume its upload later.
READ_DEADLINE_S = 30.0
# The errors for a body that is incomplete or has invalid chunks.
_BROKEN = (OSError, web.RequestPayloadError)

# Matches `name=token`, `name="quoted"` and (RFC 8187) `name*=utf-8'language'percent-encoded`.
_PARAMETER = re.compile(r';\s*([\w-]+)(\*?)\s*=\s*(?:"((?:[^"\\]|\\.)*+)"|([^\s";]*))')
_QUOTED = re.compile(r"\\(.)")
_DISPOSITION = re.compile(rb"(?im)^content-disposition:[ \t]*([^\r\n]*)")

logger = logging.getLogger(__name__)


@web.middleware
async def json_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn every exception into an error response with the usual JSON body."""
    headers: dict[str, str] = {}
    try:
        return await handler(request)
    except ChatError as refusal:
        problem = without_traceback(refusal)
    except web.HTTPException as fault:
        problem = from_status(without_traceback(fault).status)
        headers = {name: fault.headers[name] for name in ("Allow",) if name in fault.headers}
    except StorageFailed as fault:
        problem = ChatError("storage_unavailable", fault.reason_for_clients)
    except Exception as fault:
        if isinstance(fault, ConnectionResetError) and (
            request.transport is None or request.transport.is_closing()
        ):
            # The client has disconnected, which is not an error and must not fill the log.
            return web.Response(status=CLIENT_GONE)
        # Do not log the requested path, because webhook paths contain a secret.
        resource = request.match_info.route.resource
        path = resource.canonical if resource else "none"
        logger.exception("request failed", extra={"method": request.method, "path": path})
        problem = ChatError("internal_error")
    return with_wait(web.json_response(problem.body(), status=problem.status, headers=headers), problem)


def with_wait(response: web.Response, refusal: ChatError) -> web.Response:
    """Add the `Retry-After` header if the error includes a wait time."""
    wait_ms = refusal.more.get("retry_after_ms")
    if isinstance(wait_ms, int):
        response.headers["Retry-After"] = str(-(-wait_ms // 1000))
    return response


def refuse_compressed(request: web.Request) -> None:
    """Raise ChatError if the body is compressed, because a few KB can expand to gigabytes."""
    if request.headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
        raise ChatError("unsupported_encoding")


def session_of(request: web.Request) -> Session:
    """Return the requesting member's session. Use this only in endpoints that require a member."""
    return request[SESSION]


def client_address(request: web.Request) -> ClientAddress:
    """Return the client's address, taken from trusted proxies' headers or from the connection."""
    headers = request.headers
    announced = any(name in headers for name in FORWARDING_HEADERS)
    forwarded_for = headers.getall("X-Forwarded-For", [])
    return client_behind_proxies(request.app[TRUSTED_HOPS], request.remote or "", forwarded_for, announced)


def local_ip(request: web.Request) -> str:
    """Return the local IP address of the request's connection, or an empty string if unknown."""
    name = request.transport.get_extra_info("sockname") if request.transport else None
    return str(name[0]) if isinstance(name, tuple) else ""


async def body(request: web.Request) -> dict[str, object]:
    """Return the JSON object in a request's body, decoded as UTF-8 regardless of the Content-Type. Raises
    ChatError.
    """
    try:
        return loads_object((await content(request)).decode())
    except ValueError:
        raise ChatError("invalid_json") from None


async def content(request: web.Request, maximum: int | None = None) -> bytes:
    """Return a JSON request's body without decoding it. Raises ChatError.

    `maximum` overrides the server's default size limit.
    """
    refuse_compressed(request)
    whole = request if maximum is None else request.clone(client_max_size=maximum)
    try:
        return await whole.read()
    # The chunked encoding is invalid, or the client has disconnected.
    except (web.RequestPayloadError, ConnectionError):
        raise ChatError("invalid_json") from None


async def received_chunks(content: StreamReader) -> AsyncGenerator[bytes, None]:
    """Yield an uploaded file's data. Raises ChatError if the data is truncated."""
    while True:
        try:
            async with asyncio.timeout(READ_DEADLINE_S):
                chunk = await content.readany()
        except _BROKEN:
            raise ChatError("upload_cut_short") from None
        if not chunk:
            return
        yield chunk


def parameters(header: str) -> dict[str, str]:
    """Return a header's parameters, decoded as UTF-8. Invalid parameters are ignored."""
    values: dict[str, str] = {}
    for name, extended, quoted, token in _PARAMETER.findall(header):
        value = _QUOTED.sub(r"\1", quoted) or token
        if extended:
            value = unquote(value.rpartition("'")[2], errors="replace")
        values[name.lower()] = value
    return values


def media_type(header: str) -> str:
    """Return the type in a Content-Type header, in lower case and without parameters.

    aiohttp's `content_type` also parses the parameters, which takes 480 ms for 8,000 semicolons.
    """
    return header.partition(";")[0].strip().lower()


def disposition(head: bytes) -> dict[str, str]:
    """Return the parameters in a multipart part's Content-Disposition header."""
    match = _DISPOSITION.search(head)
    return parameters(match[1].decode("utf-8", "replace")) if match else {}


def query_number(request: web.Request, name: str, *, minimum: int, maximum: int) -> int | None:
    """Return a whole number from the query, or None if it is absent. Raises ChatError."""
    text = request.query.get(name)
    if text is None:
        return None
    # Check the length first, because parsing a million digits is slow.
    if not (text.isascii() and text.isdecimal() and len(text) <= 19 and minimum <= int(text) <= maximum):
        raise ChatError("invalid_request", f"{name} must be a whole number from {minimum} to {maximum}")
    return int(text)


def answer(data: object, status: int = 200) -> web.Response:
    """Return a JSON response that contains `data` without UNSET fields."""
    return web.Response(body=json.encode(data), status=status, content_type="application/json")


def no_content() -> web.Response:
    """Return an empty response."""
    return web.Response(status=204)
