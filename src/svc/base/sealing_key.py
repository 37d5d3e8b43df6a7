"""Seals secrets, so that the database alone reveals none of them.

Opening a sealed secret or comparing a fingerprint requires the key, which has its own file. Sealed secrets
and fingerprints are bound to their owner, so an attacker cannot substitute another owner's. Uses AES-256-GCM
(NIST SP 800-38D) and keyed BLAKE2b (RFC 7693), with separate keys derived from one master key.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from svc.base.private_files import read_or_create_key

KEY_BYTES = 32
_FINGERPRINT_BYTES = 32
# Nonces are random, so fewer than 2^32 secrets may be sealed under one key (SP 800-38D section 8.2.2).
_NONCE_BYTES = 12


class SealingKey:
    """A key for sealing. `random_bytes(n)` returns n random bytes."""

    def __init__(self, master: bytes, random_bytes: Callable[[int], bytes]) -> None:
        assert len(master) == KEY_BYTES, "the key has the wrong length"
        self._cipher = AESGCM(hmac.digest(master, b"seal", hashlib.sha256))
        self._fingerprint_key = hmac.digest(master, b"fingerprint", hashlib.sha256)
        self._random_bytes = random_bytes

    @classmethod
    def load(cls, path: Path) -> "SealingKey":
        """Return the key stored in a file. Create the file if it is missing. Raises ConfigError."""
        return cls(read_or_create_key(path, KEY_BYTES), secrets.token_bytes)

    def seal(self, secret: str, owner: str) -> bytes:
        nonce = self._random_bytes(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, secret.encode(), owner.encode())

    def open(self, sealed: bytes, owner: str) -> str | None:
        """Return the secret, or None if it was sealed for a different owner or with a different key."""
        nonce, ciphertext = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        try:
            return self._cipher.decrypt(nonce, ciphertext, owner.encode()).decode()
        except (InvalidTag, ValueError):
            return None

    def fingerprint(self, secret: str, owner: str) -> bytes:
        """Return a fingerprint that is the same for identical secrets of one owner.

        The fingerprint reveals nothing without the key.
        """
        # Use BLAKE2b instead of HMAC, because it hashes short input without releasing the interpreter lock,
        # which the database's thread might then hold.
        data = f"{owner}\0{secret}".encode()
        return hashlib.blake2b(data, key=self._fingerprint_key, digest_size=_FINGERPRINT_BYTES).digest()
