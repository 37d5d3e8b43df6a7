"""Without a quorum of NATS servers, a community still serves reads and states why it rejects writes."""

from pathlib import Path

from aiohttp import ClientSession, ClientTimeout

from tests.chat.cluster.test_relays import member_at
from tests.kit.chat_nodes import ClusterProcess, chat_nodes, chat_relays
from tests.kit.nats_cluster import nats_cluster
from tests.kit.wait import wait_until

FLAGS = ("--cluster-trust-sync", "--cluster-lease", "1.5")
MESSAGES = "/api/channels/general/messages"


async def test_without_a_quorum_nodes_and_relays_reject_writes_but_serve_reads(
    tmp_path: Path,
) -> None:
    async with (
        nats_cluster(tmp_path) as servers,
        chat_nodes(tmp_path, servers.urls, "ab", FLAGS) as (node, _),
        chat_relays(servers.urls, ["east"]) as (relay,),
        member_at(relay, node, "Ada") as ada,
        ClientSession(headers={"Authorization": f"Bearer {ada.token}"}, timeout=ClientTimeout(60)) as http,
    ):

        async def post(server: ClusterProcess, text: str) -> tuple[int, dict[str, str]]:
            async with http.post(server.address + MESSAGES, json={"text": text}) as response:
                return response.status, await response.json()

        async def texts(server: ClusterProcess) -> list[str]:
            async with http.get(server.address + MESSAGES) as response:
                assert response.status == 200, await response.text()
                return [message["text"] for message in (await response.json())["messages"]]

        async def is_writable() -> bool:
            return (await post(relay, "written again"))[0] == 201

        assert (await post(node, "before"))[0] == 201
        for name in "bc":
            await servers.kill(name)
        # The first request waits for the log. The following requests are rejected immediately.
        for server in (node, relay, node, relay):
            status, refusal = await post(server, "in doubt")
            assert (status, refusal["error"]) == (503, "storage_unavailable"), refusal
            assert "quorum" in refusal["message"] and "may still be stored" in refusal["message"]
            assert "before" in await texts(server)
        reply = await ada.ask("message_send", channel_id="general", text="in doubt", nonce="the live one")
        assert reply["data"]["error"] == "storage_unavailable" and "quorum" in reply["data"]["message"]
        history = await ada.ask("history", channel_id="general")
        assert "before" in [message["text"] for message in history["data"]["messages"]]

        for name in "bc":
            servers.start(name)
        await wait_until("the cluster accepts writes again", is_writable, within_s=60)
        assert await texts(node) == await texts(relay)
        # The first request may have been stored, but only once. The rejected requests have not been stored.
        assert (await texts(node)).count("in doubt") <= 1
