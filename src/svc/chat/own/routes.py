"""`/api/me`: leaving, one's own data, blocks."""

import asyncio
import logging
import time
from collections.abc import Mapping

from aiohttp import web

from svc.base.readers import Reader, Readers
from svc.chat.errors import ChatError
from svc.chat.fields import identifier
from svc.chat.http import answer, asker, nothing
from svc.chat.own.blocks import Blocks
from svc.chat.own.export import Part, export
from svc.chat.own.rules import OwnAffairs

# An export reads all of a member's messages; a few at a time leave the disk to others.
MAX_EXPORTS = 2
WRITE_DEADLINE_S = 30.0

logger = logging.getLogger(__name__)


class OwnRoutes:
    def __init__(self, affairs: OwnAffairs, blocks: Blocks, parts: Mapping[str, Part]) -> None:
        self._affairs = affairs
        self._blocks = blocks
        self._parts = parts
        self._exporting = Readers(time.monotonic)

    def table(self) -> list[web.RouteDef]:
        block = "/api/me/blocks/{member_id}"
        return [
            web.post("/api/me/leave", self.leave),
            web.get("/api/me/export", self.export),
            web.delete("/api/me", self.delete),
            web.get("/api/me/blocks", self.blocks),
            web.put(block, self.block),
            web.delete(block, self.unblock),
        ]

    async def leave(self, request: web.Request) -> web.Response:
        await self._affairs.leave(asker(request).member_id, time.time())
        return nothing()

    async def delete(self, request: web.Request) -> web.Response:
        await self._affairs.delete(asker(request).member_id, time.time())
        return nothing()

    async def blocks(self, request: web.Request) -> web.Response:
        return answer({"blocked": self._blocks.of(asker(request).member_id)})

    async def block(self, request: web.Request) -> web.Response:
        other_id = identifier(request.match_info, "member_id")
        await self._blocks.block(asker(request).member_id, other_id, time.time())
        return nothing()

    async def unblock(self, request: web.Request) -> web.Response:
        other_id = identifier(request.match_info, "member_id")
        await self._blocks.unblock(asker(request).member_id, other_id)
        return nothing()

    async def export(self, request: web.Request) -> web.StreamResponse:
        transport = request.transport
        if transport is None:
            return nothing()  # Nobody is there any more.
        reader = self._exporting.admit(asker(request).member_id, MAX_EXPORTS, transport.abort)
        if reader is None:
            raise ChatError("export_running")
        try:
            return await self._send(request, reader)
        finally:
            self._exporting.leave(reader)

    async def _send(self, request: web.Request, reader: Reader) -> web.StreamResponse:
        response = web.StreamResponse(
            headers={"Content-Disposition": 'attachment; filename="my-data.json"'},
        )
        response.content_type = "application/json"
        await response.prepare(request)
        try:
            async for piece in export(asker(request), self._parts, int(time.time() * 1000)):
                with reader.taking():
                    async with asyncio.timeout(WRITE_DEADLINE_S):
                        await response.write(piece)
            await response.write_eof()
        except (TimeoutError, ConnectionError) as fault:
            logger.debug("an export was not read to its end", extra={"fault": type(fault).__name__})
            if request.transport is not None:
                request.transport.abort()
        except Exception:
            # No refusal can follow what has been sent; cut off, nobody takes it for whole.
            logger.exception("sending an export failed")
            if request.transport is not None:
                request.transport.abort()
        return response
