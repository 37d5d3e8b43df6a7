"""Handles requests and commands for backups."""

import asyncio
import logging
import os
import time
from collections.abc import Sequence
from pathlib import Path

from aiohttp import web

from svc.base.stream_admission import Readers
from svc.chat.access.endpoint_permissions import ANYONE, OWNER
from svc.chat.access.tokens import Session
from svc.chat.backup.backups import BackupResult, Backups
from svc.chat.backup.responses import AllBackups, BackupFinished
from svc.chat.backup.stored_backups import LINK_S, StoredBackups
from svc.chat.control.commands import Commands, command
from svc.chat.endpoints import Endpoints, describe_feature, endpoint
from svc.chat.errors import ChatError
from svc.chat.http import no_content
from svc.chat.schemas import Event, Id, Response, TimeMs

# The maximum number of simultaneous downloads by the owner.
MAX_STREAMS = 2
# A client that accepts no data for this long is considered disconnected.
WRITE_DEADLINE_S = 30.0
_CHUNK_BYTES = 256 * 1024
_ARCHIVE = "application/gzip"

logger = logging.getLogger(__name__)


class BackupLink(Response):
    url: str
    expires_at_ms: TimeMs


class DatabaseFaults(Response):
    faults: Sequence[str]


class BackupEndpoints(Endpoints):
    """Endpoints for backups. A backup contains all secrets, so only the owner may download one."""

    def __init__(self, backups: StoredBackups) -> None:
        self._backups = backups
        self._readers = Readers(time.monotonic)

    @endpoint(OWNER, "List all backups, and the one in progress", http="GET /api/backups")
    async def all(self) -> AllBackups:
        return await asyncio.to_thread(self._backups.all)

    @endpoint(
        OWNER,
        "Start a backup. At most 5 are kept. The event `backup_finished` reports the end",
        http="POST /api/backups",
        refusals=("too_many",),
        status=202,
    )
    async def begin(self, session: Session) -> AllBackups:
        await self._backups.begin(session.member_id, time.time())
        return self._backups.all()

    @endpoint(
        OWNER,
        "Download a backup, which contains every secret of the server",
        http="GET /api/backups/{name}",
        refusals=("too_many_connections", "unknown_backup"),
        returns=str,
        media_type=_ARCHIVE,
    )
    async def download(self, session: Session, http_request: web.Request, name: Id) -> web.StreamResponse:
        path = self._backups.path(name)
        # Create a link that is never used, because creating it records the download in the audit log.
        await self._backups.link(session.member_id, path.name, time.time())
        return await self._send(http_request, path)

    @endpoint(OWNER, "Delete a backup", http="DELETE /api/backups/{name}", refusals=("unknown_backup",))
    async def delete(self, session: Session, name: Id) -> None:
        await self._backups.delete(session.member_id, name, time.time())

    @endpoint(
        OWNER,
        "Create a URL that downloads a backup once, within a minute",
        http="POST /api/backups/{name}/link",
        refusals=("unknown_backup",),
        status=201,
    )
    async def link(self, session: Session, name: Id) -> BackupLink:
        token = await self._backups.link(session.member_id, name, time.time())
        return BackupLink(f"/api/backup-links/{token}", int((time.time() + LINK_S) * 1000))

    # The token in the URL authorises one download on behalf of the owner.
    @endpoint(
        ANYONE,
        "Download a backup with a URL made for it",
        http="GET /api/backup-links/{token}",
        refusals=("too_many_connections", "unknown_backup"),
        returns=str,
        media_type=_ARCHIVE,
    )
    async def download_by_link(self, http_request: web.Request, token: Id) -> web.StreamResponse:
        # A HEAD request does not use up the link, because chat programs send HEAD requests to preview links.
        return await self._send(
            http_request, self._backups.use_link(token, used=http_request.method != "HEAD")
        )

    async def _send(self, request: web.Request, path: Path) -> web.StreamResponse:
        transport = request.transport
        if transport is None:
            return no_content()  # The client has disconnected.
        reader = self._readers.admit("the owner", MAX_STREAMS, transport.abort)
        if reader is None:
            raise ChatError("too_many_connections", "Too many backups are being downloaded. Try again later")
        response = web.StreamResponse(
            headers={
                "Content-Disposition": f'attachment; filename="{path.name}"',
                "Cache-Control": "no-store",
            }
        )
        response.content_type = _ARCHIVE
        try:
            with path.open("rb") as file:
                response.content_length = os.fstat(file.fileno()).st_size
                await response.prepare(request)
                maximum = _CHUNK_BYTES if request.method != "HEAD" else 0
                while chunk := await asyncio.to_thread(file.read, maximum):
                    with reader.taking():
                        async with asyncio.timeout(WRITE_DEADLINE_S):
                            await response.write(chunk)
                await response.write_eof()
        except (TimeoutError, ConnectionError) as fault:
            logger.debug("a backup was not downloaded completely", extra={"fault": type(fault).__name__})
            transport.abort()
        finally:
            self._readers.leave(reader)
        return response


class BackupCommands(Commands):
    def __init__(self, backups: Backups) -> None:
        self._backups = backups

    @command("backup")
    async def make(self, damaged: bool = False) -> BackupResult:
        return await self._backups.make(time.time(), damaged=damaged)

    @command("database_check")
    async def check(self) -> DatabaseFaults:
        return DatabaseFaults(await self._backups.faults())


DESCRIPTION = describe_feature(
    BackupEndpoints,
    pushes=[
        Event(
            "backup_finished",
            "A backup has finished or failed. `fault` is the reason of a failure",
            BackupFinished,
            to="the owner",
        )
    ],
)
