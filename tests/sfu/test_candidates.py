"""Candidates are parsed, rejected, written and gathered as in RFC 8445 and RFC 8839."""

import pytest

from svc.sfu.candidates import (
    Candidate,
    CandidateError,
    fixed_addresses,
    host_candidates,
    interface_addresses,
    passive_candidates,
    priority,
    reflexive_candidates,
    refusal,
)

WILDCARDS = ("0.0.0.0", "::")


def addresses(candidates: tuple[Candidate, ...]) -> list[str]:
    return [candidate.address[0] for candidate in candidates]


def test_a_browsers_candidate_is_parsed() -> None:
    candidate = Candidate.parse(
        "candidate:842163049 1 udp 1677729535 203.0.113.5 46154 typ srflx raddr 10.0.0.5 rport 46154"
        " generation 0 ufrag EEtu network-id 3 network-cost 10"
    )
    assert candidate == Candidate("842163049", 1677729535, ("203.0.113.5", 46154), "srflx", ufrag="EEtu")


def test_a_trailing_extension_without_a_value_is_ignored() -> None:
    candidate = Candidate.parse("candidate:1 1 udp 4294967295 10.0.0.5 4000 typ host ufrag EEtu generation")
    assert candidate and (candidate.ufrag, candidate.priority) == ("EEtu", 4294967295)


@pytest.mark.parametrize("prefix", ["", "candidate:", "a=candidate:"])
def test_a_candidate_is_parsed_with_or_without_its_prefix(prefix: str) -> None:
    candidate = Candidate.parse(f"{prefix}1 1 UDP 99 2001:DB8:0::1 9 typ host")
    assert candidate and candidate.address == ("2001:db8::1", 9)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "candidate:1 1 tcp 1518280447 10.0.0.5 9 typ host tcptype active",
        "candidate:1 2 udp 99 10.0.0.5 4000 typ host",
        "candidate:1 1 udp 99 4f1a6c0e-93c4-4bb8-a5a1-1f6b7f4b3a2d.local 4000 typ host",
    ],
    ids=["end of candidates", "tcp", "second component", "mDNS name"],
)
def test_candidates_that_cannot_be_used_are_ignored(text: str) -> None:
    assert Candidate.parse(text) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("candidate:1 1 udp", "not an ICE candidate"),
        ("candidate:1 1 udp 99 10.0.0.5 4000 kind host", "not an ICE candidate"),
        ("candidate:1 1 udp 99 10.0.0.5 4000 typ host " + "x y " * 500, "not an ICE candidate"),
        ("candidate:1 1 udp 99 10.0.0.5 0 typ host", "port out of range"),
        ("candidate:1 1 udp 99 10.0.0.5 65536 typ host", "port out of range"),
        ("candidate:1 1 udp 99 10.0.0.5 ٤ typ host", "port out of range"),
        ("candidate:1 1 udp -1 10.0.0.5 4000 typ host", "priority out of range"),
        ("candidate:1 1 udp 4294967296 10.0.0.5 4000 typ host", "priority out of range"),
        ("candidate:1 1 udp 99 example.org 4000 typ host", "not an IP address"),
        ("candidate:1 1 udp 99 10.0.0.5 4000 typ guest", "unknown candidate type"),
    ],
)
def test_malformed_candidates_are_rejected_with_a_message(text: str, reason: str) -> None:
    with pytest.raises(CandidateError, match=f"^{reason}$"):
        Candidate.parse(text)


@pytest.mark.parametrize(
    ("ip", "allowed"),
    [
        ("192.168.1.20", True),
        ("fd12:3456::1", True),
        ("169.254.3.4", True),
        ("2001:db8::5", True),
        ("127.0.0.53", False),
        ("0.1.2.3", False),
        ("240.0.0.1", False),
        ("64:ff9b::a00:1", False),
        ("::ffff:10.0.0.1", False),
        ("fe80::1%eth0", False),
        ("ff05::2", False),
    ],
)
def test_only_unicast_addresses_are_tried(ip: str, allowed: bool) -> None:
    assert (refusal(ip, loopback_allowed=False) is None) is allowed


def test_written_candidates_can_be_parsed_again() -> None:
    host = Candidate("7", priority("host"), ("10.0.0.1", 3478), "host")
    assert str(host) == "candidate:7 1 udp 2130706431 10.0.0.1 3478 typ host"
    assert Candidate.parse(str(host)) == host


def test_every_address_except_loopback_is_offered_with_ipv6_first() -> None:
    interfaces = ("127.0.0.1", "::1", "192.0.2.2", "fe80::1", "2001:db8::2")
    candidates = host_candidates(port=3478, interfaces=interfaces, bound=WILDCARDS)
    assert addresses(candidates) == ["2001:db8::2", "192.0.2.2"]
    assert [candidate.base for candidate in candidates] == ["2001:db8::2", "192.0.2.2"]
    assert candidates[0].priority > candidates[1].priority
    assert candidates[0].foundation != candidates[1].foundation


