"""A server with a moderator and two members, whose presence a test decides."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from svc.base.envelope import payload
from svc.chat.community import Community
from tests.chat.fake_sfu import FakeSfu
from tests.chat.inside import give_role, server_with_insight
from tests.chat.member import ChatServer, LiveMember


@dataclass
class World:
    chat: ChatServer
    community: Community
    sfu: FakeSfu
    mod: LiveMember
    ada: LiveMember
    bob: LiveMember

    async def enters(self, member: LiveMember, room_id: str = "lobby") -> None:
        """The media service says so, and everybody has heard it."""
        await self.sfu.tell("peer_joined", room_id, member.id)
        for listener in (self.mod, self.ada, self.bob):
            assert (await listener.pushed("voice_joined"))["member"]["id"] == member.id

    async def told(self, event: str, count: int = 1) -> dict[str, Any]:
        """What the media service was told last, when it has been told so often."""
        await self.sfu.until(event, count)
        said = payload([envelope for envelope in self.sfu.heard if envelope.event == event][-1])
        return {name: value for name, value in said.items() if not name.startswith("server_")}

    async def nothing_more(self) -> None:
        """Everything that was to be said has been heard: a question behind it is answered."""
        reply = await self.mod.ask("voice_join", channel_id="side-room")
        assert reply["event"] == "voice_join"


@pytest.fixture
async def world(variables: dict[str, str], sfu: FakeSfu) -> AsyncIterator[World]:
    async with server_with_insight(variables) as (chat, community):
        await sfu.until("sync_request")
        async with chat.member("Mod") as mod, chat.member("Ada") as ada, chat.member("Bob") as bob:
            give_role(community, mod.id, "member", "moderator")
            yield World(chat, community, sfu, mod, ada, bob)
