"""UdpLoop: the media port, and the native thread that serves it without the GIL."""

from collections.abc import Iterable, Sequence

from svc._rtp.engine import Engine

class UdpLoop(Engine):
    """An Engine on real sockets.

    `addresses`: at most one of each family; port 0 lets the kernel choose. OSError (EADDRINUSE) when
    the port is held: it is never shared. Or `sockets`, descriptors that are bound already, which stay
    their giver's to close: OSError (EINVAL) for one that carries IPv4 and IPv6. `portable` uses one
    system call per datagram, as systems without recvmmsg must. `workers`: threads, 1 to 16. With more
    than one, all but the first only send; each receiver's media is one's, so that it keeps its order.
    ValueError for another number.

    With `tcp`, connections are accepted at the same number, on `addresses` or, where there are any, at
    `listeners`, which stay their giver's to close. That this cannot be is no error: `tcp_refused` says why.
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
        """How long packets were in here, by DELAY_BUCKETS of `engine` and one above them; the sum in seconds.

        From arrival to the hand-over to the kernel of the last datagram that was made of it.
        """
    def fileno(self) -> int:
        """Readable when take_events has something."""
    def descriptors(self) -> list[int]:
        """Of all sockets, listening ones too, to be handed to another process. None once it has stopped."""
    def start(self) -> None: ...
    def stop(self) -> None:
        """End the thread, then close the sockets. Waits for the turn that is under way."""
