"""The media service is killed under `svc up` while two people talk through the chat server.

Real grants from `/live`, real signalling through `/sfu/client`. Issue 2: "Kill the SFU while two people
talk: the chat server reconnects, clients rejoin within 5 s, no process needs a hand."
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from aiohttp import ClientSession

from tests.chat.member import ChatServer, LiveMember
from tests.kit.aiortc_client import AiortcClient, Voice
from tests.kit.guests import ADA, GRACE, microphone_and_camera
from tests.kit.product import Product, running_product

BACK_WITHIN_S = 5.0
RETRY_S = 0.1


class Caller:
    """A member who is in the call, and comes back into it whenever it breaks off."""

    def __init__(self, chat: ChatServer, live: LiveMember, voice: Voice) -> None:
        self._chat = chat
        self._live = live
        self._voice = voice
        channels = live.welcome["channels"]
        self._channel: str = next(channel["id"] for channel in channels if channel["type"] == "voice")
        self.client: AiortcClient

    async def join(self) -> None:
        """Ask for a grant and join with it, as often as it takes."""
        while True:
            reply = await self._live.ask("voice_join", channel_id=self._channel)
            if reply["event"] == "voice_join":
                break
            assert reply["data"]["error"] == "voice_unavailable", reply
            await asyncio.sleep(RETRY_S)
        (url,), grant = reply["data"]["urls"], reply["data"]["client_join"]
        socket = await self._chat.http.ws_connect(url, max_msg_size=0)
        self.client = AiortcClient(self._live.id, self._voice, socket, microphone_and_camera(self._voice))
        await self.client.say("client_join", grant)

    async def join_again(self) -> None:
        """Notice that the call has ended, and join anew."""
        await self.client.ending()
        await self.client.leave()
        await self.join()


@pytest.fixture
async def product(tmp_path: Path) -> AsyncIterator[Product]:
    async with running_product(tmp_path / "data") as product:
        yield product
    assert "Traceback" not in product.output, product.output


async def test_two_people_talk_again_within_5_s(product: Product) -> None:
    address, _, invite = product.url.partition("/#invite=")
    async with ClientSession(address) as http, AsyncExitStack() as stack:
        chat = ChatServer(address, http, invite)
        ada, grace = [
            Caller(chat, await stack.enter_async_context(chat.member(name)), voice)
            for name, voice in (("Ada", ADA), ("Grace", GRACE))
        ]
        for caller in (ada, grace):
            await caller.join()
            stack.push_async_callback(lambda caller=caller: caller.client.leave())  # type: ignore[misc]
        await _talk(ada.client, grace.client)
        killed = product.program("sfu")

        os.kill(killed, signal.SIGKILL)

        async with asyncio.timeout(BACK_WITHIN_S):
            await asyncio.gather(ada.join_again(), grace.join_again())
            await _talk(ada.client, grace.client)
        assert product.program("sfu") != killed


async def _talk(ada: AiortcClient, grace: AiortcClient) -> None:
    await asyncio.gather(ada.sees(grace), grace.sees(ada), ada.hears(grace), grace.hears(ada))
