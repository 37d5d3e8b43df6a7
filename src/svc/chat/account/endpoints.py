"""Handles requests about a member's own account: leaving, exporting and deleting data, and blocks.

An export is one JSON object, streamed as it is read. Each feature contributes a list, which is read page by
page and never held in memory in full.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from msgspec import json

from svc.base.stream_admission import Reader, Readers
from svc.chat.access.endpoint_permissions import MEMBER, PERSON
from svc.chat.access.tokens import Session
from svc.chat.account.blocks import Block, Blocked, Blocks
from svc.chat.account.rules import AccountRules
from svc.chat.endpoints import Endpoints, describe_feature, endpoint
from svc.chat.errors import ChatError
from svc.chat.http import no_content
from svc.chat.schemas import Event, Id, TimeMs

# The maximum number of simultaneous exports. An export reads all of a member's messages from disk, which
# slows down other members.
MAX_EXPORTS = 2
WRITE_DEADLINE_S = 30.0
# The number of bytes per write. A larger item is written in one piece.
_CHUNK_BYTES = 64 * 1024

Part = Callable[[Session], AsyncIterator[object]]

_BLOCK = "/api/me/blocks/{member_id}"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OwnBlocks:
    blocked: Blocked


@dataclass(frozen=True, slots=True)
class AccountExport:
    """Everything that the server stores about a member."""

    exported_at_ms: TimeMs
    member: Sequence[Any]
    devices: Sequence[Any]
    linked_accounts: Sequence[Any]
    account_confirmations: Sequence[Any]
    blocked: Sequence[Any]
    uploads: Sequence[Any]
    messages: Sequence[Any]
    reactions: Sequence[Any]


class AccountEndpoints(Endpoints):
    def __init__(self, affairs: AccountRules, blocks: Blocks, parts: Mapping[str, Part]) -> None:
        self._affairs = affairs
        self._blocks = blocks
        self._parts = parts
        self._exporting = Readers(time.monotonic)

    @endpoint(PERSON, "Leave the server", http="POST /api/me/leave", refusals=("owner_must_stay",))
    async def leave(self, session: Session) -> None:
        await self._affairs.leave(session.member_id, time.time())

    @endpoint(
        PERSON,
        "Leave the server and delete your name, your devices and all your messages. The messages "
        "are deleted in the background",
        http="DELETE /api/me",
        refusals=("owner_must_stay",),
    )
    async def delete(self, session: Session) -> None:
        await self._affairs.delete(session.member_id, time.time())

    @endpoint(MEMBER, "List the members whom you have blocked", http="GET /api/me/blocks")
    async def blocks(self, session: Session) -> OwnBlocks:
        return OwnBlocks(self._blocks.of(session.member_id))

    @endpoint(MEMBER, "Block a member", http=f"PUT {_BLOCK}", refusals=("unknown_member", "too_many_blocks"))
    async def block(self, session: Session, member_id: Id) -> None:
        await self._blocks.block(session.member_id, member_id, time.time())

    @endpoint(MEMBER, "Unblock a member", http=f"DELETE {_BLOCK}")
    async def unblock(self, session: Session, member_id: Id) -> None:
        await self._blocks.unblock(session.member_id, member_id)

    @endpoint(
        MEMBER,
        "Export all of your data as one JSON document",
        http="GET /api/me/export",
        refusals=("export_running",),
        returns=AccountExport,
        # An export is expensive and takes minutes.
        cost=10.0,
    )
    async def export(self, session: Session, http_request: web.Request) -> web.StreamResponse:
        transport = http_request.transport
        if transport is None:
            return no_content()  # The client has disconnected.
        reader = self._exporting.admit(session.member_id, MAX_EXPORTS, transport.abort)
        if reader is None:
            raise ChatError("export_running")
        try:
            return await self._send(http_request, session, reader)
        finally:
            self._exporting.leave(reader)

    async def _send(self, request: web.Request, session: Session, reader: Reader) -> web.StreamResponse:
        response = web.StreamResponse(
            headers={"Content-Disposition": 'attachment; filename="my-data.json"'},
        )
        response.content_type = "application/json"
        await response.prepare(request)
        try:
            async for piece in export_json(session, self._parts, int(time.time() * 1000)):
                with reader.taking():
                    async with asyncio.timeout(WRITE_DEADLINE_S):
                        await response.write(piece)
            await response.write_eof()
            return response
        except (TimeoutError, ConnectionError) as fault:
            logger.debug("an export was not downloaded completely", extra={"fault": type(fault).__name__})
        except Exception:
            logger.exception("sending an export failed")
        # It is too late for an error response, but closing the connection shows that the export is
        # incomplete.
        if request.transport is not None:
            request.transport.abort()
        return response


async def export_json(session: Session, parts: Mapping[str, Part], now_ms: int) -> AsyncIterator[bytes]:
    """Yield the JSON in pieces, encoded as UTF-8: `{"exported_at_ms": …, "<part>": […], …}`."""
    buffer = bytearray(b'{"exported_at_ms":%d' % now_ms)
    for name, part in parts.items():
        buffer += b"," + json.encode(name) + b":["
        comma = b""
        async for item in part(session):
            buffer += comma + json.encode(item)
            comma = b",\n"
            if len(buffer) >= _CHUNK_BYTES:
                yield bytes(buffer)
                buffer.clear()
        buffer += b"]"
    yield bytes(buffer + b"}\n")


DESCRIPTION = describe_feature(
    AccountEndpoints,
    pushes=[
        Event(
            "member_blocked",
            "You blocked a member on another page",
            Block,
            to="the member who blocked",
        ),
        Event(
            "member_unblocked",
            "You unblocked a member on another page",
            Block,
            to="the member who unblocked",
        ),
    ],
    welcome={"blocked": Blocked},
)
