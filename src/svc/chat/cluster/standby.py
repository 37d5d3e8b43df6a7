"""Implements the HTTP server of a cluster node that does not own the community.

Serves `/health`, `/metrics` and the load balancers' health check. After a handover, passes requests on to the
new owner for a few seconds. Any other request gets a 503 that identifies the owner. Serves none of the
community's data, because this node's copy may be slightly out of date.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html import escape

from aiohttp import web

from svc.base.http_server import Runner
from svc.base.strict_json import dumps
from svc.chat.app import MAX_BODY_BYTES
from svc.chat.cluster.former_owner import READY_PATH, UNAVAILABLE, Handover
from svc.chat.cluster.relay_protocol import LINK_PATH
from svc.chat.http import TRUSTED_HOPS, json_errors

# Clients that are looking for the owner should retry soon.
_RETRY_AFTER_S = "1"
_SHUTDOWN_S = 1.0
_PAGE = """<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>Standing by</title>
<body style="font: 1.1rem system-ui; max-width: 34rem; margin: 4rem auto; padding: 0 1rem">
<h1>This server is standing by</h1><p>{}</p>"""


@dataclass(frozen=True, slots=True)
class Standby:
    """The parts of a node that its standby HTTP server uses."""

    health: Callable[[], Mapping[str, object]]
    exposition: Callable[[], tuple[bytes, str]]
    owner_url: Callable[[], str]
    handover: Handover
    pass_on: Callable[[web.Request], Awaitable[web.StreamResponse]]

    @asynccontextmanager
    async def running(self, trusted_proxy_hops: int) -> AsyncIterator[web.Server]:
        """Run the application for the duration of the block. Yield its server, which listens on no port."""
        application = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[json_errors])
        application[TRUSTED_HOPS] = trusted_proxy_hops
        application.router.add_route("*", "/{path:.*}", self._answer, expect_handler=self._expect)
        runner = Runner(application, shutdown_timeout=_SHUTDOWN_S)
        await runner.setup()
        try:
            assert runner.server is not None, "the runner has been set up"
            yield runner.server
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if request.method in ("GET", "HEAD"):
            if request.path == "/health":
                return _json(200, self.health())
            if request.path == READY_PATH:
                return _json(self.handover.readiness, {})
            if request.path == "/metrics":
                body, content_type = self.exposition()
                return web.Response(body=body, headers={"Content-Type": content_type})
        if self._passes_on(request):
            return await self.pass_on(request)
        return _refusal(request, self.owner_url())

    def _passes_on(self, request: web.Request) -> bool:
        is_special = request.path == LINK_PATH or "Upgrade" in request.headers
        return not is_special and self.handover.readiness != UNAVAILABLE

    async def _expect(self, request: web.Request) -> None:
        """Request the body only if the request is passed on. The client of a rejected request can then still
        send the body to another node.
        """
        if self._passes_on(request):
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")


def _refusal(request: web.Request, owner_url: str) -> web.Response:
    headers = {"Retry-After": _RETRY_AFTER_S}
    if "text/html" in request.headers.get("Accept", ""):
        link = escape(owner_url, quote=True)
        where = f'The community is at <a href="{link}">{link}</a>.' if link else "Another one takes over."
        return web.Response(status=503, headers=headers, text=_PAGE.format(where), content_type="text/html")
    message = f"This node is on standby. The community is at {owner_url}" if owner_url else _NONE
    return _json(503, {"error": "not_owner", "message": message, "owner": owner_url or None}, headers)


def _json(status: int, value: Mapping[str, object], headers: Mapping[str, str] | None = None) -> web.Response:
    response = web.Response(status=status, body=dumps(value), content_type="application/json")
    response.headers.update({"Cache-Control": "no-store", **(headers or {})})
    # Close the connection, because otherwise a load balancer's next request would reach this node again.
    response.force_close()
    return response


_NONE = "This node is on standby, and no node owns the community at the moment. Try again in a moment"
