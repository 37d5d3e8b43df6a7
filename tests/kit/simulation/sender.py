"""Simulates a browser's camera, as seen from the network.

It sends frames of several packets with transport-wide sequence numbers, retransmits on NACK, sends keyframes
on PLI, and sends sender reports. It has no congestion control: its rate is fixed.
"""

import struct
from collections import deque
from dataclasses import dataclass
from itertools import count

from tests.kit import packets
from tests.kit.participant import DESCRIPTOR, MID, TWCC, VIDEO, VIDEO_RTX
from tests.kit.simulation.frames import Frame, payload
from tests.kit.simulation.layers import descriptor
from tests.kit.simulation.world import Endpoint

HISTORY_S = 1.0
REPORT_INTERVAL_S = 1.0
# The assumed round-trip time until reports provide the actual one. A browser resends a packet at most once
# per round trip.
DEFAULT_RTT_S = 0.1


@dataclass(frozen=True, slots=True)
class Kept:
    """A packet that is kept for retransmission."""

    number: int
    sent: float
    frame: Frame
    index: int
    data: bytes  # encrypted


class VideoSender:
    """A publisher of one video track, at about 2 Mbit/s by default."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        rtx: bool = True,
        layers: bool = False,
        frames_per_second: int = 30,
        packets_per_frame: int = 7,
        packets_per_keyframe: int = 28,
        packet_bytes: int = 1150,
        pace_s: float = 0.001,
    ) -> None:
        self.endpoint = endpoint
        self.forwarder = endpoint.participant.publish("1", "video")
        self.rtx = rtx
        self.layers = layers
        self.frame_interval = 1 / frames_per_second
        self.packets_per_frame = packets_per_frame
        self.packets_per_keyframe = packets_per_keyframe
        self.packet_bytes = packet_bytes
        self.pace_s = pace_s
        self.frames: list[Frame] = []
        # (SSRC, extended sequence number) of each packet that arrived at the SFU
        self.reached: set[tuple[int, int]] = set()
        self.sent = 0
        self.resent = 0
        self.plis = 0
        self.nacks = 0
        self.rtt = DEFAULT_RTT_S
        self._stopped = False
        self._keyframe_wanted = True
        self._transport_wide = count()
        endpoint.on_rtcp = self._rtcp_received
        self._next_source: tuple[int, int] | None
        self._renew(1000, 65000)
        endpoint.world.at(endpoint.world.now, self._next_frame)
        endpoint.world.every(REPORT_INTERVAL_S, self._send_report)

    def begin(self, *, ssrc: int, sequence: int) -> None:
        """Send with this SSRC from the next frame on, like a browser that has restarted its encoder."""
        self._next_source = ssrc, sequence

    def _renew(self, ssrc: int, sequence: int) -> None:
        self._next_source = None
        self.ssrc = ssrc
        self.sequence = sequence
        self.rtx_sequence = 100
        self._history: deque[Kept] = deque()
        self._resent_at: dict[int, float] = {}
        self._keyframe_wanted = True

    def stop(self) -> None:
        self._stopped = True

    @property
    def packets_lost(self) -> int:
        """Return the number of packets that never arrived at the SFU."""
        return self.sent - len(self.reached)

    # --- media ---

    def _next_frame(self, _: None) -> None:
        if self._stopped:
            return
        if self._next_source is not None:
            self._renew(*self._next_source)
        world = self.endpoint.world
        size = self.packets_per_keyframe if self._keyframe_wanted else self.packets_per_frame
        since = 0 if self._keyframe_wanted else self.frames[-1].since_keyframe + 1
        frame = Frame(len(self.frames), world.now, size, self._keyframe_wanted, since)
        self._keyframe_wanted = False
        self.frames.append(frame)
        for index in range(size):
            world.at(world.now + index * self.pace_s, self._send_packet, (frame, index))
        world.at(world.now + self.frame_interval, self._next_frame)

    def _send_packet(self, part: tuple[Frame, int]) -> None:
        frame, index = part
        now = self.endpoint.world.now
        data = self._seal(self.ssrc, self.sequence, VIDEO, frame, index)
        self._history.append(Kept(self.sequence, now, frame, index, data))
        while self._history[0].sent < now - HISTORY_S:
            self._resent_at.pop(self._history.popleft().number, None)
        self._transmit(data, self.sequence)
        self.sequence += 1
        self.sent += 1

    def _seal(
        self, ssrc: int, sequence: int, payload_type: int, frame: Frame, index: int, prefix: bytes = b""
    ) -> bytes:
        """Return an encrypted packet of the frame."""
        number = next(self._transport_wide) & 0xFFFF
        extensions = [(MID, b"1"), (TWCC, number.to_bytes(2, "big"))]
        if self.layers:
            extensions.append((DESCRIPTOR, descriptor(frame, index)))
        packet = packets.rtp(
            ssrc=ssrc,
            sequence=sequence,
            payload_type=payload_type,
            timestamp=round(frame.captured * 90000),
            marker=index == frame.packets - 1,
            extensions=packets.one_byte_extensions(extensions),
            payload=prefix + payload(frame, index, self.packet_bytes),
        )
        return self.endpoint.participant.outbound.protect(packet)

    def _transmit(self, data: bytes, number: int) -> None:
        if self.endpoint.transmit(data):
            self.reached.add((self.ssrc, number))

    def _resend(self, sequence: int) -> None:
        """Resend the packet that a NACK requests, either as RTX or unchanged."""
        now = self.endpoint.world.now
        kept = next((kept for kept in self._history if kept.number & 0xFFFF == sequence), None)
        if kept is None or now - self._resent_at.get(kept.number, -1.0) < self.rtt:
            return
        self._resent_at[kept.number] = now
        self.resent += 1
        data = kept.data
        if self.rtx:
            original = struct.pack("!H", sequence)
            data = self._seal(
                self.ssrc + 1, self.rtx_sequence, VIDEO_RTX, kept.frame, kept.index, prefix=original
            )
            self.rtx_sequence += 1
        self._transmit(data, kept.number)

    # --- reports ---

    def _send_report(self) -> None:
        now = self.endpoint.world.now
        self.endpoint.send_rtcp(
            packets.sender_report(self.ssrc, int(now * 2**32), round(now * 90000) & 0xFFFFFFFF, self.sent)
        )

    def _rtcp_received(self, kind: int, count: int, body: bytes) -> None:
        if (kind, count) == (205, 1):
            self.nacks += 1
            for sequence in packets.read_nack(body):
                self._resend(sequence)
        elif (kind, count) == (206, 1):
            self.plis += 1
            self._keyframe_wanted = True
        elif kind == 201:
            for at in range(4, len(body), 24):
                lsr, dlsr = struct.unpack_from("!II", body, at + 16)
                if lsr:
                    self.rtt = (
                        ((int(self.endpoint.world.now * 65536) & 0xFFFFFFFF) - lsr - dlsr) & 0xFFFFFFFF
                    ) / 65536
