"""Relay clients get each message once and in order, even if a client, link or owner is slow or fails."""

import asyncio
import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientTimeout, TCPConnector

from svc.chat.live.outbox import MAX_WAITING_BYTES
from tests.chat.chat_server import ChatServer
from tests.chat.cluster.test_handover import MESSAGES, texts_at
from tests.chat.cluster.test_relays import FLAGS, frame_of, member_at, metrics_of, next_text, post
from tests.chat.live_member import LiveMember
from tests.kit.chat_nodes import ChatNode, chat_nodes, chat_relays, owner_among, token_of
from tests.kit.nats_cluster import nats_cluster
from tests.kit.severable_proxy import severable_proxy
from tests.kit.wait import wait_until

# A member may send this many messages in a burst.
BURST = 25
# HTTP requests to a silent server take less time than this.
WITHIN_S = 100.0
# A text of almost the maximum number of bytes.
LONG = "🐘" * 3_980


async def writers_at(node: ChatNode, count: int) -> list[str]:
    """Create members. Return their tokens."""
    return [await token_of(node, f"Writer {number}") for number in range(count)]


async def write(node: ChatNode, writers: Sequence[str], text: str = "") -> list[str]:
    """Have all writers post a burst of messages at the same time. Return the texts."""

    async def write_burst(number: int, token: str) -> list[str]:
        texts = [f"{number}/{count} {text}" for count in range(BURST)]
        async with ClientSession(node.address, headers={"Authorization": f"Bearer {token}"}) as http:
            for each in texts:
                assert await sent(http, "POST", {"text": each}) == (201, "")
        return texts

    bursts = await asyncio.gather(*(write_burst(number, token) for number, token in enumerate(writers)))
    return [each for burst in bursts for each in burst]


async def sent(http: ClientSession, method: str, body: object = None) -> tuple[int, str]:
    """Send a request about the messages. Return the status and the error code of the response."""
    async with http.request(method, MESSAGES, json=body) as response:
        return response.status, (await response.json()).get("error", "")


async def resume(ws: Any, member: LiveMember, seq: int) -> LiveMember:
    again = LiveMember(ws, member.token)
    assert (await again.receive())["event"] == "hello"
    reply = await again.ask("resume", access_token=member.token, seq=seq)
    assert reply["event"] == "resumed", reply
    return again


async def collect(member: LiveMember, count: int) -> list[str]:
    return [await next_text(member) for _ in range(count)]


def socket_with_little_room(_: object) -> socket.socket:
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    return connection


async def test_a_client_that_stops_reading_is_closed_and_resumes_without_loss(
    tmp_path: Path,
) -> None:
    async with (
        nats_cluster(tmp_path) as servers,
        chat_nodes(tmp_path, servers.urls, "a", FLAGS) as (node,),
        chat_relays(servers.urls, ["east"]) as (east,),
        member_at(east, node, "Grace") as grace,
        ClientSession(east.address, connector=TCPConnector(socket_factory=socket_with_little_room)) as http,
        ChatServer(east.address, http, "").member("Ada", await token_of(node, "Ada")) as ada,
    ):
        reading = asyncio.create_task(collect(grace, 6 * BURST))
        texts = await write(node, await writers_at(node, 6), LONG)
        assert sum(len(text.encode()) for text in texts) > 2 * MAX_WAITING_BYTES
        received = await reading
        assert sorted(received) == sorted(texts)

        async def is_closed() -> bool:
            return "svc_relay_live_connections_active 1.0" in await metrics_of(east)

        await wait_until("the relay has closed the page", is_closed, within_s=30)
        async with http.ws_connect("/live", max_msg_size=0) as ws:
            again = await resume(ws, ada, ada.welcome["seq"])
            assert await collect(again, len(texts)) == received


