"""Verifies identities: a certificate or an id_token, and an assertion signed with the device's key.

Performs no I/O: it takes tokens, keys, expected values and `now`, and either returns an identity or raises
InvalidProof. It fetches no keys and remembers no nonces. A token's own information on how to verify it (an
algorithm, a key or a key's URL) is compared with the expected value or rejected, but never trusted. See
docs/http.md, "Signing in and devices", RFC 7515, 7519 and 8725, and OpenID Connect Core 3.1.3.7.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

import jwt
from jwt.types import Options

from svc.chat.authentication.jwk import DeviceKey, InvalidKey, IssuerKey, PublicKey, device_key

Tier = Literal["account", "local"]
ACCOUNT: Tier = "account"
LOCAL: Tier = "local"
TIERS = (ACCOUNT, LOCAL)
# An id_token with a complete profile is a few KB.
MAX_TOKEN_CHARACTERS = 16 * 1024
MAX_SUBJECT_CHARACTERS = 255
# The largest tolerated difference between an issuer's clock and ours.
LEEWAY_S = 60.0
_LAST_TIME_S = 2.0**53
_DEVICE_ALGORITHM = "ES256"
ISSUER_ALGORITHMS = ("ES256", "RS256", "PS256", "EdDSA")
# Header fields that supply a key for the token itself (RFC 8725 section 3.10), or declare critical
# extensions, which are not supported.
_REFUSED_HEADERS = frozenset({"jwk", "jku", "x5c", "x5u", "crit", "b64"})
# Turns off PyJWT's claim checks, because this module checks all claims against the given time.
_UNCHECKED: Options = {
    "verify_exp": False,
    "verify_nbf": False,
    "verify_iat": False,
    "verify_aud": False,
    "verify_iss": False,
    "verify_sub": False,
    "verify_jti": False,
}


class InvalidProof(Exception):
    """The proof is not valid. The message tells client developers why."""


@dataclass(frozen=True, slots=True)
class Token:
    """A parsed, unverified JWT."""

    text: str
    header: Mapping[str, object]
    claims: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Credential:
    """An unverified claim to an identity: a certificate, or an id_token with an assertion."""

    token: Token
    device: DeviceKey
    # The issuer that signed the token, or empty if the device's key signed it.
    issuer: str
    algorithm: str
    key_id: str | None
    # The audience of an id_token; None for a certificate. The audience and key of an id_token are checked
    # differently.
    audience: str | None = None

    @property
    def tier(self) -> Tier:
        return ACCOUNT if self.issuer else LOCAL


@dataclass(frozen=True, slots=True)
class Identity:
    """An identity (issuer, subject). For a device key, the issuer is empty and the subject is its
    thumbprint.
    """

    issuer: str
    subject: str
    thumbprint: str

    @property
    def tier(self) -> Tier:
        return ACCOUNT if self.issuer else LOCAL


def read(text: object) -> Token:
    """Parse a token. Raises InvalidProof if it is not a JWT."""
    if not isinstance(text, str) or len(text) > MAX_TOKEN_CHARACTERS:
        raise InvalidProof("a token must be a string of at most 16384 characters")
    try:
        parts = jwt.decode_complete(text, options={"verify_signature": False, **_UNCHECKED})
    except (jwt.InvalidTokenError, ValueError, RecursionError):
        raise InvalidProof("it is not a signed JWT") from None
    return Token(text, parts["header"], parts["payload"])


def certificate(token: Token, trusted: Collection[str]) -> Credential:
    """Parse a certificate that is self-signed or signed by an issuer in `trusted`. Raises InvalidProof."""
    _refuse_headers(token, _REFUSED_HEADERS)
    device = _device_key(token.claims.get("jwk"))
    issuer = token.claims.get("iss")
    name = issuer.rstrip("/") if isinstance(issuer, str) else ""
    if name in trusted:
        return Credential(token, device, name, *_of_issuer(token))
    if token.header.get("alg") != _DEVICE_ALGORITHM:
        raise InvalidProof("a certificate must be signed with ES256, by a trusted issuer or by its own key")
    return Credential(token, device, "", _DEVICE_ALGORITHM, None)


def id_token(token: Token, assertion: Token, issuer: str, audience: str) -> Credential:
    """Parse an id_token issued by `issuer` for `audience`. `assertion` contains the device key that signed
    it. Raises InvalidProof.
    """
    _refuse_headers(token, _REFUSED_HEADERS)
    if not issuer or token.claims.get("iss") != issuer:
        raise InvalidProof("the id_token is from another issuer")
    device = _device_key(assertion.header.get("jwk"))
    return Credential(token, device, issuer, *_of_issuer(token), audience)


def verify(credential: Credential, issuer_key: IssuerKey | None, now: float) -> Identity:
    """Verify a credential, with the issuer's key if it has an issuer. Raises InvalidProof."""
    if not credential.issuer:
        claims = _verify(credential.token, credential.device.key, _DEVICE_ALGORITHM)
        _check_times(claims, now)
        return Identity("", credential.device.thumbprint, credential.device.thumbprint)
    if issuer_key is None:
        raise InvalidProof("it is signed with a key that its issuer does not publish")
    claims = _verify(credential.token, issuer_key.key, credential.algorithm)
    if "exp" not in claims:
        raise InvalidProof("it has no expiry time")
    _check_times(claims, now)
    if credential.audience is not None:
        _check_id_token(claims, credential.audience, credential.device)
    return Identity(credential.issuer, _subject(claims), credential.device.thumbprint)


