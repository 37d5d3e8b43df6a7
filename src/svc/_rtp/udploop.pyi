"""UdpLoop: serves the media port on a native thread without the GIL."""

from collections.abc import Iterable, Sequence

from svc._rtp.engine import Engine

class UdpLoop(Engine):
    """An Engine on real sockets.

    `addresses` has at most one address per family. Port 0 lets the kernel choose. The port is never shared:
    raises OSError (EADDRINUSE) if it is in use. `sockets` are bound descriptors to use instead, which the
    caller closes. Raises OSError (EINVAL) for a socket that serves both IPv4 and IPv6. `portable` means one
    system call per datagram, as on systems without recvmmsg. `workers` is the number of threads, from 1 to
    16. Other numbers raise ValueError. All threads but the first only send. All media for one receiver is
    sent by the same thread, which keeps it in order.

    With `tcp`, connections are accepted at the same port number, on `addresses` or on `listeners` if given.
    The caller closes the listeners. If TCP cannot be served, no exception is raised, and `tcp_refused`
    contains the reason.
    """

    port: int
    tcp_refused: str
    def __init__(
        self,
        *,
        seed: int,
        addresses: Iterable[str],
        port: int,
        sockets: Sequence[int] = (),
        listeners: Sequence[int] = (),
        tcp: bool = True,
        portable: bool = False,
        workers: int = 1,
    ) -> None: ...
    def forwarding_delay(self) -> tuple[Sequence[int], float]:
        """Return the histogram of packet delays, and their sum in seconds. The buckets are the DELAY_BUCKETS
        in `engine`, and one above them. A packet's delay ends when its last datagram is passed to the kernel.
        """
    def fileno(self) -> int:
        """Return a descriptor that is readable when take_events has events."""
    def descriptors(self) -> list[int]:
        """Return all sockets, including listeners, to pass to another process. The list is empty after
        `stop`.
        """
    def start(self) -> None: ...
    def stop(self) -> None:
        """Stop the thread after its current iteration, then close the sockets."""
