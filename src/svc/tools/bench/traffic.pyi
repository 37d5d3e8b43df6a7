"""Traffic: sends and receives the media of many clients on one native thread without the GIL."""

from collections.abc import Sequence

from svc._rtp.srtp import SrtpKeys

MIN_SIZE: int
MAX_SIZE: int
# The names of the counters in `totals`.
TOTALS: Sequence[str]
# Lower bounds of the latency histogram's buckets, in seconds; each is at most 3 % wide.
LATENCY_BUCKETS: Sequence[float]

class Traffic:
    """The media of many clients. Clients cannot be removed. Counters are never reset, so subtract earlier
    values to measure a period.

    `size` is the size of a whole RTP packet before encryption. `burst` packets are sent back to back, like
    those of a video frame. `loss` is the share of received packets to discard and request again.
    """

    def __init__(self, *, audio: bool, size: int, burst: int, loss: float = 0.0) -> None: ...
    def add(
        self,
        fd: int,
        keys: SrtpKeys,
        pwd: str,
        server: tuple[str, int],
        *,
        payload_type: int,
        streams: int,
        mid: str = "",
        ssrc: int = 0,
        mid_id: int = 0,
        twcc_id: int = 0,
        level_id: int = 0,
    ) -> int:
        """Take over a connected socket. Return the client's number. Extensions without an id are omitted.
        `streams` is the number of tracks that the client may receive. A client with a `mid` sends, once there
        is a rate. The caller closes the socket, after `stop`.
        """
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def set_rate(self, pps: int) -> None:
        """Set the number of packets per second that each sending client sends, or 0 to stop sending."""
    def totals(self) -> dict[str, int]:
        """Return the totals of all clients' counters so far. `busy_ns` is the thread's CPU time."""
    def latencies(self) -> list[int]:
        """Return the number of packets by latency (LATENCY_BUCKETS), from just before sending to arrival."""
    def received(self, client: int) -> int: ...
    def sources(self, client: int) -> int:
        """Return the number of tracks that have reached this client."""
    def first_media(self, client: int) -> float | None:
        """Return the time at which the client's first media packet arrived (time.monotonic)."""
