"""`GET /openapi.json`, those of other doors, and `GET /asyncapi.json`. Made once, when first asked for."""

from collections.abc import Callable, Mapping
from functools import cache

from aiohttp import web

from svc.base.strict_json import dumps
from svc.chat.described import Described
from svc.chat.openapi.features import described
from svc.chat.openapi.http_document import http_document
from svc.chat.openapi.live_document import live_document
from svc.chat.openapi.management_document import management_document
from svc.chat.openapi.webhook_document import webhook_document


class DescriptionRoutes:
    def __init__(self, version: str) -> None:
        self._version = version
        self._made = cache(self._make)

    def table(self) -> list[web.RouteDef]:
        return [
            web.get("/openapi.json", self.openapi),
            web.get("/openapi/management.json", self.management),
            web.get("/openapi/webhooks.json", self.webhooks),
            web.get("/asyncapi.json", self.asyncapi),
        ]

    async def openapi(self, request: web.Request) -> web.Response:
        return web.Response(body=self._made(http_document), content_type="application/json")

    async def management(self, request: web.Request) -> web.Response:
        return web.Response(body=self._made(management_document), content_type="application/json")

    async def webhooks(self, request: web.Request) -> web.Response:
        return web.Response(body=self._made(webhook_document), content_type="application/json")

    async def asyncapi(self, request: web.Request) -> web.Response:
        return web.Response(body=self._made(live_document), content_type="application/json")

    def _make(self, document: Callable[[Mapping[str, Described], str], dict[str, object]]) -> bytes:
        return dumps(document(described(), self._version))
