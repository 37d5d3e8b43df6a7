"""Which addresses are this server's own: else another server could pass on to us what was made for it.

An assertion says which address the client dialled, and the client signed that. A request's Host
header alone proves nothing, for whoever relays writes it; so where the operator has said
what the server is called (EXTERNAL_HOST), another name is not ours. Resolves nothing.
"""

from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

_USUAL_PORTS = {"http": 80, "https": 443}


class ServerAddresses:
    """`names` are hosts, with or without a port; empty where the operator has named none.

    `secure`: TLS ends here, so that who dials us by http reaches somebody else.
    """

    def __init__(self, names: Sequence[str], *, secure: bool = False) -> None:
        self._secure = secure
        self._names = frozenset(name.lower().rstrip(".") for name in names)

    def include(self, origin: str, host: str) -> bool:
        """Is `origin`, which a client dialled, ours, where the request was sent to `host`?"""
        dialled = _dialled(origin)
        if dialled is None or (self._secure and not origin.startswith("https:")):
            return False
        name, port = dialled
        if self._names and not _is_nearby(name):
            return name in self._names or f"{name}:{port}" in self._names
        # Else the scheme is not compared: a proxy in front of us may have taken TLS off.
        return _dialled(f"{origin.partition('://')[0]}://{host}") == dialled


def _dialled(origin: str) -> tuple[str, int] | None:
    """Name and port of an http or https origin; None for anything else."""
    try:
        parts = urlsplit(origin)
        port = parts.port or _USUAL_PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None
    rest = parts.path or parts.query or parts.fragment or parts.username or parts.password
    if rest or not parts.hostname:
        return None
    return parts.hostname.rstrip("."), port


def _is_nearby(name: str) -> bool:
    """This machine or its network, dialled without a name: no stranger's server is there."""
    if name == "localhost":
        return True
    try:
        address = ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_private or address.is_link_local
