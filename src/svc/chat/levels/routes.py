"""Notification levels over HTTP and on the live socket. No rules."""

import time
from collections.abc import Mapping

from aiohttp import web

from svc.chat.access.tokens import Asker
from svc.chat.errors import ChatError
from svc.chat.fields import Data, flag, identifier, number, optional_identifier, optional_text
from svc.chat.http import answer, asker, body
from svc.chat.levels.rules import LEVELS, MAX_MUTE_S, Levels
from svc.chat.levels.store import Choice
from svc.chat.requests import Handler

_OWN = "/api/me/notifications"


class LevelRoutes:
    def __init__(self, levels: Levels) -> None:
        self._levels = levels

    def table(self) -> list[web.RouteDef]:
        return [
            web.get(_OWN, self.list),
            web.put(_OWN, self.put_everywhere),
            web.put("/api/me/quiet", self.put_quiet),
            web.put("/api/me/invisible", self.put_invisible),
            web.put("/api/channels/{channel_id}/notifications", self.put),
        ]

    def handlers(self) -> Mapping[str, Handler]:
        return {
            "notifications_set": self.set_live,
            "quiet_set": self.set_quiet_live,
            "invisible_set": self.set_invisible_live,
        }

    async def list(self, request: web.Request) -> web.Response:
        return answer({"notifications": self._levels.of(asker(request).member_id)})

    async def put_everywhere(self, request: web.Request) -> web.Response:
        choice = _choice(await body(request))
        return answer(await self._levels.choose(asker(request).member_id, None, choice))

    async def put(self, request: web.Request) -> web.Response:
        choice, channel_id = _choice(await body(request)), identifier(request.match_info, "channel_id")
        return answer(await self._levels.choose(asker(request).member_id, channel_id, choice))

    async def put_quiet(self, request: web.Request) -> web.Response:
        quiet = flag(await body(request), "quiet")
        return answer(await self._levels.set_quiet(asker(request).member_id, quiet))

    async def set_quiet_live(self, asking: Asker, data: Data) -> object:
        return await self._levels.set_quiet(asking.member_id, flag(data, "quiet"))

    async def put_invisible(self, request: web.Request) -> web.Response:
        invisible = flag(await body(request), "invisible")
        return answer(await self._levels.set_invisible(asker(request).member_id, invisible))

    async def set_invisible_live(self, asking: Asker, data: Data) -> object:
        return await self._levels.set_invisible(asking.member_id, flag(data, "invisible"))

    async def set_live(self, asking: Asker, data: Data) -> object:
        channel_id = optional_identifier(data, "channel_id")
        return await self._levels.choose(asking.member_id, channel_id, _choice(data))


def _choice(data: Data) -> Choice:
    level = optional_text(data, "level", most=16)
    if level is not None and level not in LEVELS:
        raise ChatError("invalid_request", f"level must be one of {', '.join(LEVELS)}, or null")
    if not flag(data, "muted", default=False):
        return Choice(level)
    seconds = number(data, "mute_for_s", least=0, most=MAX_MUTE_S, default=0)
    return Choice(level, muted=True, muted_until_ms=int((time.time() + seconds) * 1000) if seconds else None)
