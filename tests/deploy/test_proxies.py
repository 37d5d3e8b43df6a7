"""Runs the reverse proxies in `deploy` in front of a chat server and an SFU."""

import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pytest
from aiohttp import ClientSession, TCPConnector, WSMsgType, WSServerHandshakeError

from tests.chat.chat_server import ChatServer, chat_server
from tests.kit.device import Device
from tests.kit.proxy import PROXIES, Proxy
from tests.kit.sfu_process import SECRET, running_sfu


@dataclass
class Site:
    """A chat server behind a proxy. `chat` connects through the proxy, and `direct` bypasses it."""

    proxy: Proxy
    chat: ChatServer
    direct: ChatServer


@pytest.fixture(params=PROXIES)
async def site(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Site]:
    folder = tmp_path / "proxy"
    folder.mkdir()
    async with running_sfu() as sfu:
        variables = {
            "PORT": "0",
            "JWT_SECRET": "a secret of at least thirty-two bytes",
            "DATA_DIR": str(tmp_path / "data"),
            "SVC_IDENTITY_TIERS": "local",
            "SFU_WS_HOST": f"127.0.0.1:{sfu.http_port}",
            "SERVER_ID": "home",
            "SERVER_PASSWORD": SECRET,
            "DISABLE_STUN": "true",
            "SVC_TRUSTED_PROXY_HOPS": "1",
            "SERVER_INVITE_IP_MAX_RETRIES": "2",
        }
        async with chat_server(variables) as direct:
            upstream = direct.address.removeprefix("http://")
            async with PROXIES[request.param](folder, upstream) as proxy:
                trusting = ssl.create_default_context(cafile=str(proxy.certificate))
                address = f"https://localhost:{proxy.https_port}"
                async with ClientSession(address, connector=TCPConnector(ssl=trusting)) as http:
                    yield Site(proxy, ChatServer(address, http, direct.invite), direct)


async def test_the_web_client_and_the_api_are_reachable(site: Site) -> None:
    async with site.chat.http.get("/") as page:
        assert page.status == 200
        assert page.content_type == "text/html"
    async with site.chat.http.get("/health") as health:
        assert (await health.json())["status"] == "healthy"


async def test_plain_http_redirects_to_https(site: Site) -> None:
    address = f"http://localhost:{site.proxy.http_port}/health?x=1"
    async with ClientSession() as http, http.get(address, allow_redirects=False) as answer:
        assert answer.status == 308
        assert answer.headers["Location"].startswith("https://localhost")
        assert answer.headers["Location"].endswith("/health?x=1")


async def test_members_join_and_hear_each_other(site: Site) -> None:
    async with site.chat.member("Ada") as ada, site.chat.member("Grace") as grace:
        await ada.ask("message_send", channel_id="general", text="through the proxy")
        assert (await grace.pushed("message_posted"))["text"] == "through the proxy"


async def test_a_page_from_another_origin_is_rejected_as_without_a_proxy(site: Site) -> None:
    with pytest.raises(WSServerHandshakeError) as refused:
        await site.chat.http.ws_connect("/live", headers={"Origin": "https://elsewhere.example"})
    assert refused.value.status == 403
    ours = f"https://localhost:{site.proxy.https_port}"
    async with site.chat.http.ws_connect("/live", headers={"Origin": ours}) as ws:
        assert (await ws.receive_json())["event"] == "hello"


async def test_signalling_reaches_the_sfu(site: Site) -> None:
    async with site.chat.http.ws_connect("/sfu/client") as ws:
        await ws.send_str('{"event":"no_such_event","data":"{}"}')
        message = await ws.receive(timeout=60)
        assert (message.type, message.data) == (WSMsgType.CLOSE, 1008)


async def test_wrong_codes_are_counted_per_address_reported_by_the_proxy(site: Site) -> None:
    await site.chat.join("Owner")
    for spoofed in ("203.0.113.1", "203.0.113.2", "203.0.113.3"):
        refusal = await wrong_code(site, {"X-Forwarded-For": spoofed})
    assert refusal == "too_many_invite_attempts"
    # A direct request from the same address counts as the same client, although it has no proxy header.
    assert await wrong_code(Site(site.proxy, site.direct, site.direct), {}) == "too_many_invite_attempts"


async def wrong_code(site: Site, headers: dict[str, str]) -> str:
    http, address = site.chat.http, site.chat.address
    proof = await Device().proof(http, address)
    body = proof | {"nickname": "Mallory", "invite_code": "wrong"}
    async with http.post("/api/auth/join", json=body, headers=headers) as response:
        return str((await response.json())["error"])


async def test_oversized_requests_get_the_servers_own_error(site: Site) -> None:
    async with site.chat.http.post("/api/auth/join", data=BytesIO(b"x" * 3_000_000)) as response:
        assert response.status == 413
        assert (await response.json())["error"] == "body_too_large"
