"""Calls continue while a community's owner node changes. The tests use real chat nodes, NATS servers and
SFUs.
"""

import signal
from contextlib import AsyncExitStack
from pathlib import Path

from aiohttp import ClientSession

from tests.chat.chat_server import ChatServer
from tests.kit.aiortc_client import CAMERA
from tests.kit.aiortc_guests import ADA, GRACE
from tests.kit.caller import Caller, talk
from tests.kit.chat_nodes import ChatNode, chat_nodes, owner_among, token_of
from tests.kit.cluster_callers import calls_at
from tests.kit.nats_cluster import nats_cluster
from tests.kit.sfu_process import running_sfu
from tests.kit.wait import eventually, wait_until

FLAGS = ("--cluster-trust-sync", "--cluster-lease", "1.5")


async def allow_calls(node: ChatNode, token: str, *, allowed: bool) -> None:
    """Allow or forbid all members except the owner to join the voice channel."""
    headers = {"Authorization": f"Bearer {token}"}
    rules = {"allow" if allowed else "deny": ["join_voice"]}
    url = "/api/channels/voice/overrides/role/member"
    async with ClientSession(node.address, headers=headers) as http, http.put(url, json=rules) as response:
        assert response.status in (200, 204), await response.text()


async def test_a_paused_owner_that_resumes_does_not_disconnect_anyone_from_a_call(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        servers = await stack.enter_async_context(nats_cluster(tmp_path))
        variables = calls_at(await stack.enter_async_context(running_sfu()))
        async with chat_nodes(tmp_path, servers.urls, "ab", FLAGS, variables) as (first, second):
            ada, grace = [await token_of(first, name) for name in ("Ada", "Grace")]
            await allow_calls(first, ada, allowed=False)
            first.signal(signal.SIGSTOP)
            await owner_among([second])
            await allow_calls(second, ada, allowed=True)
            async with ClientSession(second.address) as http:
                chat = ChatServer(second.address, http, "")
                async with chat.member("Grace", grace) as member:
                    caller = Caller(chat, member, GRACE)
                    await caller.join()
                    client = caller.client
                    await eventually("Grace is in the call", lambda: client.offers, within_s=30)
                    first.signal(signal.SIGCONT)
                    await wait_until("the paused owner has become a follower", first.follows, within_s=30)
                    offers = client.offers
                    await client.send("renegotiate", {})
                    await eventually(
                        "the SFU has resumed", lambda: client.closed or client.offers > offers, within_s=30
                    )
                    assert client.closed is None
                    await client.leave()


async def test_members_on_two_sfus_can_still_hear_each_other_after_the_owner_dies(tmp_path: Path) -> None:
    async with (
        nats_cluster(tmp_path) as servers,
        running_sfu() as one,
        running_sfu() as two,
        AsyncExitStack() as stack,
    ):
        variables = calls_at(one, two) | {"SFU_ROOM_SIZE": "1"}
        nodes = await stack.enter_async_context(chat_nodes(tmp_path, servers.urls, "ab", FLAGS, variables))
        first, second = nodes
        http = await stack.enter_async_context(ClientSession(first.address))
        chat = ChatServer(first.address, http, "")
        callers = []
        for name, voice in (("Ada", ADA), ("Grace", GRACE)):
            member = await stack.enter_async_context(chat.member(name, await token_of(first, name)))
            caller = Caller(chat, member, voice, direct=True)
            await caller.join()
            await eventually(f"{name} is in the call", lambda: caller.client.offers, within_s=30)  # noqa: B023
            callers.append(caller)
        ada, grace = [caller.client for caller in callers]
        await talk(ada, grace)
        assert {ada.remote_address[1], grace.remote_address[1]} == {one.udp_port, two.udp_port}
        offers = [client.offers for client in (ada, grace)]
        heard = grace.section(ada, "mic")

        await first.kill()
        await owner_among([second])

        async def is_in_step() -> bool:
            async with ClientSession(second.address) as http, http.get("/metrics") as response:
                return "svc_chat_sfu_link_up 1.0" in await response.text()

        await wait_until("the new owner knows both SFUs", is_in_step, within_s=30)
        for client in (ada, grace):
            await client.send("renegotiate", {})
        # If the connection between the SFUs had restarted, there would have been another offer with a new
        # track.
        for client, before in zip((ada, grace), offers, strict=True):
            await eventually("the SFU has resumed", lambda: client.offers > before, within_s=30)  # noqa: B023
        assert [client.offers for client in (ada, grace)] == [before + 1 for before in offers]
        await talk(ada, grace)
        # The new owner handles all changes from here on.
        del ada.sends[CAMERA]
        await ada.send("renegotiate", {})
        await grace.lost(ada)
        assert await grace.hears(ada) is heard
        for client in (ada, grace):
            assert client.closed is None
            await client.leave()
        assert one.faults == two.faults == []
