"""UdpLoop: the one UDP port, and the native thread that serves it without the GIL."""

from collections.abc import Iterable

from svc._rtp.engine import Engine

class UdpLoop(Engine):
    """An Engine on real sockets.

    `addresses`: at most one of each family; port 0 lets the kernel choose. OSError (EADDRINUSE) when
    the port is held: it is never shared. `portable` uses one system call per datagram, as systems
    without recvmmsg must.
    """

    port: int
    def __init__(self, *, seed: int, addresses: Iterable[str], port: int, portable: bool = False) -> None: ...
    def fileno(self) -> int:
        """Readable when take_events has something."""
    def start(self) -> None: ...
    def stop(self) -> None:
        """End the thread, then close the sockets. Waits for the turn that is under way."""
