"""What whoever serves a request needs of HTTP: the asking member, the body, the answer, the refusal.

The floor of chat, beside `errors`; knows no feature. The member is put into the request by
the application, which has checked the catalogue by then.
"""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator
from urllib.parse import unquote

from aiohttp import StreamReader, web
from aiohttp.typedefs import Handler

from svc.base.database import StorageFailed
from svc.base.http_server import forgotten
from svc.base.strict_json import dumps, loads_object
from svc.chat.access.address import FORWARDING_HEADERS, ClientAddress, seen_through
from svc.chat.access.tokens import Asker
from svc.chat.errors import ChatError, from_status

ASKER = web.RequestKey("asker", Asker)
# Not in any RFC: what servers count when the client went before it was answered.
CLIENT_GONE = 499
# How many proxies in front of the server are trusted; put there by the application.
TRUSTED_HOPS = web.AppKey("trusted_hops", int)

# A client that sends nothing for so long has gone; it can go on later.
READ_DEADLINE_S = 30.0
# A body that does not arrive, or is in chunks that are none.
_BROKEN = (OSError, web.RequestPayloadError)

# `name=token`, `name="quoted"` and, of RFC 8187, `name*=utf-8'language'percent-encoded`.
_PARAMETER = re.compile(r';\s*([\w-]+)(\*?)\s*=\s*(?:"((?:[^"\\]|\\.)*+)"|([^\s";]*))')
_QUOTED = re.compile(r"\\(.)")
_DISPOSITION = re.compile(rb"(?im)^content-disposition:[ \t]*([^\r\n]*)")

logger = logging.getLogger(__name__)


@web.middleware
async def one_error_shape(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every refusal and every fault answers with the same body."""
    headers: dict[str, str] = {}
    try:
        return await handler(request)
    except ChatError as refusal:
        problem = forgotten(refusal)
    except web.HTTPException as fault:
        problem = from_status(forgotten(fault).status)
        headers = {name: fault.headers[name] for name in ("Allow",) if name in fault.headers}
    except StorageFailed:
        problem = ChatError("storage_unavailable")
    except Exception as fault:
        if isinstance(fault, ConnectionResetError) and (
            request.transport is None or request.transport.is_closing()
        ):
            # The client has gone, as often as it likes: that is not a fault, and not a line in the log.
            return web.Response(status=CLIENT_GONE)
        # Not the path as it was asked: those of webhooks hold a secret.
        resource = request.match_info.route.resource
        path = resource.canonical if resource else "none"
        logger.exception("request failed", extra={"method": request.method, "path": path})
        problem = ChatError("internal_error")
    return with_wait(web.json_response(problem.body(), status=problem.status, headers=headers), problem)


def with_wait(response: web.Response, refusal: ChatError) -> web.Response:
    """A refusal, which says in its headers too when it will be none."""
    wait_ms = refusal.more.get("retry_after_ms")
    if isinstance(wait_ms, int):
        response.headers["Retry-After"] = str(-(-wait_ms // 1000))
    return response


def refuse_compressed(request: web.Request) -> None:
    """For whoever reads a body: a few KB of a compressed one can stand for gigabytes. Raises ChatError."""
    if request.headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
        raise ChatError("unsupported_encoding")


def asker(request: web.Request) -> Asker:
    """Who asks; for endpoints that the catalogue opens to members only."""
    return request[ASKER]


def client_address(request: web.Request) -> ClientAddress:
    """Where a request comes from, as far as that can be believed."""
    headers = request.headers
    announced = any(name in headers for name in FORWARDING_HEADERS)
    forwarded_for = headers.getall("X-Forwarded-For", [])
    return seen_through(request.app[TRUSTED_HOPS], request.remote or "", forwarded_for, announced)


def local_ip(request: web.Request) -> str:
    """The address of this machine to which the request came; empty where the connection has none."""
    name = request.transport.get_extra_info("sockname") if request.transport else None
    return str(name[0]) if isinstance(name, tuple) else ""


async def body(request: web.Request) -> dict[str, object]:
    """The JSON object of a request: UTF-8, whatever its Content-Type says. Raises ChatError."""
    try:
        return loads_object((await content(request)).decode())
    except ValueError:
        raise ChatError("invalid_json") from None


async def content(request: web.Request, most: int | None = None) -> bytes:
    """The body of a request that is JSON, as it came. Raises ChatError.

    It has at most as many bytes as the server takes usually, or `most`.
    """
    refuse_compressed(request)
    whole = request if most is None else request.clone(client_max_size=most)
    try:
        return await whole.read()
    # A body in chunks that are none, and a client that has gone.
    except (web.RequestPayloadError, ConnectionError):
        raise ChatError("invalid_json") from None


async def arriving(content: StreamReader) -> AsyncGenerator[bytes, None]:
    """A file that is sent to us, as it comes. Raises ChatError where it does not come to its end."""
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
    """Those behind the first semicolon of a header, always as UTF-8. What is no parameter is ignored."""
    found: dict[str, str] = {}
    for name, extended, quoted, token in _PARAMETER.findall(header):
        value = _QUOTED.sub(r"\1", quoted) or token
        if extended:
            value = unquote(value.rpartition("'")[2], errors="replace")
        found[name.lower()] = value
    return found


def disposition(head: bytes) -> dict[str, str]:
    """The parameters of Content-Disposition in the headers of a part of a multipart body."""
    found = _DISPOSITION.search(head)
    return parameters(found[1].decode("utf-8", "replace")) if found else {}


def query_number(request: web.Request, name: str, *, least: int, most: int) -> int | None:
    """A whole number of the query; None where it is not given. Raises ChatError."""
    text = request.query.get(name)
    if text is None:
        return None
    # The bound on its length comes first: a number of a million digits takes long to read.
    if not (text.isascii() and text.isdecimal() and len(text) <= 19 and least <= int(text) <= most):
        raise ChatError("invalid_request", f"{name} must be a whole number from {least} to {most}")
    return int(text)


def answer(data: object, status: int = 200) -> web.Response:
    return web.Response(body=dumps(data), status=status, content_type="application/json")


def nothing() -> web.Response:
    """Done, and nothing to say."""
    return web.Response(status=204)
