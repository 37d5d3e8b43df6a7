"""Issuers' keys are fetched on demand and cached. Unauthenticated clients cannot cause repeated fetches.

The tests use real HTTP servers on this machine. See docs/configuration.md, "Chat server",
SVC_TRUSTED_CERT_ISSUERS.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import jwt
import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer
from cryptography.hazmat.primitives.asymmetric import ec

from svc.chat.authentication import issuers
from svc.chat.authentication.issuers import CERTIFICATES, DISCOVERY, IssuerKeys
from svc.chat.errors import ChatError
from tests.chat.chat_server import chat_server
from tests.kit.device import Device, public_jwk


@dataclass
class Authority:
    """An issuer that publishes `keys`, or the result of `answer`. `fetches` counts the requests."""

    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    key_id: str = "one"
    fetches: int = 0
    address: str = ""
    now: float = 0.0
    status: int = 200
    body: bytes | None = None
    discovered: dict[str, Any] | None = None
    wait_s: float = 0.0

    async def keys(self, request: web.Request) -> web.Response:
        self.fetches += 1
        await asyncio.sleep(self.wait_s)
        if self.body is not None:
            return web.Response(body=self.body, status=self.status)
        headers = {"Location": CERTIFICATES} if self.status == 302 else {}
        jwks = {"keys": [public_jwk(self.key) | {"kid": self.key_id}]}
        return web.json_response(jwks, status=self.status, headers=headers)

    async def discovery(self, request: web.Request) -> web.Response:
        usual = {"issuer": self.address, "jwks_uri": self.address + CERTIFICATES}
        return web.json_response(usual | (self.discovered or {}))


@asynccontextmanager
async def authority() -> AsyncIterator[Authority]:
    running = Authority()
    application = web.Application()
    application.add_routes([web.get(CERTIFICATES, running.keys), web.get(DISCOVERY, running.discovery)])
    async with TestServer(application) as server:
        running.address = str(server.make_url("")).rstrip("/")
        yield running


@pytest.fixture
async def issuer() -> AsyncIterator[Authority]:
    async with authority() as running:
        yield running


@pytest.fixture
async def keys(issuer: Authority) -> AsyncIterator[IssuerKeys]:
    async with ClientSession() as session:
        yield IssuerKeys(session, "", lambda: issuer.now)


async def unavailable(keys: IssuerKeys, issuer: Authority) -> bool:
    try:
        await keys.key(issuer.address, "one", "ES256")
    except ChatError as refusal:
        return refusal.code == "issuer_unavailable"
    return False


async def test_keys_are_fetched_once_for_concurrent_requests(keys: IssuerKeys, issuer: Authority) -> None:
    results = await asyncio.gather(*(keys.key(issuer.address, "one", "ES256") for _ in range(10)))
    assert all(results)
    assert issuer.fetches == 1


async def test_an_unknown_key_is_fetched_at_most_once_a_minute(keys: IssuerKeys, issuer: Authority) -> None:
    assert await keys.key(issuer.address, "one", "ES256")
    issuer.key_id = "two"
    assert await keys.key(issuer.address, "two", "ES256") is None
    assert issuer.fetches == 1
    issuer.now = issuers.MIN_INTERVAL_S
    assert await keys.key(issuer.address, "two", "ES256")
    assert await keys.key(issuer.address, "made up", "ES256") is None
    assert issuer.fetches == 2


async def test_a_withdrawn_key_remains_valid_for_an_hour(keys: IssuerKeys, issuer: Authority) -> None:
    assert await keys.key(issuer.address, "one", "ES256")
    issuer.key_id = "two"
    issuer.now = issuers.FRESH_S - 1
    assert await keys.key(issuer.address, "one", "ES256")
    issuer.now = issuers.FRESH_S
    assert await keys.key(issuer.address, "one", "ES256") is None


async def test_an_unavailable_issuer_does_not_immediately_lock_out_its_members(
    keys: IssuerKeys, issuer: Authority
) -> None:
    assert await keys.key(issuer.address, "one", "ES256")
    issuer.status = 503
    issuer.now = issuers.STALE_S - 1
    assert await keys.key(issuer.address, "one", "ES256")
    issuer.now = issuers.STALE_S
    assert await unavailable(keys, issuer)


@pytest.mark.parametrize(
    ("status", "body"),
    [(404, None), (302, None), (200, b"{"), (200, b"[]"), (200, b"\xff"), (200, b" " * 300_000)],
)
async def test_an_invalid_key_set_makes_the_issuer_temporarily_unavailable(
    keys: IssuerKeys, issuer: Authority, status: int, body: bytes | None
) -> None:
    issuer.status, issuer.body = status, body
    assert await unavailable(keys, issuer)
    assert await unavailable(keys, issuer)
    assert issuer.fetches == 1
    issuer.status, issuer.body, issuer.now = 200, None, issuers.RETRY_S
    assert await keys.key(issuer.address, "one", "ES256")


async def test_an_issuer_that_does_not_respond_times_out(
    keys: IssuerKeys, issuer: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(issuers, "FETCH_DEADLINE_S", 0.1)
    issuer.wait_s = 1.0
    assert await unavailable(keys, issuer)


async def test_an_unreachable_issuer_is_reported(keys: IssuerKeys, issuer: Authority) -> None:
    issuer.address = "http://127.0.0.1:1"
    assert await unavailable(keys, issuer)


@pytest.mark.parametrize(
    "discovered",
    [
        {"issuer": "http://elsewhere.example"},
        {"jwks_uri": None},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": "//evil.example/keys"},
    ],
)
async def test_a_provider_with_a_mismatched_issuer_name_is_rejected(
    issuer: Authority, discovered: dict[str, Any]
) -> None:
    issuer.discovered = discovered
    async with ClientSession() as session:
        assert await unavailable(IssuerKeys(session, issuer.address, lambda: 0.0), issuer)


async def test_the_holder_of_a_certificate_from_a_trusted_authority_can_sign_in(
    variables: dict[str, str], issuer: Authority
) -> None:
    device = Device()
    variables |= {"SVC_TRUSTED_CERT_ISSUERS": f"https://other.example, {issuer.address}/"}
    async with chat_server(variables | {"SVC_IDENTITY_TIERS": "account"}) as chat:
        statuses = []
        for key in (issuer.key, ec.generate_private_key(ec.SECP256R1())):
            claims = {"iss": issuer.address, "sub": "ada", "jwk": device.jwk, "exp": 4_000_000_000}
            async with chat.http.post("/api/auth/challenge") as response:
                challenge = await response.json()
            body = {
                "certificate": jwt.encode(claims, key, algorithm="ES256", headers={"kid": "one"}),
                "assertion": device.assertion(challenge, chat.address, sub="ada"),
                "nickname": "Ada",
                "invite_code": chat.invite,
            }
            async with chat.http.post("/api/auth/join", json=body) as response:
                statuses.append(response.status)
    assert statuses == [200, 401]
