"""`/api/members` and `/api/roles`: who is here, under what names and with what roles."""

import time
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

from svc.chat.access.directory import Directory
from svc.chat.access.permissions import Permission, from_names
from svc.chat.errors import ChatError
from svc.chat.fields import MAX_ID_CHARACTERS, Data, identifier, number, optional_text, strings, text
from svc.chat.http import answer, asker, body, nothing, query_flag, query_number
from svc.chat.members.listing import JOINED, SORTS, Wanted, page
from svc.chat.members.roles import MAX_RANK, MAX_ROLES, Roles, Wish, described
from svc.chat.members.rules import MAX_PAGE, Members
from svc.chat.names import readable_name

USUAL_PAGE = 100
MAX_SEARCH_CHARACTERS = 64
# Those asked for by name: as many as fit an address.
MAX_IDS_CHARACTERS = 4000
MAX_ROLE_NAME_CHARACTERS = 32
# One line under a name.
MAX_STATUS_CHARACTERS = 80
_LAST_MS = 2**53
_LAST_COLOR = 0xFFFFFF
# More permissions than there are, with room to repeat some.
_MAX_PERMISSIONS = 64


LastSeen = Callable[[float], Awaitable[Mapping[str, int]]]


class MemberRoutes:
    """`last_seen` tells when members were last seen, in ms; those who never were are left out."""

    def __init__(self, members: Members, roles: Roles, directory: Directory, last_seen: LastSeen) -> None:
        self._members = members
        self._roles = roles
        self._directory = directory
        self._last_seen = last_seen

    def table(self) -> list[web.RouteDef]:
        member, role = "/api/members/{member_id}", "/api/roles/{role_id}"
        return [
            web.get("/api/members", self.list),
            web.get(member, self.show),
            web.patch(member, self.rename),
            web.put(member + "/status", self.set_status),
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
        wanted, asking = _wanted(request), asker(request).member_id
        after = optional_text(request.query, "after", most=MAX_ID_CHARACTERS) or ""
        limit = query_number(request, "limit", least=1, most=MAX_PAGE) or USUAL_PAGE
        # Everybody sees who is there; when somebody was, those do who look after members.
        if wanted.by_last_seen:
            self._directory.require(asking, Permission.KICK_MEMBERS)
        sees = self._directory.may(asking, Permission.KICK_MEMBERS)
        now = time.time()
        seen = await self._last_seen(now) if sees else {}
        members, following = page(self._directory.members, wanted, after, limit, now, seen)
        told: dict[str, object] = {"members": [member.described() for member in members], "next": following}
        if sees:
            told["last_seen"] = {m.id: seen[m.id] for m in members if m.id in seen}
        return answer(told)

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

    async def set_status(self, request: web.Request) -> web.Response:
        given = text(await body(request), "text", most=4 * MAX_STATUS_CHARACTERS).strip()
        status = readable_name(given, MAX_STATUS_CHARACTERS) if given else ""
        member = await self._members.set_status(
            asker(request).member_id, _member_id(request), status, time.time()
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


def _wanted(request: web.Request) -> Wanted:
    asked = request.query

    def moment(name: str) -> int | None:
        return query_number(request, name, least=0, most=_LAST_MS)

    sort = optional_text(asked, "sort", most=16) or JOINED
    if sort not in SORTS:
        raise ChatError("invalid_request", f"sort must be one of {', '.join(SORTS)}")
    return Wanted(
        query=optional_text(asked, "query", most=MAX_SEARCH_CHARACTERS) or "",
        ids=frozenset(filter(None, (optional_text(asked, "ids", most=MAX_IDS_CHARACTERS) or "").split(","))),
        role_id=optional_text(asked, "role_id", most=MAX_ID_CHARACTERS) or "",
        joined_after_ms=moment("joined_after_ms"),
        joined_before_ms=moment("joined_before_ms"),
        in_timeout=query_flag(request, "in_timeout") if "in_timeout" in asked else None,
        seen_after_ms=moment("seen_after_ms"),
        seen_before_ms=moment("seen_before_ms"),
        bot=query_flag(request, "bot") if "bot" in asked else None,
        sort=sort,
    )


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
