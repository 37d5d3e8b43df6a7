"""The key by which push services know this server, kept in the data folder: VAPID, RFC 8292."""

from pathlib import Path

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from svc.base.config import ConfigError
from svc.base.private_files import kept
from svc.chat.push.base64url import encoded
from svc.chat.push.encryption import public_bytes

KEY_FILE = "push-key"
# Push services refuse more than 24 hours (RFC 8292 section 2).
_LIFETIME_S = 12 * 3600


class VapidKey:
    """`contact` is the address that a push service may write to: `mailto:` or `https:`."""

    def __init__(self, key: EllipticCurvePrivateKey, contact: str) -> None:
        self._key = key
        self._contact = contact
        # What browsers subscribe with.
        self.public = encoded(public_bytes(key))

    @classmethod
    def kept_in(cls, path: Path, contact: str) -> "VapidKey":
        """The key of a file, which is made when there is none. Raises ConfigError."""
        try:
            key = load_pem_private_key(kept(path, _new_key).encode(), None)
        except ValueError:
            key = None
        if not isinstance(key, EllipticCurvePrivateKey):
            raise ConfigError(f"{path} is damaged; restore it from a backup, or delete it")
        return cls(key, contact)

    def authorization(self, origin: str, now: float) -> str:
        """The header for a push service, by its origin."""
        claims = {"aud": origin, "exp": int(now) + _LIFETIME_S, "sub": self._contact}
        return f"vapid t={jwt.encode(claims, self._key, algorithm='ES256')}, k={self.public}"


def _new_key() -> str:
    key = generate_private_key(SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
