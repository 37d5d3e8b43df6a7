"""`/api/emoji`: the server's own emoji. How the pictures come is `uploads`'."""

import time
from collections.abc import Awaitable, Callable

from aiohttp import web

from svc.chat.emoji.rules import Emoji
from svc.chat.fields import identifier, text
from svc.chat.http import answer, asker, body, nothing

_ONE = "/api/emoji/{emoji_id}"
# What is too long is refused as a name, not as a request.
_MAX_TEXT = 128


class EmojiRoutes:
    """`begin` takes an upload that is to be an emoji."""

    def __init__(self, emoji: Emoji, begin: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> None:
        self._emoji = emoji
        self._begin = begin

    def table(self) -> list[web.RouteDef]:
        return [
            web.get("/api/emoji", self.list),
            web.post("/api/emoji", self._begin),
            web.patch(_ONE, self.rename),
            web.delete(_ONE, self.delete),
        ]

    async def list(self, request: web.Request) -> web.Response:
        return answer({"emoji": self._emoji.all()})

    async def rename(self, request: web.Request) -> web.Response:
        name = text(await body(request), "name", most=_MAX_TEXT)
        emoji_id = identifier(request.match_info, "emoji_id")
        return answer(await self._emoji.rename(asker(request).member_id, emoji_id, name, time.time()))

    async def delete(self, request: web.Request) -> web.Response:
        emoji_id = identifier(request.match_info, "emoji_id")
        await self._emoji.delete(asker(request).member_id, emoji_id, time.time())
        return nothing()
