"""Idle connections are closed to make room for others, so they cannot lock members out.

Each listener is tested with its own sockets and with short deadlines. `tests/base/test_http_connections.py`
uses a simulated clock to check that legitimate connections stay open.
"""

import asyncio
import json
import ssl
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

from svc.base import acceptor, control_socket, http_connections
from svc.base.connections import ConnectionTable, Limits
from svc.base.signalling_codec import serialise, serialise_text
from svc.chat import http_port
from svc.chat.app import serving
from svc.chat.authentication import endpoints as joining_endpoints
from svc.chat.authentication.one_time_codes import MAX_PENDING, Challenges
from svc.chat.authentication.sessions import Throttle
from svc.chat.config import read
from svc.chat.http_port import Flags
from svc.chat.live import socket as live
from svc.chat.voice import pass_through as voice
from svc.sfu import routes as sfu_routes
from tests.attacks.test_malformed_http import LISTENERS
from tests.chat.chat_server import ChatServer
from tests.chat.fake_sfu import FakeSfu
from tests.kit.certificates import Authority
from tests.kit.device import Device
from tests.kit.raw_http import RawConnection, raw_connection
from tests.kit.signalling_server import signalling_server

WITHIN_S = 30.0
ONE_BYTE, HALF_A_HEADER = b"G", b"GET / HTTP/1.1\r\nHost: a\r\nX: "
HALF_A_BODY = b"POST /api/auth/join HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{"


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the deadlines so that tests can wait for them."""
    for name in ("HEADER_DEADLINE_S", "IDLE_DEADLINE_S", "STALL_DEADLINE_S"):
        monkeypatch.setattr(http_connections, name, 0.05)
    monkeypatch.setattr(http_port, "FIRST_BYTE_DEADLINE_S", 0.05)
    monkeypatch.setattr(http_port, "HANDSHAKE_DEADLINE_S", 0.05)
    monkeypatch.setattr(control_socket, "READ_DEADLINE_S", 0.05)
    monkeypatch.setattr(acceptor, "SWEEP_INTERVAL_S", 0.01)


@pytest.mark.parametrize("sent", [b"", ONE_BYTE, HALF_A_HEADER])
@pytest.mark.parametrize("listener", LISTENERS)
async def test_every_listener_closes_a_connection_with_an_unfinished_header(
    listener: str, sent: bytes, variables: dict[str, str], tmp_path: Path, hurry: None
) -> None:
    async with LISTENERS[listener](variables, tmp_path) as address, raw_connection(address) as raw:
        await raw.send(sent)
        await raw.ended()


@pytest.mark.parametrize("listener", LISTENERS)
async def test_every_listener_closes_an_idle_connection(
    listener: str, variables: dict[str, str], tmp_path: Path, hurry: None
) -> None:
    async with LISTENERS[listener](variables, tmp_path) as address, raw_connection(address) as raw:
        await raw.ask("GET", "/health")
        await raw.ended()


async def test_a_stalled_body_closes_the_connection(variables: dict[str, str], hurry: None) -> None:
    async with serving(read(variables)) as address, raw_connection(address) as raw:
        await raw.send(HALF_A_BODY)
        await raw.ended()


@pytest.mark.parametrize("sent", [b"", b"\x16", b"\x16\x03\x01\x02\x00\x01\x00"])
async def test_a_stalled_tls_handshake_closes_the_connection(
    sent: bytes, variables: dict[str, str], tmp_path: Path, hurry: None
) -> None:
    flags = Flags("127.0.0.1", *Authority().pair().write(tmp_path))
    async with serving(read(variables), flags) as address, raw_connection(address) as raw:
        await raw.send(sent)
        await raw.ended()


async def test_unfinished_handshakes_use_little_memory(variables: dict[str, str], tmp_path: Path) -> None:
    held = 50
    flags = Flags("127.0.0.1", *Authority().pair().write(tmp_path))
    async with serving(read(variables), flags) as address, AsyncExitStack() as connections:
        tracemalloc.start()
        try:
            for _ in range(held):
                raw = await connections.enter_async_context(raw_connection(address))
                await raw.send(b"\x16\x03\x01\x02\x00\x01\x00")
            # When this connection gets a response, all earlier connections have been accepted.
            async with raw_connection(address) as last:
                await last.send(b"GET / HTTP/1.0\r\n\r\n")
                await last.ended()
            taken, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    # asyncio's own buffers would take more than 256 KiB per connection.
    assert taken < held * 96 * 1024


async def test_a_stalled_header_over_tls_closes_the_connection(
    variables: dict[str, str], tmp_path: Path, hurry: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_port, "HANDSHAKE_DEADLINE_S", WITHIN_S)
    authority = Authority()
    trusting = ssl.create_default_context()
    trusting.load_verify_locations(cadata=authority.certificate.decode())
    flags = Flags("127.0.0.1", *authority.pair().write(tmp_path))
    async with serving(read(variables), flags) as address:
        parts = urlsplit(address)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port, ssl=trusting)
        writer.write(ONE_BYTE)
        async with asyncio.timeout(WITHIN_S):
            # Some systems report the closed connection as a reset.
            with suppress(ConnectionResetError):
                assert await reader.read() == b""
        writer.close()


async def test_the_control_socket_responds_despite_many_silent_connections(
    variables: dict[str, str],
) -> None:
    config = read(variables)
    async with serving(config):
        path = str(config.data_dir / control_socket.SOCKET_NAME)
        idle = [await asyncio.open_unix_connection(path) for _ in range(3 * control_socket.MAX_CONNECTIONS)]
        answer = await control_socket.ask(config.data_dir, "status", {})
        assert answer
        for _, writer in idle:
            writer.close()


@pytest.fixture
def small_table(monkeypatch: pytest.MonkeyPatch) -> Iterator[ConnectionTable]:
    """Limit the connection table to sixteen connections, of which at most twelve may be unauthenticated."""
    table = ConnectionTable(Limits(16))
    monkeypatch.setattr(http_port, "table_of", lambda trusted_proxy_hops, relayed=False: table)
    yield table


@asynccontextmanager
async def flood(address: str, count: int, sent: bytes = ONE_BYTE) -> AsyncIterator[list[RawConnection]]:
    """Open `count` connections that send the given data and then stay idle."""
    parts = urlsplit(address)
    connections: list[RawConnection] = []
    try:
        for _ in range(count):
            raw = RawConnection(*await asyncio.open_connection(parts.hostname, parts.port))
            connections.append(raw)
            raw.writer.write(sent)
        yield connections
    finally:
        for raw in connections:
            raw.writer.close()


async def test_members_stay_connected_and_can_sign_in_while_a_flood_fills_the_table(
    small_table: ConnectionTable, variables: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(read(variables)) as address, ClientSession(address) as http:
        chat = ChatServer(address, http, (read(variables).data_dir / "invite-code").read_text().strip())
        async with chat.member("Ada") as ada:
            async with flood(address, 100):
                # Members still get responses on an existing live socket, on a new live socket, and over HTTP.
                assert (await ada.ask("ping"))["data"] == {}
                async with chat.member("Bea") as bea:
                    assert (await bea.ask("ping"))["data"] == {}
                headers = {"Authorization": f"Bearer {ada.token}"}
                async with http.get("/api/me/devices", headers=headers) as response:
                    assert response.status == 200
                assert len(small_table) <= 16
            assert (await ada.ask("ping"))["data"] == {}
    full = [message for message in caplog.messages if message.startswith("too many connections")]
    assert len(full) == 1


async def test_busy_connections_in_a_flood_are_also_closed_to_make_room(
    small_table: ConnectionTable, variables: dict[str, str]
) -> None:
    async with (
        serving(read(variables)) as address,
        ClientSession(address) as http,
        flood(address, 50, HALF_A_BODY),
        http.get("/health") as response,
    ):
        assert response.status == 200


async def upgraded(chat: ChatServer, path: str, stack: ExitStack) -> ClientWebSocketResponse:
    ws = await chat.http.ws_connect(path)
    stack.callback(lambda: ws._response.close())
    return ws


async def test_a_member_can_sign_in_despite_silent_live_sockets_from_the_same_address(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "MAX_UNSIGNED", 4)
    with ExitStack() as stack:
        silent = [await upgraded(chat, "/live", stack) for _ in range(8)]
        async with chat.member("Ada") as ada:
            assert (await ada.ask("ping"))["data"] == {}
            # The oldest connections were closed to make room. They had received only the greeting.
            assert (await silent[0].receive()).type is WSMsgType.TEXT
            async with asyncio.timeout(WITHIN_S):
                assert (await silent[0].receive()).type in (WSMsgType.CLOSED, WSMsgType.ERROR)
            # Further unauthenticated connections do not affect members who are signed in.
            silent += [await upgraded(chat, "/live", stack) for _ in range(8)]
            assert (await ada.ask("ping"))["data"] == {}


async def test_a_member_can_sign_in_despite_wrong_tokens_from_the_same_address(chat: ChatServer) -> None:
    token = await chat.join("Ada")
    for _ in range(40):
        async with chat.http.ws_connect("/live") as ws:
            await ws.receive()
            await ws.send_json({"event": "authenticate", "id": 1, "data": {"access_token": "wrong"}})
            assert (await ws.receive_json())["data"]["error"] == "token_invalid"
    async with chat.member("Ada", token) as ada:
        assert (await ada.ask("ping"))["data"] == {}


async def test_a_full_server_closes_unauthenticated_connections_to_make_room_for_members(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "MAX_SOCKETS", 2)
    with ExitStack() as stack:
        for _ in range(2):
            await upgraded(chat, "/live", stack)
        async with chat.member("Ada") as ada:
            assert (await ada.ask("ping"))["data"] == {}


async def test_signalling_connections_that_never_join_are_closed_and_calls_continue(
    sfu: FakeSfu, chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(voice, "MAX_NOT_JOINED", 2)
    with ExitStack() as stack:
        caller = await upgraded(chat, "/sfu/client", stack)
        participant = await sfu.participants.get()
        await participant.send_str(serialise("room_joined", {}))
        assert json.loads((await caller.receive()).data)["event"] == "room_joined"
        refused = await upgraded(chat, "/sfu/client", stack)
        await (await sfu.participants.get()).send_str(serialise_text("room_error", "No"))
        assert json.loads((await refused.receive()).data)["event"] == "room_error"
        for _ in range(3):
            await upgraded(chat, "/sfu/client", stack)
        async with asyncio.timeout(WITHIN_S):
            assert (await refused.receive()).type in (WSMsgType.CLOSED, WSMsgType.ERROR)
        await participant.send_str("still there")
        assert (await caller.receive()).data == "still there"


@pytest.mark.parametrize("path", ["/client", "/server"])
async def test_the_sfu_admits_a_participant_despite_unauthenticated_connections(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sfu_routes, "MAX_NEWCOMERS", 3)
    async with signalling_server() as server:
        control = await server.control()
        ann = await server.join("ann")
        silent = [await server.connect(path, headers={"Origin": "https://page.example"}) for _ in range(10)]
        await server.join("ben")
        assert [(await control.hear("peer_joined"))["user_id"] for _ in range(2)] == ["ann", "ben"]
        assert not ann.socket.closed
        async with asyncio.timeout(WITHIN_S):
            assert (await silent[0].socket.receive()).type in (WSMsgType.CLOSED, WSMsgType.ERROR)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow one join per hour from each address."""

    class Impatient(Throttle):
        def __init__(self, burst: int, per_s: float) -> None:
            super().__init__(1, 1 / 3600)

    monkeypatch.setattr(joining_endpoints, "Throttle", Impatient)


