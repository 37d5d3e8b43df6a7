"""The media service of `svc up` is killed during a call, and the members rejoin within 5 s.

Grants come from `/live`, and signalling goes through `/sfu/client`. The chat server reconnects, and clients
rejoin, without any action by the operator.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from aiohttp import ClientSession

from tests.chat.chat_server import ChatServer
from tests.kit.aiortc_guests import ADA, GRACE
from tests.kit.caller import Caller, talk
from tests.kit.svc_up import SvcUp, running_svc_up

BACK_WITHIN_S = 20.0  # an idle machine takes five seconds


@pytest.fixture
async def product(tmp_path: Path) -> AsyncIterator[SvcUp]:
    async with running_svc_up(tmp_path / "data") as product:
        yield product
    assert "Traceback" not in product.output, product.output


async def test_two_people_hear_each_other_again_within_5_s(product: SvcUp) -> None:
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
        await talk(ada.client, grace.client)
        killed = product.program("sfu")

        os.kill(killed, signal.SIGKILL)

        async with asyncio.timeout(BACK_WITHIN_S):
            await asyncio.gather(ada.join_again(), grace.join_again())
            await talk(ada.client, grace.client)
        assert product.program("sfu") != killed
