"""Traffic: the media of many clients, sent and received on one native thread without the GIL."""

from collections.abc import Sequence

from svc._rtp.srtp import SrtpKeys

MIN_SIZE: int
MAX_SIZE: int
# The names of what `totals` counts.
TOTALS: Sequence[str]
# Lower bounds of the latency histogram's buckets, in seconds; each is at most 3 % wide.
LATENCY_BUCKETS: Sequence[float]

class Traffic:
    """Clients are only added, and counters only grow: subtract earlier values.

    `size` is that of a whole RTP packet before encryption. `burst` packets are sent at once, as those of a
    video frame are. `loss` is the share of arriving packets to discard and request again.
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
        """Take over a connected socket; the client's number. Extensions without an id are left out.

        `streams` is how many tracks the client may receive. One with a `mid` sends, once there is a rate.
        The socket stays the caller's to close, after `stop`.
        """
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def set_rate(self, pps: int) -> None:
        """Packets a second of each client that sends; 0 is silence."""
    def totals(self) -> dict[str, int]:
        """What all clients together have sent and received so far; `busy_ns` is the thread's CPU time."""
    def latencies(self) -> list[int]:
        """How many packets took how long, by LATENCY_BUCKETS: from just before one is sent to its arrival."""
    def received(self, client: int) -> int: ...
    def sources(self, client: int) -> int:
        """How many tracks have reached this client."""
    def first_media(self, client: int) -> float | None:
        """When its first media packet came (time.monotonic)."""
