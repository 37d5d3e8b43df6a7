"""Defines network paths, the core's reports about them, and an ICE agent's events.

These types are shared by the native core's wrapper (`media`), ICE and the session. They contain only data.
Addresses are textual IP addresses from the kernel, never names. RFC 8445 section 7.3 describes the checks
that `BindingCheck` summarises.
"""

from dataclasses import dataclass

Address = tuple[str, int]
"""A textual IP address without zone or brackets, and a port."""

Remote = tuple[str, int] | tuple[str, int, int]
"""The address of a peer. A third item is the number of the TCP connection to it; without it, UDP is used."""


@dataclass(frozen=True, slots=True)
class Path:
    """One path to a peer: the peer's address, and the local IP address that the peer contacted.

    `local` is "" if the kernel chooses the address. The local port is always the media port.
    """

    remote: Remote
    local: str = ""

    @property
    def address(self) -> Address:
        """The peer's address, over UDP or TCP."""
        return self.remote[:2]

    @property
    def is_tcp(self) -> bool:
        """Whether the path is a TCP connection opened by the peer."""
        return len(self.remote) == 3


@dataclass(frozen=True, slots=True)
class BindingCheck:
    """A connectivity check that the core has authenticated with our password and answered."""

    path: Path
    # The PRIORITY attribute: the priority of a peer-reflexive candidate learned from this check.
    priority: int
    use_candidate: bool  # Whether the peer nominates this path, as only a controlling peer does.
    generation: int = 1  # The generation of our credentials, counted from 1.


# The events that an ICE agent emits.


@dataclass(frozen=True, slots=True)
class Selected:
    """Media uses this path from now on."""

    path: Path


@dataclass(frozen=True, slots=True)
class ConsentExpired:
    """The peer no longer answers on the selected path, so sending must stop."""

    path: Path


@dataclass(frozen=True, slots=True)
class Failed:
    """ICE found no path before its timeout."""


@dataclass(frozen=True, slots=True)
class RoleChanged:
    """The core must use these values to resolve role conflicts from now on."""

    controlling: bool
    tie_breaker: int


@dataclass(frozen=True, slots=True)
class PathSuspected:
    """Nothing is arriving over the selected path, and the peer is not answering on it."""


@dataclass(frozen=True, slots=True)
class PathRegained:
    """After PathSuspected, packets from the peer are arriving again, on this path or another."""


@dataclass(frozen=True, slots=True)
class PathLeft:
    """Media has left a dead path. Until ICE restarts, the peer may keep sending on that path."""


IceEvent = Selected | ConsentExpired | Failed | RoleChanged | PathSuspected | PathRegained | PathLeft
