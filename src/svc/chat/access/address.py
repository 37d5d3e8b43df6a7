"""Who sends a request, as an address: the connection's, or what trusted proxies say of it.

Reads header values; opens and resolves nothing. An address that a header had any part in
is never taken for one of the local network. docs/configuration.md, "Chat server",
SVC_TRUSTED_PROXY_HOPS.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_network

from svc.base.addresses import customer, parsed

# More proxies in a row are a mistake in the configuration.
MAX_HOPS = 16
# Headers by which proxies say that a request is not their own.
FORWARDING_HEADERS = ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via")
# Written out, for `is_private` also holds for documentation and benchmark networks.
_LOCAL = tuple(
    ip_network(network)
    for network in (
        *("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"),
        *("::1/128", "fc00::/7", "fe80::/10"),
    )
)


@dataclass(frozen=True, slots=True)
class ClientAddress:
    """`ip` is normal text, and empty where a connection has none. `direct`: no proxy had a part in it."""

    ip: str
    direct: bool

    @property
    def is_local(self) -> bool:
        """Does the request come from this machine or its network, beyond a stranger's power to claim it?"""
        address = parsed(self.ip)
        return self.direct and address is not None and any(address in network for network in _LOCAL)

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
