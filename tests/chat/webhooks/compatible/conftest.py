"""A webhook into `general`, the owner who made it, and the owner's live socket."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.chat.member import ChatServer, LiveMember
from tests.chat.people import Person, newcomer


@dataclass
class Hook:
    """`path` is its address without the server's."""

    chat: ChatServer
    path: str
    reader: LiveMember

    @property
    def url(self) -> str:
        return f"{self.chat.address}{self.path}"

    async def arrived(self) -> dict[str, Any]:
        """The next message, as a member of the channel gets it."""
        message: dict[str, Any] = await self.reader.pushed("message_posted")
        return message


@pytest.fixture
async def owner(chat: ChatServer) -> Person:
    return await newcomer(chat, "Owner")


@pytest.fixture
async def hook(chat: ChatServer, owner: Person) -> AsyncIterator[Hook]:
    made = await owner.done("POST", "/api/webhooks", {"name": "Hook", "channel_id": "general"})
    async with chat.member("", owner.token) as reader:
        yield Hook(chat, f"/api/webhooks/{made['id']}/{made['token']}", reader)
