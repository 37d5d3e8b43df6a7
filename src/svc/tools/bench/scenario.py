"""Describes the load to measure: publishers, receivers, and the packets between them.

Does not check the service's decisions.
"""

from dataclasses import dataclass

from svc.sfu.codecs import AUDIO, VIDEO, Codec
from svc.tools.bench.errors import BenchError
from svc.tools.bench.traffic import MAX_SIZE, MIN_SIZE

# VP8, because the first packet of a keyframe is easy to create, and Opus, because every client supports it.
_VIDEO = next(codec for codec in VIDEO if codec.name == "VP8")
_AUDIO = next(codec for codec in AUDIO if codec.name == "opus")


@dataclass(frozen=True, slots=True)
class Scenario:
    """The load to generate in one room. Publishers also receive each other's tracks, as in any room.
    Receivers only receive.
    """

    publishers: int = 1
    receivers: int = 10
    size: int = 1100  # bytes in an RTP packet, including the header, before encryption
    burst: int = 1  # number of packets sent back to back
    audio: bool = False
    loss: float = 0.0  # share of received packets that clients discard and request again

    def __post_init__(self) -> None:
        if self.publishers < 1 or self.receivers < 0 or self.receivers_of_each < 1:
            raise BenchError("at least one client must send, and one receive")
        if not MIN_SIZE <= self.size <= MAX_SIZE:
            raise BenchError(f"a packet must have {MIN_SIZE} to {MAX_SIZE} bytes")
        if self.burst < 1:
            raise BenchError("a burst must have at least one packet")
        if not 0 <= self.loss < 1:
            raise BenchError("the loss must be at least 0 and less than 100 percent")

    @property
    def clients(self) -> int:
        return self.publishers + self.receivers

    @property
    def receivers_of_each(self) -> int:
        """The number of clients to which each packet is forwarded."""
        return self.clients - 1

    @property
    def codec(self) -> Codec:
        return _AUDIO if self.audio else _VIDEO

    @property
    def mid(self) -> str:
        """The media section in which to send: microphone or camera (docs/signalling.md)."""
        return "0" if self.audio else "1"
