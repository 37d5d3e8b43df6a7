"""`POST /api/auth/join`: a nickname and an invite code for an access token."""

import time

from aiohttp import web

from svc.base.strict_json import loads_object
from svc.chat.errors import ChatError
from svc.chat.joining.rules import Joining


class JoiningRoutes:
    def __init__(self, joining: Joining) -> None:
        self._joining = joining

    def table(self) -> list[web.RouteDef]:
        return [web.post("/api/auth/join", self.join)]

    async def join(self, request: web.Request) -> web.Response:
        try:
            body = loads_object(await request.text())
        except (ValueError, LookupError):  # LookupError: a charset nobody knows.
            raise ChatError("invalid_json") from None
        nickname, invite_code = body.get("nickname"), body.get("invite_code")
        if not isinstance(nickname, str):
            raise ChatError("invalid_nickname")
        if not isinstance(invite_code, str | None):
            raise ChatError("invite_invalid")
        token, member = self._joining.join(nickname, invite_code or "", time.time())
        return web.json_response({"access_token": token, "member": member.described()})
