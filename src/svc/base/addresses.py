"""IP addresses as limits count them, one customer, one key; and which are near.

Opens and resolves nothing.
"""

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

# The least that one customer is given: any number of addresses in it costs them nothing.
IPV6_CUSTOMER_BITS = 64
# Reading an address is a tenth of what a new connection takes: so many are remembered.
_REMEMBERED = 4096
# Written out, for `is_private` also holds for documentation and benchmark networks.
_NEARBY = tuple(
    ip_network(network)
    for network in (
        *("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"),
        *("::1/128", "fc00::/7", "fe80::/10"),
    )
)

Address = IPv4Address | IPv6Address


def parsed(text: str) -> Address | None:
    """The address, without a zone. An IPv4 address written as an IPv6 one is an IPv4 address."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


@lru_cache(_REMEMBERED)
def customer(text: str) -> str:
    """What to count a client by: its IPv4 address, or the /64 network of its IPv6 address."""
    address = parsed(text)
    if not isinstance(address, IPv6Address) or address.is_loopback:
        return str(address) if address else text
    rest = 128 - IPV6_CUSTOMER_BITS
    return f"{IPv6Address(int(address) >> rest << rest)}/{IPV6_CUSTOMER_BITS}"


@lru_cache(_REMEMBERED)
def is_this_machine(text: str) -> bool:
    """Does a connection from there come from a program on this machine, such as a proxy?"""
    address = parsed(text)
    return address is None or address.is_loopback


def is_nearby(text: str) -> bool:
    """Is it an address of this machine, or of a private network?"""
    address = parsed(text)
    return address is not None and any(address in network for network in _NEARBY)
