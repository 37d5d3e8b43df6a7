"""Reserved address ranges are blocked up to their exact bounds, even where the standard library is laxer."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.chat.outbound_http.address_checks import address_literals, is_public

# The first and the last address of each range, and the adjacent addresses if they are public.
RANGES = [
    ("0.0.0.0", "0.255.255.255", None, "1.0.0.0"),
    ("10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"),
    ("100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"),
    ("127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"),
    ("168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"),
    ("169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"),
    ("172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"),
    ("192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"),
    ("192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"),
    ("192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"),
    ("192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"),
    ("198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"),
    ("198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"),
    ("203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"),
    ("224.0.0.0", "255.255.255.255", "223.255.255.255", None),
    ("::", "1fff:ffff::", None, "2000::"),
    ("2001::", "2001:1ff:ffff::", "2000:ffff::", "2001:200::"),
    ("2001:db8::", "2001:db8:ffff::", "2001:db7:ffff::", "2001:db9::"),
    ("2002::", "2002:ffff::", "2001:ffff::", "2003::"),
    ("3fff::", "3fff:fff:ffff::", "3ffe:ffff::", "3fff:1000::"),
    ("4000::", "ffff:ffff::", "3fff:ffff::", None),
]


@pytest.mark.parametrize(("first", "last", "before", "behind"), RANGES)
def test_a_reserved_range_is_blocked_up_to_its_exact_bounds(
    first: str, last: str, before: str | None, behind: str | None
) -> None:
    assert not is_public(first)
    assert not is_public(last)
    assert all(is_public(neighbour) for neighbour in (before, behind) if neighbour)


@pytest.mark.parametrize(
    "address",
    [
        "93.184.216.34",
        "8.8.8.8",
        "2606:2800:220:1:248:1893:25c8:1946",
        "2a00:1450:4001:831::200e",
        # IPv6-only networks reach 93.184.216.34 at this address.
        "64:ff9b::5db8:d822",
    ],
)
def test_internet_addresses_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:93.184.216.34", "::ffff:0:127.0.0.1"),
        *("64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b::10.0.0.1", "64:ff9b:1::5db8:d822"),
        *("2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:10::1"),
        *("fe80::1", "fe80::1%eth0", "2606:2800::1%1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1"),
        *("100::1", "100:0:0:1::1", "2001:db8::1", "3fff::1", "5f00::1"),
    ],
)
def test_ipv6_addresses_that_embed_private_ones_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "localhost",
        "0x7f000001",
        "2130706433",
        "127.1",
        "0177.0.0.1",
        "1.2.3.4.",
        " 8.8.8.8",
        "8.8.8.8/32",
    ],
)
def test_addresses_in_unusual_spellings_are_not_public(address: str) -> None:
    assert not is_public(address)


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_no_address_that_the_standard_library_calls_private_is_public(
    address: IPv4Address | IPv6Address,
) -> None:
    if is_public(str(address)) and address not in IPV6_FOR_IPV4:
        assert address.is_global
        assert not address.is_multicast
        assert not address.is_reserved


def test_hosts_that_are_ip_addresses_are_recognised() -> None:
    hosts = [
        "chat.example",
        "93.184.216.34",
        "8.8.8.8:5000",
        "[2606:2800::1]:443",
        "[2606:2800::2]",
        "",
        "[",
        "a:b",
    ]
    recognised = [str(address) for address in address_literals(hosts)]
    assert recognised == ["93.184.216.34", "8.8.8.8", "2606:2800::1", "2606:2800::2"]


class _Nat64:
    """The range 64:ff9b::/96. Each address in it is as public as the IPv4 address it embeds."""

    def __contains__(self, address: object) -> bool:
        return isinstance(address, IPv6Address) and int(address) >> 32 == 0x64FF9B << 64


IPV6_FOR_IPV4 = _Nat64()


@given(st.ip_addresses(v=4))
def test_nat64_addresses_are_as_public_as_the_embedded_address(inside: IPv4Address) -> None:
    outside = ip_address((0x64FF9B << 96) | int(inside))
    assert is_public(str(outside)) == is_public(str(inside))
