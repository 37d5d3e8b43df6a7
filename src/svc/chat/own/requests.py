"""What can be asked of own affairs: leaving, one's own data, blocks.

Everything that the server keeps of a member is one JSON object, written as it is read.
Each part is a list that its feature reads page by page; none is ever whole in memory.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from svc.base.readers import Reader, Readers
from svc.base.strict_json import dumps
from svc.chat.access.catalogue import MEMBER, PERSON
from svc.chat.access.tokens import Asker
from svc.chat.described import Id, Pushed, TimeMs
from svc.chat.errors import ChatError
from svc.chat.http import nothing
from svc.chat.own.blocks import Block, Blocked, Blocks
from svc.chat.own.rules import OwnAffairs
from svc.chat.requests import Requests, described_by, request, schema_of

# An export reads all of a member's messages; a few at a time leave the disk to others.
MAX_EXPORTS = 2
WRITE_DEADLINE_S = 30.0
# So many bytes are written at once, unless one item is larger.
_CHUNK_BYTES = 64 * 1024

Part = Callable[[Asker], AsyncIterator[object]]

_BLOCK = "/api/me/blocks/{member_id}"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OwnBlocks:
    blocked: Blocked


@dataclass(frozen=True, slots=True)
class Exported:
    """Lists of what the parts write."""

    exported_at_ms: TimeMs
    member: Sequence[Any]
    devices: Sequence[Any]
    blocked: Sequence[Any]
    uploads: Sequence[Any]
    messages: Sequence[Any]
    reactions: Sequence[Any]


class OwnRequests(Requests):
    def __init__(self, affairs: OwnAffairs, blocks: Blocks, parts: Mapping[str, Part]) -> None:
        self._affairs = affairs
        self._blocks = blocks
        self._parts = parts
        self._exporting = Readers(time.monotonic)

    @request(PERSON, "Stop being a member", http="POST /api/me/leave", refusals=("owner_must_stay",))
    async def leave(self, asking: Asker) -> None:
        await self._affairs.leave(asking.member_id, time.time())

    @request(
        PERSON,
        "Leave, and have name, devices and all messages deleted; the messages follow bit by bit",
        http="DELETE /api/me",
        refusals=("owner_must_stay",),
    )
    async def delete(self, asking: Asker) -> None:
        await self._affairs.delete(asking.member_id, time.time())

    @request(MEMBER, "Whom one has blocked", http="GET /api/me/blocks")
    async def blocks(self, asking: Asker) -> OwnBlocks:
        return OwnBlocks(self._blocks.of(asking.member_id))

    @request(MEMBER, "Block a member", http=f"PUT {_BLOCK}", refusals=("unknown_member", "too_many_blocks"))
    async def block(self, asking: Asker, member_id: Id) -> None:
        await self._blocks.block(asking.member_id, member_id, time.time())

    @request(MEMBER, "Block somebody no more", http=f"DELETE {_BLOCK}")
    async def unblock(self, asking: Asker, member_id: Id) -> None:
        await self._blocks.unblock(asking.member_id, member_id)

    @request(
        MEMBER,
        "Everything that is kept of oneself, streamed",
        http="GET /api/me/export",
        refusals=("export_running",),
        answers=Exported,
        # The work of minutes.
        cost=10.0,
    )
    async def export(self, asking: Asker, request: web.Request) -> web.StreamResponse:
        transport = request.transport
        if transport is None:
            return nothing()  # Nobody is there any more.
        reader = self._exporting.admit(asking.member_id, MAX_EXPORTS, transport.abort)
        if reader is None:
            raise ChatError("export_running")
        try:
            return await self._send(request, asking, reader)
        finally:
            self._exporting.leave(reader)

    async def _send(self, request: web.Request, asking: Asker, reader: Reader) -> web.StreamResponse:
        response = web.StreamResponse(
            headers={"Content-Disposition": 'attachment; filename="my-data.json"'},
        )
        response.content_type = "application/json"
        await response.prepare(request)
        try:
            async for piece in exported(asking, self._parts, int(time.time() * 1000)):
                with reader.taking():
                    async with asyncio.timeout(WRITE_DEADLINE_S):
                        await response.write(piece)
            await response.write_eof()
            return response
        except (TimeoutError, ConnectionError) as fault:
            logger.debug("an export was not read to its end", extra={"fault": type(fault).__name__})
        except Exception:
            logger.exception("sending an export failed")
        # No refusal can follow what has been sent; cut off, nobody takes it for whole.
        if request.transport is not None:
            request.transport.abort()
        return response


async def exported(asker: Asker, parts: Mapping[str, Part], now_ms: int) -> AsyncIterator[bytes]:
    """The text in pieces, UTF-8: `{"exported_at_ms": …, "<part>": […], …}`."""
    buffer = bytearray(b'{"exported_at_ms":%d' % now_ms)
    for name, part in parts.items():
        buffer += b"," + dumps(name) + b":["
        comma = b""
        async for item in part(asker):
            buffer += comma + dumps(item)
            comma = b",\n"
            if len(buffer) >= _CHUNK_BYTES:
                yield bytes(buffer)
                buffer.clear()
        buffer += b"]"
    yield bytes(buffer + b"}\n")


DESCRIBED = described_by(
    OwnRequests,
    pushes=[
        Pushed(
            "member_blocked", "A block, on another page of one's own", schema_of(Block), to="who has blocked"
        ),
        Pushed("member_unblocked", "A block has ended", schema_of(Block), to="who had blocked"),
    ],
    welcome={"blocked": schema_of(Blocked)},
)
