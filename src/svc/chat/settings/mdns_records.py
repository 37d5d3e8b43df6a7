"""Computes the content of the server's mDNS advertisement: names, ports and addresses.

`mdns_advertiser` queries the system and sends the advertisement. See RFC 6762, RFC 6763, and
docs/configuration.md, "Chat server".
"""

import hashlib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from svc.base.emoji import INVISIBLE_PARTS

SERVICE_TYPE = "_svc-chat._tcp.local."
# The maximum sizes of a label (RFC 1035 section 2.3.4) and of a TXT string, whose length field is one byte.
MAX_LABEL_BYTES = 63
MAX_TEXT_BYTES = 255
UNNAMED = "Community chat"
# The categories of invisible characters. Unassigned characters are allowed, because emoji may be newer than
# Python's Unicode data.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co"})


@dataclass(frozen=True, slots=True)
class AdvertisedServer:
    """The server to advertise, which listens on `host` and `port`."""

    name: str
    server_id: str
    host: str
    port: int
    # The server's public names, from EXTERNAL_HOST. The first is advertised.
    names: Sequence[str] = ()
    # The value of MDNS_INTERFACE.
    interface: str = ""


@dataclass(frozen=True, slots=True)
class Interface:
    """A network interface of this machine."""

    name: str
    index: int
    addresses: Sequence[str]

    @property
    def is_loopback(self) -> bool:
        return all(ip_address(address).is_loopback for address in self.addresses)


def label(name: str, number: int) -> str:
    """Return the label for the server's name. If another server has the same name, a `number` of 2 results in
    "Name (2)" (RFC 6762 section 9).
    """
    clean = "".join(
        " " if c not in INVISIBLE_PARTS and unicodedata.category(c) in _UNSEEN else c for c in name
    )
    # zeroconf would end the label at a dot. The replacement looks the same to users, and programs read the
    # name from the TXT record.
    clean = " ".join(clean.split()).replace(".", "\N{ONE DOT LEADER}") or UNNAMED
    suffix = "" if number == 1 else f" ({number})"
    return _cut(clean, MAX_LABEL_BYTES - len(suffix)).rstrip() + suffix


def text_record(announced: AdvertisedServer) -> dict[str, str]:
    """Return the TXT record, with the version first (RFC 6763 section 6.7)."""
    values = {"txtvers": "1", "id": announced.server_id, "name": announced.name, "path": "/"}
    if host := outside_name(announced):
        values["host"] = host
    return {key: _cut(value, MAX_TEXT_BYTES - len(key) - 1) for key, value in values.items()}


def target(announced: AdvertisedServer) -> tuple[str, int]:
    """Return the host and port to advertise.

    The host is always our name in `.local`, because no other responder on this machine claims it, and
    libraries use multicast only for names in `.local` (RFC 6762 section 3). The name that the operator has
    configured is in the TXT record.
    """
    _, port = _external(announced)
    return f"{own_name(announced.server_id)}.", port


def own_name(server_id: str) -> str:
    """Return the server's own host name on the local network."""
    digest = hashlib.sha256(server_id.encode("utf-8", "replace")).hexdigest()
    return f"svc-{digest[:16]}.local"


def outside_name(announced: AdvertisedServer) -> str:
    """Return the external name whose IP addresses are advertised, or an empty string if there is no name to
    resolve.
    """
    name, _ = _external(announced)
    return "" if _is_address(name) else name


def own_addresses(announced: AdvertisedServer, interfaces: Sequence[Interface]) -> list[str]:
    """Return the IP addresses to advertise: the one in EXTERNAL_HOST, or else the bound one. If that is a
    wildcard, return all addresses.
    """
    name, _ = _external(announced)
    if name:
        return [name] if _is_address(name) else []
    bound = ip_address(announced.host.partition("%")[0])
    if not bound.is_unspecified:
        return [str(bound)]
    all_of_them = [ip_address(address) for interface in interfaces for address in interface.addresses]
    # Omit link-local IPv6 addresses, which need an interface on the receiving machine. A server on `::` also
    # listens on IPv4 (base/listeners).
    reachable = [a for a in all_of_them if a.version == 4 or (bound.version == 6 and not a.is_link_local)]
    return [str(address) for address in reachable]


def usable(announced: AdvertisedServer, interfaces: Sequence[Interface]) -> list[Interface]:
    """Return the interfaces to advertise on: the configured one, or else all except loopback, or else
    loopback.
    """
    if pinned := announced.interface:
        return [i for i in interfaces if pinned == i.name or pinned in i.addresses]
    return [i for i in interfaces if not i.is_loopback] or list(interfaces)


def _external(announced: AdvertisedServer) -> tuple[str, int]:
    """Return the name and port of the first external host. The name may be empty."""
    if not announced.names:
        return "", announced.port
    first = announced.names[0]
    if _is_address(first):  # The address may be IPv6 without brackets.
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


def _cut(text: str, maximum: int) -> str:
    """Truncate a string to `maximum` bytes without splitting a character."""
    return text.encode("utf-8", "replace")[:maximum].decode("utf-8", "ignore")


def by_family(interfaces: Sequence[Interface]) -> list[str | int]:
    """Return the IPv4 addresses to send from or, if there are none, the interface numbers for IPv6.

    Listeners receive packets of both families, and the records contain addresses of both.
    """
    fours = [a for i in interfaces for a in i.addresses if ip_address(a).version == 4]
    return [*fours] if fours else [i.index for i in interfaces if i.addresses]


def log_fields(announced: AdvertisedServer) -> Mapping[str, object]:
    """Return the fields to log about an advertisement."""
    host, port = target(announced)
    return {"host": host, "port": port, "interface": announced.interface or "all"}
