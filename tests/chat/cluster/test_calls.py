"""Calls while the owner of a community changes, with real chat nodes, NATS servers, and an SFU."""

import signal
from pathlib import Path

from aiohttp import ClientSession

from tests.chat.member import ChatServer
from tests.kit.caller import Caller
from tests.kit.chat_nodes import ChatNode, chat_nodes, owner_among, token_of
from tests.kit.guests import GRACE
from tests.kit.nats_cluster import nats_cluster
from tests.kit.sfu_process import SECRET, running_sfu
from tests.kit.waiting import eventually, wait_until

FLAGS = ("--cluster-trust-sync", "--cluster-lease", "1.5")


async def allow_calls(node: ChatNode, token: str, *, allowed: bool) -> None:
    """Let members join the voice channel, or only the owner."""
    headers = {"Authorization": f"Bearer {token}"}
    rules = {"allow" if allowed else "deny": ["join_voice"]}
    url = "/api/channels/voice/overrides/role/member"
    async with ClientSession(node.address, headers=headers) as http, http.put(url, json=rules) as response:
        assert response.status in (200, 204), await response.text()


async def test_a_paused_owner_that_continues_disconnects_nobody_from_a_call(tmp_path: Path) -> None:
    async with nats_cluster(tmp_path) as servers, running_sfu() as sfu:
        variables = {
            "SFU_WS_HOST": f"127.0.0.1:{sfu.http_port}",
            "SERVER_ID": "home",
            "SERVER_PASSWORD": SECRET,
            "DISABLE_STUN": "true",
        }
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
                    await wait_until("the paused owner follows", first.follows, within_s=30)
                    offers = client.offers
                    await client.say("renegotiate", {})
                    await eventually(
                        "the SFU goes on", lambda: client.closed or client.offers > offers, within_s=30
                    )
                    assert client.closed is None
                    await client.leave()
