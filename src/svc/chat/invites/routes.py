"""`/api/invites`: invites made, listed and revoked; `/api/applications`: people who wait for approval."""

import time

from aiohttp import web

from svc.chat.access.permissions import MEMBER
from svc.chat.errors import ChatError
from svc.chat.fields import (
    MAX_ID_CHARACTERS,
    Data,
    flag,
    identifier,
    number,
    optional_identifier,
    optional_text,
    text,
)
from svc.chat.http import answer, asker, body, client_address, nothing, query_number
from svc.chat.invites.applications import Applications
from svc.chat.invites.applications_store import APPROVED, PENDING, REFUSED
from svc.chat.invites.rules import Invites
from svc.chat.invites.viewing import InviteViews

MAX_USES = 100_000
# What is to be good for longer is better made without an end.
MAX_LIFETIME_S = 366 * 24 * 60 * 60
# A founding code and an invite are 33 together.
MAX_CODE_CHARACTERS = 128
MAX_REASON_CHARACTERS = 500
USUAL_PAGE, MAX_PAGE = 50, 200
STATES = (PENDING, APPROVED, REFUSED)


class InviteRoutes:
    def __init__(self, invites: Invites, views: InviteViews) -> None:
        self._invites = invites
        self._views = views

    def table(self) -> list[web.RouteDef]:
        return [
            web.get("/api/invites", self.list),
            web.post("/api/invites", self.create),
            # In a body: what is in an address stands in the logs of proxies.
            web.post("/api/invites/view", self.view),
            web.delete("/api/invites/{invite_id}", self.revoke),
            web.get("/api/invites/{invite_id}/members", self.came_by),
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
            channel_id=optional_identifier(data, "channel_id"),
            approval=flag(data, "approval", default=False),
        )
        return answer(invite.described(), 201)

    async def came_by(self, request: web.Request) -> web.Response:
        invite_id = identifier(request.match_info, "invite_id")
        found = await self._invites.came_by(asker(request).member_id, invite_id)
        members = [{"id": m.id, "nickname": m.nickname, "came_at_ms": at_ms} for m, at_ms in found]
        return answer({"members": members})

    async def view(self, request: web.Request) -> web.Response:
        code = text(await body(request), "code", most=MAX_CODE_CHARACTERS, least=1)
        return answer(await self._views.view(code, client_address(request).limited_as, time.time()))

    async def revoke(self, request: web.Request) -> web.Response:
        invite_id = identifier(request.match_info, "invite_id")
        await self._invites.revoke(asker(request).member_id, invite_id, time.time())
        return nothing()


class ApplicationRoutes:
    def __init__(self, applications: Applications) -> None:
        self._applications = applications

    def table(self) -> list[web.RouteDef]:
        return [
            web.get("/api/applications", self.list),
            web.post("/api/applications/{application_id}/approve", self.approve),
            web.post("/api/applications/{application_id}/refuse", self.refuse),
        ]

    async def list(self, request: web.Request) -> web.Response:
        state = optional_text(request.query, "state", most=16) or PENDING
        if state not in STATES:
            raise ChatError("invalid_request", f"state must be one of {', '.join(STATES)}")
        after = optional_text(request.query, "after", most=MAX_ID_CHARACTERS) or ""
        limit = query_number(request, "limit", least=1, most=MAX_PAGE) or USUAL_PAGE
        found, following = await self._applications.page(state, after, limit)
        return answer({"applications": [one.described() for one in found], "next": following})

    async def approve(self, request: web.Request) -> web.Response:
        await self._applications.approve(asker(request).member_id, _which(request), time.time())
        return nothing()

    async def refuse(self, request: web.Request) -> web.Response:
        reason = optional_text(await body(request), "reason", most=MAX_REASON_CHARACTERS) or ""
        await self._applications.refuse(asker(request).member_id, _which(request), reason, time.time())
        return nothing()


def _which(request: web.Request) -> str:
    return identifier(request.match_info, "application_id")


def _optional_number(data: Data, name: str, most: int) -> int | None:
    return None if data.get(name) is None else number(data, name, least=1, most=most)
