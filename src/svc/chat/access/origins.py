"""Whose pages may use this server from a browser: its own, and those of CORS_ORIGIN.

Decides from header values; a request without an Origin does not come from a page and
is nobody's business here. docs/configuration.md, "Chat server", CORS_ORIGIN.
"""

from collections.abc import Sequence
from urllib.parse import urlsplit

_USUAL_PORTS = {"http": 80, "https": 443}


class Origins:
    """`allowed` lists origins such as `https://chat.example`, or `*` for any.

    `secure`: TLS ends here, so that a page of ours came by https.
    """

    def __init__(self, allowed: Sequence[str], *, secure: bool = False) -> None:
        self._secure = secure
        self._any = "*" in allowed
        self._allowed = frozenset(filter(None, map(normalised, allowed)))

    def permits(self, origin: str | None, host: str) -> bool:
        """May a page of `origin` talk to us, whom it addressed as `host`?"""
        if origin is None or self.is_listed(origin):
            return True
        scheme = origin.partition("://")[0].lower()
        # Without TLS of ours the scheme is not compared: a proxy in front of us may have taken it off.
        if scheme not in _USUAL_PORTS or (self._secure and scheme != "https"):
            return False
        page = normalised(origin)
        return page is not None and page == normalised(f"{scheme}://{host}")

    def is_listed(self, origin: str) -> bool:
        """Another site's page, allowed by the operator."""
        return self._any or normalised(origin) in self._allowed


def normalised(origin: str) -> str | None:
    """One spelling of an origin: lower case, no usual port, no slash at the end. None for anything else."""
    try:
        parts = urlsplit(origin)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    beyond = parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc
    if not parts.scheme or not host or beyond:
        return None
    shown = f"[{host}]" if ":" in host else host
    usual = port is None or port == _USUAL_PORTS.get(parts.scheme)
    return f"{parts.scheme}://{shown}" if usual else f"{parts.scheme}://{shown}:{port}"