def nonce_of(assertion: Token) -> str:
    nonce = assertion.claims.get("nonce")
    return nonce if isinstance(nonce, str) else ""


def check_assertion(
    assertion: Token, credential: Credential, identity: Identity, audience: str, now: float
) -> str:
    """Verify that the device possesses its key and intends to sign in to this server.

    Returns the origin to which the device connected. The caller checks the nonce and this origin. Raises
    InvalidProof.
    """
    brings_key = credential.audience is not None
    _refuse_headers(assertion, _REFUSED_HEADERS - {"jwk"} if brings_key else _REFUSED_HEADERS)
    claims = _verify(assertion, credential.device.key, _DEVICE_ALGORITHM)
    _check_times(claims, now)
    if claims.get("aud") != audience:
        raise InvalidProof("the assertion is meant for another server")
    if identity.issuer and claims.get("sub") != identity.subject:
        raise InvalidProof("the assertion is about somebody else")
    origin = claims.get("origin")
    if not isinstance(origin, str):
        raise InvalidProof("the assertion does not name the address that was requested")
    return origin


def statement(token: Token, audience: str, now: float) -> tuple[str, Mapping[str, object]]:
    """Verify a statement signed with the key in its header. Return the key's thumbprint and the claims.

    Raises InvalidProof.
    """
    _refuse_headers(token, _REFUSED_HEADERS - {"jwk"})
    device = _device_key(token.header.get("jwk"))
    claims = _verify(token, device.key, _DEVICE_ALGORITHM)
    _check_times(claims, now)
    if claims.get("aud") != audience:
        raise InvalidProof("the statement is meant for another server")
    return device.thumbprint, claims


def _verify(token: Token, key: PublicKey, algorithm: str) -> Mapping[str, object]:
    if token.header.get("alg") != algorithm:
        raise InvalidProof(f"it is not signed with {algorithm}")
    try:
        claims: Mapping[str, object] = jwt.decode(
            token.text, key, algorithms=[algorithm], options={"verify_signature": True, **_UNCHECKED}
        )
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
        raise InvalidProof("its signature is wrong") from None
    return claims


def _of_issuer(token: Token) -> tuple[str, str | None]:
    """Return the algorithm and the key id of an issuer's token."""
    algorithm, key_id = token.header.get("alg"), token.header.get("kid")
    if algorithm not in ISSUER_ALGORITHMS:
        raise InvalidProof("an issuer must sign with one of " + ", ".join(ISSUER_ALGORITHMS))
    return str(algorithm), key_id if isinstance(key_id, str) else None


def _device_key(jwk: object) -> DeviceKey:
    try:
        return device_key(jwk)
    except InvalidKey as fault:
        raise InvalidProof(f"jwk: {fault}") from None


def _refuse_headers(token: Token, names: Collection[str]) -> None:
    if forbidden := sorted(set(names).intersection(token.header)):
        raise InvalidProof(f"its header must not have {forbidden[0]}")


def _check_times(claims: Mapping[str, object], now: float) -> None:
    """Check the times in the claims. Devices may omit times, because their clocks may be wrong."""
    for name in ("exp", "nbf", "iat"):
        value = claims.get(name)
        if value is None and name not in claims:
            continue
        # The comparison also rejects NaN, because a token with NaN as its expiry would never expire.
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _LAST_TIME_S:
            raise InvalidProof(f"{name} is not a time")
        if name == "exp" and now >= value + LEEWAY_S:
            raise InvalidProof("it has expired")
        if name != "exp" and now < value - LEEWAY_S:
            raise InvalidProof("it is from the future")


def _check_id_token(claims: Mapping[str, object], audience: str, device: DeviceKey) -> None:
    claimed_audience = claims.get("aud")
    audiences = claimed_audience if isinstance(claimed_audience, list) else [claimed_audience]
    if audience not in audiences:
        raise InvalidProof("the id_token is meant for another audience")
    if claims.get("azp", audience) != audience:
        raise InvalidProof("the id_token was issued to another party")
    # Otherwise, anyone who receives the id_token, such as another server with the same audience, could use it
    # here with another device.
    if claims.get("nonce") != device.thumbprint:
        raise InvalidProof("the id_token's nonce is not the thumbprint of the device's key")


def _subject(claims: Mapping[str, object]) -> str:
    subject = claims.get("sub")
    if isinstance(subject, str) and 0 < len(subject) <= MAX_SUBJECT_CHARACTERS and subject.isprintable():
        return subject
    raise InvalidProof("sub is not a valid name")
