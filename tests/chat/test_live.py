"""Clients of the live socket must sign in first and keep up with events, and get responses in order."""

import asyncio
import json
from typing import Any

import pytest
from aiohttp import ClientWebSocketResponse, WSMsgType, WSServerHandshakeError

from svc.chat.access.origins import Origins
from svc.chat.live import client, frames, socket
from svc.chat.live.hub import EVERYONE
from svc.chat.live.outbox import MAX_WAITING_BYTES
from tests.chat.chat_server import ChatServer
from tests.chat.fake_sfu import FakeSfu
from tests.chat.internal_server import server_with_insight
from tests.chat.live_member import LiveMember, abort


async def error_and_close(ws: ClientWebSocketResponse) -> tuple[dict[str, Any], int | None]:
    """Wait until the server closes the connection. Return its last error frame and the close code."""
    async with asyncio.timeout(30):
        assert json.loads(await ws.receive_str())["event"] == "hello"
        frame = json.loads(await ws.receive_str())
        assert (await ws.receive()).type is WSMsgType.CLOSE
    return frame, ws.close_code


@pytest.mark.parametrize(
    ("text", "code", "request_id"),
    [
        ("nonsense", "invalid_json", None),
        ("[]", "invalid_json", None),
        ('{"event":"authenticate"}', "invalid_request", None),
        ('{"event":"authenticate","id":true}', "invalid_request", None),
        ('{"event":"authenticate","id":9007199254740993}', "invalid_request", None),
        ('{"event":"authenticate","id":1,"data":[]}', "invalid_request", None),
        ('{"event":"voice_join","id":1,"data":{}}', "auth_required", 1),
        ('{"event":"authenticate","id":"a","data":{}}', "auth_required", "a"),
        ('{"event":"authenticate","id":1,"data":{"access_token":"x"}}', "token_invalid", 1),
        # The server does not parse a long first frame, because anyone can send one.
        (f'{{"event":"authenticate","id":1,"data":{{"a":[{"[]," * 3000}[]]}}}}', "auth_required", None),
    ],
)
async def test_a_socket_that_does_not_sign_in_first_is_closed(
    chat: ChatServer, text: str, code: str, request_id: object
) -> None:
    async with chat.http.ws_connect("/live") as ws:
        await ws.send_str(text)
        frame, close_code = await error_and_close(ws)
    assert (frame["event"], frame["data"]["error"], frame.get("id")) == ("error", code, request_id)
    assert close_code == 1008


@pytest.mark.parametrize("chosen", ["svc.live", None])
async def test_a_token_in_the_subprotocols_does_not_sign_in_and_is_not_logged(
    chat: ChatServer, chosen: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    token = await chat.join("Ada")
    offered = [*([chosen] if chosen else []), f"svc.token.{token}"]
    async with chat.http.ws_connect("/live", protocols=offered) as ws:
        assert ws.protocol == chosen
        await ws.send_str('{"event":"voice_join","id":1,"data":{}}')
        frame, _ = await error_and_close(ws)
    assert frame["data"]["error"] == "auth_required"
    assert token not in caplog.text


async def test_a_silent_socket_is_closed(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "AUTHENTICATION_DEADLINE_S", 0.05)
    async with chat.http.ws_connect("/live") as ws:
        frame, close_code = await error_and_close(ws)
    assert (frame["data"]["error"], close_code) == ("auth_required", 1008)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("nonsense", "invalid_json"),
        ('{"event":"voice_join","id":[]}', "invalid_request"),
        ('{"event":"dance","id":7}', "unknown_event"),
        ('{"event":"authenticate","id":7}', "unknown_event"),
    ],
)
async def test_an_invalid_request_does_not_close_the_connection(
    chat: ChatServer, text: str, code: str
) -> None:
    async with chat.member("Ada") as ada:
        await ada.ws.send_str(text)
        assert (await ada.receive())["data"]["error"] == code
        assert (await ada.ask("voice_join", channel_id="lobby"))["event"] == "voice_join"


