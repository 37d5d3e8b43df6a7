"""Tests signing in with accounts from a real, third-party OpenID provider.

See docs/configuration.md, "Chat server", SVC_OIDC_ISSUER and SVC_OIDC_AUDIENCE.
"""

from collections.abc import AsyncIterator, Mapping

import pytest

from tests.chat.chat_server import ChatServer, chat_server
from tests.kit.device import Device
from tests.kit.oidc import CLIENT_ID, OidcProvider, oidc_provider

# The first run installs the provider with npm.
pytestmark = pytest.mark.timeout(240)


@pytest.fixture(params=["RS256", "ES256"])
async def provider(request: pytest.FixtureRequest) -> AsyncIterator[OidcProvider]:
    async with oidc_provider(request.param) as running:
        yield running


def trusting(
    variables: Mapping[str, str], provider: OidcProvider, audience: str = CLIENT_ID
) -> dict[str, str]:
    account = {"SVC_OIDC_ISSUER": provider.issuer, "SVC_OIDC_AUDIENCE": audience}
    return {**variables, **account, "SVC_IDENTITY_TIERS": "account"}


async def application(chat: ChatServer, device: Device, id_token: str, name: str) -> dict[str, object]:
    async with chat.http.post("/api/auth/challenge") as response:
        challenge = await response.json()
    assertion = device.assertion(challenge, chat.address, {"jwk": device.jwk}, sub=name)
    return {"id_token": id_token, "assertion": assertion}


async def test_an_account_is_the_same_member_on_all_its_devices(
    variables: dict[str, str], provider: OidcProvider
) -> None:
    async with chat_server(trusting(variables, provider)) as chat:
        ids = []
        for device in (Device(), Device()):
            token = await provider.id_token("ada", device.thumbprint)
            body = await application(chat, device, token, "ada")
            body |= {"nickname": "Ada", "invite_code": chat.invite}
            async with chat.http.post("/api/auth/join", json=body) as response:
                answer = await response.json()
                assert response.status == 200, answer
            ids.append(answer["member"]["id"])
        assert ids[0] == ids[1]
        headers = {"Authorization": f"Bearer {answer['access_token']}"}
        async with chat.http.get("/api/me/devices", headers=headers) as response:
            devices = (await response.json())["devices"]
        assert [(device["tier"], device["current"]) for device in devices] == [
            ("account", True),
            ("account", False),
        ]


async def test_a_stolen_token_is_worthless_on_another_device(
    variables: dict[str, str], provider: OidcProvider
) -> None:
    async with chat_server(trusting(variables, provider)) as chat:
        token = await provider.id_token("ada", Device().thumbprint)
        body = await application(chat, Device(), token, "ada")
        async with chat.http.post("/api/auth/join", json=body | {"nickname": "Eve"}) as response:
            answer = await response.json()
        assert (response.status, answer["error"]) == (401, "proof_invalid")
        assert "thumbprint" in answer["message"]


async def test_a_token_for_another_audience_is_rejected(
    variables: dict[str, str], provider: OidcProvider
) -> None:
    async with chat_server(trusting(variables, provider, "somebody-else")) as chat:
        device = Device()
        token = await provider.id_token("ada", device.thumbprint)
        body = await application(chat, device, token, "ada")
        async with chat.http.post("/api/auth/join", json=body | {"nickname": "Ada"}) as response:
            answer = await response.json()
        assert (response.status, answer["error"]) == (401, "proof_invalid")
        assert "audience" in answer["message"]
