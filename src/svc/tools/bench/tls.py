"""Provides TLS settings for clients under load, without certificate verification."""

import ssl
from functools import cache
from urllib.parse import urlsplit


def tls_of(address: str) -> ssl.SSLContext | None:
    """Return the settings for an https:// or wss:// URL, or None for any other URL.

    Certificates are not verified, because many instances use self-signed certificates and the accounts are
    temporary.
    """
    if urlsplit(address).scheme not in ("https", "wss"):
        return None
    return _unverified_context()


@cache
def _unverified_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
