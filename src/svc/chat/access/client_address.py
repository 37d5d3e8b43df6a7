"""Determines the IP address of a request's client.

Only reads header values. Opens no connections and resolves no names. The address is the connection's, or the
one reported by trusted proxies. An address from a header never counts as local. See docs/configuration.md,
"Chat server", SVC_TRUSTED_PROXY_HOPS.
"""

from collections.abc import Sequence
from dataclasses import dataclass

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
