"""Implements Web Push's cryptography: encryption for a device, and the key that identifies this server.

See RFC 8291 with RFC 8188's aes128gcm, and VAPID (RFC 8292). The caller supplies a new key and a new salt for
each message.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDH,
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from svc.base.config_parsing import ConfigError
from svc.base.private_files import read_or_create

SALT_BYTES = 16
SECRET_BYTES = 16
PUBLIC_KEY_BYTES = 65
# The maximum size of the plaintext. Push services must accept 4096 bytes (RFC 8030 section 7.2), including a
# header, an authentication tag and a padding delimiter.
MAX_PLAIN_BYTES = 4096 - (SALT_BYTES + 4 + 1 + PUBLIC_KEY_BYTES) - 16 - 1
_RECORD_BYTES = 4096
_LAST_RECORD = b"\x02"
KEY_FILE = "push-key"
# Push services reject lifetimes of more than 24 hours (RFC 8292 section 2).
_LIFETIME_S = 12 * 3600


def base64url(data: bytes) -> str:
    """Encode bytes as base64url without padding, as Web Push does (RFC 4648 section 5)."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    """Decode base64url. Raises ValueError."""
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encrypt(
    plain: bytes,
    *,
    receiver: bytes,
    secret: bytes,
    sender: EllipticCurvePrivateKey,
    salt: bytes,
    padded_to: int = 0,
) -> bytes:
    """Return one encrypted record with its header.

    Raises ValueError if `receiver` is not a point on P-256.
    """
    assert len(plain) <= MAX_PLAIN_BYTES, "one record holds it"
    own = public_bytes(sender)
    shared = sender.exchange(ECDH(), EllipticCurvePublicKey.from_encoded_point(SECP256R1(), receiver))
    material = _derive(shared, secret, b"WebPush: info\0" + receiver + own, 32)
    key = _derive(material, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derive(material, salt, b"Content-Encoding: nonce\0", 12)
    record = plain + _LAST_RECORD + bytes(max(0, padded_to - len(plain)))
    header = salt + _RECORD_BYTES.to_bytes(4, "big") + bytes([len(own)]) + own
    return header + AESGCM(key).encrypt(nonce, record, None)


def public_bytes(key: EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def is_public_key(encoded: bytes) -> bool:
    try:
        EllipticCurvePublicKey.from_encoded_point(SECP256R1(), encoded)
    except ValueError:
        return False
    return len(encoded) == PUBLIC_KEY_BYTES


def _derive(material: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(material)


class VapidKey:
    """The key that signs requests. `contact` returns a `mailto:` or `https:` URL for push services, or ""."""

    def __init__(self, key: EllipticCurvePrivateKey, contact: Callable[[], str]) -> None:
        self._key = key
        self._contact = contact
        # The public key that browsers use to subscribe.
        self.public = base64url(public_bytes(key))

    @classmethod
    def load(cls, path: Path, contact: Callable[[], str]) -> "VapidKey":
        """Load the key from a file, or create the key and the file. Raises ConfigError."""
        try:
            key = load_pem_private_key(read_or_create(path, _new_key).encode(), None)
        except ValueError:
            key = None
        if not isinstance(key, EllipticCurvePrivateKey):
            raise ConfigError(f"{path} is damaged; restore it from a backup, or delete it")
        return cls(key, contact)

    def authorization(self, origin: str, now: float) -> str:
        """Return the Authorization header for a push service, given its origin."""
        claims: dict[str, object] = {"aud": origin, "exp": int(now) + _LIFETIME_S}
        if contact := self._contact():
            claims["sub"] = contact
        return f"vapid t={jwt.encode(claims, self._key, algorithm='ES256')}, k={self.public}"


def _new_key() -> str:
    key = generate_private_key(SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
