"""Fetches issuers' keys and sign-in URLs, and exchanges codes for id_tokens.

An OpenID provider publishes the URL of its keys (OpenID Connect Discovery section 4). A certificate
authority's keys have a fixed URL. Documents have a maximum size, must arrive before a deadline, and are
cached for a while. Unauthenticated clients can cause at most one fetch per minute.

The server, not the web client, exchanges the code. Providers that require a client secret (Google) therefore
work, no provider has to allow our origin through CORS, and the web client contacts only its own server. The
web client keeps the PKCE verifier, so a leaked code is useless. `jwt_verification` verifies the tokens. See
OpenID Connect Core section 3.1 and RFC 7636.
"""

import asyncio
import base64
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote_plus, urlsplit

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout

from svc.base.strict_json import loads_object
from svc.chat.authentication.config import IdentityConfig
from svc.chat.authentication.jwk import IssuerKey, choose, issuer_keys
from svc.chat.authentication.jwt_verification import MAX_TOKEN_CHARACTERS
from svc.chat.authentication.responses import ProviderEndpoints
from svc.chat.errors import ChatError

FETCH_DEADLINE_S = 5.0
# Much larger than a set of 64 RSA keys with their certificates.
MAX_DOCUMENT_BYTES = 256 * 1024
# How long a key is still accepted after its issuer has withdrawn it.
FRESH_S = 3600.0
# How long cached keys are used while their issuer is unreachable, so that an outage does not lock members out
# immediately.
STALE_S = 24 * 3600.0
# The minimum interval between fetches. A token with an unknown key causes a fetch, and anybody can forge such
# a token.
MIN_INTERVAL_S = 60.0
# The interval between attempts before the first successful fetch.
RETRY_S = 5.0
DISCOVERY, CERTIFICATES = "/.well-known/openid-configuration", "/.well-known/jwks.json"

logger = logging.getLogger(__name__)


class InvalidIssuerResponse(Exception):
    """An issuer's response is not valid."""


@dataclass(slots=True)
class _CachedKeys:
    """The cached keys of one issuer."""

    keys: list[IssuerKey] = field(default_factory=list)
    fetched_at: float | None = None
    tried_at: float | None = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class IssuerKeys:
    """A cache of issuers' keys, which are fetched on demand. `clock` is a monotonic clock. Call its methods
    only for trusted issuers.
    """

    def __init__(self, session: ClientSession, oidc_issuer: str, clock: Callable[[], float]) -> None:
        self._session = session
        self._oidc_issuer = oidc_issuer
        self._clock = clock
        self._kept: dict[str, _CachedKeys] = {}

    async def key(self, issuer: str, key_id: str | None, algorithm: str) -> IssuerKey | None:
        """Return the issuer's key with this id, or None if there is none. Raises ChatError."""
        cached = self._kept.setdefault(issuer, _CachedKeys())
        async with cached.turn:
            key = (
                choose(cached.keys, key_id, algorithm) if self._younger(cached.fetched_at, FRESH_S) else None
            )
            interval_s = MIN_INTERVAL_S if cached.keys else RETRY_S
            if key is None and not self._younger(cached.tried_at, interval_s):
                await self._fetch(issuer, cached)
            if not self._younger(cached.fetched_at, STALE_S):
                raise ChatError("issuer_unavailable")
            return choose(cached.keys, key_id, algorithm)

    def _younger(self, since: float | None, age_s: float) -> bool:
        return since is not None and self._clock() - since < age_s

    async def _fetch(self, issuer: str, kept: _CachedKeys) -> None:
        kept.tried_at = self._clock()
        try:
            async with asyncio.timeout(FETCH_DEADLINE_S):
                keys_document = await document(self._session, await self._address(issuer))
        except (ClientError, TimeoutError, OSError, InvalidIssuerResponse, ValueError) as fault:
            reason = str(fault) or type(fault).__name__
            logger.warning("an issuer's keys cannot be fetched", extra={"issuer": issuer, "fault": reason})
            return
        kept.keys = issuer_keys(keys_document)
        kept.fetched_at = self._clock()
        logger.info("fetched an issuer's keys", extra={"issuer": issuer, "keys": len(kept.keys)})

    async def _address(self, issuer: str) -> str:
        if issuer != self._oidc_issuer:
            return issuer + CERTIFICATES
        address = (await _discover(self._session, issuer)).get("jwks_uri")
        if not isinstance(address, str) or not has_same_scheme(issuer, address):
            raise InvalidIssuerResponse(
                "it publishes no address of its keys with the scheme of its own address"
            )
        return address


