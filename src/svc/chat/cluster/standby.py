"""The HTTP server of a node that does not own its community.

Serves `/health` and `/metrics`. Any other request gets a 503 that names the owner. Serves none of the
community's data, which may be slightly out of date on this node.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from html import escape
from socket import socket

from aiohttp import web

from svc.base.http_server import Runner
from svc.base.strict_json import dumps
from svc.chat import http_port
from svc.chat.tls import TlsFiles

# Clients that look for the owner should try again soon.
_RETRY_AFTER_S = "1"
_SHUTDOWN_S = 1.0
_PAGE = """<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>Standing by</title>
<body style="font: 1.1rem system-ui; max-width: 34rem; margin: 4rem auto; padding: 0 1rem">
<h1>This server is standing by</h1><p>{}</p>"""


@asynccontextmanager
async def standing_by(
    sockets: Sequence[socket],
    files: TlsFiles | None,
    trusted_proxy_hops: int,
    health: Callable[[], Mapping[str, object]],
    owner_url: Callable[[], str],
    exposition: Callable[[], tuple[bytes, str]],
) -> AsyncIterator[str]:
    """Serve for the duration of the block. Yield the server's address."""

    async def answer(request: web.Request) -> web.Response:
        if request.path == "/health" and request.method in ("GET", "HEAD"):
            return _json(200, health())
        if request.path == "/metrics" and request.method in ("GET", "HEAD"):
            body, content_type = exposition()
            return web.Response(body=body, headers={"Content-Type": content_type})
        return _refusal(request, owner_url())

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    runner = Runner(application, shutdown_timeout=_SHUTDOWN_S)
    await runner.setup()
    try:
        async with http_port.accept_connections(
            runner.server, sockets, files, http_port.table_of(trusted_proxy_hops)
        ) as address:
            yield address
    finally:
        await runner.cleanup()


def _refusal(request: web.Request, owner_url: str) -> web.Response:
    headers = {"Retry-After": _RETRY_AFTER_S}
    if "text/html" in request.headers.get("Accept", ""):
        link = escape(owner_url, quote=True)
        where = f'The community is at <a href="{link}">{link}</a>.' if link else "Another one takes over."
        return web.Response(status=503, headers=headers, text=_PAGE.format(where), content_type="text/html")
    message = f"This node stands by. The community is at {owner_url}" if owner_url else _NONE
    return _json(503, {"error": "not_owner", "message": message, "owner": owner_url or None}, headers)


def _json(status: int, value: Mapping[str, object], headers: Mapping[str, str] | None = None) -> web.Response:
    response = web.Response(status=status, body=dumps(value), content_type="application/json")
    response.headers.update({"Cache-Control": "no-store", **(headers or {})})
    # Close the connection, so that a load balancer's next request can reach the owner instead of this node.
    response.force_close()
    return response


_NONE = "This node stands by, and no node owns the community at the moment. Try again in a moment"
