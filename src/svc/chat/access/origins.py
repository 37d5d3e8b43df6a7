"""Determines whether a page's origin may use the API.

Pages from this server and from the origins in CORS_ORIGIN may use the API. A request without an Origin header
does not come from a page, so its origin is not checked. See docs/configuration.md, "Chat server",
CORS_ORIGIN.
"""

from collections.abc import Sequence
from urllib.parse import urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}


class Origins:
    """The origins that may use the API.

    `allowed` lists origins such as `https://chat.example`, or `*` for any origin. `secure` means that this
    server terminates TLS and therefore serves its web client over HTTPS.
    """

    def __init__(self, allowed: Sequence[str], *, secure: bool = False) -> None:
        self._secure = secure
        self._any = "*" in allowed
        self._allowed = frozenset(filter(None, map(normalise, allowed)))

    def permits(self, origin: str | None, host: str) -> bool:
        """Return whether a page from `origin` may use this server at `host`."""
        if origin is None or self.is_listed(origin):
            return True
        scheme = origin.partition("://")[0].lower()
        # If this server does not terminate TLS, do not compare the scheme, because a proxy may terminate TLS.
        if scheme not in _DEFAULT_PORTS or (self._secure and scheme != "https"):
            return False
        page = normalise(origin)
        return page is not None and page == normalise(f"{scheme}://{host}")

    def is_listed(self, origin: str) -> bool:
        """Return whether the operator has allowed this foreign origin."""
        return self._any or normalise(origin) in self._allowed


def normalise(origin: str) -> str | None:
    """Normalise an origin: lower case, no default port, no trailing slash. Return None for anything else."""
    try:
        parts = urlsplit(origin)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    beyond = parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc
    if not parts.scheme or not host or beyond:
        return None
    shown = f"[{host}]" if ":" in host else host
    usual = port is None or port == _DEFAULT_PORTS.get(parts.scheme)
    return f"{parts.scheme}://{shown}" if usual else f"{parts.scheme}://{shown}:{port}"