def has_same_scheme(issuer: str, address: object) -> bool:
    """Return whether the URL has the issuer's scheme. If so, requests to it are encrypted whenever those to
    the issuer are.
    """
    return isinstance(address, str) and address.startswith(issuer[: issuer.index("//") + 2])


async def document(session: ClientSession, address: str) -> dict[str, object]:
    """Fetch a document from an issuer. Raises InvalidIssuerResponse or aiohttp's errors."""
    # Do not follow redirects, which could lead to a URL that the operator did not choose.
    timeout = ClientTimeout(total=FETCH_DEADLINE_S)
    async with session.get(address, allow_redirects=False, timeout=timeout) as response:
        if response.status != 200:
            raise InvalidIssuerResponse(f"{address} responded with {response.status}")
        return await _object_in(response, MAX_DOCUMENT_BYTES)


async def _object_in(response: ClientResponse, maximum: int) -> dict[str, object]:
    """Read a JSON object. Raises InvalidIssuerResponse, ValueError, or aiohttp's errors."""
    data = b""
    while more := await response.content.read(maximum + 1 - len(data)):
        data += more
    if len(data) > maximum:
        raise InvalidIssuerResponse(f"{response.url} is too large")
    return loads_object(data.decode())


async def _discover(session: ClientSession, issuer: str) -> dict[str, object]:
    """Return an OpenID provider's metadata."""
    metadata = await document(session, issuer.rstrip("/") + DISCOVERY)
    if metadata.get("issuer") != issuer:
        raise InvalidIssuerResponse(f"its issuer is {str(metadata.get('issuer'))[:200]!r}")
    return metadata


# Sign-in through the provider that the operator has configured.

# The maximum size of a response, enough for three of the largest tokens and a few other fields.
MAX_ANSWER_BYTES = 64 * 1024
# The maximum number of simultaneous exchanges, so that a slow provider cannot tie up more connections.
MAX_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class _Endpoints:
    authorization: str
    token: str
    # Whether client credentials are sent in a header, which every provider must support. If False, they are
    # sent in the request body, because the provider does not list the header among its methods.
    basic: bool


