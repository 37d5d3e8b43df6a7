"""Where a datagram came from or goes to, the check that the core reports about it, and what ICE makes of it.

The vocabulary shared by the native core's wrapper (media), ICE and the session. It holds no
behaviour and resolves no names: addresses are textual IP addresses, as the kernel gave them.
RFC 8445 (section 7.3) describes the checks that `BindingCheck` sums up.
"""

from dataclasses import dataclass

Address = tuple[str, int]
"""A textual IP address without zone or brackets, and a port."""

Remote = tuple[str, int] | tuple[str, int, int]
"""The address of a peer; the third number names the TCP connection that leads there, without it UDP does."""


@dataclass(frozen=True, slots=True)
class Path:
    """One way to a peer: their address, and the local IP address that they contacted.

    `local` is "" where the kernel shall choose; the local port is the one mux, so it is not named.
    """

    remote: Remote
    local: str = ""

    @property
    def address(self) -> Address:
        """The peer's, whatever it is reached by."""
        return self.remote[:2]

    @property
    def is_tcp(self) -> bool:
        """Whether it is a connection, which the peer has opened."""
        return len(self.remote) == 3


@dataclass(frozen=True, slots=True)
class BindingCheck:
    """A connectivity check that the core has authenticated with our password and answered."""

    path: Path
    priority: int  # The PRIORITY attribute: what a candidate learned from this check is worth.
    use_candidate: bool  # The peer nominates this path (only a controlling peer does).
    generation: int = 1  # Of our credentials that it was made with: they count from 1 on.


# What an ICE agent tells its owner.


@dataclass(frozen=True, slots=True)
class Selected:
    """Media goes over this path from now on."""

    path: Path


@dataclass(frozen=True, slots=True)
class ConsentExpired:
    """The peer no longer answers on the selected path: stop sending to it."""

    path: Path


@dataclass(frozen=True, slots=True)
class Failed:
    """No path was found in time."""


@dataclass(frozen=True, slots=True)
class RoleChanged:
    """The core must judge role conflicts by these from now on."""

    controlling: bool
    tie_breaker: int


@dataclass(frozen=True, slots=True)
class PathSuspected:
    """Nothing comes over the selected path, and the peer does not answer on it."""


@dataclass(frozen=True, slots=True)
class PathRegained:
    """After PathSuspected: the peer is heard again, here or over another path."""


@dataclass(frozen=True, slots=True)
class PathLeft:
    """Media has moved away from a dead path; until ICE restarts, the peer may go on sending there."""


IceEvent = Selected | ConsentExpired | Failed | RoleChanged | PathSuspected | PathRegained | PathLeft
