"""Base64 for URLs, without padding: how Web Push writes bytes (RFC 4648 section 5)."""

from base64 import urlsafe_b64decode, urlsafe_b64encode


def encoded(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    """Raises ValueError."""
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
