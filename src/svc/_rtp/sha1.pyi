"""HMAC-SHA1, for STUN's MESSAGE-INTEGRITY only."""

OPENSSL: bool  # whether it is OpenSSL's, without the GIL

def hmac_sha1_digest(secret: bytes, message: bytes) -> bytes: ...
