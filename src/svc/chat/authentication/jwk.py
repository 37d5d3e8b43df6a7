"""Parses public keys in JSON: devices' keys, and the key sets that issuers publish.

Accepts P-256 keys from devices, and P-256, RSA and Ed25519 keys from issuers. A key that includes its private
part is rejected, because the sender has disclosed it. Performs no I/O. See RFC 7517, 7518, 7638, 8037.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

PublicKey = ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey | rsa.RSAPublicKey

_COORDINATE_BYTES = 32
# The JSON fields of private keys (RFC 7518 sections 6.2.2, 6.3.2 and 6.4).
_PRIVATE = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
# RFC 7518 section 3.3 sets the minimum. Above the maximum, verifying a signature would be too slow.
_RSA_BITS = range(2048, 8192 + 1)
MAX_KEYS = 64
# The accepted key types and their algorithms. PyJWT parses a key with the first algorithm of its type.
_TAKEN = (
    (("RSA", None), ("RS256", "PS256")),
    (("EC", "P-256"), ("ES256",)),
    (("OKP", "Ed25519"), ("EdDSA",)),
)


class InvalidKey(Exception):
    """The key is not accepted. The message gives the reason."""


@dataclass(frozen=True, slots=True)
class DeviceKey:
    """A device's key. `thumbprint` (RFC 7638) is the same for every encoding of the key."""

    key: ec.EllipticCurvePublicKey
    thumbprint: str


@dataclass(frozen=True, slots=True)
class IssuerKey:
    key_id: str
    algorithms: frozenset[str]
    key: PublicKey


def device_key(jwk: object) -> DeviceKey:
    """Parse the public key of a device. Raises InvalidKey."""
    if not isinstance(jwk, dict) or jwk.get("kty") != "EC" or jwk.get("crv") != "P-256":
        raise InvalidKey("a device's key must be an EC key on P-256")
    if not _PRIVATE.isdisjoint(jwk):
        raise InvalidKey("it contains the private key, which must stay secret")
    x, y = _coordinate(jwk.get("x")), _coordinate(jwk.get("y"))
    numbers = ec.EllipticCurvePublicNumbers(int.from_bytes(x), int.from_bytes(y), ec.SECP256R1())
    try:
        key = numbers.public_key()
    except ValueError:
        raise InvalidKey("it is not a point on the curve") from None
    members = {"crv": "P-256", "kty": "EC", "x": _base64url(x), "y": _base64url(y)}
    text = json.dumps(members, separators=(",", ":"), sort_keys=True)
    return DeviceKey(key, _base64url(hashlib.sha256(text.encode()).digest()))


def issuer_keys(document: Mapping[str, object]) -> list[IssuerKey]:
    """Return the keys in a set that can verify signatures. See RFC 7517 section 5."""
    entries = document.get("keys")
    if not isinstance(entries, list):
        return []
    keys = (_issuer_key(jwk) for jwk in entries[:MAX_KEYS] if isinstance(jwk, dict))
    return [key for key in keys if key is not None]


def choose(keys: Sequence[IssuerKey], key_id: str | None, algorithm: str) -> IssuerKey | None:
    """Return the key with the given id or, without an id, the only key for the algorithm."""
    fitting = [key for key in keys if algorithm in key.algorithms and key_id in (None, key.key_id)]
    return fitting[0] if fitting and (key_id is not None or len(fitting) == 1) else None


def _issuer_key(jwk: Mapping[str, object]) -> IssuerKey | None:
    if jwk.get("use", "sig") != "sig" or not _PRIVATE.isdisjoint(jwk):
        return None
    kind, algorithm, key_id = (jwk.get("kty"), jwk.get("crv")), jwk.get("alg"), jwk.get("kid")
    for taken, algorithms in _TAKEN:
        if kind == taken and (key := _public_key(jwk, algorithms[0])) is not None:
            fitting = frozenset(name for name in algorithms if algorithm in (None, name))
            return IssuerKey(key_id if isinstance(key_id, str) else "", fitting, key)
    return None


def _public_key(jwk: Mapping[str, object], algorithm: str) -> PublicKey | None:
    try:
        key = jwt.PyJWK(dict(jwk), algorithm=algorithm).key
    except (jwt.PyJWTError, UnsupportedAlgorithm, ValueError, TypeError, KeyError, AttributeError):
        return None
    if isinstance(key, rsa.RSAPublicKey):
        return key if key.key_size in _RSA_BITS else None
    return key if isinstance(key, ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey) else None


def _coordinate(text: object) -> bytes:
    """Decode a coordinate, which must be full-length, including leading zeros (RFC 7518 section 6.2.1.2)."""
    if not isinstance(text, str) or len(text) != len(_base64url(bytes(_COORDINATE_BYTES))):
        raise InvalidKey("a coordinate must have 43 characters")
    try:
        return base64.b64decode(text + "=", altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise InvalidKey("a coordinate must be in base64url") from None


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
