"""Derives rate-limit keys from IP addresses, and detects local addresses.

Opens no sockets and resolves no names.
"""

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

# The smallest network that a provider assigns to a customer, who can use any number of its addresses for
# free.
IPV6_CUSTOMER_BITS = 64
# The number of parsed addresses to cache. Parsing an address takes a tenth as long as accepting a connection.
_REMEMBERED = 4096
# This list replaces `is_private`, which also includes networks for documentation and benchmarks.
_NEARBY = tuple(
    ip_network(network)
    for network in (
        *("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"),
        *("::1/128", "fc00::/7", "fe80::/10"),
    )
)

Address = IPv4Address | IPv6Address


def parse_address(text: str) -> Address | None:
    """Return the address without a zone, or None. An IPv4-mapped IPv6 address is converted to IPv4."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


@lru_cache(_REMEMBERED)
def rate_limit_key(text: str) -> str:
    """Return the key that rate limits use for a client: its IPv4 address, or the /64 network of its IPv6
    address.
    """
    address = parse_address(text)
    if not isinstance(address, IPv6Address) or address.is_loopback:
        return str(address) if address else text
    shift = 128 - IPV6_CUSTOMER_BITS
    return f"{IPv6Address(int(address) >> shift << shift)}/{IPV6_CUSTOMER_BITS}"


@lru_cache(_REMEMBERED)
def is_this_machine(text: str) -> bool:
    """Return whether a connection comes from a program on this machine, such as a proxy."""
    address = parse_address(text)
    return address is None or address.is_loopback


def is_nearby(text: str) -> bool:
    """Return whether an address belongs to this machine or a private network."""
    address = parse_address(text)
    return address is not None and any(address in network for network in _NEARBY)