async def test_a_client_gets_its_complete_state_if_its_relay_missed_too_many_events(
    tmp_path: Path,
) -> None:
    async with (
        nats_cluster(tmp_path) as servers,
        chat_nodes(tmp_path, servers.urls, "a", FLAGS) as (node,),
        severable_proxy(servers.urls[0]) as proxy,
        chat_relays([proxy.url], ["far"]) as (far,),
        member_at(far, node, "Grace") as grace,
    ):
        writers = await writers_at(node, 23)
        await post(grace, "before")
        assert await next_text(grace) == "before"
        proxy.pause()
        with far.paused():
            texts = await write(node, writers, LONG)
            assert sum(len(text.encode()) for text in texts) > 9_000_000
            await proxy.drop()
        proxy.resume()
        received = []
        while (frame := await grace.receive())["event"] != "authenticated":
            received.append(frame["event"])
        assert "message_posted" not in received
        await post(grace, "after")
        assert await next_text(grace) == "after"
        assert sorted(await texts_at(node, grace.token)) == sorted(["before", *texts, "after"])


async def test_requests_pending_at_a_silent_owner_are_retried_or_fail_after_a_takeover(
    tmp_path: Path,
) -> None:
    async with (
        nats_cluster(tmp_path) as servers,
        chat_nodes(tmp_path, servers.urls, "ab", FLAGS) as (first, second),
        chat_relays(servers.urls, ["east"]) as (east,),
        member_at(east, first, "Ada") as ada,
        ClientSession(
            east.address,
            headers={"Authorization": f"Bearer {ada.token}"},
            timeout=ClientTimeout(WITHIN_S),
        ) as http,
    ):

        async def sign_in() -> str:
            while True:
                # On a busy machine, the relay may give up before another node takes over.
                with suppress(KeyError):
                    async with ChatServer(east.address, http, "").member("Ada", ada.token) as page:
                        return page.id

        message = {"text": "over HTTP", "nonce": "the nonce of over HTTP"}
        with first.paused():
            live = ada.ask("message_send", channel_id="general", text="live", nonce="the nonce of live")
            async with asyncio.timeout(WITHIN_S):
                read, posted, asked, member_id = await asyncio.gather(
                    sent(http, "GET"), sent(http, "POST", message), live, sign_in()
                )
        assert read in ((200, ""), (503, "server_stopping")) and member_id == ada.id
        # The silent owner may have stored these messages, so the relay must not repeat them. Only the client
        # can.
        assert posted == (503, "storage_unavailable")
        assert asked["data"]["error"] == "storage_unavailable"
        assert await sent(http, "POST", message) == (201, "")
        await post(ada, "live")
        await owner_among([second])
        await wait_until("the former owner follows", first.follows, within_s=30)
        assert sorted(await texts_at(second, ada.token)) == ["live", "over HTTP"]


async def test_a_client_that_resumes_on_another_relay_gets_each_message_once(
    tmp_path: Path,
) -> None:
    async with (
        nats_cluster(tmp_path) as servers,
        chat_nodes(tmp_path, servers.urls, "a", FLAGS) as (node,),
        chat_relays(servers.urls, ["east", "west"]) as (east, west),
        member_at(east, node, "Ada") as ada,
        member_at(west, node, "Grace") as grace,
    ):
        writers = await writers_at(node, 6)
        writing = asyncio.create_task(write(node, writers))
        frames = [await frame_of(ada, "message_posted") for _ in range(BURST)]
        received, seq = [frame["data"]["text"] for frame in frames], frames[-1]["seq"]
        await east.kill()
        others: list[str] = []
        # The other relay can resend only messages that it has received itself.
        while len(others) < len(received):
            others.append(await next_text(grace))
        async with ClientSession(west.address) as http, http.ws_connect("/live") as ws:
            again = await resume(ws, ada, seq)
            count = len(writers) * BURST
            received += await collect(again, count - len(received))
            others += await collect(grace, count - len(others))
            assert received == others
            assert sorted(received) == sorted(await writing)
            await post(again, "back")
            assert await next_text(again) == "back"
