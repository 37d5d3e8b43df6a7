"""What the server says of itself in the local network: names, numbers and addresses, as DNS holds them.

Arithmetic on what it is told; asks no system and sends nothing (`advertise` does). RFC 6762,
RFC 6763. docs/configuration.md, "Chat server".
"""

import hashlib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from svc.base.emoji import INVISIBLE_PARTS

SERVICE_TYPE = "_svc-chat._tcp.local."
# RFC 1035 2.3.4: one label, and what the length byte of a TXT string holds.
MAX_LABEL_BYTES = 63
MAX_TEXT_BYTES = 255
UNNAMED = "Community chat"
# Nothing to see. Unassigned characters are not among them: an emoji may be newer than Python's Unicode.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co"})


@dataclass(frozen=True, slots=True)
class Announced:
    """What is known of the server: `host` and `port` are those it listens on."""

    name: str
    server_id: str
    host: str
    port: int
    # EXTERNAL_HOST: how it is called from outside. The first is advertised.
    names: Sequence[str] = ()
    # MDNS_INTERFACE
    interface: str = ""


@dataclass(frozen=True, slots=True)
class Interface:
    """One of this machine's: its name, number and addresses."""

    name: str
    index: int
    addresses: Sequence[str]

    @property
    def is_loopback(self) -> bool:
        return all(ip_address(address).is_loopback for address in self.addresses)


def label(name: str, number: int) -> str:
    """The instance's name: of those with the same one the second is called "Name (2)" (RFC 6762 9)."""
    clean = "".join(
        " " if c not in INVISIBLE_PARTS and unicodedata.category(c) in _UNSEEN else c for c in name
    )
    # zeroconf would take a dot for the end of the label. This one looks the same to people;
    # programs read the name in the TXT record.
    clean = " ".join(clean.split()).replace(".", "\N{ONE DOT LEADER}") or UNNAMED
    suffix = "" if number == 1 else f" ({number})"
    return _cut(clean, MAX_LABEL_BYTES - len(suffix)).rstrip() + suffix


def text_record(announced: Announced) -> dict[str, str]:
    """The keys of the TXT record, the version first (RFC 6763 6.7)."""
    values = {"txtvers": "1", "id": announced.server_id, "name": announced.name, "path": "/"}
    if host := outside_name(announced):
        values["host"] = host
    return {key: _cut(value, MAX_TEXT_BYTES - len(key) - 1) for key, value in values.items()}


def target(announced: Announced) -> tuple[str, int]:
    """The host that the service is on, and its port.

    Always a name of our own in `.local`: no other responder of this machine answers for it, and
    libraries resolve names by multicast in `.local` only (RFC 6762 section 3). The name that the
    operator gave stands in the TXT record.
    """
    _, port = _external(announced)
    return f"{own_name(announced.server_id)}.", port


def own_name(server_id: str) -> str:
    """The server's name in the local network."""
    digest = hashlib.sha256(server_id.encode("utf-8", "replace")).hexdigest()
    return f"svc-{digest[:16]}.local"


def outside_name(announced: Announced) -> str:
    """The name whose addresses are to be advertised; empty where there is none to look up."""
    name, _ = _external(announced)
    return "" if _is_address(name) else name


def own_addresses(announced: Announced, interfaces: Sequence[Interface]) -> list[str]:
    """The addresses to advertise: EXTERNAL_HOST's, or the bound one; of a bound wildcard all."""
    name, _ = _external(announced)
    if name:
        return [name] if _is_address(name) else []
    bound = ip_address(announced.host.partition("%")[0])
    if not bound.is_unspecified:
        return [str(bound)]
    all_of_them = [ip_address(address) for interface in interfaces for address in interface.addresses]
    # A link-local address of IPv6 means nothing without the reader's own interface. What listens
    # on `::` listens on IPv4 as well (base/listening).
    reachable = [a for a in all_of_them if a.version == 4 or (bound.version == 6 and not a.is_link_local)]
    return [str(address) for address in reachable]


def usable(announced: Announced, interfaces: Sequence[Interface]) -> list[Interface]:
    """The interfaces to advertise on: the pinned one, else all but the loopback, else that."""
    if pinned := announced.interface:
        return [i for i in interfaces if pinned == i.name or pinned in i.addresses]
    return [i for i in interfaces if not i.is_loopback] or list(interfaces)


def _external(announced: Announced) -> tuple[str, int]:
    """Name and port of the first that is named; without one an empty name."""
    if not announced.names:
        return "", announced.port
    first = announced.names[0]
    if _is_address(first):  # An IPv6 address without brackets, too.
        return first, announced.port
    try:
        parts = urlsplit(f"//{first}")
        return parts.hostname or "", parts.port or announced.port
    except ValueError:
        return "", announced.port


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _cut(text: str, most: int) -> str:
    """As much as fits into so many bytes, no character cut in two."""
    return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")


def by_family(interfaces: Sequence[Interface]) -> list[str | int]:
    """What to send on: addresses of IPv4, or where there is none the numbers of interfaces for IPv6.

    Whoever listens hears either, and the records hold the addresses of both.
    """
    fours = [a for i in interfaces for a in i.addresses if ip_address(a).version == 4]
    return [*fours] if fours else [i.index for i in interfaces if i.addresses]


def described(announced: Announced) -> Mapping[str, object]:
    """For the log."""
    host, port = target(announced)
    return {"host": host, "port": port, "interface": announced.interface or "all"}
