"""The addresses that strangers write, judged before anything is looked up or connected to.

Pure: text in, a URL that may be tried or a refusal out. What a name stands for is not known
here; `connecting` judges that. The URL that was judged is the object that is asked for, so that no
second parser can read it otherwise. `ipaddress.is_global` is not enough: by it the forms of IPv6 that carry
an IPv4 address inside, multicast and a cloud's own services are global. Ours is the list of the IANA
registries for special purposes, and more.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

from yarl import URL

_NOT_PUBLIC_V4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # This network; Linux takes 0.0.0.0 for itself.
            "10.0.0.0/8",
            "100.64.0.0/10",  # Shared behind a carrier's NAT; clouds answer there too.
            "127.0.0.0/8",
            "169.254.0.0/16",  # Link-local, and where clouds hand out credentials.
            "168.63.129.16/32",  # A cloud's own services, for its guests only.
            "172.16.0.0/12",
            "192.0.0.0/24",  # Protocol assignments; a cloud's metadata at 192.0.0.192.
            "192.0.2.0/24",  # Documentation.
            "192.88.99.0/24",  # Relays of 6to4, withdrawn (RFC 7526).
            "192.168.0.0/16",
            "198.18.0.0/15",  # Benchmarks.
            "198.51.100.0/24",  # Documentation.
            "203.0.113.0/24",  # Documentation.
            "224.0.0.0/4",  # Multicast.
            "240.0.0.0/4",  # Reserved, and broadcast.
        ),
    )
)

# The only part of IPv6 that is given out (RFC 4291 section 2.4). Loopback, link-local, unique local
# and site-local addresses, multicast, and IPv4 mapped or embedded at the front lie outside.
_GIVEN_OUT = IPv6Network("2000::/3")

_NOT_PUBLIC_V6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # Protocol assignments: Teredo (an IPv4 address inside), ORCHID and others.
            "2001:db8::/32",  # Documentation.
            "2002::/16",  # 6to4: an IPv4 address inside.
            "3fff::/20",  # Documentation.
        ),
    )
)

# Networks without IPv4 reach it by these addresses (RFC 6052): each is as public as what it stands for.
_NAT64 = IPv6Network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Whether a stranger may send us there. What is no plain IP address is nowhere."""
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


def literals(hosts: Iterable[str]) -> Iterator[IPv4Address | IPv6Address]:
    """Those of them that are addresses and not names; a port may follow each."""
    for host in hosts:
        with suppress(ValueError):
            yield ip_address(urlsplit(f"//{host}").hostname or "")


def _is_public_v4(address: IPv4Address) -> bool:
    return not any(address in network for network in _NOT_PUBLIC_V4)


MAX_REDIRECTS = 5
# Web servers listen there or, run by hand, above the ports of the system's services. A mail server
# has nothing to say to us.
SYSTEM_PORTS = range(1024)
WEB_PORTS = (80, 443)

# Names that mean something nearby by definition (RFC 6761, RFC 6762, RFC 8375, and ICANN's `internal`).
# They are not looked up, so that nobody learns which of them there are.
_LOCAL_NAMES = ("localhost", "local", "internal", "home.arpa")

# What IDNA leaves of any name, and underscores, which real hosts have.
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
# What the URL standard of the WHATWG takes for an IPv4 address, in any spelling that a library of C knows.
_ENDS_IN_A_NUMBER = re.compile(r"(^|\.)([0-9]+|0x[0-9a-f]*)$")


class NotFetched(Exception):
    """Why there is no file: `code` as docs/webhooks.md, "Pictures" names it, `message` for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def target(address: str) -> URL:
    """What to ask for; raises NotFetched. Names and passwords in it are not for us to hand on."""
    try:
        return _judged(URL(address))
    except ValueError:
        raise NotFetched("blocked", "This is no address of a host on the internet") from None


def redirected(asked: URL, location: str) -> URL:
    """The same for where an answer points. What is relative goes on from `asked`."""
    try:
        return _judged(asked.join(URL(location)))
    except ValueError:
        raise NotFetched("blocked", "It redirects to what is no address of a host on the internet") from None


def _judged(url: URL) -> URL:
    if url.scheme not in ("http", "https"):
        raise NotFetched("blocked", "Only http and https addresses are fetched")
    if url.port in SYSTEM_PORTS and url.port not in WEB_PORTS:
        raise NotFetched("blocked", f"Port {url.port} is not one of a web server")
    _judge_host((url.raw_host or "").removesuffix("."))
    return url.with_user(None).with_fragment(None)


def _judge_host(host: str) -> None:
    if ":" in host or _ENDS_IN_A_NUMBER.search(host):
        # Only the usual spelling is an IP address to us; any other is there to deceive.
        if not is_public(host):
            raise NotFetched("blocked", "Private and local addresses are not fetched")
    elif not _NAME.fullmatch(host):
        raise NotFetched("blocked", "This is no address of a host on the internet")
    elif any(f".{host}".endswith(f".{name}") for name in _LOCAL_NAMES):
        raise NotFetched("blocked", "Private and local addresses are not fetched")
