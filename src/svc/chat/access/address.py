"""Determines the IP address of a request's client, and whether the request's origin may use the API.

Only reads header values. Opens no connections and resolves no names. The client's address is the
connection's, or the one reported by trusted proxies. An address from a header never counts as local. Pages
from this server and from the origins in CORS_ORIGIN may use the API. A request without an Origin header does
not come from a page, so its origin is not checked. See docs/configuration.md, "Chat server",
SVC_TRUSTED_PROXY_HOPS and CORS_ORIGIN.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from svc.base.addresses import is_nearby, parse_address, rate_limit_key

# A longer chain of proxies is almost certainly a configuration error.
MAX_HOPS = 16
# Headers that proxies add to forwarded requests.
FORWARDING_HEADERS = ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via")


@dataclass(frozen=True, slots=True)
class ClientAddress:
    """A client's address.

    `ip` is normalised, or empty if unknown. `direct` means that no proxy was involved.
    """

    ip: str
    direct: bool

    @property
    def is_local(self) -> bool:
        """Whether the request comes from this machine or its local network.

        A remote client cannot fake this.
        """
        return self.direct and is_nearby(self.ip)

    @property
    def limited_as(self) -> str:
        """The rate-limiting key of a client: an IPv4 address, or the network of an IPv6 address."""
        return rate_limit_key(self.ip)


def client_behind_proxies(
    hops: int, peer: str, forwarded_for: Sequence[str], announced: bool
) -> ClientAddress:
    """Return the address of the client whose request `hops` trusted proxies have forwarded.

    `peer` is the connection's remote address. `forwarded_for` lists the values of X-Forwarded-For in order.
    `announced` means that the request has a forwarding header. Each proxy appends its peer's address, so the
    entry at position `hops` from the right is the last trustworthy one. If that entry is missing or invalid,
    `peer` is used.
    """
    own_address = str(parse_address(peer) or "")
    if hops == 0 or not forwarded_for:
        return ClientAddress(own_address, direct=not announced)
    entries = ",".join(forwarded_for).rsplit(",", hops)[-hops:]
    first_entry = parse_address(_without_port(entries[0].strip())) if len(entries) == hops else None
    return ClientAddress(str(first_entry) if first_entry else own_address, direct=False)


def _without_port(entry: str) -> str:
    """Remove the port that some proxies add (`1.2.3.4:80`, `[::1]:80`). Leave a bare IPv6 address
    unchanged.
    """
    if entry.startswith("["):
        return entry[1:].partition("]")[0]
    host, colon, port = entry.partition(":")
    return host if colon and ":" not in port else entry


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
