"""Handles requests for the API descriptions, such as `/reference`, `/openapi.json` and `/asyncapi.json`.

Each description is built on a separate thread when it is first requested. This takes a third of a second.
"""

import asyncio
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from aiohttp import web

import svc.chat
from svc.base.strict_json import dumps
from svc.chat.access.endpoint_permissions import ANYONE
from svc.chat.endpoints import Endpoints, FeatureDescription, describe_feature, endpoint
from svc.chat.openapi.http_document import http_document, management_document
from svc.chat.openapi.live_document import live_document
from svc.chat.openapi.reference import POLICY, reference
from svc.chat.openapi.webhook_document import webhook_document

# Features whose name in the API descriptions differs from their folder. Generated clients depend on these
# names.
_TAGS = {
    "notification_levels": "levels",
    "unread_counts": "rail",
    "authentication": "joining",
    "private_conversations": "direct",
}


@cache
def feature_descriptions() -> Mapping[str, FeatureDescription]:
    """Return the description of each feature, keyed by the tag that groups its endpoints."""
    folders = (module.name for module in pkgutil.iter_modules(svc.chat.__path__) if module.ispkg)
    return {
        tag: import_module(f"svc.chat.{folder}.endpoints").DESCRIPTION
        for tag, folder in sorted((_TAGS.get(folder, folder), folder) for folder in folders)
        if find_spec(f"svc.chat.{folder}.endpoints") is not None
    }


Document = Callable[[Mapping[str, FeatureDescription], str], dict[str, object] | str]
_DOCUMENT = {"type": "object"}


class DescriptionEndpoints(Endpoints):
    def __init__(self, version: str) -> None:
        self._version = version
        self._made: dict[Document, asyncio.Future[bytes]] = {}

    @endpoint(
        ANYONE,
        "Show the reference for people: all endpoints, requests, events, objects and errors",
        http="GET /reference",
        returns=str,
        media_type="text/html",
    )
    async def reference(self) -> web.StreamResponse:
        response = await self._answer(reference, "text/html")
        response.headers["Content-Security-Policy"] = POLICY
        return response

    @endpoint(ANYONE, "Return this document", http="GET /openapi.json", returns=_DOCUMENT)
    async def openapi(self) -> web.StreamResponse:
        return await self._answer(http_document)

    @endpoint(
        ANYONE,
        "Describe the management listener as OpenAPI",
        http="GET /openapi/management.json",
        returns=_DOCUMENT,
    )
    async def management(self) -> web.StreamResponse:
        return await self._answer(management_document)

    @endpoint(
        ANYONE,
        "Describe posts to webhooks as OpenAPI",
        http="GET /openapi/webhooks.json",
        returns=_DOCUMENT,
    )
    async def webhooks(self) -> web.StreamResponse:
        return await self._answer(webhook_document)

    @endpoint(ANYONE, "Describe the live socket as AsyncAPI", http="GET /asyncapi.json", returns=_DOCUMENT)
    async def asyncapi(self) -> web.StreamResponse:
        return await self._answer(live_document)

    async def _answer(self, document: Document, content_type: str = "application/json") -> web.Response:
        made = self._made.get(document)
        if made is None:
            made = self._made[document] = asyncio.ensure_future(asyncio.to_thread(self._make, document))
        # Shielded, because other requests may be waiting for the same result.
        charset = "utf-8" if content_type == "text/html" else None
        return web.Response(body=await asyncio.shield(made), content_type=content_type, charset=charset)

    def _make(self, document: Document) -> bytes:
        content = document(feature_descriptions(), self._version)
        return content.encode() if isinstance(content, str) else dumps(content)


DESCRIPTION = describe_feature(DescriptionEndpoints)
