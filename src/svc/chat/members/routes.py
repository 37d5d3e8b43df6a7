"""`/api/members` and `/api/roles`: who is here, under what names and with what roles."""

import time

from aiohttp import web

from svc.chat.access.directory import Directory
from svc.chat.access.permissions import from_names
from svc.chat.errors import ChatError
from svc.chat.fields import MAX_ID_CHARACTERS, Data, identifier, number, optional_text, strings, text
from svc.chat.http import answer, asker, body, nothing, query_number
from svc.chat.members.roles import MAX_RANK, MAX_ROLES, Roles, Wish, described
from svc.chat.members.rules import MAX_PAGE, Members
from svc.chat.names import readable_name

USUAL_PAGE = 100
MAX_SEARCH_CHARACTERS = 64
MAX_ROLE_NAME_CHARACTERS = 32
_LAST_COLOR = 0xFFFFFF
# More permissions than there are, with room to repeat some.
_MAX_PERMISSIONS = 64


class MemberRoutes:
    def __init__(self, members: Members, roles: Roles, directory: Directory) -> None:
        self._members = members
        self._roles = roles
        self._directory = directory

    def table(self) -> list[web.RouteDef]:
        member, role = "/api/members/{member_id}", "/api/roles/{role_id}"
        return [
            web.get("/api/members", self.list),
            web.get(member, self.show),
            web.patch(member, self.rename),
            web.put(member + "/roles/{role_id}", self.give_role),
            web.delete(member + "/roles/{role_id}", self.take_role),
            web.post(member + "/owner", self.hand_over),
            web.get("/api/me/permissions", self.permissions),
            web.get("/api/roles", self.roles),
            web.post("/api/roles", self.create_role),
            web.put("/api/roles/order", self.order_roles),
            web.patch(role, self.edit_role),
            web.delete(role, self.delete_role),
        ]

    async def list(self, request: web.Request) -> web.Response:
        asked = request.query
        query = optional_text(asked, "query", most=MAX_SEARCH_CHARACTERS) or ""
        after = optional_text(asked, "after", most=MAX_ID_CHARACTERS) or ""
        limit = query_number(request, "limit", least=1, most=MAX_PAGE) or USUAL_PAGE
        members, following = self._members.page(query, after, limit)
        return answer({"members": [member.described() for member in members], "next": following})

    async def show(self, request: web.Request) -> web.Response:
        return answer(self._directory.member(_member_id(request)).described())

    async def permissions(self, request: web.Request) -> web.Response:
        return answer(self._members.permissions(asker(request).member_id))

    async def rename(self, request: web.Request) -> web.Response:
        # What is too long is refused as a name, not as a request.
        nickname = text(await body(request), "nickname", most=1024)
        member = await self._members.rename(
            asker(request).member_id, _member_id(request), nickname, time.time()
        )
        return answer(member.described())

    async def give_role(self, request: web.Request) -> web.Response:
        member = await self._roles.give(
            asker(request).member_id, _member_id(request), _role_id(request), time.time()
        )
        return answer(member.described())

    async def take_role(self, request: web.Request) -> web.Response:
        member = await self._roles.take(
            asker(request).member_id, _member_id(request), _role_id(request), time.time()
        )
        return answer(member.described())

    async def hand_over(self, request: web.Request) -> web.Response:
        member = await self._roles.hand_over(asker(request).member_id, _member_id(request), time.time())
        return answer(member.described())

    async def roles(self, request: web.Request) -> web.Response:
        return answer({"roles": [described(role) for role in self._roles.all()]})

    async def create_role(self, request: web.Request) -> web.Response:
        wish = _wish(await body(request))
        role = await self._roles.create(asker(request).member_id, wish, time.time())
        return answer(described(role), 201)

    async def edit_role(self, request: web.Request) -> web.Response:
        wish = _wish(await body(request))
        if wish == Wish():
            raise ChatError("invalid_request", "Give name, rank, permissions or color")
        role = await self._roles.edit(asker(request).member_id, _role_id(request), wish, time.time())
        return answer(described(role))

    async def order_roles(self, request: web.Request) -> web.Response:
        data = (await body(request)).get("ranks")
        if not isinstance(data, dict) or len(data) > MAX_ROLES:
            raise ChatError("invalid_request", "ranks must be an object of role ids and ranks")
        ranks = {role_id: number(data, role_id, least=0, most=MAX_RANK) for role_id in data}
        roles = await self._roles.order(asker(request).member_id, ranks, time.time())
        return answer({"roles": [described(role) for role in roles]})

    async def delete_role(self, request: web.Request) -> web.Response:
        await self._roles.delete(asker(request).member_id, _role_id(request), time.time())
        return nothing()


def _member_id(request: web.Request) -> str:
    return identifier(request.match_info, "member_id")


def _role_id(request: web.Request) -> str:
    return identifier(request.match_info, "role_id")


def _wish(data: Data) -> Wish:
    """What a request says of a role. A color of null takes it away, as no color is a color too."""
    name = None
    if data.get("name") is not None:
        name = readable_name(text(data, "name", most=4 * MAX_ROLE_NAME_CHARACTERS), MAX_ROLE_NAME_CHARACTERS)
    permissions = None
    if data.get("permissions") is not None:
        permissions = from_names(strings(data, "permissions", most=_MAX_PERMISSIONS))
    color = None
    if "color" in data:
        color = -1 if data["color"] is None else number(data, "color", least=0, most=_LAST_COLOR)
    rank = None
    if data.get("rank") is not None:
        rank = number(data, "rank", least=0, most=MAX_RANK)
    return Wish(name, rank, permissions, color)
