"""`/api/drafts` and the same on the live socket. No rules."""

import time
from collections.abc import Mapping

from aiohttp import web

from svc.chat.access.tokens import Asker
from svc.chat.drafts.rules import Drafts, described
from svc.chat.fields import Data, identifier, strings, text
from svc.chat.http import answer, asker, body, nothing
from svc.chat.live.socket import Handler
from svc.chat.messages.message import MAX_TEXT_CHARACTERS
from svc.chat.uploads.limits import MAX_ATTACHMENTS

_DRAFT = "/api/channels/{channel_id}/draft"


class DraftRoutes:
    def __init__(self, drafts: Drafts) -> None:
        self._drafts = drafts

    def table(self) -> list[web.RouteDef]:
        return [
            web.get("/api/drafts", self.list),
            web.put(_DRAFT, self.put),
            web.delete(_DRAFT, self.delete),
        ]

    def handlers(self) -> Mapping[str, Handler]:
        return {"draft_put": self.put_live, "draft_delete": self.delete_live, "drafts": self.list_live}

    async def list(self, request: web.Request) -> web.Response:
        return answer(await self._all(asker(request)))

    async def put(self, request: web.Request) -> web.Response:
        return answer(await self._put(asker(request), await body(request) | request.match_info))

    async def delete(self, request: web.Request) -> web.Response:
        await self._drafts.delete(asker(request).member_id, identifier(request.match_info, "channel_id"))
        return nothing()

    async def list_live(self, asking: Asker, data: Data) -> object:
        return await self._all(asking)

    async def put_live(self, asking: Asker, data: Data) -> object:
        return await self._put(asking, data)

    async def delete_live(self, asking: Asker, data: Data) -> object:
        await self._drafts.delete(asking.member_id, identifier(data, "channel_id"))
        return {}

    async def _all(self, asking: Asker) -> Mapping[str, object]:
        return {"drafts": [described(draft) for draft in await self._drafts.of(asking.member_id)]}

    async def _put(self, asking: Asker, data: Data) -> Mapping[str, object]:
        draft = await self._drafts.put(
            asking.member_id,
            identifier(data, "channel_id"),
            text(data, "text", most=MAX_TEXT_CHARACTERS),
            strings(data, "attachments", most=MAX_ATTACHMENTS),
            time.time(),
        )
        return described(draft)
