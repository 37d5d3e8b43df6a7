"""Runs a third-party OpenID provider on this machine: `oidc-provider` from npm.

Signs people in through the provider's own pages, as a browser would, and returns their id_tokens.
"""

import asyncio
import hashlib
import re
import secrets
import shutil
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

from aiohttp import ClientSession, CookieJar

from tests.kit.device import base64url
from tests.kit.packages import NODE, npm_packages

SOURCE = Path(__file__).parent.parent / "oidc"
CLIENT_ID = "community"
REDIRECT = "https://client.invalid/signed-in"
START_DEADLINE_S = 30.0
# The maximum number of steps: authorise, sign in, consent and return. Each step ends with a redirect.
MAX_STEPS = 12


class OidcProvider:
    def __init__(self, issuer: str) -> None:
        self.issuer = issuer

    async def code(self, name: str, nonce: str, client_id: str = CLIENT_ID) -> tuple[str, str]:
        """Sign in to the provider as `name`. Return the authorization code and the verifier of its PKCE
        challenge.
        """
        verifier = secrets.token_urlsafe(48)
        query = {
            "client_id": client_id,
            "response_type": "code",
            "redirect_uri": REDIRECT,
            "scope": "openid",
            "nonce": nonce,
            "code_challenge": base64url(hashlib.sha256(verifier.encode()).digest()),
            "code_challenge_method": "S256",
        }
        async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as http:
            return await self._code(http, f"{self.issuer}/auth?{urlencode(query)}", name), verifier

    async def id_token(self, name: str, nonce: str) -> str:
        """Sign in to the provider as `name` with the authorization code flow and PKCE, as a public client
        does.
        """
        code, verifier = await self.code(name, nonce)
        async with ClientSession() as http:
            form = {
                "grant_type": "authorization_code",
                "client_id": CLIENT_ID,
                "redirect_uri": REDIRECT,
                "code": code,
                "code_verifier": verifier,
            }
            async with http.post(f"{self.issuer}/token", data=form) as response:
                answer = await response.json()
                assert response.status == 200, answer
                return str(answer["id_token"])

    async def _code(self, http: ClientSession, address: str, name: str) -> str:
        form: dict[str, str] | None = None
        for _ in range(MAX_STEPS):
            method = "POST" if form else "GET"
            async with http.request(method, address, data=form, allow_redirects=False) as response:
                page, location = await response.text(), response.headers.get("Location")
            if location is None:
                # The provider's own page has a single form, which is either the sign-in form or the consent
                # form.
                match = re.search(r'<form[^>]* action="([^"]+)"', page)
                prompt = re.search(r'name="prompt" value="(\w+)"', page)
                assert match and prompt, page
                address = urljoin(address, match[1])
                form = {"prompt": prompt[1]}
                if prompt[1] == "login":
                    form |= {"login": name, "password": "any"}
                continue
            address, form = urljoin(address, location), None
            if address.startswith(REDIRECT):
                return parse_qs(urlsplit(address).query)["code"][0]
        raise AssertionError("the provider did not exit")


@asynccontextmanager
async def oidc_provider(algorithm: str = "RS256", *redirects: str) -> AsyncIterator[OidcProvider]:
    folder = await _installed()
    process = await asyncio.create_subprocess_exec(
        *(NODE, "provider.mjs", algorithm, *redirects), cwd=folder, stdin=PIPE, stdout=PIPE
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(START_DEADLINE_S):
            issuer = (await process.stdout.readline()).decode().strip()
        assert issuer, "the provider did not start"
        yield OidcProvider(issuer)
    finally:
        await _ended(process)


async def _installed() -> Path:
    folder = await npm_packages(SOURCE)
    # Another pytest worker may start the provider at the same time, so the file must be either complete or
    # unchanged.
    copy = folder / f"provider.{secrets.token_hex(8)}"
    shutil.copy(SOURCE / "provider.mjs", copy)
    copy.replace(folder / "provider.mjs")
    return folder


async def _ended(process: Process) -> None:
    if process.returncode is None:
        process.kill()
        await process.wait()
