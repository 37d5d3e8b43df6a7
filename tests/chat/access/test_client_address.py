"""The server determines the client address of a request correctly, with and without proxies."""

import pytest

from svc.chat.access.client_address import ClientAddress, client_behind_proxies


@pytest.mark.parametrize(
    ("hops", "forwarded_for", "expected"),
    [
        # No proxy is trusted, so the header is ignored.
        (0, [], "10.0.0.9"),
        (0, ["1.1.1.1"], "10.0.0.9"),
        # Hops are counted from the right. The client may have made up the addresses further left.
        (1, ["1.1.1.1"], "1.1.1.1"),
        (1, ["6.6.6.6, 1.1.1.1"], "1.1.1.1"),
        (2, ["6.6.6.6, 1.1.1.1, 2.2.2.2"], "1.1.1.1"),
        (2, ["6.6.6.6", "1.1.1.1", "2.2.2.2"], "1.1.1.1"),
        (3, ["6.6.6.6,1.1.1.1,2.2.2.2"], "6.6.6.6"),
        # If the list is too short, empty or contains no valid address, the connection's own address is used.
        (1, [], "10.0.0.9"),
        (2, ["1.1.1.1"], "10.0.0.9"),
        (1, [""], "10.0.0.9"),
        (1, ["1.1.1.1,"], "10.0.0.9"),
        (1, ["unknown"], "10.0.0.9"),
        (1, ["1.1.1.1, <script>"], "10.0.0.9"),
        (1, ["1.1.1"], "10.0.0.9"),
        # Ports, brackets, zones, mapped addresses and unusual spellings.
        (1, [" 1.1.1.1:4711 "], "1.1.1.1"),
        (1, ["[2001:db8::1]:4711"], "2001:db8::1"),
        (1, ["[2001:db8::1]"], "2001:db8::1"),
        (1, ["2001:DB8:0::1"], "2001:db8::1"),
        (1, ["::ffff:1.1.1.1"], "1.1.1.1"),
        (1, ["fe80::1%eth0"], "fe80::1"),
    ],
)
def test_hops_are_counted_from_the_right(hops: int, forwarded_for: list[str], expected: str) -> None:
    assert client_behind_proxies(hops, "10.0.0.9", forwarded_for, bool(forwarded_for)).ip == expected


@pytest.mark.parametrize("peer", ["", "/run/proxy.sock"])
def test_a_connection_may_have_no_address(peer: str) -> None:
    assert client_behind_proxies(0, peer, [], False) == ClientAddress("", direct=True)
    assert not client_behind_proxies(0, peer, [], False).is_local


@pytest.mark.parametrize(
    ("ip", "local"),
    [
        *[(ip, True) for ip in ("127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.0.1", "169.254.1.1")],
        *[(ip, True) for ip in ("::1", "fd00::1", "fe80::1%eth0", "::ffff:192.168.0.1")],
        *[(ip, False) for ip in ("1.1.1.1", "172.32.0.1", "100.64.0.1", "192.0.2.1", "0.0.0.0")],
        *[(ip, False) for ip in ("2001:db8::1", "::ffff:1.1.1.1", "2002:c0a8:1::1")],
    ],
)
def test_local_networks_are_recognised(ip: str, local: bool) -> None:
    assert client_behind_proxies(0, ip, [], False).is_local is local


@pytest.mark.parametrize("hops", [0, 1, 2])
def test_a_client_behind_an_undeclared_proxy_is_never_local(hops: int) -> None:
    assert not client_behind_proxies(hops, "10.0.0.9", ["192.168.0.1"], True).is_local
    # Another header can also reveal the proxy.
    assert not client_behind_proxies(hops, "10.0.0.9", [], True).is_local
    assert client_behind_proxies(hops, "10.0.0.9", [], False).is_local


def test_a_customers_ipv6_prefix_counts_as_one_address() -> None:
    first, second = ClientAddress("2001:db8:1:2:3::4", True), ClientAddress("2001:db8:1:2:ffff::1", True)
    assert first.limited_as == second.limited_as == "2001:db8:1:2::/64"
    assert ClientAddress("1.1.1.1", True).limited_as == "1.1.1.1"
    assert ClientAddress("", True).limited_as == ""
