"""`GET /openapi.json`, those of other doors, and `GET /asyncapi.json`.

Each is made once, when first asked for: a third of a second of work, on a thread beside the event loop.
"""

import asyncio
from collections.abc import Callable, Mapping

from aiohttp import web

from svc.base.strict_json import dumps
from svc.chat.described import Described
from svc.chat.openapi.features import described
from svc.chat.openapi.http_document import http_document
from svc.chat.openapi.live_document import live_document
from svc.chat.openapi.management_document import management_document
from svc.chat.openapi.webhook_document import webhook_document

Document = Callable[[Mapping[str, Described], str], dict[str, object]]


class DescriptionRoutes:
    def __init__(self, version: str) -> None:
        self._version = version
        self._made: dict[Document, asyncio.Future[bytes]] = {}

    def table(self) -> list[web.RouteDef]:
        return [
            web.get("/openapi.json", self.openapi),
            web.get("/openapi/management.json", self.management),
            web.get("/openapi/webhooks.json", self.webhooks),
            web.get("/asyncapi.json", self.asyncapi),
        ]

    async def openapi(self, request: web.Request) -> web.Response:
        return await self._answer(http_document)

    async def management(self, request: web.Request) -> web.Response:
        return await self._answer(management_document)

    async def webhooks(self, request: web.Request) -> web.Response:
        return await self._answer(webhook_document)

    async def asyncapi(self, request: web.Request) -> web.Response:
        return await self._answer(live_document)

    async def _answer(self, document: Document) -> web.Response:
        made = self._made.get(document)
        if made is None:
            made = self._made[document] = asyncio.ensure_future(asyncio.to_thread(self._make, document))
        # Others wait for it too.
        return web.Response(body=await asyncio.shield(made), content_type="application/json")

    def _make(self, document: Document) -> bytes:
        return dumps(document(described(), self._version))
