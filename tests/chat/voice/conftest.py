"""Provides a server with a moderator and two members, whom tests put into voice channels."""

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from svc.base.signalling_codec import payload
from svc.chat.community import Community
from tests.chat.chat_server import ChatServer
from tests.chat.fake_sfu import FakeSfu
from tests.chat.http_member import HttpMember, newcomer
from tests.chat.internal_server import give_role, server_with_insight
from tests.chat.live_member import LiveMember
from tests.chat.private_conversations.mls_messages import Client


@dataclass
class World:
    chat: ChatServer
    community: Community
    sfu: FakeSfu
    mod: LiveMember
    ada: LiveMember
    bob: LiveMember
    people: dict[str, HttpMember]

    async def take_part(self, *members: LiveMember) -> None:
        """Register the members' devices for private conversations."""
        async with self.chat.http.get("/info") as response:
            server_id = (await response.json())["serverId"]
        for member in members:
            await Client(self.people[member.id], server_id, time.time()).take_part()

    async def enters(self, member: LiveMember, room_id: str = "lobby") -> None:
        """Report a member's arrival as the media service would. Wait until everybody gets the event."""
        await self.sfu.send_event("peer_joined", room_id, member.id)
        for listener in (self.mod, self.ada, self.bob):
            assert (await listener.pushed("voice_joined"))["member"]["id"] == member.id

    async def command(self, event: str, count: int = 1) -> dict[str, Any]:
        """Wait until the media service has received `count` events of this kind. Return the last event."""
        await self.sfu.until(event, count)
        command = payload([envelope for envelope in self.sfu.received if envelope.event == event][-1])
        return {name: value for name, value in command.items() if not name.startswith("server_")}

    async def nothing_more(self) -> None:
        """Send a request to be sure that all earlier events have been received."""
        reply = await self.mod.ask("voice_join", channel_id="side-room")
        assert reply["event"] == "voice_join"


@pytest.fixture
async def world(variables: dict[str, str], sfu: FakeSfu) -> AsyncIterator[World]:
    async with server_with_insight(variables) as (chat, community):
        await sfu.until("sync_request")
        people = [await newcomer(chat, name) for name in ("Mod", "Ada", "Bob")]
        async with AsyncExitStack() as stack:
            mod, ada, bob = [
                await stack.enter_async_context(chat.member("", person.token)) for person in people
            ]
            give_role(community, mod.id, "member", "moderator")
            yield World(chat, community, sfu, mod, ada, bob, {person.id: person for person in people})
