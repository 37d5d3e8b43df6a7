"""Simulates a browser that receives a video track, as seen from the network.

It reassembles frames, requests missing packets or a keyframe, and sends reports. It verifies every packet:
its authentication, its payload, and that no sequence number is used for two different packets. It decodes
nothing and has no playout delay: a frame's time is when it was complete.
"""

import struct

import pylibsrtp

from tests.kit import packets
from tests.kit.participant import DESCRIPTOR, VIDEO_RTX
from tests.kit.simulation.frames import Part, read
from tests.kit.simulation.world import Endpoint

PROCESS_S = 0.01
REPORT_INTERVAL_S = 1.0
# Like libwebrtc's NackRequester, request a packet ten times, and then a keyframe.
MAX_NACKS = 10


class VideoReceiver:
    """A receiver of one forwarder's track."""

    def __init__(
        self,
        endpoint: Endpoint,
        forwarder: int,
        *,
        rtx: bool = True,
        reorder_wait_s: float = 0.015,
        nack_interval_s: float = 0.06,
    ) -> None:
        self.endpoint = endpoint
        self.ssrc = 5000
        self.rtx_ssrc = 5001 if rtx else 0
        self.reorder_wait_s = reorder_wait_s
        self.nack_interval_s = nack_interval_s
        self.down_track = endpoint.participant.subscribe(
            forwarder, self.ssrc, rtx_ssrc=self.rtx_ssrc, extension_ids=[DESCRIPTOR]
        )
        # Each packet's part of a frame and its timestamp, by extended sequence number. The part is None for a
        # padding-only packet.
        self.parts: dict[int, tuple[Part | None, int]] = {}
        self.completed: dict[int, float] = {}  # the time at which each frame was complete
        self.packets = 0
        self.duplicates = 0
        self.nacks = 0
        self.plis = 0
        self._frames: dict[int, int] = {}  # the number of packets received for each frame
        self._last_keyframe = -1
        self._first = -1
        self._highest = -1
        # the time of the next request, and the number of requests so far
        self._missing: dict[int, tuple[float, int]] = {}
        self._received = 0  # as in receiver reports, where a packet recovered by RTX counts as lost
        self._reported = (0, 0)  # expected and received, at the last report
        self._last_sr = (0, 0.0)
        self._last_pli = 0.0
        endpoint.on_rtp = self._rtp_received
        endpoint.on_rtcp = self._rtcp_received
        endpoint.world.every(PROCESS_S, self._process)
        endpoint.world.every(REPORT_INTERVAL_S, self._report)

    # --- media ---

    def _rtp_received(self, data: bytes) -> None:
        try:
            packet = packets.read_rtp(self.endpoint.participant.inbound.unprotect(data))
        except pylibsrtp.Error as error:
            # This is a duplicate of the earlier packet, bit for bit, as the encryption invariant has
            # verified.
            assert "bad index" in str(error), error
            self.packets += 1
            self.duplicates += 1
            return
        if packet.ssrc == self.rtx_ssrc:
            assert packet.payload_type == VIDEO_RTX
            self._take(
                int.from_bytes(packet.payload[:2], "big"), packet.timestamp, packet.marker, packet.payload[2:]
            )
        else:
            assert packet.ssrc == self.ssrc
            self._received += 1
            self._take(packet.sequence, packet.timestamp, packet.marker, packet.payload)

    def _take(self, sequence: int, timestamp: int, marker: bool, payload: bytes) -> None:
        part = read(payload) if payload else None
        assert marker == (part is not None and part.index == part.count - 1), "the marker ends the frame"
        if self._first < 0:
            self._first = self._highest = sequence
        number = self._highest + ((sequence - self._highest + 0x8000) & 0xFFFF) - 0x8000
        self.packets += 1
        known = self.parts.get(number)
        if known is not None:
            assert known == (part, timestamp), f"packet {number} was received with two payloads"
            self.duplicates += 1
            return
        self.parts[number] = part, timestamp
        for missed in range(self._highest + 1, number):
            self._missing[missed] = self.endpoint.world.now + self.reorder_wait_s, 0
        self._highest = max(self._highest, number)
        self._missing.pop(number, None)
        if part is not None:
            self._count(part)

    def _count(self, part: Part) -> None:
        count = self._frames.get(part.frame, 0) + 1
        self._frames[part.frame] = count
        if count == part.count:
            self.completed[part.frame] = self.endpoint.world.now
            if part.keyframe:
                self._last_keyframe = max(self._last_keyframe, self._highest)

    # --- requests ---

    def _process(self) -> None:
        now = self.endpoint.world.now
        due = []
        for number, (ask_at, requests) in list(self._missing.items()):
            if ask_at > now:
                continue
            if requests == MAX_NACKS:
                del self._missing[number]
                if number > self._last_keyframe:
                    self._ask_for_a_keyframe()
                continue
            self._missing[number] = now + self.nack_interval_s, requests + 1
            due.append(number)
        if due:
            self.nacks += 1
            self.endpoint.send_rtcp(packets.nack(self.ssrc, due))

    def _ask_for_a_keyframe(self) -> None:
        now = self.endpoint.world.now
        if now - self._last_pli > 0.2:
            self._last_pli = now
            self.plis += 1
            self.endpoint.send_rtcp(packets.pli(self.ssrc))

    def _report(self) -> None:
        if self._first < 0:
            return
        now = self.endpoint.world.now
        expected, received = self._highest - self._first + 1, self._received
        lost = (expected - self._reported[0]) - (received - self._reported[1])
        share = max(0, min(255, lost * 256 // max(1, expected - self._reported[0])))
        self._reported = expected, received
        lsr, came = self._last_sr
        dlsr = round((now - came) * 65536) if lsr else 0
        self.endpoint.send_rtcp(
            packets.receiver_report(1, self.ssrc, fraction_lost=share, lsr=lsr, dlsr=dlsr)
        )

    def _rtcp_received(self, kind: int, count: int, body: bytes) -> None:
        if kind == 200:
            ssrc, ntp = struct.unpack_from("!IQ", body)
            assert ssrc == self.ssrc
            self._last_sr = ntp >> 16 & 0xFFFFFFFF, self.endpoint.world.now

    # --- for tests ---

    @property
    def frames(self) -> set[int]:
        """Return the numbers of the frames with at least one received packet."""
        return set(self._frames)

    def check_order(self) -> None:
        """Check that sequence numbers and timestamps increase from frame to frame, and that all packets of a
        frame have the same timestamp.
        """
        previous: tuple[Part, int] | None = None
        for number in sorted(self.parts):
            part, timestamp = self.parts[number]
            if part is None:
                continue
            if previous is not None:
                before, earlier = previous
                assert (before.frame, before.index) < (part.frame, part.index)
                assert (timestamp == earlier) == (part.frame == before.frame)
                assert (timestamp - earlier) & 0xFFFFFFFF < 0x80000000
            previous = part, timestamp
