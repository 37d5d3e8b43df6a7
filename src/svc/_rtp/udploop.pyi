"""UdpLoop: the one UDP port, and the native thread that serves it without the GIL."""

from collections.abc import Iterable, Sequence

from svc._rtp.engine import Engine

class UdpLoop(Engine):
    """An Engine on real sockets.

    `addresses`: at most one of each family; port 0 lets the kernel choose. OSError (EADDRINUSE) when
    the port is held: it is never shared. Or `sockets`, descriptors that are bound already, which stay
    their giver's to close: OSError (EINVAL) for one that carries IPv4 and IPv6. `portable` uses one
    system call per datagram, as systems without recvmmsg must.
    """

    port: int
    def __init__(
        self,
        *,
        seed: int,
        addresses: Iterable[str],
        port: int,
        sockets: Sequence[int] = (),
        portable: bool = False,
    ) -> None: ...
    def fileno(self) -> int:
        """Readable when take_events has something."""
    def descriptors(self) -> list[int]:
        """Of the sockets, to be handed to another process. None once it has stopped."""
    def start(self) -> None: ...
    def stop(self) -> None:
        """End the thread, then close the sockets. Waits for the turn that is under way."""
