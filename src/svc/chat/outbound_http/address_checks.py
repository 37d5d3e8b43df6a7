"""Checks untrusted URLs before the server looks up their hosts or connects to them.

The functions are pure: they take a string, and return a URL or raise an error. `connector` checks the IP
addresses to which a name resolves. The returned URL object is the one that is requested, so no second parser
can interpret it differently. `ipaddress.is_global` is not enough: it accepts multicast, the services of some
clouds, and IPv6 addresses that contain an IPv4 address. This module uses the IANA special-purpose registries
and additional networks.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from unicodedata import normalize
from urllib.parse import urlsplit

from yarl import URL

_NOT_PUBLIC_V4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # "This network". Linux connects to itself at 0.0.0.0.
            "10.0.0.0/8",
            "100.64.0.0/10",  # Shared addresses behind a carrier's NAT, and some cloud services.
            "127.0.0.0/8",
            "169.254.0.0/16",  # Link-local addresses, where cloud providers serve credentials.
            "168.63.129.16/32",  # Services of a cloud provider for its virtual machines.
            "172.16.0.0/12",
            "192.0.0.0/24",  # Protocol assignments. One cloud provider serves its metadata at 192.0.0.192.
            "192.0.2.0/24",  # Reserved for documentation.
            "192.88.99.0/24",  # 6to4 relays, withdrawn (RFC 7526).
            "192.168.0.0/16",
            "198.18.0.0/15",  # Reserved for benchmarks.
            "198.51.100.0/24",  # Reserved for documentation.
            "203.0.113.0/24",  # Reserved for documentation.
            "224.0.0.0/4",  # Multicast.
            "240.0.0.0/4",  # Reserved addresses, and broadcast.
        ),
    )
)

# The only IPv6 block with allocated global addresses (RFC 4291 section 2.4). It excludes loopback,
# link-local, unique local and site-local addresses, multicast, and addresses that start with a mapped or
# embedded IPv4 address.
_GIVEN_OUT = IPv6Network("2000::/3")

_NOT_PUBLIC_V6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # Protocol assignments: Teredo (contains an IPv4 address), ORCHID and others.
            "2001:db8::/32",  # Reserved for documentation.
            "2002::/16",  # 6to4: contains an IPv4 address.
            "3fff::/20",  # Reserved for documentation.
        ),
    )
)

# The addresses through which IPv6-only networks reach IPv4 hosts (RFC 6052). Each is as public as its IPv4
# address.
_NAT64 = IPv6Network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Return whether a host is a public IP address. Untrusted URLs may not contain other IP addresses."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, IPv4Address):
        return _is_public_v4(parsed)
    if parsed.scope_id is not None:
        return False
    if parsed in _NAT64:
        return _is_public_v4(IPv4Address(int(parsed) & 0xFFFF_FFFF))
    return parsed in _GIVEN_OUT and not any(parsed in network for network in _NOT_PUBLIC_V6)


def address_literals(hosts: Iterable[str]) -> Iterator[IPv4Address | IPv6Address]:
    """Yield the hosts that are IP addresses, and skip names. Each host may have a port."""
    for host in hosts:
        with suppress(ValueError):
            yield ip_address(urlsplit(f"//{host}").hostname or "")


def _is_public_v4(address: IPv4Address) -> bool:
    return not any(address in network for network in _NOT_PUBLIC_V4)


MAX_REDIRECTS = 5
# Web servers listen on WEB_PORTS or, if started by hand, above the system ports. Other system ports belong to
# other services, such as mail servers.
SYSTEM_PORTS = range(1024)
WEB_PORTS = (80, 443)

# Names that are local by definition (RFC 6761, RFC 6762, RFC 8375, and ICANN's `internal`). They are not
# looked up, because otherwise anyone could find out which of them exist.
_LOCAL_NAMES = ("localhost", "local", "internal", "home.arpa")

# The maximum lengths of a URL's authority and host name, even before IDNA (RFC 1035 section 2.3.4). The
# authority can also contain a port and, rarely, a user name.
_MAX_AUTHORITY = 512
_MAX_HOST = 253
# The characters that URL parsers remove.
_REMOVED = str.maketrans("", "", "\t\r\n")
_AUTHORITY = re.compile(r"[^/?#\\]*//([^/?#\\]*)")

# Matches a name after IDNA. Underscores are allowed, because real hosts use them.
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
# Matches hosts that the WHATWG URL standard treats as IPv4 addresses, in any spelling accepted by C
# libraries.
_ENDS_IN_A_NUMBER = re.compile(r"(^|\.)([0-9]+|0x[0-9a-f]*)$")


class FetchError(Exception):
    """The URL cannot be fetched. The values of `code` are listed in docs/webhooks.md, "Pictures". `message`
    is for users.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def target(address: str) -> URL:
    """Return the URL to request, without its user name and password. Raises FetchError."""
    try:
        return _check_url(_parse_url(address))
    except ValueError:
        raise FetchError("blocked", "This is not an address of a host on the internet") from None


def redirect_target(url: URL, location: str) -> URL:
    """Return a redirect's target URL. A relative location is resolved against `url`. Raises FetchError."""
    try:
        return _check_url(url.join(_parse_url(location)))
    except ValueError:
        raise FetchError("blocked", "It redirects to something that is not an address of a host") from None


def _parse_url(address: str) -> URL:
    """Parse a URL. Raises ValueError if it is invalid or its host is too long. The length is limited because
    IDNA takes quadratic time for combining marks.
    """
    if match := _AUTHORITY.match(address.translate(_REMOVED)):
        authority = match[1]
        host = authority.rpartition("@")[2]
        # IDNA expands some characters to 18. Checking a host full of such characters takes 14 ms.
        if len(authority) > _MAX_AUTHORITY or len(normalize("NFKC", host)) > _MAX_HOST + len(":65535"):
            raise ValueError("its host is too long")
    return URL(address)


def _check_url(url: URL) -> URL:
    if url.scheme not in ("http", "https"):
        raise FetchError("blocked", "Only http and https addresses are fetched")
    if url.port in SYSTEM_PORTS and url.port not in WEB_PORTS:
        raise FetchError("blocked", f"Port {url.port} is not a web server's port")
    _judge_host((url.raw_host or "").removesuffix("."))
    return url.with_user(None).with_fragment(None)


def _judge_host(host: str) -> None:
    if ":" in host or _ENDS_IN_A_NUMBER.search(host):
        # Accept only the usual spelling of an IP address. Any other spelling is meant to deceive.
        if not is_public(host):
            raise FetchError("blocked", "Private and local addresses are not fetched")
    elif not _NAME.fullmatch(host):
        raise FetchError("blocked", "This is not an address of a host on the internet")
    elif any(f".{host}".endswith(f".{name}") for name in _LOCAL_NAMES):
        raise FetchError("blocked", "Private and local addresses are not fetched")
