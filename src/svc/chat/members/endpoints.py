"""Handles requests and commands for members and roles."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from svc.chat.access import permissions
from svc.chat.access.directory import Directory
from svc.chat.access.endpoint_permissions import MEMBER as ANY_MEMBER
from svc.chat.access.endpoint_permissions import OWNER, on_server
from svc.chat.access.permissions import Permission as P
from svc.chat.access.permissions import from_names
from svc.chat.access.tokens import Session
from svc.chat.control.commands import Commands, command, find_member, find_role
from svc.chat.endpoints import Endpoints, Request, describe_feature, endpoint
from svc.chat.errors import ChatError
from svc.chat.members import responses
from svc.chat.members.member_list import MAX_PAGE, SORTS, MembersQuery, page
from svc.chat.members.responses import (
    MAX_ROLE_NAME_CHARACTERS,
    MAX_STATUS_CHARACTERS,
    Color,
    Member,
    MemberLeft,
    MemberPermissions,
    PermissionName,
    Role,
    RoleDeleted,
)
from svc.chat.members.roles import MAX_RANK, MAX_ROLES, RoleChanges, Roles
from svc.chat.members.rules import Members
from svc.chat.names import readable_name
from svc.chat.schemas import NOTHING, Event, Id, Response, TimeMs, string

_MEMBER, _ROLE_OF = "/api/members/{member_id}", "/api/roles/{role_id}"
_MANAGER = on_server(P.MANAGE_ROLES)
_OF_ROLES = ("forbidden", "rank_too_low", "unknown_role")

LastSeen = Callable[[float], Awaitable[Mapping[str, int]]]
_RoleName = Annotated[str, Meta(extra_json_schema=string(MAX_ROLE_NAME_CHARACTERS, 1))]
_Rank = Annotated[int, Meta(ge=0, le=MAX_RANK)]
# Higher than the number of permissions, because clients may repeat some.
_Permissions = Annotated[list[PermissionName], Meta(max_length=64)]


class NewName(Request):
    # The rules check the exact length, with a specific error for overlong names.
    nickname: Annotated[str, Meta(max_length=1024)]


class NewStatus(Request):
    text: Annotated[str, Meta(max_length=4 * MAX_STATUS_CHARACTERS)]


class RoleChange(Request):
    """Changes to a role. A null `color` removes the color, and an omitted one leaves it unchanged."""

    name: _RoleName | None = None
    rank: _Rank | None = None
    permissions: _Permissions | None = None
    color: Color | UnsetType | None = UNSET

    def changes(self) -> RoleChanges:
        name = None if self.name is None else readable_name(self.name, MAX_ROLE_NAME_CHARACTERS)
        permissions = None if self.permissions is None else from_names(self.permissions)
        color = -1 if self.color is None else self.color
        return RoleChanges(name, self.rank, permissions, None if color is UNSET else color)


class NewRole(RoleChange, kw_only=True):
    name: _RoleName


class RoleOrder(Request):
    ranks: Annotated[dict[Id, _Rank], Meta(max_length=MAX_ROLES)]


class MemberPage(Response):
    """A page of members. `last_seen` is included only if the requesting member may kick members."""

    members: Annotated[Sequence[Member], Meta(max_length=MAX_PAGE)]
    next: Id | None
    last_seen: Mapping[str, TimeMs] | UnsetType = UNSET


class AllMembers(Response):
    members: Sequence[Member]


class AllRoles(Response):
    roles: Sequence[Role]


class MemberEndpoints(Endpoints):
    """The endpoints for members and roles. `last_seen` returns the time when each member was last seen, in
    ms. It omits members who were never seen.
    """

    def __init__(self, members: Members, roles: Roles, directory: Directory, last_seen: LastSeen) -> None:
        self._members = members
        self._roles = roles
        self._directory = directory
        self._last_seen = last_seen

    @endpoint(
        ANY_MEMBER,
        "List members page by page, filtered and sorted",
        http="GET /api/members",
        refusals=("forbidden", "in_timeout", "unknown_member"),
    )
    async def all(self, session: Session, query: MembersQuery) -> MemberPage:
        if query.sort not in SORTS:
            raise ChatError("invalid_request", f"sort must be one of {', '.join(SORTS)}")
        # Everyone can see who is online, but only members who may kick others can see when a member was last
        # online.
        if query.by_last_seen:
            self._directory.require(session.member_id, P.KICK_MEMBERS)
        sees = self._directory.has_permission(session.member_id, P.KICK_MEMBERS)
        now = time.time()
        seen = await self._last_seen(now) if sees else {}
        members, next_after = page(self._directory.members, self._directory.orders, query, now, seen)
        last_seen = {m.id: seen[m.id] for m in members if m.id in seen} if sees else UNSET
        return MemberPage([responses.member(member) for member in members], next_after, last_seen)

    @endpoint(ANY_MEMBER, "Get a member", http=f"GET {_MEMBER}", refusals=("unknown_member",))
    async def show(self, member_id: Id) -> Member:
        return responses.member(self._directory.member(member_id))

    @endpoint(
        ANY_MEMBER,
        "Change a nickname: your own with `change_nickname`, that of a member of lower rank with "
        "`manage_nicknames`",
        http=f"PATCH {_MEMBER}",
        refusals=(
            *("forbidden", "in_timeout", "invalid_nickname", "nickname_taken", "profanity_refused"),
            *("rank_too_low", "unknown_member"),
        ),
    )
    async def rename(self, session: Session, member_id: Id, body: NewName) -> Member:
        member = await self._members.rename(session.member_id, member_id, body.nickname, time.time())
        return responses.member(member)

    @endpoint(
        ANY_MEMBER,
        "Set your own status of up to 80 characters with `change_nickname`. With "
        "`manage_nicknames`, an empty text removes the status of a member of lower rank",
        http=f"PUT {_MEMBER}/status",
        refusals=("forbidden", "in_timeout", "profanity_refused", "rank_too_low", "unknown_member"),
    )
    async def set_status(self, session: Session, member_id: Id, body: NewStatus) -> Member:
        text = body.text.strip()
        status = readable_name(text, MAX_STATUS_CHARACTERS) if text else ""
        member = await self._members.set_status(session.member_id, member_id, status, time.time())
        return responses.member(member)

    @endpoint(
        _MANAGER,
        "Give a role to yourself or to a member of lower rank. The role must be below your rank "
        "and have no permission that you lack",
        http=f"PUT {_MEMBER}/roles/{{role_id}}",
        refusals=(*_OF_ROLES, "unknown_member"),
    )
    async def give_role(self, session: Session, member_id: Id, role_id: Id) -> Member:
        member = await self._roles.give(session.member_id, member_id, role_id, time.time())
        return responses.member(member)

    @endpoint(
        _MANAGER,
        "Remove a role below your rank from yourself or from a member of lower rank",
        http=f"DELETE {_MEMBER}/roles/{{role_id}}",
        refusals=("rank_too_low", "unknown_member", "unknown_role"),
    )
    async def take_role(self, session: Session, member_id: Id, role_id: Id) -> Member:
        member = await self._roles.take(session.member_id, member_id, role_id, time.time())
        return responses.member(member)

    @endpoint(
        OWNER,
        "Transfer the ownership. The former owner becomes an admin",
        http=f"POST {_MEMBER}/owner",
        refusals=("unknown_member",),
    )
    async def hand_over(self, session: Session, member_id: Id) -> Member:
        member = await self._roles.hand_over(session.member_id, member_id, time.time())
        return responses.member(member)

    @endpoint(
        ANY_MEMBER,
        "Return your permissions on the server and in each channel",
        http="GET /api/me/permissions",
    )
    async def permissions(self, session: Session) -> MemberPermissions:
        return self._members.permissions(session.member_id)

    @endpoint(ANY_MEMBER, "List all roles, highest first", http="GET /api/roles")
    async def roles(self) -> AllRoles:
        return _to_response(self._roles.all())

    @endpoint(
        _MANAGER,
        "Create a role",
        http="POST /api/roles",
        refusals=("forbidden", "rank_too_low", "too_many"),
        status=201,
    )
    async def create_role(self, session: Session, body: NewRole) -> Role:
        return responses.role(await self._roles.create(session.member_id, body.changes(), time.time()))

    @endpoint(
        _MANAGER,
        "Change the ranks of several roles at once",
        http="PUT /api/roles/order",
        refusals=_OF_ROLES,
    )
    async def order_roles(self, session: Session, body: RoleOrder) -> AllRoles:
        return _to_response(await self._roles.order(session.member_id, body.ranks, time.time()))

    @endpoint(_MANAGER, "Change a role, except the owner's", http=f"PATCH {_ROLE_OF}", refusals=_OF_ROLES)
    async def edit_role(self, session: Session, role_id: Id, body: RoleChange) -> Role:
        changes = body.changes()
        if changes == RoleChanges():
            raise ChatError("invalid_request", "Give name, rank, permissions or color")
        return responses.role(await self._roles.edit(session.member_id, role_id, changes, time.time()))

    @endpoint(_MANAGER, "Delete a role that is not built in", http=f"DELETE {_ROLE_OF}", refusals=_OF_ROLES)
    async def delete_role(self, session: Session, role_id: Id) -> None:
        await self._roles.delete(session.member_id, role_id, time.time())


def _to_response(roles: Sequence[permissions.Role]) -> AllRoles:
    return AllRoles([responses.role(role) for role in roles])


class MemberCommands(Commands):
    def __init__(self, directory: Directory, roles: Roles) -> None:
        self._directory = directory
        self._roles = roles

    @command("member_list")
    async def list(self) -> AllMembers:
        return AllMembers([responses.member(member) for member in self._directory.members.values()])

    @command("member_role")
    async def role(self, member: Id, role: Id, take: bool = False) -> Member:
        member_id, role_id = find_member(self._directory, member), find_role(self._directory, role)
        act = self._roles.take if take else self._roles.give
        return responses.member(await act(None, member_id, role_id, time.time()))

    @command("member_owner")
    async def owner(self, member: Id) -> Member:
        """Make another member the owner, for example if the owner can no longer sign in."""
        member_id = find_member(self._directory, member)
        return responses.member(await self._roles.hand_over(None, member_id, time.time()))


DESCRIPTION = describe_feature(
    MemberEndpoints,
    pushes=[
        Event("member_joined", "A member has joined", Member, "everybody"),
        Event("member_updated", "A member's name, roles, status or timeout changed", Member, "everybody"),
        Event("member_left", "A member has left or was removed", MemberLeft, "everybody"),
        Event("role_created", "A role was created", Role, "everybody"),
        Event("role_updated", "A role has changed", Role, "everybody"),
        Event(
            "role_deleted",
            "A role was deleted and removed from all members",
            RoleDeleted,
            "everybody",
        ),
        Event(
            "permissions_changed",
            "Your permissions changed somewhere. Fetch `GET /api/me/permissions`",
            NOTHING,
            "the members concerned",
        ),
    ],
    welcome={"member": Member, "permissions": MemberPermissions, "roles": Sequence[Role]},
)
