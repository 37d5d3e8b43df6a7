"""Simulates a link from Alice to Bob whose bandwidth the core estimates.

The test sets the link's rate and sends Bob's reports.
"""

from tests.kit import packets
from tests.kit.call import Call, header
from tests.kit.participant import MID, TWCC, VP8_DELTA, VP8_KEYFRAME, Participant, deliver
from tests.kit.participant import video as video_packet

DELAY_S = 0.02


class Downlink:
    """A link without loss over which Alice sends video to Bob. Bob reports arrivals as a browser does.

    A `rate_bps` of 0 means an unlimited link.
    """

    def __init__(
        self, *, rtx: bool = True, extension_ids: tuple[int, ...] = (MID, TWCC), rate_bps: float = 0
    ) -> None:
        self.rate_bps, self.free_at = rate_bps, 0.0
        self.call = Call(rtx=rtx)
        self.engine, self.alice = self.call.engine, self.call.alice
        self.engine.close_down_track(self.call.down_track)
        self.bob = Participant(self.engine, 1003)
        self.down_track = self.bob.subscribe(
            self.call.forwarder, 6000, rtx_ssrc=6001 if rtx else 0, extension_ids=extension_ids
        )
        self.now = 1.0
        self.sequence = 100
        self.arrivals: list[tuple[int, float]] = []
        self.reports = 0

    def send(self, payload_bytes: int = 1000) -> None:
        start = VP8_KEYFRAME if self.sequence == 100 else VP8_DELTA
        packet = video_packet(
            self.sequence, payload=start + bytes(payload_bytes), timestamp=self.sequence * 3000
        )
        self.sequence += 1
        self.alice.send(packet, self.now)
        self.take_in()

    def take_in(self) -> None:
        before = len(self.bob.media)
        deliver(self.engine, self.alice, self.bob)
        for packet in self.bob.media[before:]:
            self.free_at = max(self.free_at, self.now)
            self.free_at += 8 * len(packet) / self.rate_bps if self.rate_bps else 0
            if wide(packet) >= 0:
                self.arrivals.append((wide(packet), self.free_at + DELAY_S))

    def numbers(self) -> list[int]:
        """Return the transport-wide sequence numbers of Bob's latest packets and clear the list."""
        arrivals, self.arrivals = self.arrivals, []
        return [number for number, _ in arrivals]

    def report(self, arrivals: list[tuple[int, float]]) -> None:
        if arrivals:
            self.reports += 1
            self.bob.send_rtcp(packets.transport_feedback(arrivals, self.reports), self.now)

    def report_all(self) -> list[tuple[int, float]]:
        """Report the packets that have arrived since the last report."""
        arrivals = [(number, at) for number, at in self.arrivals if at <= self.now]
        self.arrivals = [(number, at) for number, at in self.arrivals if at > self.now]
        self.report(arrivals)
        return arrivals

    def talk(self, seconds: float, *, every_s: float = 0.01, report_every_s: float = 0.1) -> None:
        """Send video and the feedback about it, and advance the core to each of its deadlines."""
        end, next_packet, next_report = self.now + seconds, self.now, self.now + report_every_s
        while self.now < end:
            self.now += 0.005
            if self.now >= next_packet:
                next_packet += every_s
                self.send()
            self.engine.advance(self.now)
            self.take_in()
            if self.now >= next_report:
                next_report += report_every_s
                self.report_all()

    def estimates(self) -> list[int]:
        return [
            a
            for kind, transport, _, _, _, a, _, _ in self.engine.take_events()
            if kind == "bandwidth" and transport == self.bob.transport
        ]


def wide(packet: bytes) -> int:
    """Return the transport-wide sequence number, or -1 if there is none."""
    values = [value for ext_id, value in header(packet)["extensions"] if ext_id == TWCC]
    return int.from_bytes(values[0], "big") if values else -1
