"""Provides a member who sends HTTP requests to a chat server."""

import asyncio
from dataclasses import dataclass
from typing import Any

from tests.chat.chat_server import ChatServer
from tests.kit.device import Device


@dataclass
class HttpMember:
    chat: ChatServer
    device: Device
    id: str
    token: str

    async def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Send a request. Return the response's status and body."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        sent = {} if body is None and method in ("POST", "PUT", "PATCH") else body
        async with self.chat.http.request(method, path, json=sent, headers=headers) as response:
            is_json = response.content_type == "application/json"
            return response.status, await response.json() if is_json else None

    async def done(self, method: str, path: str, body: object = None) -> Any:
        """Send a request that must succeed, retrying it if it is rate limited. Return the response body."""
        status, answer = await self.ask(method, path, body)
        while status == 429 and answer["error"] == "rate_limited":
            await asyncio.sleep(answer["retry_after_ms"] / 1000)
            status, answer = await self.ask(method, path, body)
        assert status < 300, answer
        return answer

    async def refused(self, method: str, path: str, body: object = None) -> str:
        """Send a request that must fail. Return the error code."""
        status, answer = await self.ask(method, path, body)
        assert status >= 400, answer
        return str(answer["error"])


async def newcomer(chat: ChatServer, nickname: str, invite: str | None = None) -> HttpMember:
    """Join as a new member, with the server's own invite by default."""
    device = Device()
    answer = await chat.sign_in(device, nickname=nickname, invite_code=invite or chat.invite)
    return HttpMember(chat, device, answer["member"]["id"], answer["access_token"])
