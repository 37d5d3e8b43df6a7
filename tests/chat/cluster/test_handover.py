"""The community moves to another node on request without errors, even for clients that never retry."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import ClientSession

from svc.base.control_socket import ask
from svc.tools.doctor.cluster import diagnose
from tests.chat.chat_server import ChatServer
from tests.kit.chat_nodes import ChatNode, chat_nodes, chat_relays, owner_among, token_of
from tests.kit.nats_cluster import nats_cluster
from tests.kit.wait import wait_until

FLAGS = ("--cluster-trust-sync", "--cluster-lease", "1.5")
MESSAGES = "/api/channels/general/messages"
# Three clients post as the same member, who may post ten messages per second.
_PAUSE_S = 0.4


class Sending:
    """A client that keeps sending requests, one after another, and never retries."""

    def __init__(self, send: Callable[[str], Awaitable[str]]) -> None:
        self._send = send
        self._stopping = False
        self.sent: list[str] = []
        # Unexpected responses
        self.failures: list[str] = []

    async def _run(self, name: str) -> None:
        while not self._stopping:
            text = f"{name} {len(self.sent)}"
            self.sent.append(text)
            if failure := await self._send(text):
                self.failures.append(f"{text}: {failure}")
            await asyncio.sleep(_PAUSE_S)

    @asynccontextmanager
    async def running(self, name: str) -> AsyncIterator["Sending"]:
        task = asyncio.create_task(self._run(name))
        try:
            yield self
        finally:
            self._stopping = True
            async with asyncio.timeout(30):
                await task


def posting(http: ClientSession) -> Sending:
    async def post(text: str) -> str:
        async with http.post(MESSAGES, json={"text": text}) as answer:
            return "" if answer.status == 201 else f"{answer.status} {await answer.text()}"

    return Sending(post)


def streaming(http: ClientSession) -> Sending:
    """Return a client that sends requests too large to be buffered by a proxy. The owner rejects them."""

    async def post(_: str) -> str:
        async with http.post(MESSAGES, json={"text": "x" * 100_000}) as answer:
            return "" if answer.status in (400, 413) else f"{answer.status} {await answer.text()}"

    return Sending(post)


async def move(first: ChatNode, second: ChatNode) -> None:
    await wait_until("the other node follows", second.follows, within_s=30)
    moved = await ask(first.data_dir, "cluster_move", {"node": second.name})
    assert moved == {"result": {"from": first.name, "to": second.name}}
    await owner_among([second])


async def texts_at(node: ChatNode, token: str) -> list[str]:
    nodes: list[str] = []
    async with ClientSession(node.address, headers={"Authorization": f"Bearer {token}"}) as http:
        query = {"limit": "100"}
        while True:
            async with http.get(MESSAGES, params=query) as page:
                messages = (await page.json())["messages"]
            if not messages:
                return nodes
            nodes += [message["text"] for message in messages]
            query["before"] = min(messages, key=lambda message: message["id"])["id"]


async def test_a_client_without_retries_loses_no_request_while_the_community_moves(tmp_path: Path) -> None:
    async with (
        nats_cluster(tmp_path) as servers,
        chat_nodes(tmp_path, servers.urls, "ab", FLAGS) as (first, second),
        chat_relays(servers.urls, ["east"]) as (relay,),
    ):
        token = await token_of(first, "Ada")
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            ClientSession(first.address, headers=headers) as at_node,
            ClientSession(relay.address, headers=headers) as at_relay,
            ChatServer(relay.address, at_relay, "").member("Ada", token) as member,
            posting(at_node).running("node") as node_writer,
            posting(at_relay).running("relay") as relay_writer,
            streaming(at_node).running("large node") as large_node_writer,
            streaming(at_relay).running("large relay") as large_relay_writer,
        ):

            async def send_live(text: str) -> str:
                reply = await member.ask("message_send", channel_id="general", text=text)
                return "" if reply["event"] == "message_send" else str(reply)

            async with Sending(send_live).running("live") as live_writer:
                await move(first, second)
                before = [len(writer.sent) for writer in (node_writer, relay_writer, live_writer)]

                async def are_served_by_the_next_owner() -> bool:
                    now = [len(writer.sent) for writer in (node_writer, relay_writer, live_writer)]
                    return all(later > earlier + 2 for earlier, later in zip(before, now, strict=True))

                await wait_until("all writers continue", are_served_by_the_next_owner, within_s=30)
        writers = (node_writer, relay_writer, live_writer)
        for writer in (*writers, large_node_writer, large_relay_writer):
            assert writer.failures == []
        sent = [text for writer in writers for text in writer.sent]
        assert sorted(await texts_at(second, token)) == sorted(sent)


async def test_a_former_owner_asks_load_balancers_to_stop_before_it_rejects_requests(
    tmp_path: Path,
) -> None:
    async with (
        nats_cluster(tmp_path) as servers,
        chat_nodes(tmp_path, servers.urls, "ab", FLAGS) as (first, second),
        ClientSession() as http,
    ):

        async def status_of(node: ChatNode, path: str) -> int:
            async with http.get(node.address + path) as answer:
                return answer.status

        assert await status_of(first, "/cluster/ready") == 200
        assert await status_of(second, "/cluster/ready") == 503
        assert await status_of(second, "/info") == 503
        await move(first, second)
        assert await status_of(second, "/cluster/ready") == 200
        status = (await ask(second.data_dir, "cluster_status", {}))["result"]
        assert isinstance(status, dict)
        findings = [finding.what for finding in diagnose(status)]
        assert "Node b owns the community, in epoch 2" in findings
        assert "Nodes a, b are all at 127.0.0.1" in findings
        assert "3 NATS servers are at 127.0.0.1" in findings
        seen = []

        async def is_unavailable() -> bool:
            ready, info = await status_of(first, "/cluster/ready"), await status_of(first, "/info")
            seen.append((ready, info))
            return info == 503

        await wait_until("the former owner refuses requests", is_unavailable, within_s=20)
        # The former owner forwards requests as long as load balancers may still send any.
        assert (404, 200) in seen and {info for ready, info in seen if ready == 200} <= {200}
        assert await status_of(first, "/cluster/ready") == 503
