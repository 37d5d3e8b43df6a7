"""Composes the startup message of `svc up`: addresses, warnings, and a QR code for phones.

Does not print the message. The QR code (ISO/IEC 18004) uses half-block characters.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from svc.base.config_parsing import is_loopback
from svc.chat.authentication.invite_file import BETWEEN

# Black on white, regardless of the terminal's colours, because not every phone can read an inverted code.
_COLOURS, _NO_COLOURS = "\x1b[30;107m", "\x1b[0m"
# Each line of text shows two rows of modules. The key states whether the upper and the lower module are dark.
_HALVES = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}

ONLY_HERE = "Only this computer can open that address. Start with --host 0.0.0.0 to let others connect."
NO_MICROPHONES = (
    "Browsers let people sign in and talk only on localhost and at https:// addresses: start with --tls."
)
FIRST_IS_OWNER = (
    "The first person to join with this link becomes the owner. After that, it is an ordinary invite link."
)
ASKS_ONCE = (
    "This server has made its certificate itself, so each browser warns once: choose Advanced (Show Details, "
    "Learn more), then go on. The certificate is the right one if its SHA-256 fingerprint is"
)


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """The server's listening address. `names` are the names in EXTERNAL_HOST, and `fingerprint` is the
    fingerprint of a self-signed certificate.
    """

    host: str
    port: int
    secure: bool = False
    names: Sequence[str] = ()
    fingerprint: str = ""


def greeting(listen_address: ListenAddress, invite: str, addresses: Sequence[str]) -> list[str]:
    """Return the lines of the message, given the invite code and this machine's addresses."""
    local_url = f"Open {url_of(listen_address, reachable(listen_address.host))}/#invite={invite}"
    elsewhere = [f"{url}/#invite={invite}" for url in _from_elsewhere(listen_address, addresses)]
    lines = [local_url, *(f"On your network: {url}" for url in elsewhere)]
    if BETWEEN in invite:
        lines.append(FIRST_IS_OWNER)
    if not listen_address.secure and is_wildcard(listen_address.host):
        lines.append(NO_MICROPHONES)
    if listen_address.secure and is_loopback(listen_address.host):
        lines.append(ONLY_HERE)
    if listen_address.fingerprint:
        lines += [ASKS_ONCE, listen_address.fingerprint]
    return lines


def code_for_phones(listen_address: ListenAddress, invite: str, addresses: Sequence[str]) -> list[str]:
    """Return the lines of a QR code with the best URL for other devices, or no lines if a phone could not use
    its microphone at that URL.
    """
    elsewhere = _from_elsewhere(listen_address, addresses)
    if not (listen_address.secure and elsewhere):
        return []
    return ["Or scan this code with a phone:", *qr_code(f"{elsewhere[0]}/#invite={invite}")]


def qr_code(text: str) -> list[str]:
    """Return the lines of a QR code, with the quiet zone that scanners need."""
    # Most servers start without a terminal, so the library is loaded only here.
    import segno

    rows = [[bool(module) for module in row] for row in segno.make_qr(text, error="l").matrix_iter(border=4)]
    if len(rows) % 2:
        rows.append([False] * len(rows[0]))
    return [f"{_COLOURS}{''.join(line)}{_NO_COLOURS}" for line in _join_rows(rows)]


def _join_rows(rows: list[list[bool]]) -> Iterator[list[str]]:
    for upper, lower in zip(rows[::2], rows[1::2], strict=True):
        yield [_HALVES[pair] for pair in zip(upper, lower, strict=True)]


def is_wildcard(host: str) -> bool:
    return host in ("0.0.0.0", "::")


def reachable(host: str) -> str:
    """Return an address at which this machine can reach a server that listens on `host`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)


def best_url(listen_address: ListenAddress, addresses: Sequence[str]) -> str:
    """Return the best URL for other devices, or this machine's URL if there is none."""
    return next(
        iter(_from_elsewhere(listen_address, addresses)),
        url_of(listen_address, reachable(listen_address.host)),
    )


def _from_elsewhere(listen_address: ListenAddress, addresses: Sequence[str]) -> list[str]:
    """Return the addresses for other devices, names first."""
    urls = [url_of(listen_address, name) for name in listen_address.names] if listen_address.secure else []
    if is_wildcard(listen_address.host):
        return urls + [
            url_of(listen_address, address)
            for address in addresses
            if _on_the_network(address, listen_address.host)
        ]
    if is_loopback(listen_address.host):
        return []
    return urls or ([url_of(listen_address, listen_address.host)] if listen_address.secure else [])


def _on_the_network(address: str, host: str) -> bool:
    ip = ip_address(address)
    # `::` listens on both IPv4 and IPv6.
    listened_on = host == "::" or ip.version == 4
    return listened_on and not (ip.is_loopback or ip.is_link_local)


def url_of(listen_address: ListenAddress, host: str) -> str:
    """Return the URL, with https if TLS is on. A port in `host` takes precedence."""
    scheme, usual_port = ("https", 443) if listen_address.secure else ("http", 80)
    if host.count(":") > 1 and not host.startswith("["):
        host = f"[{host}]"
    has_port = host.rpartition(":")[2].isdigit()
    return (
        f"{scheme}://{host}"
        if has_port or listen_address.port == usual_port
        else f"{scheme}://{host}:{listen_address.port}"
    )
