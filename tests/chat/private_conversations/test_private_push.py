"""Devices are notified of private messages unless a client of the member is visible. The notifications
contain no message content.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from svc.chat.community import Community
from svc.chat.private_conversations.framing import APPLICATION
from tests.chat.chat_server import ChatServer
from tests.chat.http_member import newcomer
from tests.chat.internal_server import server_with_insight
from tests.chat.private_conversations.mls_messages import COMMITMENT, Client, path, private_message, text
from tests.chat.push.service import Browser, PushService, push_service

SECRET = b"the key is under the mat"


@dataclass
class Scene:
    community: Community
    service: PushService
    ada: Client
    ben: Client
    browser: Browser
    conversation: dict[str, Any]

    def body(self) -> bytes:
        return private_message(self.conversation["id"], 1, APPLICATION, SECRET)

    async def send(self, sender: Client, body: bytes | None = None, **more: object) -> int:
        wanted = {"message": text(body or self.body()), "commitment": text(COMMITMENT), **more}
        status, _ = await sender.person.ask("POST", path(self.conversation, "messages"), wanted)
        return status

    async def is_quiet(self) -> bool:
        senders = self.community.notifications.ringing._senders
        assert senders is not None
        while sending := list(senders._tasks):
            await asyncio.wait(sending, timeout=60)
        return self.service.received.empty()


async def _client(chat: ChatServer, server_id: str, name: str) -> Client:
    return await Client(await newcomer(chat, name), server_id, time.time()).take_part(3)


@pytest.fixture
async def scene(variables: dict[str, str]) -> AsyncIterator[Scene]:
    async with push_service() as service, server_with_insight(variables) as (chat, community):
        community.notifications.poster.exempt.add(service.origin)
        async with chat.http.get("/info") as response:
            server_id = (await response.json())["serverId"]
        await newcomer(chat, "Owner")
        ada, ben = [await _client(chat, server_id, name) for name in ("Ada", "Ben")]
        conversation = await ada.open(ben)
        await ada.take(conversation, ben)
        assert (await ada.commit(conversation, 0))[0] == 200
        browser = Browser(service, "device")
        await ben.person.done("PUT", "/api/me/push", browser.subscription())
        yield Scene(community, service, ada, ben, browser, conversation)


async def test_an_absent_member_is_notified_without_any_content(scene: Scene) -> None:
    assert await scene.send(scene.ada) == 200
    received = await scene.service.next()
    notice = scene.browser.read(received)
    assert notice == {"kind": "mention", "talk_id": scene.conversation["id"]}
    assert SECRET not in received.body


async def test_resent_messages_and_commits_cause_no_notifications(scene: Scene) -> None:
    body = scene.body()
    assert await scene.send(scene.ada, body, ring=False) == 200
    assert await scene.send(scene.ada, body) == 200
    assert await scene.is_quiet()


async def test_active_members_and_members_with_do_not_disturb_are_not_notified(scene: Scene) -> None:
    await scene.ben.person.done("PUT", "/api/me/quiet", {"quiet": True})
    assert await scene.send(scene.ada) == 200
    assert await scene.is_quiet()