@pytest.mark.parametrize(
    ("interfaces", "bound", "offered"),
    [
        (("127.0.0.1", "::1"), WILDCARDS, ["::1", "127.0.0.1"]),
        (("127.0.0.1", "192.0.2.2"), ("127.0.0.1",), ["127.0.0.1"]),
        (("192.0.2.2", "2001:db8::2"), ("0.0.0.0",), ["192.0.2.2"]),
        (("192.0.2.2", "192.0.2.3"), ("192.0.2.3", "::"), ["192.0.2.3"]),
    ],
)
def test_loopback_is_offered_if_there_is_no_other_address(
    interfaces: tuple[str, ...], bound: tuple[str, ...], offered: list[str]
) -> None:
    assert addresses(host_candidates(port=1, interfaces=interfaces, bound=bound)) == offered


def test_ice_advertise_ip_replaces_the_addresses_of_the_interfaces() -> None:
    candidates = host_candidates(
        port=3478,
        interfaces=("192.0.2.2", "10.0.0.2"),
        bound=WILDCARDS,
        advertised=("203.0.113.1", "10.0.0.2", "127.0.0.1"),
    )
    bases = {candidate.address[0]: candidate.base for candidate in candidates}
    assert bases == {"203.0.113.1": "", "10.0.0.2": "10.0.0.2", "127.0.0.1": "127.0.0.1"}


def test_reflexive_candidates_are_made_for_addresses_behind_a_nat() -> None:
    hosts = host_candidates(port=3478, interfaces=("10.0.0.2", "192.0.2.2", "10.8.0.1"), bound=WILDCARDS)
    mapped = {"10.0.0.2": ("203.0.113.9", 41000), "192.0.2.2": ("192.0.2.2", 3478)}
    [candidate] = reflexive_candidates(hosts, mapped)
    assert str(candidate).endswith("203.0.113.9 41000 typ srflx raddr 10.0.0.2 rport 3478")
    assert candidate.priority < min(host.priority for host in hosts) and candidate.base == "10.0.0.2"


def test_addresses_from_ice_advertise_ip_have_no_reflexive_candidate() -> None:
    hosts = host_candidates(port=3478, interfaces=("10.0.0.2",), bound=WILDCARDS, advertised=("203.0.113.1",))
    assert reflexive_candidates(hosts, {"10.0.0.2": ("203.0.113.9", 3478)}) == ()


def test_each_udp_candidate_has_a_tcp_candidate_with_lower_priority() -> None:
    hosts = host_candidates(port=3478, interfaces=["192.0.2.1", "2001:db8::1"], bound=WILDCARDS)
    # A cloud machine's NAT keeps the port number. A home NAT chooses a port number, and would choose a
    # different one for TCP.
    kept = reflexive_candidates(hosts, {"192.0.2.1": ("203.0.113.1", 3478)})
    chosen = reflexive_candidates(hosts, {"192.0.2.1": ("203.0.113.1", 40000)})
    passive = passive_candidates((*hosts, *kept, *chosen))
    assert [candidate.address for candidate in passive] == [
        ("2001:db8::1", 3478),
        ("192.0.2.1", 3478),
        ("203.0.113.1", 3478),
    ]
    ranks = [candidate.priority for candidate in (*hosts, *kept, *passive)]
    assert ranks == sorted(ranks, reverse=True) and len(set(ranks)) == len(ranks)
    assert len({candidate.foundation for candidate in (*hosts, *kept, *passive)}) == 6


def test_a_passive_candidate_is_written_as_in_rfc_6544() -> None:
    (host,) = host_candidates(port=3478, interfaces=["192.0.2.1"], bound=WILDCARDS)
    (passive,) = passive_candidates([host])
    # The type preference for TCP is 90, and the direction preference for a passive candidate is 4 (section
    # 4.2).
    rank = (90 << 24) + ((4 << 13) + 8191 << 8) + 255
    assert (
        str(passive) == f"candidate:{passive.foundation} 1 tcp {rank} 192.0.2.1 3478 typ host tcptype passive"
    )
    assert Candidate.parse(str(passive)) is None


def test_the_machines_own_addresses_are_plain_ip_addresses() -> None:
    assert "127.0.0.1" in interface_addresses()


@pytest.mark.parametrize(
    ("advertised", "expected"),
    [
        ((), ["10.0.0.2", "192.0.2.2"]),
        # Behind a NAT, other SFUs can neither send to this address nor receive packets from it.
        (("203.0.113.1",), ["10.0.0.2", "192.0.2.2"]),
        (("192.0.2.2",), ["192.0.2.2", "10.0.0.2"]),
        (("127.0.0.1",), ["127.0.0.1", "10.0.0.2", "192.0.2.2"]),
    ],
)
def test_other_sfus_are_given_this_machines_addresses(
    advertised: tuple[str, ...], expected: list[str]
) -> None:
    fixed = fixed_addresses(
        port=3478, interfaces=("10.0.0.2", "192.0.2.2"), bound=WILDCARDS, advertised=advertised
    )
    assert fixed == tuple((address, 3478) for address in expected)
