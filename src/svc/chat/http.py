"""What every `routes` file needs of HTTP: the asking member, the body, the answer.

The floor of chat, beside `errors`; knows no feature. The member is put into the request by
the application, which has checked the catalogue by then.
"""

from collections.abc import Mapping

from aiohttp import web

from svc.base.strict_json import dumps, loads_object
from svc.chat.access.tokens import Asker
from svc.chat.errors import ChatError

ASKER = web.RequestKey("asker", Asker)


def asker(request: web.Request) -> Asker:
    """Who asks; for endpoints that the catalogue opens to members only."""
    return request[ASKER]


async def body(request: web.Request) -> dict[str, object]:
    """The JSON object of a request. Raises ChatError."""
    try:
        return loads_object(await request.text())
    except (ValueError, LookupError):  # LookupError: a charset nobody knows.
        raise ChatError("invalid_json") from None


def answer(data: Mapping[str, object] | list[object], status: int = 200) -> web.Response:
    return web.Response(body=dumps(data), status=status, content_type="application/json")


def nothing() -> web.Response:
    """Done, and nothing to say."""
    return web.Response(status=204)
