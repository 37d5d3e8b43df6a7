"""Sets up a call on a ManualEngine in which one participant publishes video and another receives it.

Packets are sent only by the test, at times that it chooses.
"""

from typing import TYPE_CHECKING

from svc._rtp.header import parse_header
from tests.kit.participant import Participant, deliver, new_engine, video

if TYPE_CHECKING:
    from svc._rtp.header import ParsedHeader


def header(packet: bytes) -> "ParsedHeader":
    parsed = parse_header(packet)
    assert parsed is not None
    return parsed


def payload(packet: bytes) -> bytes:
    parsed = header(packet)
    return packet[parsed["payload_offset"] : parsed["payload_offset"] + parsed["payload_length"]]


def sequences(participant: Participant) -> list[int]:
    return [header(packet)["sequence"] for packet in participant.media]


class Call:
    """A call in which Alice publishes video on mid 1 and Bob receives it."""

    def __init__(self, *, rtx: bool = True, profile: str = "AEAD_AES_128_GCM") -> None:
        self.engine = new_engine()
        self.alice = Participant(self.engine, 1001, profile=profile)
        self.bob = Participant(self.engine, 1002, profile=profile)
        self.forwarder = self.alice.publish("1", "video")
        self.down_track = self.bob.subscribe(self.forwarder, 5000, rtx_ssrc=5001 if rtx else 0)
        self.deliver()

    def deliver(self) -> None:
        deliver(self.engine, self.alice, self.bob)

    def send(self, sequence: int, now: float, **fields: object) -> None:
        self.alice.send(video(sequence, **fields), now)  # type: ignore[arg-type]
        self.deliver()
