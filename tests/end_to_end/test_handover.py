"""The media service hands its ports over to a successor during a call between two members of a chat server.

The chat server connects to the successor and registers its rooms, and the members rejoin with new grants.
They must be able to talk again within 2 s.
"""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

from tests.chat.chat_server import chat_server
from tests.kit.aiortc_guests import ADA, GRACE
from tests.kit.caller import Caller, talk
from tests.kit.sfu_process import SfuProcess, running_sfu
from tests.kit.wait import eventually

JOINED_AGAIN_WITHIN_S = 20.0  # an idle machine takes two seconds


def variables_for(sfu: SfuProcess, folder: Path) -> dict[str, str]:
    return {
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "DATA_DIR": str(folder),
        "SVC_IDENTITY_TIERS": "local",
        "SFU_WS_HOST": f"127.0.0.1:{sfu.http_port}",
        "SERVER_ID": "home",
        "SERVER_PASSWORD": "the control secret",
        "DISABLE_STUN": "true",
    }


async def test_after_a_handover_two_people_rejoin_their_call_within_2_s(tmp_path: Path) -> None:
    socket_path = str(tmp_path / "sfu.sock")
    async with (
        running_sfu("--handover-socket", socket_path) as old,
        chat_server(variables_for(old, tmp_path / "data")) as chat,
        AsyncExitStack() as stack,
    ):
        ada, grace = [
            Caller(chat, await stack.enter_async_context(chat.member(name)), voice)
            for name, voice in (("Ada", ADA), ("Grace", GRACE))
        ]
        for caller in (ada, grace):
            await caller.join()
            stack.push_async_callback(lambda caller=caller: caller.client.leave())  # type: ignore[misc]
        await talk(ada.client, grace.client)

        async def speak() -> None:
            assert (await ada.client.ending())[0] == 4006

        task = asyncio.create_task(speak())
        async with running_sfu("--handover-socket", socket_path, "--take-over") as new:
            await task
            async with asyncio.timeout(JOINED_AGAIN_WITHIN_S):
                await asyncio.gather(ada.join_again(), grace.join_again())
                both = (ada.client, grace.client)
                await eventually(
                    "both have joined",
                    lambda: all(person.welcome for person in both),
                    within_s=JOINED_AGAIN_WITHIN_S,
                )
            await talk(ada.client, grace.client)
            assert await old.ended() == 0
            assert new.faults == old.faults == []
            for client in both:
                await client.leave()
