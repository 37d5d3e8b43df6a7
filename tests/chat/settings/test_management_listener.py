"""The management listener requires its token.

It changes settings through the same code as the HTTP API.
"""

import json
import logging
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import ClientSession

from svc.base.config_parsing import ConfigError
from svc.base.listeners import bound
from svc.chat.community import Community
from svc.chat.config import read
from svc.chat.settings import management_listener
from svc.chat.settings.management_listener import OperatingConfig
from svc.cli import parser
from tests.chat.chat_server import ChatServer, chat_server
from tests.chat.http_member import newcomer
from tests.chat.internal_server import server_with_insight

TOKEN = "a token of management \u00fc"
DEFAULTS = {
    "joinPolicy": "invite",
    "discoverable": False,
    "lanOpen": False,
    "profanityMode": "off",
    "linkPreviews": True,
    "name": "Tests",
    "description": "",
    "rules": "",
    "welcomeChannelId": None,
    "retentionDays": 0,
}
SPECIFIED = ("joinPolicy", "discoverable", "lanOpen", "profanityMode")
ENDPOINTS = [
    ("GET", "/management/settings"),
    ("GET", "/management/settings/all"),
    ("PATCH", "/management/settings"),
    ("GET", "/management/health"),
]


class Managed:
    """A running server and its management listener."""

    def __init__(self, chat: ChatServer, community: Community, http: ClientSession) -> None:
        self.chat = chat
        self.community = community
        self.http = http

    async def ask(self, method: str, path: str, body: object = None, token: str = TOKEN) -> tuple[int, Any]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {token}"}
        async with self.http.request(method, path, data=data, headers=headers) as response:
            return response.status, await response.json()


def _operating(variables: dict[str, str]) -> OperatingConfig:
    return read({**variables, "SVC_ADMIN_TOKEN": TOKEN, "SVC_ADMIN_PORT": "0"}).operating


@pytest.fixture
async def managed(variables: dict[str, str]) -> AsyncIterator[Managed]:
    async with server_with_insight(variables) as (chat, community):
        listener = management_listener.listening(community.settings, _operating(variables), "127.0.0.1")
        async with listener as address, ClientSession(address) as http:
            yield Managed(chat, community, http)


async def test_the_listener_returns_and_changes_the_settings(managed: Managed) -> None:
    assert await managed.ask("GET", "/management/health") == (200, {"ok": True})
    assert await managed.ask("GET", "/management/settings/all") == (200, DEFAULTS)
    changed = {**DEFAULTS, "lanOpen": True, "discoverable": False, "profanityMode": "flag"}
    changes = {"lanOpen": "on", "discoverable": "off", "profanityMode": "flag"}
    assert await managed.ask("PATCH", "/management/settings", changes) == (200, changed)
    assert await managed.ask("PATCH", "/management/settings", {"lanOpen": True}) == (200, changed)
    assert await managed.ask("GET", "/management/settings/all") == (200, changed)
    specified = {name: changed[name] for name in SPECIFIED}
    assert await managed.ask("GET", "/management/settings") == (200, specified)


@pytest.mark.parametrize(("method", "path"), [*ENDPOINTS, ("GET", "/"), ("GET", "/api/settings")])
async def test_without_the_token_every_path_is_forbidden(managed: Managed, method: str, path: str) -> None:
    for headers, code in [
        ({}, "auth_required"),
        ({"Authorization": TOKEN}, "auth_required"),
        ({"Authorization": "Basic YTpi"}, "auth_required"),
        ({"Authorization": "Bearer"}, "token_invalid"),
        ({"Authorization": f"Bearer {TOKEN[:-1]}"}, "token_invalid"),
        ({"Authorization": f"Bearer {TOKEN}x"}, "token_invalid"),
    ]:
        async with managed.http.request(method, path, headers=headers) as response:
            answer = await response.json()
            assert (response.status, answer["error"]) == (401, code)
            assert answer.keys() == {"error", "message"}


async def test_the_access_token_of_a_member_is_rejected(managed: Managed) -> None:
    owner = await newcomer(managed.chat, "Olga")
    status, answer = await managed.ask("GET", "/management/settings", token=owner.token)
    assert (status, answer["error"]) == (401, "token_invalid")


