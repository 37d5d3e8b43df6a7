"""Parses and writes ICE candidates, rejects unsafe candidates, and chooses which of this machine's candidates
to offer.

Handles component 1 only, because all media is bundled on one port with rtcp-mux. TCP connections are always
opened by peers, so our candidates are passive, and a peer's TCP candidates are useless. Does not resolve
names or send anything. Only `interface_addresses` calls the operating system. See RFC 8445 section 5.1
(gathering, priorities, foundations), RFC 8839 section 5.1 (the attribute), RFC 6544 (TCP),
docs/configuration.md, "SFU".
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Literal

import ifaddr

from svc.sfu.network_path import Address

Kind = Literal["host", "srflx", "prflx", "relay"]

# RFC 8445 section 5.1.2.2 recommends these type preferences.
_TYPE_PREFERENCE: dict[Kind, int] = {"host": 126, "prflx": 110, "srflx": 100, "relay": 0}
# TCP candidates rank below all UDP candidates except relays (RFC 6544 section 4.2).
_TCP_TYPE_PREFERENCE: dict[Kind, int] = {"host": 90, "prflx": 80, "srflx": 70, "relay": 0}
MAX_LOCAL_PREFERENCE = 65535
# The direction bits in a passive candidate's local preference, and the maximum value of the bits below them
# (RFC 6544 section 4.2).
_PASSIVE, _MAX_OTHER_PREFERENCE = 4 << 13, 8191
_COMPONENT = 1
# A browser's candidate is about 150 characters long, or 250 with all its extensions.
_MAX_TEXT = 1000


class CandidateError(ValueError):
    """The string is not a valid candidate."""


def priority(kind: Kind, local_preference: int = MAX_LOCAL_PREFERENCE, *, tcp: bool = False) -> int:
    """Return the priority of a candidate (RFC 8445 section 5.1.2.1)."""
    preference = (_TCP_TYPE_PREFERENCE if tcp else _TYPE_PREFERENCE)[kind]
    return (preference << 24) | (local_preference << 8) | (256 - _COMPONENT)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A transport address of the peer or of this service."""

    foundation: str
    priority: int
    address: Address
    kind: Kind
    related: Address | None = None
    ufrag: str | None = None  # The candidate's ICE generation, if the peer states it.
    base: str = ""  # For our own candidates, the address that we send from; "" if the kernel chooses.
    tcp: bool = False  # Set only for our own TCP candidates, which are always passive.

    def __str__(self) -> str:
        """Return the string for RTCIceCandidateInit.candidate and for `a=` in a session description."""
        ip, port = self.address
        transport = "tcp" if self.tcp else "udp"
        text = f"candidate:{self.foundation} {_COMPONENT} {transport} {self.priority}"
        text += f" {ip} {port} typ {self.kind}"
        if self.related:
            text += f" raddr {self.related[0]} rport {self.related[1]}"
        return f"{text} tcptype passive" if self.tcp else text

    @classmethod
    def parse(cls, text: str) -> "Candidate | None":
        """Read one candidate. Return None if it is well-formed but useless to us.

        These candidates are useless: the end of candidates (""), TCP (the peer connects, and its checks
        reveal its address), other components, and host names (`.local` names hide an address from web pages).
        """
        words = text.removeprefix("a=").removeprefix("candidate:").split()
        if not words:
            return None
        if len(text) > _MAX_TEXT or len(words) < 8 or words[6] != "typ":
            raise CandidateError("not an ICE candidate")
        foundation, component, transport, rank, host, port, _, kind, *rest = words
        if transport.lower() != "udp" or component != str(_COMPONENT) or host.lower().endswith(".local"):
            return None
        # A trailing name without a value is ignored, as in libwebrtc.
        extensions = dict(zip(rest[::2], rest[1::2], strict=False))
        return cls(
            foundation=foundation,
            priority=_number(rank, 2**32 - 1, "priority"),
            address=(_ip(host), _number(port, 65535, "port")),
            kind=_kind(kind),
            ufrag=extensions.get("ufrag"),
        )


def refusal(ip: str, *, loopback_allowed: bool) -> str | None:
    """Return the reason why no check may be sent to `ip`, or None if checks are allowed.

    Private addresses are allowed, because members on the server's network use them. A loopback address would
    make us send to our own machine, so it is allowed only if we offer one ourselves.
    """
    address = ip_address(ip)
    if isinstance(address, IPv6Address) and (address.ipv4_mapped or address.scope_id):
        return "not a plain address"
    if address.is_loopback:
        return None if loopback_allowed else "loopback"
    if isinstance(address, IPv6Address) and address.is_link_local:
        return "link-local without a zone"
    if address.is_unspecified or address.is_multicast or address.is_reserved or ip.startswith("0."):
        return "not the address of a machine"
    return None


def is_loopback(ip: str) -> bool:
    """Return whether packets to `ip` stay on this machine."""
    return ip_address(ip).is_loopback


