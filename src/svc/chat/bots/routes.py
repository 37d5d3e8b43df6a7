"""`/api/bots`: accounts for programs, made, given another token and deleted."""

import time

from aiohttp import web

from svc.chat.bots.rules import Bots
from svc.chat.fields import identifier, text
from svc.chat.http import answer, asker, body, nothing


class BotRoutes:
    def __init__(self, bots: Bots) -> None:
        self._bots = bots

    def table(self) -> list[web.RouteDef]:
        return [
            web.get("/api/bots", self.list),
            web.post("/api/bots", self.create),
            web.post("/api/bots/{member_id}/token", self.renew),
            web.delete("/api/bots/{member_id}", self.delete),
        ]

    async def list(self, request: web.Request) -> web.Response:
        return answer({"bots": self._bots.described()})

    async def create(self, request: web.Request) -> web.Response:
        # What is too long is refused as a name, not as a request.
        nickname = text(await body(request), "nickname", most=1024)
        member, token = await self._bots.create(asker(request).member_id, nickname, time.time())
        return answer({"member": member.described(), "token": token}, 201)

    async def renew(self, request: web.Request) -> web.Response:
        token = await self._bots.renew(asker(request).member_id, _member_id(request), time.time())
        return answer({"token": token}, 201)

    async def delete(self, request: web.Request) -> web.Response:
        await self._bots.delete(asker(request).member_id, _member_id(request), time.time())
        return nothing()


def _member_id(request: web.Request) -> str:
    return identifier(request.match_info, "member_id")
