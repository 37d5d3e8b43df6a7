"""Tests the headers and errors of all responses, and the messages of a server that cannot start."""

import pytest

from svc.base.config_parsing import DEFAULT_STUN_SERVER, ConfigError
from svc.base.logs import FieldFormatter
from svc.base.metrics import Registry
from svc.chat.access.directory import Channel
from svc.chat.config import first_channels, read
from svc.chat.live.socket import LiveSockets
from tests.chat.chat_server import ChatServer, chat_server

REQUIRED = {"JWT_SECRET": "s" * 32}
WITH_MEDIA = REQUIRED | {"SFU_WS_HOST": "sfu:5005", "SERVER_ID": "s1", "SERVER_PASSWORD": "p1"}


async def test_health_names_the_service_and_the_server(chat: ChatServer) -> None:
    async with chat.http.get("/health") as response:
        answer = await response.json()
    timestamp = answer.pop("timestamp")
    assert answer == {"status": "healthy", "service": "chat", "serverName": "Tests"}
    assert timestamp.endswith("Z")


async def test_metrics_are_in_the_prometheus_format(chat: ChatServer) -> None:
    async with chat.http.get("/metrics") as response:
        assert response.headers["Content-Type"].startswith("text/plain; version=")
        text = await response.text()
    for name in ("live_connections_active", "signalling_connections_active", "sfu_link_up"):
        assert f"\nsvc_chat_{name} " in text


@pytest.mark.parametrize("path", ["/", "/web/main.js", "/health", "/nothing", "/api/nothing"])
async def test_every_response_has_the_security_headers(chat: ChatServer, path: str) -> None:
    async with chat.http.get(path) as response:
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'self'" in response.headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]
        assert response.headers["Referrer-Policy"] == "no-referrer"
        # The header reveals no library versions.
        assert response.headers["Server"] == "svc"


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "not_found"),
        ("GET", "/web/nothing.js", 404, "not_found"),
        ("DELETE", "/health", 405, "method_not_allowed"),
        ("GET", "/api/auth/join", 405, "method_not_allowed"),
        ("GET", "/live", 400, "invalid_request"),
        ("GET", "/sfu/client", 400, "invalid_request"),
    ],
)
async def test_every_error_has_the_same_format(
    chat: ChatServer, method: str, path: str, status: int, code: str
) -> None:
    async with chat.http.request(method, path) as response:
        answer = await response.json()
        assert (response.status, answer["error"]) == (status, code)
        assert answer.keys() == {"error", "message"}


