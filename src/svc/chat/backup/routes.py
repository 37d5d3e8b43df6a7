"""`/api/backups`: the owner's backups, made, listed, downloaded and deleted."""

import asyncio
import logging
import os
import time
from pathlib import Path

from aiohttp import web

from svc.base.readers import Readers
from svc.chat.backup.kept import LINK_S, KeptBackups
from svc.chat.errors import ChatError
from svc.chat.fields import identifier
from svc.chat.http import answer, asker, nothing

# Nobody needs more at once.
MAX_STREAMS = 2
# Somebody who takes no chunk for so long has gone.
WRITE_DEADLINE_S = 30.0
_CHUNK_BYTES = 256 * 1024

logger = logging.getLogger(__name__)


class BackupRoutes:
    def __init__(self, backups: KeptBackups) -> None:
        self._backups = backups
        self._readers = Readers(time.monotonic)

    def table(self) -> list[web.RouteDef]:
        one = "/api/backups/{name}"
        return [
            web.get("/api/backups", self.list),
            web.post("/api/backups", self.begin),
            web.get(one, self.download),
            web.delete(one, self.delete),
            web.post(one + "/link", self.link),
            web.get("/api/backup-links/{token}", self.linked),
        ]

    async def list(self, request: web.Request) -> web.Response:
        return answer(await asyncio.to_thread(self._backups.described))

    async def begin(self, request: web.Request) -> web.Response:
        await self._backups.begin(asker(request).member_id, time.time())
        return answer(self._backups.described(), 202)

    async def delete(self, request: web.Request) -> web.Response:
        await self._backups.delete(asker(request).member_id, _name(request), time.time())
        return nothing()

    async def link(self, request: web.Request) -> web.Response:
        token = await self._backups.link(asker(request).member_id, _name(request), time.time())
        ends = int((time.time() + LINK_S) * 1000)
        return answer({"url": f"/api/backup-links/{token}", "expires_at_ms": ends}, 201)

    async def download(self, request: web.Request) -> web.StreamResponse:
        path = self._backups.path(_name(request))
        # As with a link: the log says that somebody has taken it away.
        await self._backups.link(asker(request).member_id, path.name, time.time())
        return await self._send(request, path)

    async def linked(self, request: web.Request) -> web.StreamResponse:
        return await self._send(request, self._backups.linked(identifier(request.match_info, "token")))

    async def _send(self, request: web.Request, path: Path) -> web.StreamResponse:
        transport = request.transport
        if transport is None:
            return nothing()  # Nobody is there any more.
        reader = self._readers.admit("the owner", MAX_STREAMS, transport.abort)
        if reader is None:
            raise ChatError("too_many_connections", "Backups are being downloaded already. Try again later")
        response = web.StreamResponse(
            headers={
                "Content-Disposition": f'attachment; filename="{path.name}"',
                "Cache-Control": "no-store",
            }
        )
        response.content_type = "application/gzip"
        try:
            with path.open("rb") as file:
                response.content_length = os.fstat(file.fileno()).st_size
                await response.prepare(request)
                while chunk := await asyncio.to_thread(file.read, _CHUNK_BYTES):
                    with reader.taking():
                        async with asyncio.timeout(WRITE_DEADLINE_S):
                            await response.write(chunk)
                await response.write_eof()
        except (TimeoutError, ConnectionError) as fault:
            logger.debug("a backup was not read to its end", extra={"fault": type(fault).__name__})
            transport.abort()
        finally:
            self._readers.leave(reader)
        return response


def _name(request: web.Request) -> str:
    return identifier(request.match_info, "name")