@dataclass(slots=True)
class _CachedEndpoints:
    endpoints: _Endpoints | None = None
    fetched_at: float = 0.0
    tried_at: float | None = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class Provider:
    """The OpenID provider. `clock` is monotonic. Without a configured issuer, every method raises
    ChatError.
    """

    def __init__(self, session: ClientSession, config: IdentityConfig, clock: Callable[[], float]) -> None:
        self._session = session
        self._config = config
        self._clock = clock
        self._kept = _CachedEndpoints()
        self._exchanging = 0

    async def endpoints(self) -> ProviderEndpoints:
        """Return the details that the web client needs to redirect a person to the provider. Raises
        ChatError.
        """
        endpoints, config = await self._endpoints(), self._config
        return ProviderEndpoints(config.oidc_issuer, endpoints.authorization, config.oidc_audience)

    async def id_token(self, code: str, verifier: str, redirect_uri: str) -> str:
        """Exchange the provider's authorization code for an id_token. Raises ChatError."""
        endpoints = await self._endpoints()
        if self._exchanging >= MAX_AT_ONCE:
            raise ChatError("too_many_requests")
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "code_verifier": verifier,
            "redirect_uri": redirect_uri,
        }
        self._exchanging += 1
        try:
            status, answer = await self._post(endpoints, form)
        except (ClientError, TimeoutError, OSError, InvalidIssuerResponse, ValueError) as fault:
            logger.warning("an issuer did not exchange a code", extra={"fault": type(fault).__name__})
            raise ChatError("issuer_unavailable") from None
        finally:
            self._exchanging -= 1
        return _id_token(status, answer)

    async def _post(self, endpoints: _Endpoints, form: Mapping[str, str]) -> tuple[int, Mapping[str, object]]:
        client_id, secret = self._config.oidc_audience, self._config.oidc_client_secret
        by_header = bool(secret) and endpoints.basic
        in_form = {"client_id": client_id, **({"client_secret": secret} if secret else {})}
        async with self._session.post(
            endpoints.token,
            data=form if by_header else {**form, **in_form},
            headers={"Accept": "application/json"} | (_basic(client_id, secret) if by_header else {}),
            allow_redirects=False,
            timeout=ClientTimeout(total=FETCH_DEADLINE_S),
        ) as response:
            return response.status, await _object_in(response, MAX_ANSWER_BYTES)

    async def _endpoints(self) -> _Endpoints:
        if not self._config.oidc_issuer:
            raise ChatError("identity_tier_refused")
        cached = self._kept
        async with cached.turn:
            now = self._clock()
            fresh = cached.endpoints is not None and now - cached.fetched_at < FRESH_S
            if not fresh and (cached.tried_at is None or now - cached.tried_at >= RETRY_S):
                cached.tried_at = now
                await self._fetch(cached)
            # Expired URLs are better than none: the provider might be reachable again by the time the person
            # gets there.
            if cached.endpoints is None:
                raise ChatError("issuer_unavailable")
            return cached.endpoints

    async def _fetch(self, kept: _CachedEndpoints) -> None:
        issuer = self._config.oidc_issuer
        try:
            async with asyncio.timeout(FETCH_DEADLINE_S):
                metadata = await _discover(self._session, issuer)
            kept.endpoints = _endpoints(issuer, metadata)
        except (ClientError, TimeoutError, OSError, InvalidIssuerResponse, ValueError) as fault:
            reason = str(fault) or type(fault).__name__
            logger.warning(
                "an issuer does not publish where to sign in", extra={"issuer": issuer, "fault": reason}
            )
            return
        kept.fetched_at = self._clock()


def _endpoints(issuer: str, metadata: Mapping[str, object]) -> _Endpoints:
    addresses = [metadata.get(name) for name in ("authorization_endpoint", "token_endpoint")]
    if not all(has_same_scheme(issuer, address) and urlsplit(str(address)).hostname for address in addresses):
        raise InvalidIssuerResponse("it publishes no sign-in addresses with the scheme of its own address")
    methods = metadata.get("token_endpoint_auth_methods_supported")
    basic = not isinstance(methods, list) or "client_secret_basic" in methods
    return _Endpoints(str(addresses[0]), str(addresses[1]), basic)


def _basic(client_id: str, secret: str) -> dict[str, str]:
    """Return the header for basic authentication. Both values are form-encoded (RFC 6749 section 2.3.1)."""
    both = f"{quote_plus(client_id)}:{quote_plus(secret)}"
    return {"Authorization": f"Basic {base64.b64encode(both.encode()).decode()}"}


def _id_token(status: int, answer: Mapping[str, object]) -> str:
    token = answer.get("id_token")
    if status == 200 and isinstance(token, str) and len(token) <= MAX_TOKEN_CHARACTERS:
        return token
    # Log only the OAuth error code (RFC 6749 section 5.2), never the authorization code or a token.
    reason = str(answer.get("error"))[:64] if status != 200 else "no id_token"
    logger.warning("an issuer refused to exchange a code", extra={"status": status, "reason": reason})
    if reason == "invalid_grant":
        raise ChatError("proof_invalid", "The account provider rejected this sign-in. Sign in again")
    raise ChatError("issuer_unavailable", f"The account provider rejects this server: {reason}")
