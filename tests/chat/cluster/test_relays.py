"""Tests relays over real NATS servers: events, access, takeovers and startup errors."""

import asyncio
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, WSMsgType

from svc.base.control_socket import ask
from tests.chat.chat_server import ChatServer
from tests.chat.live_member import LiveMember
from tests.kit.chat_nodes import ChatNode, ChatRelay, chat_nodes, chat_relays, owner_among
from tests.kit.nats_cluster import nats_cluster
from tests.kit.severable_proxy import severable_proxy
from tests.kit.wait import wait_until

GENERAL = "/api/channels/general"
FLAGS = ("--cluster-trust-sync", "--cluster-lease", "1.5")


@asynccontextmanager
async def member_at(
    relay: ChatRelay, owner: ChatNode, nickname: str, **options: Any
) -> AsyncIterator[LiveMember]:
    """Join through a relay and open a live socket to it."""
    invite = (owner.data_dir / "invite-code").read_text().strip()
    async with (
        ClientSession(relay.address) as http,
        ChatServer(relay.address, http, invite).member(nickname, **options) as member,
    ):
        yield member


async def post(member: LiveMember, text: str) -> None:
    reply = await member.ask("message_send", channel_id="general", text=text, nonce=f"the nonce of {text}")
    assert reply["event"] == "message_send", reply


async def next_text(member: LiveMember) -> str:
    return str((await member.pushed("message_posted"))["text"])


async def relays_at(node: ChatNode) -> dict[str, int]:
    """Return the number of clients on each relay, as in `svc admin cluster status`."""
    result = (await ask(node.data_dir, "cluster_status", {})).get("result", {})
    assert isinstance(result, dict)
    return {relay["relay"]: relay["pages"] for relay in result.get("relays", [])}


async def test_members_on_relays_get_each_event_once_and_stay_connected_in_a_takeover(
    tmp_path: Path,
) -> None:
    async with (
        nats_cluster(tmp_path) as servers,
        chat_nodes(tmp_path, servers.urls, "ab", FLAGS) as nodes,
        chat_relays(servers.urls, ["east", "west"]) as (east, west),
        member_at(east, nodes[0], "Ada") as ada,
        member_at(west, nodes[0], "Grace") as grace,
        AsyncExitStack() as stack,
    ):
        first, second = nodes
        for number in range(20):
            await post(ada, f"message {number}")
        assert [await next_text(grace) for _ in range(20)] == [f"message {number}" for number in range(20)]

        first.signal(signal.SIGSTOP)
        # The paused owner still holds the lease. The system accepts this relay's connection, but the owner
        # never responds.
        late = ChatRelay("late", servers.urls)
        stack.push_async_callback(late.kill)
        await late.start()
        await owner_among([second])
        await wait_until("the new relay is attached", late.is_attached, within_s=30)
        state = await grace.pushed("authenticated")
        assert state["member"]["id"] == grace.id
        await ada.pushed("authenticated")
        await post(grace, "after the takeover")
        assert await next_text(ada) == "after the takeover"
        first.signal(signal.SIGCONT)
        await wait_until("the paused owner follows", first.follows, within_s=30)
        await post(ada, "at the end")
        assert await next_text(grace) == "after the takeover"
        assert await next_text(grace) == "at the end"

        async def are_shown() -> bool:
            return await relays_at(first) == {"east": 1, "west": 1, "late": 0}

        await wait_until("every node reports the relays", are_shown, within_s=20)


async def test_a_client_connected_to_a_killed_relay_resumes_on_another_relay(tmp_path: Path) -> None:
    async with (
        nats_cluster(tmp_path) as servers,
        chat_nodes(tmp_path, servers.urls, "a", FLAGS) as (node,),
        chat_relays(servers.urls, ["east", "west"]) as (east, west),
        member_at(east, node, "Ada") as ada,
        member_at(west, node, "Grace") as grace,
    ):
        await post(grace, "before")
        seq = (await frame_of(ada, "message_posted"))["seq"]
        await east.kill()
        for text in ("meanwhile", "later"):
            await post(grace, text)

        async def has_noticed() -> bool:
            return await relays_at(node) == {"west": 1}

        await wait_until("the owner has noticed the end of the relay", has_noticed, within_s=40)
        async with ClientSession(west.address) as http, http.ws_connect("/live") as ws:
            again = LiveMember(ws, ada.token)
            assert (await again.receive())["event"] == "hello"
            reply = await again.ask("resume", access_token=ada.token, seq=seq)
            assert reply["event"] == "resumed", reply
            assert [await next_text(again), await next_text(again)] == ["meanwhile", "later"]
            await post(again, "back")
            assert await next_text(again) == "back"


async def frame_of(member: LiveMember, event: str) -> Mapping[str, Any]:
    while (frame := await member.receive())["event"] != event:
        pass
    return frame