async def test_an_internal_error_is_logged_and_reveals_nothing(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(registry: object) -> None:
        raise RuntimeError("an internal detail")

    monkeypatch.setattr(Registry, "exposition", broken)
    async with chat_server(variables) as chat, chat.http.get("/metrics") as response:
        assert (response.status, (await response.json())["error"]) == (500, "internal_error")
        assert "detail" not in await response.text()
    assert "request failed" in caplog.text


async def test_the_log_entry_for_an_internal_error_names_the_request(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(registry: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(Registry, "exposition", broken)
    caplog.handler.setFormatter(FieldFormatter())
    names = []
    for _ in range(2):
        async with chat.http.get("/metrics") as response:
            names.append(response.headers["X-Request-Id"])
    lines = [line for line in caplog.text.splitlines() if "request failed" in line]
    assert [line.partition("request failed ")[2] for line in lines] == [
        f"method=GET path=/metrics request={name}" for name in names
    ]


async def test_an_internal_error_in_a_live_request_is_logged_with_member_and_event(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(LiveSockets, "_handle", broken)
    async with chat.member("Ada") as ada:
        assert (await ada.ask("ping"))["data"]["error"] == "internal_error"
        (record,) = [r for r in caplog.records if r.getMessage() == "live request failed"]
        assert (record.__dict__["event"], record.__dict__["member"]) == ("ping", ada.id)


async def test_pages_from_listed_sites_may_use_the_api(variables: dict[str, str]) -> None:
    variables["CORS_ORIGIN"] = "https://app.example"
    async with chat_server(variables) as chat:
        headers = {"Origin": "https://app.example"}
        async with chat.http.options("/api/auth/join", headers=headers) as response:
            assert response.status == 204
            assert response.headers["Access-Control-Allow-Origin"] == "https://app.example"
            assert "Content-Type" in response.headers["Access-Control-Allow-Headers"]
        async with chat.http.post("/api/auth/join", json={}, headers=headers) as response:
            assert response.status == 400
            assert response.headers["Access-Control-Allow-Origin"] == "https://app.example"


async def test_pages_from_other_sites_may_not_use_the_api(chat: ChatServer) -> None:
    headers = {"Origin": "https://evil.example"}
    async with chat.http.post("/api/auth/join", json={}, headers=headers) as response:
        assert (response.status, (await response.json())["error"]) == (403, "origin_refused")
        assert "Access-Control-Allow-Origin" not in response.headers


async def test_without_an_sfu_nobody_can_join_a_voice_channel(variables: dict[str, str]) -> None:
    del variables["SFU_WS_HOST"]
    async with chat_server(variables) as chat, chat.member("Ada") as ada:
        assert (await ada.ask("voice_join", channel_id="lobby"))["data"]["error"] == "voice_unavailable"
        async with chat.http.get("/sfu/client") as response:
            assert response.status == 404


async def test_the_server_also_listens_on_ipv6(variables: dict[str, str]) -> None:
    variables["HOST"] = "::1"
    async with chat_server(variables) as chat, chat.member("Ada") as ada:
        assert chat.address.startswith("http://[::1]:")
        assert (await ada.ask("voice_join", channel_id="lobby"))["event"] == "voice_join"


async def test_a_port_in_use_is_reported_on_one_line(chat: ChatServer, variables: dict[str, str]) -> None:
    variables["PORT"] = chat.address.rpartition(":")[2]
    variables["DATA_DIR"] += "-another"
    with pytest.raises(ConfigError, match=r"Cannot listen on HOST 127\.0\.0\.1, PORT \d+: "):
        async with chat_server(variables):
            pass


async def test_a_data_folder_in_use_is_reported_on_one_line(
    chat: ChatServer, variables: dict[str, str]
) -> None:
    with pytest.raises(ConfigError, match=r"DATA_DIR \S+ is in use by another server \(process \d+\)"):
        async with chat_server(variables):
            pass


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({}, "JWT_SECRET must be set"),
        (
            {"JWT_SECRET": "s" * 31},
            "JWT_SECRET has 31 bytes and needs at least 32. Make one with: openssl rand",
        ),
        (REQUIRED | {"PORT": "5000x"}, "PORT must be a whole number"),
        (REQUIRED | {"SFU_WS_HOST": "sfu:5005"}, "SERVER_ID must be set"),
        (REQUIRED | {"SFU_WS_HOST": "sfu:5005", "SERVER_ID": "s1"}, "SERVER_PASSWORD must be set"),
        (WITH_MEDIA | {"SFU_WS_HOST": "ftp://sfu"}, "SFU_WS_HOST must be host:port"),
        (WITH_MEDIA | {"SFU_WS_HOST": "sfu:port"}, "SFU_WS_HOST must be host:port"),
        (WITH_MEDIA | {"SFU_PUBLIC_HOST": "://"}, "SFU_PUBLIC_HOST must be host:port"),
    ],
)
def test_an_invalid_variable_is_named(variables: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read(variables)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("sfu:5005", "ws://sfu:5005"),
        ("ws://sfu:5005/", "ws://sfu:5005"),
        ("http://[::1]:5005", "ws://[::1]:5005"),
        ("https://sfu/voice/", "wss://sfu/voice"),
    ],
)
def test_every_common_format_of_the_sfu_address_is_accepted(host: str, url: str) -> None:
    assert read(WITH_MEDIA | {"SFU_WS_HOST": host}).media.url == url


def test_stun_servers_are_accepted_in_the_format_of_browsers() -> None:
    def urls(**variables: str) -> list[str]:
        return list(read(WITH_MEDIA | variables).media.stun_servers)

    assert urls() == [f"stun:{DEFAULT_STUN_SERVER}"]
    assert urls(STUN_SERVERS="a:1, stun:b:2") == ["stun:a:1", "stun:b:2"]
    assert urls(STUN_SERVERS="") == []
    assert urls(DISABLE_STUN="true", STUN_SERVERS="a:1") == []


def test_the_configuration_defines_the_initial_channels() -> None:
    listed = ["voice:Side Room", "general", "voice: ", "voice:Side Room", "News", "voice:Café", "voice:!!"]
    assert first_channels("lobby", "Lobby", listed) == [
        Channel("general", "general", "text", 0),
        Channel("lobby", "Lobby", "voice", 1),
        Channel("side-room", "Side Room", "voice", 2),
        Channel("news", "News", "text", 3),
        Channel("café", "Café", "voice", 4),
        Channel("voice", "!!", "voice", 5),
    ]


@pytest.mark.parametrize("name", ["voice", "voice:general", "General"])
def test_two_initial_channels_with_the_same_id_are_rejected(name: str) -> None:
    with pytest.raises(ConfigError, match=r"ADDITIONAL_CHANNELS: .* Choose another name"):
        first_channels("voice", "Lobby", [name])
