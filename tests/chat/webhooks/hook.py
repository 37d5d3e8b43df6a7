"""A webhook into `general` as tests use it: where to post, and what a member of the channel gets."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tests.chat.member import ChatServer, LiveMember
from tests.chat.people import Person


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
        """The next message, on the live socket of who reads the channel."""
        message: dict[str, Any] = await self.reader.pushed("message_posted")
        return message


@asynccontextmanager
async def hook_of(owner: Person) -> AsyncIterator[Hook]:
    """One that the owner makes, and reads."""
    made = await owner.done("POST", "/api/webhooks", {"name": "Hook", "channel_id": "general"})
    async with owner.chat.member("", owner.token) as reader:
        yield Hook(owner.chat, f"/api/webhooks/{made['id']}/{made['token']}", reader)
