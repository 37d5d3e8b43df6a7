"""`/api/invites`: invites made, listed and revoked."""

import time

from aiohttp import web

from svc.chat.access.permissions import MEMBER
from svc.chat.fields import Data, identifier, number, optional_identifier
from svc.chat.http import answer, asker, body, nothing
from svc.chat.invites.rules import Invites

MAX_USES = 100_000
# What is to be good for longer is better made without an end.
MAX_LIFETIME_S = 366 * 24 * 60 * 60


class InviteRoutes:
    def __init__(self, invites: Invites) -> None:
        self._invites = invites

    def table(self) -> list[web.RouteDef]:
        return [
            web.get("/api/invites", self.list),
            web.post("/api/invites", self.create),
            web.delete("/api/invites/{invite_id}", self.revoke),
        ]

    async def list(self, request: web.Request) -> web.Response:
        found = await self._invites.visible(asker(request).member_id, time.time())
        return answer({"invites": [invite.described() for invite in found]})

    async def create(self, request: web.Request) -> web.Response:
        data = await body(request)
        invite = await self._invites.create(
            asker(request).member_id,
            optional_identifier(data, "role_id") or MEMBER,
            _optional_number(data, "max_uses", MAX_USES),
            _optional_number(data, "lifetime_s", MAX_LIFETIME_S),
            time.time(),
        )
        return answer(invite.described(), 201)

    async def revoke(self, request: web.Request) -> web.Response:
        invite_id = identifier(request.match_info, "invite_id")
        await self._invites.revoke(asker(request).member_id, invite_id, time.time())
        return nothing()


def _optional_number(data: Data, name: str, most: int) -> int | None:
    return None if data.get(name) is None else number(data, name, least=1, most=most)
