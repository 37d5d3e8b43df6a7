"""HMAC-SHA1, for STUN's MESSAGE-INTEGRITY only."""

OPENSSL: bool  # whether OpenSSL computes it, without the GIL

def hmac_sha1_digest(secret: bytes, message: bytes) -> bytes: ...
