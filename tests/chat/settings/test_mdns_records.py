"""The mDNS records are valid for any server name and any listening address."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from svc.chat.settings.mdns_records import (
    MAX_LABEL_BYTES,
    MAX_TEXT_BYTES,
    AdvertisedServer,
    Interface,
    by_family,
    label,
    outside_name,
    own_addresses,
    target,
    text_record,
    usable,
)

LOOPBACK = Interface("lo", 1, ["127.0.0.1", "::1"])
CABLE = Interface("eth0", 2, ["192.168.1.5", "fe80::1", "2001:db8::5"])
RADIO = Interface("wlan0", 3, ["10.0.0.7"])
SIX = Interface("eth1", 4, ["2001:db8::9"])
SERVER = AdvertisedServer("Tests", "id-1", "0.0.0.0", 5000)


@pytest.mark.parametrize(
    ("name", "number", "expected"),
    [
        ("Tests", 1, "Tests"),
        ("Tests", 2, "Tests (2)"),
        ("", 1, "Community chat"),
        (" \t\n ", 1, "Community chat"),
        ("a\0b\nc\u202ed", 1, "a b c d"),
        ("chat.example", 1, "chat\N{ONE DOT LEADER}example"),
        ("x" * 100, 1, "x" * 63),
        ("x" * 100, 12, "x" * 58 + " (12)"),
        # Truncation does not split a character.
        ("\u00fc" * 40, 1, "\u00fc" * 31),
        ("\N{GRINNING FACE}" * 20, 3, "\N{GRINNING FACE}" * 14 + " (3)"),
        ("lone \ud800 surrogate", 1, "lone surrogate"),
    ],
)
def test_any_server_name_becomes_a_valid_label(name: str, number: int, expected: str) -> None:
    assert label(name, number) == expected
    assert len(expected.encode()) <= MAX_LABEL_BYTES


def test_the_text_record_has_every_documented_field_within_the_size_limit() -> None:
    assert list(text_record(SERVER).items()) == [
        ("txtvers", "1"),
        ("id", "id-1"),
        ("name", "Tests"),
        ("path", "/"),
    ]
    long = text_record(replace(SERVER, name="\u00fc" * 300, server_id="i" * 300))
    assert all(len(f"{key}={value}".encode()) <= MAX_TEXT_BYTES for key, value in long.items())


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ((), ("svc-.local.", 5000)),
        (("203.0.113.9",), ("svc-.local.", 5000)),
        (("203.0.113.9:8443",), ("svc-.local.", 8443)),
        (("2001:db8::1",), ("svc-.local.", 5000)),
        (("[2001:db8::1]:8443",), ("svc-.local.", 8443)),
        (("chat.example",), ("svc-.local.", 5000)),
        (("chat.example:443", "other.example"), ("svc-.local.", 443)),
        (("chat.example:port",), ("svc-.local.", 5000)),
    ],
)
def test_the_advertised_host_can_be_resolved_by_multicast_dns(
    names: Sequence[str], expected: tuple[str, int]
) -> None:
    host, port = target(replace(SERVER, names=names))
    shown = "svc-.local." if host.startswith("svc-") and len(host) == len("svc-.local.") + 16 else host
    assert (shown, port) == expected


def test_two_servers_on_one_machine_have_different_host_names() -> None:
    assert target(SERVER) == target(replace(SERVER, name="Other"))
    assert target(SERVER) != target(replace(SERVER, server_id="id-2"))


@pytest.mark.parametrize(
    ("host", "names", "expected"),
    [
        ("0.0.0.0", (), ["192.168.1.5", "10.0.0.7"]),
        ("::", (), ["192.168.1.5", "2001:db8::5", "10.0.0.7"]),
        ("10.0.0.7", (), ["10.0.0.7"]),
        ("127.0.0.1", (), ["127.0.0.1"]),
        ("fe80::1%eth0", (), ["fe80::1"]),
        ("0.0.0.0", ("203.0.113.9:443",), ["203.0.113.9"]),
        ("0.0.0.0", ("chat.example",), []),
    ],
)
def test_the_configured_address_is_advertised_or_else_the_bound_address(
    host: str, names: Sequence[str], expected: list[str]
) -> None:
    server = replace(SERVER, host=host, names=names)
    assert own_addresses(server, [CABLE, RADIO]) == expected
    assert outside_name(server) == ("chat.example" if names == ("chat.example",) else "")


@pytest.mark.parametrize(
    ("pinned", "interfaces", "expected"),
    [
        ("", [LOOPBACK, CABLE, RADIO], [CABLE, RADIO]),
        ("", [LOOPBACK], [LOOPBACK]),
        ("wlan0", [LOOPBACK, CABLE, RADIO], [RADIO]),
        ("192.168.1.5", [LOOPBACK, CABLE, RADIO], [CABLE]),
        ("lo", [LOOPBACK, CABLE], [LOOPBACK]),
        ("eth9", [LOOPBACK, CABLE], []),
    ],
)
def test_the_pinned_interface_is_used_or_else_all_external_interfaces(
    pinned: str, interfaces: list[Interface], expected: list[Interface]
) -> None:
    assert usable(replace(SERVER, interface=pinned), interfaces) == expected


def test_ipv4_is_preferred_where_it_exists() -> None:
    assert by_family([CABLE, RADIO, SIX]) == ["192.168.1.5", "10.0.0.7"]
    assert by_family([SIX]) == [4]
    assert by_family([]) == []
