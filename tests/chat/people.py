"""One member for each built-in role, on a running server, over HTTP and live sockets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.chat.chat_server import ChatServer
from tests.chat.live_member import LiveMember
from tests.kit.device import Device

ROLES = ("owner", "admin", "moderator", "member", "guest")


@dataclass
class Person:
    chat: ChatServer
    device: Device
    id: str
    token: str

    async def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Send a request. Return the status and body of its response."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        sent = {} if body is None and method in ("POST", "PUT", "PATCH") else body
        async with self.chat.http.request(method, path, json=sent, headers=headers) as response:
            is_json = response.content_type == "application/json"
            return response.status, await response.json() if is_json else None

    async def done(self, method: str, path: str, body: object = None) -> Any:
        """Send a request that must succeed, and repeat it after a rate limit. Return the response body."""
        status, answer = await self.ask(method, path, body)
        while status == 429 and answer["error"] == "rate_limited":
            await asyncio.sleep(answer["retry_after_ms"] / 1000)
            status, answer = await self.ask(method, path, body)
        assert status < 300, answer
        return answer

    async def refused(self, method: str, path: str, body: object = None) -> str:
        """Send a request that must be refused. Return the error code."""
        status, answer = await self.ask(method, path, body)
        assert status >= 400, answer
        return str(answer["error"])


@dataclass
class People:
    chat: ChatServer
    by_role: dict[str, Person] = field(default_factory=dict)

    @property
    def owner(self) -> Person:
        return self.by_role["owner"]

    @property
    def admin(self) -> Person:
        return self.by_role["admin"]

    @property
    def moderator(self) -> Person:
        return self.by_role["moderator"]

    @property
    def member(self) -> Person:
        return self.by_role["member"]

    @property
    def guest(self) -> Person:
        return self.by_role["guest"]

    @asynccontextmanager
    async def live(self, *roles: str) -> AsyncIterator[list[LiveMember]]:
        """Open live sockets for the members with the given roles."""
        async with AsyncExitStack() as stack:
            sockets = [self.chat.member("", self.by_role[role].token) for role in roles]
            yield [await stack.enter_async_context(socket) for socket in sockets]


async def newcomer(chat: ChatServer, nickname: str, invite: str | None = None) -> Person:
    """Join as a newcomer, with the server's own invite by default."""
    device = Device()
    answer = await chat.sign_in(device, nickname=nickname, invite_code=invite or chat.invite)
    return Person(chat, device, answer["member"]["id"], answer["access_token"])


async def people(chat: ChatServer) -> People:
    """Create one member with each built-in role."""
    made = People(chat)
    for role in ROLES:
        made.by_role[role] = await newcomer(chat, role.capitalize())
        if role not in ("owner", "member"):
            await made.owner.done("PUT", f"/api/members/{made.by_role[role].id}/roles/{role}")
    await made.owner.done("DELETE", f"/api/members/{made.guest.id}/roles/member")
    return made


async def holder_of(folk: People, *permissions: str) -> Person:
    """Create a member with a role above the member role that has exactly these permissions."""
    name = " ".join(permissions)
    person = await newcomer(folk.chat, name[:32])
    wanted = {"name": name[:32], "rank": 300, "permissions": list(permissions)}
    role = await folk.owner.done("POST", "/api/roles", wanted)
    await folk.owner.done("PUT", f"/api/members/{person.id}/roles/{role['id']}")
    return person
