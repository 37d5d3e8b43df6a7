"""Where a request comes from: the address that sends it, and the page in a browser.

Reads header values; opens and resolves nothing. The address is the connection's, or what trusted proxies say
of it; one that a header had any part in is never taken for one of the local network. Pages that may use this
server from a browser are its own and those of CORS_ORIGIN; a request without an Origin does not come from a
page and is nobody's business here. docs/configuration.md, "Chat server", SVC_TRUSTED_PROXY_HOPS and
CORS_ORIGIN.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from svc.base.addresses import customer, is_nearby, parsed

# More proxies in a row are a mistake in the configuration.
MAX_HOPS = 16
# Headers by which proxies say that a request is not their own.
FORWARDING_HEADERS = ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via")


@dataclass(frozen=True, slots=True)
class ClientAddress:
    """`ip` is normal text, and empty where a connection has none. `direct`: no proxy had a part in it."""

    ip: str
    direct: bool

    @property
    def is_local(self) -> bool:
        """Does the request come from this machine or its network, beyond a stranger's power to claim it?"""
        return self.direct and is_nearby(self.ip)

    @property
    def limited_as(self) -> str:
        """What to count the requests of one client by: the address, for IPv6 its network."""
        return customer(self.ip)


def seen_through(hops: int, peer: str, forwarded_for: Sequence[str], announced: bool) -> ClientAddress:
    """The client of a request that `hops` trusted proxies have passed on.

    `peer` is the other end of the connection, `forwarded_for` the values of that header in
    order; `announced` says whether any forwarding header is there. Each proxy adds at the
    right the address it was asked from, so the entry `hops` from the right is the last that
    we have reason to believe. Where it is missing or no address, the connection's stands.
    """
    here = str(parsed(peer) or "")
    if hops == 0 or not forwarded_for:
        return ClientAddress(here, direct=not announced)
    entries = ",".join(forwarded_for).rsplit(",", hops)[-hops:]
    named = parsed(_without_port(entries[0].strip())) if len(entries) == hops else None
    return ClientAddress(str(named) if named else here, direct=False)


def _without_port(entry: str) -> str:
    """`1.2.3.4:80` and `[::1]:80` are written by some proxies; a bare IPv6 address has colons too."""
    if entry.startswith("["):
        return entry[1:].partition("]")[0]
    host, colon, port = entry.partition(":")
    return host if colon and ":" not in port else entry


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
