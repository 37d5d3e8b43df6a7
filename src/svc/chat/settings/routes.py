"""`GET` and `PATCH /api/settings`, and the same on the live socket: `settings_get`, `settings_change`."""

import time
from collections.abc import Mapping

from aiohttp import web

from svc.chat.access.tokens import Asker
from svc.chat.http import answer, asker, body
from svc.chat.requests import Handler
from svc.chat.settings.rules import Settings


class SettingsRoutes:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def table(self) -> list[web.RouteDef]:
        return [web.get("/api/settings", self.read), web.patch("/api/settings", self.change)]

    def handlers(self) -> dict[str, Handler]:
        return {"settings_get": self.settings_get, "settings_change": self.settings_change}

    async def read(self, request: web.Request) -> web.Response:
        return answer(self._settings.current.described())

    async def change(self, request: web.Request) -> web.Response:
        changes = await body(request)
        return answer(await self._settings.apply(changes, asker(request).member_id, time.time()))

    async def settings_get(self, asker: Asker, data: Mapping[str, object]) -> object:
        return self._settings.current.described()

    async def settings_change(self, asker: Asker, data: Mapping[str, object]) -> object:
        return await self._settings.apply(data, asker.member_id, time.time())