def version(ip: str) -> int:
    """Return the address's IP version, 4 or 6. Only addresses of the same version can form a pair."""
    return ip_address(ip).version


def interface_addresses() -> tuple[str, ...]:
    """Return the IP addresses of this machine's interfaces, as the operating system lists them."""
    addresses = (ip.ip for adapter in ifaddr.get_adapters() for ip in adapter.ips)
    return tuple(address if isinstance(address, str) else address[0] for address in addresses)


def host_candidates(
    *, port: int, interfaces: Sequence[str], bound: Sequence[str], advertised: Sequence[str] = ()
) -> tuple[Candidate, ...]:
    """Return candidates for the `advertised` addresses. If there are none, use those `interfaces` that are in
    `bound`.
    """
    own = {str(ip_address(ip)) for ip in interfaces}
    addresses = [str(ip_address(ip)) for ip in advertised] or _offerable(sorted(own), bound)
    # IPv6 is preferred, as in RFC 6724. If IPv6 does not work, IPv4 connects just as fast.
    addresses.sort(key=lambda ip: -version(ip))
    return tuple(
        Candidate(
            foundation=_foundation("host", ip),
            priority=priority("host", MAX_LOCAL_PREFERENCE - rank),
            address=(ip, port),
            kind="host",
            base=ip if ip in own or is_loopback(ip) else "",
        )
        for rank, ip in enumerate(dict.fromkeys(addresses))
    )


def fixed_addresses(
    *, port: int, interfaces: Sequence[str], bound: Sequence[str], advertised: Sequence[str] = ()
) -> tuple[Address, ...]:
    """Return the addresses at which other SFUs can reach this SFU, and from which it can send.

    A machine behind a NAT advertises an address that none of its interfaces has, so the addresses of all its
    interfaces are included as well.
    """
    offered, own = (
        host_candidates(port=port, interfaces=interfaces, bound=bound, advertised=listed)
        for listed in (advertised, ())
    )
    return tuple(dict.fromkeys(host.address for host in (*offered, *own) if host.base))


def reflexive_candidates(hosts: Iterable[Candidate], mapped: Mapping[str, Address]) -> tuple[Candidate, ...]:
    """Return server-reflexive candidates for the `hosts` that are behind a NAT.

    `mapped` maps each of our addresses to its public address (`Readiness.mapped`).
    """
    return tuple(
        Candidate(
            foundation=_foundation("srflx", host.address[0]),
            priority=priority("srflx", host.priority >> 8 & MAX_LOCAL_PREFERENCE),
            address=mapped[host.base],
            kind="srflx",
            related=host.address,
            base=host.base,
        )
        for host in hosts
        # The base is unknown if the kernel chose it.
        if host.base and mapped.get(host.base, host.address) != host.address
    )


def passive_candidates(udp: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return a TCP candidate for the address and port of each UDP candidate.

    Skips ports that a NAT has chosen, because the NAT would choose a different port for TCP.
    """
    return tuple(
        Candidate(
            foundation=_foundation(candidate.kind, f"tcp {candidate.base or candidate.address[0]}"),
            priority=priority(
                candidate.kind,
                _PASSIVE | max(0, _MAX_OTHER_PREFERENCE - _rank(candidate)),
                tcp=True,
            ),
            address=candidate.address,
            kind=candidate.kind,
            related=candidate.related,
            base=candidate.base,
            tcp=True,
        )
        for candidate in udp
        if candidate.related is None or candidate.related[1] == candidate.address[1]
    )


def _rank(candidate: Candidate) -> int:
    """Return the number of candidates of the same kind that are preferred to the given candidate."""
    return MAX_LOCAL_PREFERENCE - (candidate.priority >> 8 & MAX_LOCAL_PREFERENCE)


def _offerable(interfaces: Iterable[str], bound: Sequence[str]) -> list[str]:
    listening = [
        ip
        for ip in interfaces
        if (ip in bound or {4: "0.0.0.0", 6: "::"}[version(ip)] in bound)
        and refusal(ip, loopback_allowed=True) is None
    ]
    return [ip for ip in listening if not is_loopback(ip)] or listening


def _foundation(kind: Kind, ip: str) -> str:
    # Candidates of the same kind and base share a foundation (RFC 8445 section 5.1.1.3).
    return str(zlib.crc32(f"{kind} {ip}".encode()))


def _number(word: str, highest: int, name: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= 10 and 0 < int(word) <= highest):
        raise CandidateError(f"{name} out of range")
    return int(word)


def _ip(word: str) -> str:
    try:
        address: IPv4Address | IPv6Address = ip_address(word)
    except ValueError:
        raise CandidateError("not an IP address") from None
    return str(address)


def _kind(word: str) -> Kind:
    for kind in _TYPE_PREFERENCE:
        if word == kind:
            return kind
    raise CandidateError("unknown candidate type")
