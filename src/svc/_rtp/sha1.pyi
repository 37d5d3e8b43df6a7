"""Computes HMAC-SHA1, for STUN's MESSAGE-INTEGRITY only."""

OPENSSL: bool  # whether OpenSSL computes the HMAC, without the GIL

def hmac_sha1_digest(secret: bytes, message: bytes) -> bytes: ...
