"""The server redirects people to its account provider and exchanges the authorization codes for tokens."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.chat.authentication.test_oidc import application, trusting
from tests.chat.chat_server import ChatServer, chat_server
from tests.kit.device import Device
from tests.kit.oidc import CLIENT_ID, REDIRECT, OidcProvider, oidc_provider

# The first run installs the provider with npm.
pytestmark = pytest.mark.timeout(240)
CONFIDENTIAL, SECRET = "confidential", "a secret: with/signs & spaces"


@pytest.fixture
async def provider() -> AsyncIterator[OidcProvider]:
    async with oidc_provider() as running:
        yield running


async def exchanged(chat: ChatServer, code: str, verifier: str) -> tuple[int, Any]:
    body = {"code": code, "code_verifier": verifier, "redirect_uri": REDIRECT}
    async with chat.http.post("/api/auth/exchange", json=body) as response:
        return response.status, await response.json()


@pytest.mark.parametrize("client_id", [CLIENT_ID, CONFIDENTIAL])
async def test_a_code_is_exchanged_for_a_token_that_can_be_used_to_sign_in(
    variables: dict[str, str], provider: OidcProvider, client_id: str
) -> None:
    secret = {"SVC_OIDC_CLIENT_SECRET": SECRET} if client_id == CONFIDENTIAL else {}
    async with chat_server(trusting(variables, provider, client_id) | secret) as chat:
        async with chat.http.get("/api/auth/provider") as response:
            claims = await response.json()
        assert claims == {
            "issuer": provider.issuer,
            "authorization_endpoint": f"{provider.issuer}/auth",
            "client_id": client_id,
        }
        device = Device()
        code, verifier = await provider.code("ada", device.thumbprint, client_id)
        status, answer = await exchanged(chat, code, verifier)
        assert status == 200, answer
        body = await application(chat, device, answer["id_token"], "ada")
        body |= {"nickname": "Ada", "invite_code": chat.invite}
        async with chat.http.post("/api/auth/join", json=body) as response:
            assert response.status == 200, await response.json()


async def test_a_code_is_worthless_without_its_verifier_and_after_its_use(
    variables: dict[str, str], provider: OidcProvider
) -> None:
    async with chat_server(trusting(variables, provider)) as chat:
        code, _ = await provider.code("ada", Device().thumbprint)
        status, answer = await exchanged(chat, code, "x" * 43)
        assert (status, answer["error"]) == (401, "proof_invalid")
        code, verifier = await provider.code("ada", Device().thumbprint)
        assert (await exchanged(chat, code, verifier))[0] == 200
        status, answer = await exchanged(chat, code, verifier)
        assert (status, answer["error"]) == (401, "proof_invalid")


async def test_a_provider_that_rejects_the_server_is_reported_as_unavailable(
    variables: dict[str, str], provider: OidcProvider
) -> None:
    wrong = trusting(variables, provider, CONFIDENTIAL) | {"SVC_OIDC_CLIENT_SECRET": "wrong"}
    async with chat_server(wrong) as chat:
        code, verifier = await provider.code("ada", Device().thumbprint, CONFIDENTIAL)
        status, answer = await exchanged(chat, code, verifier)
        assert (status, answer["error"]) == (503, "issuer_unavailable")
        assert "invalid_client" in answer["message"]


async def test_an_unreachable_provider_is_reported_as_unavailable(variables: dict[str, str]) -> None:
    nobody = OidcProvider("http://127.0.0.1:9")
    async with chat_server(trusting(variables, nobody)) as chat:
        async with chat.http.get("/api/auth/provider") as response:
            assert (response.status, (await response.json())["error"]) == (503, "issuer_unavailable")
        async with chat.http.get("/info") as response:
            shown = (await response.json())["signIn"]
        account = {"issuer": nobody.issuer, "clientId": CLIENT_ID}
        assert shown == {"open": True, "local": False, "account": account, "certificateIssuers": []}


async def test_a_server_without_a_provider_does_not_redirect(chat: ChatServer) -> None:
    async with chat.http.get("/api/auth/provider") as response:
        assert (response.status, (await response.json())["error"]) == (403, "identity_tier_refused")
    status, answer = await exchanged(chat, "code", "x" * 43)
    assert (status, answer["error"]) == (403, "identity_tier_refused")