async def test_lost_events_are_recovered_but_not_for_members_who_lost_access(
    tmp_path: Path,
) -> None:
    async with (
        nats_cluster(tmp_path) as servers,
        chat_nodes(tmp_path, servers.urls, "a", FLAGS) as (node,),
        severable_proxy(servers.urls[0]) as proxy,
        chat_relays([proxy.url], ["far"]) as (far,),
        chat_relays(servers.urls, ["near"]) as (near,),
        member_at(near, node, "Ada") as ada,
        member_at(far, node, "Grace") as grace,
        member_at(far, node, "Edsger") as edsger,
    ):
        await post(ada, "heard")
        assert await next_text(grace) == "heard"
        proxy.pause()
        await post(ada, "lost on the way")
        assert await next_text(grace) == "lost on the way"

        await ask(node.data_dir, "member_owner", {"member": ada.id})
        denied = {"allow": [], "deny": ["view_channel"]}
        headers = {"Authorization": f"Bearer {ada.token}"}
        async with (
            ClientSession(near.address, headers=headers) as http,
            http.put(f"{GENERAL}/overrides/member/{grace.id}", json=denied) as response,
        ):
            assert response.status in (200, 204), await response.text()
        await post(ada, "for the others")
        assert await next_text(edsger) == "heard"
        assert await next_text(edsger) == "lost on the way"
        assert await next_text(edsger) == "for the others"
        proxy.resume()
        await grace.ask("ping")
        assert "message_posted" not in grace.kept_events()
        metrics = await metrics_of(far)
        assert "svc_relay_repairs_total 0.0" not in metrics and "svc_relay_owner_link_up 1.0" in metrics

        async with (
            ClientSession(near.address, headers=headers) as http,
            http.post(f"/api/members/{edsger.id}/kick", json={}) as response,
        ):
            assert response.status in (200, 204), await response.text()
        assert await close_code_of(edsger) == 4001


async def close_code_of(member: LiveMember) -> object:
    async with asyncio.timeout(30):
        while (message := await member.ws.receive()).type is WSMsgType.TEXT:
            pass
    return message.data


async def metrics_of(relay: ChatRelay) -> str:
    async with ClientSession(relay.address) as http, http.get("/metrics") as response:
        return await response.text()


async def test_a_relay_serves_the_web_client_and_forwards_the_owners_responses(tmp_path: Path) -> None:
    async with (
        nats_cluster(tmp_path) as servers,
        chat_nodes(tmp_path, servers.urls, "a", FLAGS) as (node,),
        chat_relays(servers.urls, ["one"]) as (relay,),
        ClientSession() as http,
    ):
        for path in ("/", "/web/main.js", "/sw.js", "/manifest.webmanifest", "/info", "/reference"):
            answers = []
            for server in (node, relay):
                async with http.get(server.address + path) as response:
                    kept = {
                        name: value
                        for name, value in response.headers.items()
                        if name.lower()
                        in ("content-security-policy", "content-type", "etag", "cache-control")
                    }
                    answers.append((response.status, kept, await response.read()))
            assert answers[0] == answers[1], path
        large = {"text": "x" * 100_000}
        async with http.post(relay.address + GENERAL + "/messages", json=large) as response:
            assert response.status == 401, "the owner responds to a streamed request"
        for path in ("/cluster/relay", "/nowhere"):
            async with http.get(relay.address + path) as response:
                assert response.status == 404
        async with http.get(node.address + "/cluster/relay") as response:
            assert response.status == 403, "only a relay that knows the key may attach"

        twin = ChatRelay("one", servers.urls)
        await twin.start()
        status, output = await twin.ended()
        assert status == 2 and "another live relay is named one" in output
        await node.kill()
        async with http.get(relay.address + "/info") as response:
            assert response.status == 503
            assert (await response.json())["error"] == "server_stopping"
        assert (await relay.health())["status"] == "no_owner"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "a relay needs --cluster or SVC_CLUSTER"),
        (["--cluster", "http://127.0.0.1:9", "--name", "one"], "must list addresses like nats://"),
        (
            ["--cluster", "nats://chat:word@127.0.0.1:x", "--name", "one"],
            "like nats://host:4222, not '127.0.0.1:x'",
        ),
        (["--cluster", "nats://127.0.0.1:9"], "a relay needs --name NAME"),
        (["--cluster", "nats://127.0.0.1:9", "--name", "one"], "NATS cannot be reached"),
    ],
)
async def test_a_relay_that_cannot_work_does_not_start_and_reports_the_reason(
    arguments: list[str], reason: str
) -> None:
    relay = ChatRelay("one", [])
    relay.arguments = ["relay", *arguments]
    await relay.start()
    status, output = await relay.ended()
    assert status == 2 and reason in output, output
