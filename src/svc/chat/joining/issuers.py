"""The public keys of issuers, fetched from them and kept for a while.

An OpenID provider says where its keys are (OpenID Connect Discovery section 4); a
certificate authority's are at a fixed place. What is fetched is bounded in size and time,
and a stranger's tokens cannot make us fetch more than once a minute. Verifies nothing.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from aiohttp import ClientError, ClientSession, ClientTimeout

from svc.base.strict_json import loads_object
from svc.chat.errors import ChatError
from svc.chat.joining.jwk import IssuerKey, choose, issuer_keys

FETCH_DEADLINE_S = 5.0
# A set of 64 RSA keys with their certificates is far smaller.
MAX_DOCUMENT_BYTES = 256 * 1024
# A key that an issuer has withdrawn is good with us for this long.
FRESH_S = 3600.0
# While the issuer cannot be reached, its members need not be locked out at once.
STALE_S = 24 * 3600.0
# A token may name a key that is new; and anybody can make up a token that does.
LEAST_INTERVAL_S = 60.0
# Until it has answered for the first time.
RETRY_S = 5.0
DISCOVERY, CERTIFICATES = "/.well-known/openid-configuration", "/.well-known/jwks.json"

logger = logging.getLogger(__name__)


class Unusable(Exception):
    """What an issuer's address answered is not what it should be."""


@dataclass(slots=True)
class _Kept:
    """What is known of one issuer."""

    keys: list[IssuerKey] = field(default_factory=list)
    fetched_at: float | None = None
    tried_at: float | None = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class IssuerKeys:
    """`clock` gives seconds from anywhere. Only issuers that the operator trusts are asked for."""

    def __init__(self, session: ClientSession, oidc_issuer: str, clock: Callable[[], float]) -> None:
        self._session = session
        self._oidc_issuer = oidc_issuer
        self._clock = clock
        self._kept: dict[str, _Kept] = {}

    async def key(self, issuer: str, key_id: str | None, algorithm: str) -> IssuerKey | None:
        """The key by which a token says that it is signed; None when there is none. Raises ChatError."""
        kept = self._kept.setdefault(issuer, _Kept())
        async with kept.turn:
            found = choose(kept.keys, key_id, algorithm) if self._younger(kept.fetched_at, FRESH_S) else None
            interval_s = LEAST_INTERVAL_S if kept.keys else RETRY_S
            if found is None and not self._younger(kept.tried_at, interval_s):
                await self._fetch(issuer, kept)
            if not self._younger(kept.fetched_at, STALE_S):
                raise ChatError("issuer_unavailable")
            return choose(kept.keys, key_id, algorithm)

    def _younger(self, since: float | None, age_s: float) -> bool:
        return since is not None and self._clock() - since < age_s

    async def _fetch(self, issuer: str, kept: _Kept) -> None:
        kept.tried_at = self._clock()
        try:
            async with asyncio.timeout(FETCH_DEADLINE_S):
                found = await document(self._session, await self._address(issuer))
        except (ClientError, TimeoutError, OSError, Unusable, ValueError) as fault:
            reason = str(fault) or type(fault).__name__
            logger.warning("an issuer's keys cannot be fetched", extra={"issuer": issuer, "fault": reason})
            return
        kept.keys = issuer_keys(found)
        kept.fetched_at = self._clock()
        logger.info("fetched an issuer's keys", extra={"issuer": issuer, "keys": len(kept.keys)})

    async def _address(self, issuer: str) -> str:
        if issuer != self._oidc_issuer:
            return issuer + CERTIFICATES
        told = await document(self._session, issuer.rstrip("/") + DISCOVERY)
        if told.get("issuer") != issuer:
            raise Unusable(f"it calls itself {str(told.get('issuer'))[:200]!r}")
        address = told.get("jwks_uri")
        if not isinstance(address, str) or not as_safe_as(issuer, address):
            raise Unusable("it does not say where its keys are, by an address as safe as its own")
        return address


def as_safe_as(issuer: str, address: object) -> bool:
    """Has the address the issuer's scheme, so that what is sent there is encrypted too?"""
    return isinstance(address, str) and address.startswith(issuer[: issuer.index("//") + 2])


async def document(session: ClientSession, address: str) -> dict[str, object]:
    """What an issuer publishes at this address. Raises Unusable, and what a request raises."""
    # A redirect would lead where the operator did not point.
    timeout = ClientTimeout(total=FETCH_DEADLINE_S)
    async with session.get(address, allow_redirects=False, timeout=timeout) as response:
        if response.status != 200:
            raise Unusable(f"{address} answers {response.status}")
        data = await response.content.read(MAX_DOCUMENT_BYTES + 1)
        while len(data) <= MAX_DOCUMENT_BYTES and (more := await response.content.read(65536)):
            data += more
        if len(data) > MAX_DOCUMENT_BYTES:
            raise Unusable(f"{address} is too large")
        return loads_object(data.decode())
