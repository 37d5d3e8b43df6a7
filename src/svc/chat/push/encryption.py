"""Encrypts what is pushed, so that only the device can read it: RFC 8291, with RFC 8188's aes128gcm.

Pure: keys and salt are arguments, and are used for one message only.
"""

from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDH,
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
)
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

SALT_BYTES = 16
SECRET_BYTES = 16
PUBLIC_KEY_BYTES = 65
# A push service must take 4096 bytes (RFC 8030 section 7.2); this is what that leaves for the plain text.
MAX_PLAIN_BYTES = 4096 - (SALT_BYTES + 4 + 1 + PUBLIC_KEY_BYTES) - 16 - 1
_RECORD_BYTES = 4096
_LAST_RECORD = b"\x02"


def encrypted(
    plain: bytes,
    *,
    receiver: bytes,
    secret: bytes,
    sender: EllipticCurvePrivateKey,
    salt: bytes,
    padded_to: int = 0,
) -> bytes:
    """One record, with its header. Raises ValueError where `receiver` is not a point of P-256."""
    assert len(plain) <= MAX_PLAIN_BYTES, "one record holds it"
    own = public_bytes(sender)
    shared = sender.exchange(ECDH(), EllipticCurvePublicKey.from_encoded_point(SECP256R1(), receiver))
    material = _derived(shared, secret, b"WebPush: info\0" + receiver + own, 32)
    key = _derived(material, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(material, salt, b"Content-Encoding: nonce\0", 12)
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


def _derived(material: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(material)
