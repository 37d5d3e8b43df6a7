"""Checks sign-ins against the trusted issuers and the server's names.

An assertion for one server must not be usable on another, because a server could relay the assertions that it
receives. The client therefore includes the origin to which it connected in the signed assertion. The Host
header alone proves nothing, because the relaying server controls it. If the operator has set the server's
names (EXTERNAL_HOST), all other names are rejected.

Anyone can point their own domain at an IP address on the local network (DNS rebinding). A browser then treats
their page as a page from this server, and its requests come from the local network. `is_own_address`
recognises names that cannot be misused in this way. This module resolves no names.
"""

import logging
import re
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from svc.base.private_files import read_or_create
from svc.chat.authentication.config import IdentityConfig
from svc.chat.authentication.jwt_verification import ACCOUNT, Tier

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class RequestedAddresses:
    """The host, IP address and origin of a request."""

    # The request's Host header, and the local IP address at which it arrived.
    host: str
    ip: str
    # The request's Origin header. None if the request does not come from a page, or is a read from a page of
    # the same origin.
    page: str | None = None


class ServerAddresses:
    """The server's names. `names` are the operator's hosts, with or without a port.

    `secure` means that this server terminates TLS, so an http origin belongs to another server. `local_names`
    are this machine's names on the local network. They end in `.local`, which no name server on the internet
    serves.
    """

    def __init__(
        self, names: Sequence[str], *, secure: bool = False, local_names: Sequence[str] = ()
    ) -> None:
        self._secure = secure
        # With mDNS, a second machine called `name` becomes `name-2` (RFC 6762 section 9).
        self._local = [
            re.compile(re.escape(n.lower().removesuffix(".local")) + r"(-\d{1,3})?\.local")
            for n in local_names
            if n
        ]
        self._names = frozenset(name.lower().rstrip(".") for name in names)

    def include(self, origin: str, host: str) -> bool:
        """Return whether the origin to which a client connected belongs to this server."""
        requested = _host_and_port(origin)
        if requested is None or (self._secure and not origin.startswith("https:")):
            return False
        name, port = requested
        if self._names and not _is_nearby(name):
            return name in self._names or f"{name}:{port}" in self._names
        # Do not compare the scheme, because a proxy in front of this server may have terminated TLS.
        return _host_and_port(f"{origin.partition('://')[0]}://{host}") == requested

    def is_own_address(self, origin: str, requested: RequestedAddresses) -> bool:
        """Return whether the client used a host name or IP address that nobody else could have pointed at
        this machine.

        The Host header, the signed `origin` and, for a page, its Origin header must all match.
        """
        ours = _host_and_port(f"{origin.partition('://')[0]}://{requested.host}")
        if ours is None or _host_and_port(origin) != ours:
            return False
        if requested.page is not None and _host_and_port(requested.page) != ours:
            return False
        name, port = ours
        if name == "localhost" or name in self._names or f"{name}:{port}" in self._names:
            return True
        return _same_address(name, requested.ip) or any(local.fullmatch(name) for local in self._local)


def _same_address(name: str, ip: str) -> bool:
    try:
        address, other = ip_address(name.partition("%")[0]), ip_address(ip.partition("%")[0])
    except ValueError:
        return False
    return address == (getattr(other, "ipv4_mapped", None) or other)


def _host_and_port(origin: str) -> tuple[str, int] | None:
    """Return the name and port of an http or https origin, or None for any other value."""
    try:
        parts = urlsplit(origin)
        port = parts.port or _DEFAULT_PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None
    extra = parts.path or parts.query or parts.fragment or parts.username or parts.password
    if extra or not parts.hostname:
        return None
    return parts.hostname.rstrip("."), port


def _is_nearby(name: str) -> bool:
    """Return whether a host is this machine or on its local network, where no attacker runs a server."""
    if name == "localhost":
        return True
    try:
        address = ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_private or address.is_link_local


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TrustedIssuers:
    audience: str
    tiers: Sequence[Tier]
    oidc_issuer: str
    oidc_audience: str
    cert_issuers: Collection[str]
    addresses: ServerAddresses
    # Why nobody can join, or an empty string.
    closed: str

    @classmethod
    def of(
        cls, config: IdentityConfig, audience: str, *, secure: bool = False, local_names: Sequence[str] = ()
    ) -> "TrustedIssuers":
        """Read the issuers from the configuration. Log a warning if nobody or too many people can join."""
        vouching = bool(config.oidc_issuer or config.cert_issuers)
        if obstacle := config.obstacle():
            logger.warning("nobody can join: %s", obstacle)
        if ACCOUNT in config.tiers and vouching and not config.names:
            logger.warning("EXTERNAL_HOST is not set: another server could pass on sign-ins made for it")
        return cls(
            audience,
            config.tiers,
            config.oidc_issuer,
            config.oidc_audience,
            config.cert_issuers,
            ServerAddresses(config.names, secure=secure, local_names=local_names),
            config.closed,
        )


def read_or_create_server_id(configured: str, data_dir: Path) -> str:
    """Return the configured SERVER_ID, or an id that is generated once and stored in the data folder."""
    return configured or read_or_create(data_dir / "server-id", lambda: f"{uuid.uuid4()}\n").strip()
