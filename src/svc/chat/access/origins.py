"""Whose pages may use this server from a browser: its own, and those of CORS_ORIGIN.

Decides from header values; a request without an Origin does not come from a page and
is nobody's business here. Spec: chat document section 8.3, CORS_ORIGIN.
"""

from collections.abc import Sequence

_USUAL_PORTS = {"http": ":80", "https": ":443"}


class Origins:
    """`allowed` lists origins such as `https://chat.example`, or `*` for any.

    `secure`: TLS ends here, so that a page of ours came by https.
    """

    def __init__(self, allowed: Sequence[str], *, secure: bool = False) -> None:
        self._secure = secure
        self._any = "*" in allowed
        self._allowed = frozenset(origin.rstrip("/").lower() for origin in allowed)

    def permits(self, origin: str | None, host: str) -> bool:
        """May a page of `origin` talk to us, whom it addressed as `host`?"""
        if origin is None or self.is_listed(origin):
            return True
        scheme, _, netloc = origin.lower().partition("://")
        usual_port = _USUAL_PORTS.get(scheme)
        if usual_port is None or not netloc:
            return False
        # Without TLS of ours the scheme is not compared: a proxy in front of us may have taken it off.
        if self._secure and scheme != "https":
            return False
        return netloc.removesuffix(usual_port) == host.lower().removesuffix(usual_port)

    def is_listed(self, origin: str) -> bool:
        """Another site's page, allowed by the operator."""
        return self._any or origin.lower() in self._allowed
