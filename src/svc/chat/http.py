"""What every `routes` file needs of HTTP: the asking member, the body, the answer, the refusal.

The floor of chat, beside `errors`; knows no feature. The member is put into the request by
the application, which has checked the catalogue by then.
"""

import logging
from collections.abc import Mapping

from aiohttp import web
from aiohttp.typedefs import Handler

from svc.base.database import StorageFailed
from svc.base.strict_json import dumps, loads_object
from svc.chat.access.address import FORWARDING_HEADERS, ClientAddress, seen_through
from svc.chat.access.tokens import Asker
from svc.chat.errors import ChatError, from_status

ASKER = web.RequestKey("asker", Asker)
# How many proxies in front of the server are trusted; put there by the application.
TRUSTED_HOPS = web.AppKey("trusted_hops", int)

logger = logging.getLogger(__name__)


@web.middleware
async def one_error_shape(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every refusal and every fault answers with the same body."""
    headers: dict[str, str] = {}
    try:
        return await handler(request)
    except ChatError as refusal:
        problem = refusal
    except web.HTTPException as fault:
        problem = from_status(fault.status)
        headers = {name: fault.headers[name] for name in ("Allow",) if name in fault.headers}
    except StorageFailed:
        problem = ChatError("storage_unavailable")
    except Exception:
        # Not the path as it was asked: those of webhooks hold a secret.
        resource = request.match_info.route.resource
        path = resource.canonical if resource else "none"
        logger.exception("request failed", extra={"method": request.method, "path": path})
        problem = ChatError("internal_error")
    return web.json_response(problem.body(), status=problem.status, headers=headers)


def asker(request: web.Request) -> Asker:
    """Who asks; for endpoints that the catalogue opens to members only."""
    return request[ASKER]


def client_address(request: web.Request) -> ClientAddress:
    """Where a request comes from, as far as that can be believed."""
    headers = request.headers
    announced = any(name in headers for name in FORWARDING_HEADERS)
    forwarded_for = headers.getall("X-Forwarded-For", [])
    return seen_through(request.app[TRUSTED_HOPS], request.remote or "", forwarded_for, announced)


async def body(request: web.Request) -> dict[str, object]:
    """The JSON object of a request. Raises ChatError."""
    try:
        return loads_object(await request.text())
    # LookupError: a charset nobody knows. ConnectionError: nobody is there any more.
    except (ValueError, LookupError, ConnectionError):
        raise ChatError("invalid_json") from None


def query_number(request: web.Request, name: str, *, least: int, most: int) -> int | None:
    """A whole number of the query; None where it is not given. Raises ChatError."""
    text = request.query.get(name)
    if text is None:
        return None
    # The bound on its length comes first: a number of a million digits takes long to read.
    if not (text.isascii() and text.isdecimal() and len(text) <= 19 and least <= int(text) <= most):
        raise ChatError("invalid_request", f"{name} must be a whole number from {least} to {most}")
    return int(text)


def answer(data: Mapping[str, object] | list[object], status: int = 200) -> web.Response:
    return web.Response(body=dumps(data), status=status, content_type="application/json")


def nothing() -> web.Response:
    """Done, and nothing to say."""
    return web.Response(status=204)
