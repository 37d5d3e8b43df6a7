"""`GET /health`, `/info` and `/metrics` for anybody, `/api/health` for the owner: what the server says.

docs/http.md, "What the server says of itself".
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime

from aiohttp import web

from svc.base.metrics import Registry
from svc.chat.access.tokens import AccessTokens
from svc.chat.errors import ChatError
from svc.chat.http import answer, client_address
from svc.chat.status.probes import Arrival, Probes
from svc.chat.status.report import Report


class Status:
    """`info` says what `/info` tells anybody, `works` whether writes are kept; `version` is for members."""

    def __init__(
        self,
        server_name: Callable[[], str],
        version: str,
        info: Callable[[], Mapping[str, object]],
        tokens: AccessTokens,
        registry: Registry,
        probes: Probes,
        works: Callable[[], Awaitable[bool]],
        report: Report,
    ) -> None:
        self._server_name = server_name
        self._version = version
        self._info = info
        self._tokens = tokens
        self._registry = registry
        self._probes = probes
        self._works = works
        self._report = report

    def table(self) -> list[web.RouteDef]:
        return [
            web.get("/health", self.health),
            web.get("/info", self.info),
            web.get("/metrics", self.metrics),
            web.get("/api/health", self.report),
        ]

    async def health(self, request: web.Request) -> web.Response:
        if mark := request.query.get("probe"):
            self._probes.arrived(mark, _arrival(request))
        works = await self._works()
        return answer(
            {
                "status": "healthy" if works else "degraded",
                "service": "chat",
                "serverName": self._server_name(),
                "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            },
            status=200 if works else 503,
        )

    async def info(self, request: web.Request) -> web.Response:
        shown = dict(self._info())
        if self._is_member(request):
            shown["version"] = self._version
        return answer(shown)

    async def report(self, request: web.Request) -> web.Response:
        return answer(await self._report.described(time.time()))

    async def metrics(self, request: web.Request) -> web.Response:
        body, content_type = self._registry.exposition()
        return web.Response(body=body, headers={"Content-Type": content_type})

    def _is_member(self, request: web.Request) -> bool:
        """A token that is not good makes a stranger of its bearer, who may see the rest all the same."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return False
        try:
            self._tokens.verify(token.strip(), time.time())
        except ChatError:
            return False
        return True


def _arrival(request: web.Request) -> Arrival:
    return Arrival(
        host=request.host,
        peer=request.remote or "",
        forwarded_for=request.headers.getall("X-Forwarded-For", []),
        address=client_address(request).ip,
        secure=request.secure,
    )
