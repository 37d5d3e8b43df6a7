"""Signs in to an OpenID provider through its pages, and issues TLS client certificates for browser keys."""

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import jwt
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography.hazmat.primitives.asymmetric import ec
from playwright.async_api import expect

from svc.chat.authentication.issuers import CERTIFICATES
from tests.kit.browser_users import Person
from tests.kit.device import public_jwk
from tests.kit.oidc import OidcProvider

# The OpenID client in tests/oidc/provider.mjs that redirects users back to this machine.
PAGE_CLIENT = "page"


def accounts_of(provider: OidcProvider, tiers: str = "account") -> dict[str, str]:
    """Return the environment variables for a server that accepts this provider's accounts."""
    return {
        "SVC_OIDC_ISSUER": provider.issuer,
        "SVC_OIDC_AUDIENCE": PAGE_CLIENT,
        "SVC_IDENTITY_TIERS": tiers,
    }


async def log_in_at_provider(person: Person, name: str) -> None:
    """Log in on the provider's pages and give consent."""
    await person.page.locator("input[name=login]").fill(name)
    await person.page.locator("input[name=password]").fill("any")
    await person.page.get_by_role("button", name="Sign-in").click()
    await person.page.get_by_role("button", name="Continue").click()


async def cancel_login(person: Person) -> None:
    await expect(person.page.locator("input[name=login]")).to_be_visible()
    await person.page.get_by_role("link", name="Cancel").click()


@dataclass
class Authority:
    """A certificate authority."""

    key: ec.EllipticCurvePrivateKey
    address: str

    def certificate(self, jwk: Mapping[str, object], subject: str) -> str:
        claims = {"iss": self.address, "sub": subject, "exp": int(time.time()) + 3600, "jwk": dict(jwk)}
        return jwt.encode(claims, self.key, algorithm="ES256", headers={"kid": "one"})


@asynccontextmanager
async def authority() -> AsyncIterator[Authority]:
    key = ec.generate_private_key(ec.SECP256R1())

    async def keys(_: web.Request) -> web.Response:
        return web.json_response({"keys": [public_jwk(key) | {"kid": "one"}]})

    application = web.Application()
    application.add_routes([web.get(CERTIFICATES, keys)])
    async with TestServer(application) as server:
        yield Authority(key, str(server.make_url("")).rstrip("/"))
