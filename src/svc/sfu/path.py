"""Where a datagram came from or goes to, and the check that the core reports about it.

The vocabulary shared by the native core's wrapper (media), ICE and the session. It holds no
behaviour and resolves no names: addresses are textual IP addresses, as the kernel gave them.
RFC 8445 (section 7.3) describes the checks that `BindingCheck` sums up.
"""

from dataclasses import dataclass

Address = tuple[str, int]
"""A textual IP address without zone or brackets, and a UDP port."""


@dataclass(frozen=True, slots=True)
class Path:
    """One way to a peer: their address, and the local IP address that they contacted.

    `local` is "" where the kernel shall choose; the local port is the one UDP mux, so it is not named.
    """

    remote: Address
    local: str = ""


@dataclass(frozen=True, slots=True)
class BindingCheck:
    """A connectivity check that the core has authenticated with our password and answered."""

    path: Path
    priority: int  # The PRIORITY attribute: what a candidate learned from this check is worth.
    use_candidate: bool  # The peer nominates this path (only a controlling peer does).
