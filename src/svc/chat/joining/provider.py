"""The operator's OpenID provider as the page needs it: where to send a person, and a code for an id_token.

The server exchanges the code, not the page: providers that demand a client secret work too (Google), no
provider has to allow our origin by CORS, and the page talks to its own server alone. The page keeps the PKCE
verifier, so nobody can use a code that leaks. Verifies no token; `proof` does. OpenID Connect Core section
3.1, RFC 7636.
"""

import asyncio
import base64
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote_plus, urlsplit

from aiohttp import ClientError, ClientSession, ClientTimeout

from svc.base.strict_json import loads_object
from svc.chat.errors import ChatError
from svc.chat.joining.config import IdentityConfig
from svc.chat.joining.issuers import (
    DISCOVERY,
    FETCH_DEADLINE_S,
    FRESH_S,
    RETRY_S,
    Unusable,
    as_safe_as,
    document,
)
from svc.chat.joining.proof import MAX_TOKEN_CHARACTERS

# Three tokens of the largest size, and a few fields beside them.
MAX_ANSWER_BYTES = 64 * 1024
# Each waits for the provider. A provider that is slow must not hold more of our connections.
MOST_AT_ONCE = 16

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Endpoints:
    authorization: str
    token: str
    # By the header, as every provider must support it, or in the form where it lists only that.
    basic: bool


@dataclass(frozen=True, slots=True)
class SignInPlace:
    """What a page needs to send a person there."""

    issuer: str
    authorization_endpoint: str
    client_id: str


@dataclass(slots=True)
class _Kept:
    endpoints: _Endpoints | None = None
    fetched_at: float = 0.0
    tried_at: float | None = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class Provider:
    """`clock` gives seconds from anywhere. Without an issuer every method refuses."""

    def __init__(self, session: ClientSession, config: IdentityConfig, clock: Callable[[], float]) -> None:
        self._session = session
        self._config = config
        self._clock = clock
        self._kept = _Kept()
        self._exchanging = 0

    async def place(self) -> SignInPlace:
        """Raises ChatError."""
        endpoints, config = await self._endpoints(), self._config
        return SignInPlace(config.oidc_issuer, endpoints.authorization, config.oidc_audience)

    async def id_token(self, code: str, verifier: str, redirect_uri: str) -> str:
        """The id_token for a code with which the provider sent somebody back. Raises ChatError."""
        endpoints = await self._endpoints()
        if self._exchanging >= MOST_AT_ONCE:
            raise ChatError("too_many_requests")
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "code_verifier": verifier,
            "redirect_uri": redirect_uri,
        }
        self._exchanging += 1
        try:
            status, answer = await self._posted(endpoints, form)
        except (ClientError, TimeoutError, OSError, Unusable, ValueError) as fault:
            logger.warning("an issuer did not exchange a code", extra={"fault": type(fault).__name__})
            raise ChatError("issuer_unavailable") from None
        finally:
            self._exchanging -= 1
        return _id_token(status, answer)

    async def _posted(
        self, endpoints: _Endpoints, form: Mapping[str, str]
    ) -> tuple[int, Mapping[str, object]]:
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
            data = b""
            while more := await response.content.read(MAX_ANSWER_BYTES + 1 - len(data)):
                data += more
            if len(data) > MAX_ANSWER_BYTES:
                raise Unusable("its answer is too large")
            return response.status, loads_object(data.decode())

    async def _endpoints(self) -> _Endpoints:
        if not self._config.oidc_issuer:
            raise ChatError("identity_tier_refused")
        kept = self._kept
        async with kept.turn:
            now = self._clock()
            fresh = kept.endpoints is not None and now - kept.fetched_at < FRESH_S
            if not fresh and (kept.tried_at is None or now - kept.tried_at >= RETRY_S):
                kept.tried_at = now
                await self._fetch(kept)
            # A provider that cannot be reached may be back when the person gets there.
            if kept.endpoints is None:
                raise ChatError("issuer_unavailable")
            return kept.endpoints

    async def _fetch(self, kept: _Kept) -> None:
        issuer = self._config.oidc_issuer
        try:
            async with asyncio.timeout(FETCH_DEADLINE_S):
                told = await document(self._session, issuer.rstrip("/") + DISCOVERY)
            kept.endpoints = _endpoints(issuer, told)
        except (ClientError, TimeoutError, OSError, Unusable, ValueError) as fault:
            reason = str(fault) or type(fault).__name__
            logger.warning(
                "an issuer does not publish where to sign in", extra={"issuer": issuer, "fault": reason}
            )
            return
        kept.fetched_at = self._clock()


def _endpoints(issuer: str, told: Mapping[str, object]) -> _Endpoints:
    if told.get("issuer") != issuer:
        raise Unusable(f"it calls itself {str(told.get('issuer'))[:200]!r}")
    found = [told.get(name) for name in ("authorization_endpoint", "token_endpoint")]
    if not all(as_safe_as(issuer, address) and urlsplit(str(address)).hostname for address in found):
        raise Unusable("it does not say where to sign in, by addresses as safe as its own")
    methods = told.get("token_endpoint_auth_methods_supported")
    basic = not isinstance(methods, list) or "client_secret_basic" in methods
    return _Endpoints(str(found[0]), str(found[1]), basic)


def _basic(client_id: str, secret: str) -> dict[str, str]:
    """RFC 6749 section 2.3.1: both are form-encoded first."""
    both = f"{quote_plus(client_id)}:{quote_plus(secret)}"
    return {"Authorization": f"Basic {base64.b64encode(both.encode()).decode()}"}


def _id_token(status: int, answer: Mapping[str, object]) -> str:
    token = answer.get("id_token")
    if status == 200 and isinstance(token, str) and len(token) <= MAX_TOKEN_CHARACTERS:
        return token
    # A code of the OAuth standard (RFC 6749 section 5.2); never the code or a token.
    reason = str(answer.get("error"))[:64] if status != 200 else "no id_token"
    logger.warning("an issuer refused to exchange a code", extra={"status": status, "reason": reason})
    if reason == "invalid_grant":
        raise ChatError("proof_invalid", "The account's provider did not accept this sign-in. Sign in again")
    raise ChatError("issuer_unavailable", f"The account's provider refuses this server: {reason}")
