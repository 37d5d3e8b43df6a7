"""The TLS settings of clients under load: those of an address, without looking at certificates."""

import ssl
from functools import cache
from urllib.parse import urlsplit


def tls_of(address: str) -> ssl.SSLContext | None:
    """The settings for an https:// or wss:// address; None for any other.

    Certificates are not verified: many instances have made their own, and the accounts are thrown away.
    """
    if urlsplit(address).scheme not in ("https", "wss"):
        return None
    return _unverified()


@cache
def _unverified() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
