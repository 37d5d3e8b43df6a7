"""DNS rebinding does not help a website that points its host name to the server's local address."""

import socket
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import ClientSession

from svc.chat.authentication.trusted_issuers import RequestedAddresses, ServerAddresses
from svc.chat.community import Community
from svc.chat.config import read
from svc.chat.settings import management_listener
from svc.chat.settings.mdns_records import own_name
from tests.chat.chat_server import ChatServer
from tests.chat.internal_server import server_with_insight
from tests.kit.device import Device

REBOUND = "rebound.example"
TOKEN = "a token of the management listener"


@pytest.fixture
async def inside(variables: dict[str, str]) -> AsyncIterator[tuple[ChatServer, Community]]:
    """Start a server that has an owner and is open to the local network."""
    async with server_with_insight(variables) as (chat, community):
        await chat.join("Olga")
        await community.settings.apply({"lanOpen": True}, None, 0.0)
        yield chat, community


async def joins(
    chat: ChatServer, host: str, page: str | None = None, requested: str | None = None, **fields: str
) -> str:
    """Try to join, by default from a website on `host`. Return the error code, or "" on success."""
    async with chat.http.post("/api/auth/challenge") as response:
        challenge = await response.json()
    device, origin = Device(), f"http://{host}"
    body = {
        "certificate": device.certificate(),
        "assertion": device.assertion(challenge, requested or origin),
        "nickname": "Ada",
    }
    headers = {"Host": host, "Origin": page or origin}
    async with chat.http.post("/api/auth/join", json=body | fields, headers=headers) as response:
        return str((await response.json()).get("error", ""))


async def test_a_rebound_host_name_needs_an_invite(inside: tuple[ChatServer, Community]) -> None:
    chat, _ = inside
    port = urlsplit(chat.address).port
    for host in (
        f"{REBOUND}:{port}",
        REBOUND,
        f"127.0.0.1.{REBOUND}:{port}",
        "stranger.local",
        "192.168.77.7",
    ):
        assert await joins(chat, host) == "invite_required"
        # With an invite, the host name does not matter, so names that the operator has not configured work
        # too.
        assert await joins(chat, host, invite_code=chat.invite) == ""


async def test_this_machines_own_addresses_and_names_need_no_invite(
    inside: tuple[ChatServer, Community],
) -> None:
    chat, _ = inside
    port = urlsplit(chat.address).port
    machine = socket.gethostname().partition(".")[0]
    async with chat.http.get("/info") as response:
        advertised = own_name((await response.json())["serverId"])
    for host in ("127.0.0.1", "localhost", f"{machine}.local", f"{machine}-2.LOCAL", advertised):
        assert await joins(chat, f"{host}:{port}") == "", host


async def test_the_configured_external_host_needs_no_invite(variables: dict[str, str]) -> None:
    variables["EXTERNAL_HOST"] = "chat.example, other.example:8443"
    async with server_with_insight(variables) as (chat, community):
        await chat.join("Olga")
        await community.settings.apply({"lanOpen": True}, None, 0.0)
        assert await joins(chat, "chat.example") == ""
        assert await joins(chat, "other.example:8443") == ""
        # The signed address, the Host header and the page's origin must be the same.
        assert await joins(chat, REBOUND, requested="http://chat.example") == "invite_required"
        assert await joins(chat, "chat.example", requested="http://other.example:8443") == "invite_required"


async def test_a_page_from_another_origin_needs_an_invite_even_if_it_may_use_the_api(
    variables: dict[str, str],
) -> None:
    variables["CORS_ORIGIN"] = "*"
    async with server_with_insight(variables) as (chat, community):
        await chat.join("Olga")
        await community.settings.apply({"lanOpen": True}, None, 0.0)
        host = urlsplit(chat.address).netloc
        assert await joins(chat, host, page="https://foreign.example") == "invite_required"
        assert await joins(chat, host, page="null") == "invite_required"
        assert await joins(chat, host) == ""


@pytest.mark.parametrize(
    ("host", "ip", "page", "ours"),
    [
        ("192.168.1.4:5000", "192.168.1.4", None, True),
        ("192.168.1.4:5000", "::ffff:192.168.1.4", None, True),
        ("[fd00::4]:5000", "fd00:0::4", "http://[fd00::4]:5000", True),
        ("192.168.1.4:5000", "192.168.1.5", None, False),
        ("192.168.1.4:5000", "192.168.1.4", "http://192.168.1.4:8000", False),
        ("nas.local:5000", "192.168.1.4", None, True),
        ("nas.local.:5000", "192.168.1.4", None, True),
        ("nas-12.local:5000", "192.168.1.4", None, True),
        ("nas-x.local:5000", "192.168.1.4", None, False),
        ("nas.local.example:5000", "192.168.1.4", None, False),
        ("nas:5000", "192.168.1.4", None, False),
        ("", "", None, False),
        ("[", "192.168.1.4", None, False),
    ],
)
def test_only_hosts_that_unambiguously_identify_this_machine_count_as_its_own(
    host: str, ip: str, page: str | None, ours: bool
) -> None:
    addresses = ServerAddresses([], local_names=["nas", ""])
    assert addresses.is_own_address(f"http://{host}", RequestedAddresses(host, ip, page)) is ours


@pytest.mark.parametrize("path", ["/health", "/metrics", "/info"])
async def test_scrapers_and_proxies_may_use_any_host_name(
    inside: tuple[ChatServer, Community], path: str
) -> None:
    chat, _ = inside
    for host in ("svc-chat-1:5000", "chat", "10.0.0.7:5000", REBOUND):
        async with chat.http.get(path, headers={"Host": host}) as response:
            assert response.status == 200


@pytest.fixture
async def managed(variables: dict[str, str]) -> AsyncIterator[ClientSession]:
    operating = read({**variables, "SVC_ADMIN_TOKEN": TOKEN, "SVC_ADMIN_PORT": "0"}).operating
    async with server_with_insight(variables) as (_, community):
        listener = management_listener.listening(community.settings, operating, "127.0.0.1")
        async with listener as address, ClientSession(address) as http:
            yield http


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Origin", "http://127.0.0.1:5099"),
        ("Origin", "null"),
        ("Sec-Fetch-Site", "same-origin"),
        ("sec-fetch-mode", "navigate"),
    ],
)
async def test_the_management_listener_rejects_browsers_even_with_the_token(
    managed: ClientSession, name: str, value: str
) -> None:
    for token in (TOKEN, "another"):
        headers = {name: value, "Authorization": f"Bearer {token}"}
        for method, path in (("GET", "/management/health"), ("PATCH", "/management/settings"), ("GET", "/x")):
            async with managed.request(method, path, json={}, headers=headers) as response:
                body: dict[str, Any] = await response.json()
                assert (response.status, body["error"]) == (403, "origin_refused")


async def test_the_management_listener_accepts_programs_under_any_host_name(managed: ClientSession) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Host": "chat:5099"}
    async with managed.get("/management/health", headers=headers) as response:
        assert (response.status, await response.json()) == (200, {"ok": True})
