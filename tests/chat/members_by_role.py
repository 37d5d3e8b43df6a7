"""Provides a member with each built-in role on a running server."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from tests.chat.chat_server import ChatServer
from tests.chat.http_member import HttpMember, newcomer
from tests.chat.live_member import LiveMember

ROLES = ("owner", "admin", "moderator", "member", "guest")


@dataclass
class MembersByRole:
    chat: ChatServer
    by_role: dict[str, HttpMember] = field(default_factory=dict)

    @property
    def owner(self) -> HttpMember:
        return self.by_role["owner"]

    @property
    def admin(self) -> HttpMember:
        return self.by_role["admin"]

    @property
    def moderator(self) -> HttpMember:
        return self.by_role["moderator"]

    @property
    def member(self) -> HttpMember:
        return self.by_role["member"]

    @property
    def guest(self) -> HttpMember:
        return self.by_role["guest"]

    @asynccontextmanager
    async def live(self, *roles: str) -> AsyncIterator[list[LiveMember]]:
        """Open live sockets for the members with the given roles."""
        async with AsyncExitStack() as stack:
            sockets = [self.chat.member("", self.by_role[role].token) for role in roles]
            yield [await stack.enter_async_context(socket) for socket in sockets]


async def members_by_role(chat: ChatServer) -> MembersByRole:
    """Create a member with each built-in role."""
    made = MembersByRole(chat)
    for role in ROLES:
        made.by_role[role] = await newcomer(chat, role.capitalize())
        if role not in ("owner", "member"):
            await made.owner.done("PUT", f"/api/members/{made.by_role[role].id}/roles/{role}")
    await made.owner.done("DELETE", f"/api/members/{made.guest.id}/roles/member")
    return made


async def member_with(members: MembersByRole, *permissions: str) -> HttpMember:
    """Create a member with a new role that ranks above the member role and has exactly these permissions."""
    name = " ".join(permissions)
    person = await newcomer(members.chat, name[:32])
    wanted = {"name": name[:32], "rank": 300, "permissions": list(permissions)}
    role = await members.owner.done("POST", "/api/roles", wanted)
    await members.owner.done("PUT", f"/api/members/{person.id}/roles/{role['id']}")
    return person
