"""`/api/automod`: rules about messages, and a trial of one before it is switched on. No rules of its own."""

import time

from aiohttp import web

from svc.chat.automod.rules import Automod
from svc.chat.fields import identifier
from svc.chat.http import answer, asker, body, nothing

_RULES = "/api/automod/rules"
_ONE = _RULES + "/{rule_id}"


class AutomodRoutes:
    def __init__(self, automod: Automod) -> None:
        self._automod = automod

    def table(self) -> list[web.RouteDef]:
        return [
            web.get(_RULES, self.list),
            web.post(_RULES, self.create),
            web.put(_ONE, self.edit),
            web.delete(_ONE, self.delete),
            web.post("/api/automod/trial", self.trial),
        ]

    async def list(self, request: web.Request) -> web.Response:
        return answer({"rules": [rule.described() for rule in self._automod.all()]})

    async def create(self, request: web.Request) -> web.Response:
        rule = await self._automod.create(asker(request).member_id, await body(request), time.time())
        return answer(rule.described(), 201)

    async def edit(self, request: web.Request) -> web.Response:
        data = await body(request)
        rule = await self._automod.edit(asker(request).member_id, _rule_id(request), data, time.time())
        return answer(rule.described())

    async def delete(self, request: web.Request) -> web.Response:
        await self._automod.delete(asker(request).member_id, _rule_id(request), time.time())
        return nothing()

    async def trial(self, request: web.Request) -> web.Response:
        return answer(await self._automod.trial(asker(request).member_id, await body(request)))


def _rule_id(request: web.Request) -> str:
    return identifier(request.match_info, "rule_id")