async def test_an_invalid_change_reports_every_problem_and_changes_nothing(managed: Managed) -> None:
    changes = {"lanOpen": "on", "joinPolicy": "closed", "profanityMode": True, "colour": "red"}
    status, answer = await managed.ask("PATCH", "/management/settings", changes)
    assert (status, answer["error"]) == (400, "invalid_settings")
    assert [(problem["path"], problem["code"]) for problem in answer["problems"]] == [
        ("joinPolicy", "invalid"),
        ("profanityMode", "wrong_type"),
        ("colour", "unknown_key"),
    ]
    assert await managed.ask("GET", "/management/settings/all") == (200, DEFAULTS)


@pytest.mark.parametrize(
    ("method", "path", "body", "refusal"),
    [
        ("PATCH", "/management/settings", b"{", (400, "invalid_json")),
        ("PATCH", "/management/settings", b"[]", (400, "invalid_json")),
        ("PATCH", "/management/settings", b'"' + b"x" * 65_536 + b'"', (413, "body_too_large")),
        ("POST", "/management/settings", b"{}", (405, "method_not_allowed")),
        ("GET", "/management", b"", (404, "not_found")),
        ("GET", "/health", b"", (404, "not_found")),
    ],
)
async def test_invalid_requests_get_an_error_in_the_usual_format(
    managed: Managed, method: str, path: str, body: bytes, refusal: tuple[int, str]
) -> None:
    status, answer = await managed.ask(method, path, body)
    assert (status, answer["error"]) == refusal


async def test_a_change_is_pushed_applied_and_logged(managed: Managed) -> None:
    owner = await newcomer(managed.chat, "Olga")
    followed: list[object] = []

    async def follow(value: object) -> None:
        followed.append(value)

    managed.community.settings.on_change("discoverable", follow)
    async with managed.chat.member("", owner.token) as page:
        await managed.ask("PATCH", "/management/settings", {"discoverable": "on"})
        # The setting was applied before the response was sent.
        assert followed == [True]
        assert await page.pushed("settings_changed") == {"discoverable": True}
    entry = (await owner.done("GET", "/api/audit"))["entries"][0]
    assert (entry["action"], entry["actor_id"]) == ("settings_change", None)
    assert entry["details"] == {"discoverable": {"from": False, "to": True}}


async def test_without_a_token_nothing_is_listening(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str | None] = []

    def noted(host: str | None, port: int) -> list[socket.socket]:
        opened.append(host)
        return bound(host, port)

    monkeypatch.setattr(management_listener, "bound", noted)
    async with chat_server({**variables, "SVC_ADMIN_PORT": "0"}):
        assert opened == []
    async with chat_server({**variables, "SVC_ADMIN_PORT": "0", "SVC_ADMIN_TOKEN": TOKEN}):
        # By default, the listener accepts only local connections.
        assert opened == ["127.0.0.1"]


async def test_the_server_does_not_start_if_the_management_port_is_in_use(
    variables: dict[str, str],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with pytest.raises(ConfigError, match=f"SVC_ADMIN_PORT {port}: .*in use"):
            async with chat_server({**variables, "SVC_ADMIN_TOKEN": TOKEN, "SVC_ADMIN_PORT": port}):
                pass


async def test_the_listener_uses_the_configured_address_in_a_container(
    managed: Managed, variables: dict[str, str]
) -> None:
    """Use a second loopback address, which Linux provides."""
    async with management_listener.listening(
        managed.community.settings, _operating(variables), "127.0.0.2"
    ) as address:
        assert address.startswith("http://127.0.0.2:")
    options = parser().parse_args(["chat", "--admin-host", "0.0.0.0"])
    assert (options.admin_host, parser().parse_args(["chat"]).admin_host) == ("0.0.0.0", "127.0.0.1")


async def test_the_token_is_neither_logged_nor_shown(
    managed: Managed, variables: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await managed.ask("PATCH", "/management/settings", {"lanOpen": "on"})
    await managed.ask("GET", "/management/settings", token="wrong" + TOKEN)
    operating = _operating(variables)
    assert TOKEN not in caplog.text
    assert TOKEN not in repr(operating) and TOKEN not in repr(replace(read(variables), operating=operating))