async def test_failed_attempts_from_the_same_address_do_not_prevent_a_member_from_signing_in(
    impatient: None, variables: dict[str, str]
) -> None:
    async with serving(read(variables)) as address, ClientSession(address) as http:
        chat = ChatServer(address, http, (read(variables).data_dir / "invite-code").read_text().strip())
        device = Device()
        tokens = await chat.sign_in(device, nickname="Ada", invite_code=chat.invite)
        for path, wrong in (("join", {}), ("refresh", {"refresh_token": "a.0.b"}), ("logout", {})):
            for _ in range(20):
                async with http.post(f"/api/auth/{path}", json=wrong) as response:
                    assert response.status != 429
        # A new member has to wait, but the existing member can still sign in.
        proof = await Device().proof(http, address)
        async with http.post(
            "/api/auth/join", json=proof | {"nickname": "Bea", "invite_code": chat.invite}
        ) as new:
            assert (new.status, (await new.json())["error"]) == (429, "too_many_requests")
        await chat.sign_in(device)
        async with http.post(
            "/api/auth/refresh", json={"refresh_token": tokens["refresh_token"]}
        ) as response:
            assert response.status == 200


async def test_a_session_refreshed_in_a_loop_is_rate_limited(chat: ChatServer) -> None:
    tokens = await chat.sign_in(Device(), nickname="Ada", invite_code=chat.invite)
    statuses = set()
    for _ in range(100):
        async with chat.http.post(
            "/api/auth/refresh", json={"refresh_token": tokens["refresh_token"]}
        ) as response:
            statuses.add(response.status)
            if response.status == 200:
                tokens = await response.json()
    assert statuses == {200, 429}


async def test_a_flood_of_challenges_does_not_displace_nonces_of_other_addresses() -> None:
    numbers = iter(range(10 * MAX_PENDING))
    challenges = Challenges(lambda: str(next(numbers)))
    nonce, _ = challenges.issue("192.0.2.1", 0.0)
    for _ in range(2 * MAX_PENDING):
        challenges.issue("192.0.2.2", 1.0)
    assert challenges.take(nonce, 2.0)