async def test_a_binary_message_is_not_a_request(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada:
        await ada.ws.send_bytes(b"{}")
        assert (await ada.receive())["data"]["error"] == "invalid_json"


async def test_a_message_at_the_limit_is_accepted(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada:
        await ada.ws.send_str("x" * frames.MAX_FRAME_BYTES)
        assert (await ada.receive())["data"]["error"] == "invalid_json"


async def test_a_message_over_the_limit_closes_the_connection(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada:
        await ada.ws.send_str("x" * 70_000)
        async with asyncio.timeout(30):
            assert (await ada.ws.receive()).extra == "The message is larger than 64 KB"
        assert ada.ws.close_code == 1009


async def test_a_member_may_connect_two_clients(chat: ChatServer, sfu: FakeSfu) -> None:
    token = await chat.join("Ada")
    async with chat.member("Ada", token) as first, chat.member("Ada", token) as second:
        await sfu.until("sync_request")
        await sfu.send_event("peer_joined", "lobby", first.id)
        assert await first.people("lobby") == await second.people("lobby") == ["Ada"]


async def test_a_client_that_does_not_read_is_disconnected_from_the_live_socket(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "CLOSE_DEADLINE_S", 0.1)
    async with (
        server_with_insight(variables) as (chat, community),
        chat.member("Ada") as ada,
        chat.member("Bob") as bob,
    ):
        bob.ws._response.connection.transport.pause_reading()  # type: ignore[union-attr]
        # No socket's buffer can hold twenty megabytes.
        for number in range(20):
            community.hub.push("long", [number, "x" * 1_000_000], EVERYONE)
            assert (await ada.pushed("long"))[0] == number
        async with asyncio.timeout(30):
            while "svc_chat_live_connections_active 1.0" not in await chat.metrics():
                pass
        abort(bob.ws)


async def test_a_client_that_missed_more_than_its_send_buffer_can_hold_resumes(
    variables: dict[str, str],
) -> None:
    async with server_with_insight(variables) as (chat, community):
        async with chat.member("Ada") as ada:
            seq = ada.welcome["seq"]
        for number in range(6):
            community.hub.push("long", [number, "x" * (MAX_WAITING_BYTES // 2)], EVERYONE)
        async with chat.http.ws_connect("/live", max_msg_size=0) as ws:
            again = LiveMember(ws, ada.token)
            assert (await again.receive())["event"] == "hello"
            assert (await again.ask("resume", access_token=ada.token, seq=seq))["event"] == "resumed"
            assert [(await again.pushed("long"))[0] for _ in range(6)] == [*range(6)]


@pytest.mark.parametrize(
    ("origin", "host", "allowed", "permitted"),
    [
        (None, "chat.example", [], True),
        ("https://chat.example", "chat.example", [], True),
        ("https://CHAT.example:443", "chat.example", [], True),
        ("https://chat.example", "chat.example:443", [], True),
        ("http://127.0.0.1:5000", "127.0.0.1:5000", [], True),
        ("http://127.0.0.1:5001", "127.0.0.1:5000", [], False),
        ("https://evil.example", "chat.example", [], False),
        ("https://chat.example.evil", "chat.example", [], False),
        ("null", "chat.example", [], False),
        ("", "", [], False),
        ("https://app.example", "chat.example", ["https://app.example/"], True),
        ("https://app.example", "chat.example", ["HTTPS://App.example:443"], True),
        ("https://app.example:443", "chat.example", ["https://app.example"], True),
        ("https://app.example:8443", "chat.example", ["https://app.example"], False),
        ("https://app.example", "chat.example", ["*"], True),
    ],
)
def test_pages_from_this_server_and_from_listed_sites_may_connect(
    origin: str | None, host: str, allowed: list[str], permitted: bool
) -> None:
    assert Origins(allowed).permits(origin, host) is permitted


@pytest.mark.parametrize("path", ["/live", "/sfu/client"])
async def test_a_page_from_another_site_cannot_open_a_socket(chat: ChatServer, path: str) -> None:
    with pytest.raises(WSServerHandshakeError) as refusal:
        await chat.http.ws_connect(path, origin="https://evil.example")
    assert refusal.value.status == 403
