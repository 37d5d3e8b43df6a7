"""`POST /api/auth/join`: a nickname and an invite code for an access token."""

import time

from aiohttp import web

from svc.chat.errors import ChatError
from svc.chat.http import answer, body
from svc.chat.joining.rules import Joining


class JoiningRoutes:
    def __init__(self, joining: Joining) -> None:
        self._joining = joining

    def table(self) -> list[web.RouteDef]:
        return [web.post("/api/auth/join", self.join)]

    async def join(self, request: web.Request) -> web.Response:
        data = await body(request)
        nickname, invite_code = data.get("nickname"), data.get("invite_code")
        if not isinstance(nickname, str):
            raise ChatError("invalid_nickname")
        if not isinstance(invite_code, str | None):
            raise ChatError("invite_invalid")
        token, member = await self._joining.join(nickname, invite_code or "", time.time())
        return answer({"access_token": token, "member": member.described()})
