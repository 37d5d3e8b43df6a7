"""Creates a webhook for #general and receives its messages as a member."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tests.chat.chat_server import ChatServer
from tests.chat.http_member import HttpMember
from tests.chat.live_member import LiveMember


@dataclass
class Hook:
    """A webhook and a member who receives its posts. `path` is the webhook's URL without the origin."""

    chat: ChatServer
    path: str
    reader: LiveMember

    @property
    def url(self) -> str:
        return f"{self.chat.address}{self.path}"

    async def arrived(self) -> dict[str, Any]:
        message: dict[str, Any] = await self.reader.pushed("message_posted")
        return message


@asynccontextmanager
async def hook_of(owner: HttpMember) -> AsyncIterator[Hook]:
    """Create a webhook as the owner. Receive its posts as the owner, too."""
    made = await owner.done("POST", "/api/webhooks", {"name": "Hook", "channel_id": "general"})
    async with owner.chat.member("", owner.token) as reader:
        yield Hook(owner.chat, f"/api/webhooks/{made['id']}/{made['token']}", reader)
