"""Runs the forwarding core with one publisher and one receiver, without a network: packets in, packets out.

It is the same core that serves rooms, including SRTP, so a browser in the publisher's room would receive the
same packets. This module makes no decisions itself.
"""

import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING

from svc._rtp.engine import ManualEngine
from svc._rtp.sequence import extended
from svc._rtp.srtp import SrtpKeys
from svc.sfu.stun import binding_request

if TYPE_CHECKING:
    from svc._rtp.header import ParsedHeader

PROFILE = "AEAD_AES_128_GCM"
# Nothing leaves this process, so neither the keys nor the seed need to be secret.
KEYS = bytes(range(28)), bytes(range(28, 56))
SEED = 1
PUBLISHER, RECEIVER, SERVER = ("192.0.2.1", 1), ("192.0.2.2", 2), "192.0.2.3"
UFRAG, PWD = "publisher", "password"
CLOCK_RATE = 90000
# For a codec with this name, the core does not look for keyframes and starts with any packet.
CODEC = "any"
ALL_LAYERS = 255
# The core accepts datagrams of up to 1500 bytes, of which 16 are the authentication tag.
MAX_PACKET = 1484


class Replay:
    """A core that forwards a stream, with retransmissions on other SSRCs, to a receiver that accepts
    everything.
    """

    def __init__(
        self, ssrc: int, *, repeating: Iterable[int], payload_types: dict[int, int | None], descriptor_id: int
    ) -> None:
        """Create the core. `payload_types` maps each type to None or, for retransmissions, to the type of the
        packets that they retransmit.
        """
        self._engine = ManualEngine(seed=SEED)
        self._sender = SrtpKeys(PROFILE, *KEYS)
        self._receiver = SrtpKeys(PROFILE, KEYS[1], KEYS[0])
        self._numbers: dict[int, int] = {}  # highest extended sequence number of each SSRC, for SRTP
        pairs = _with_retransmission(payload_types)
        self._engine.negotiate(
            payloads=[(media, "video", CODEC, CLOCK_RATE, rtx) for media, rtx in pairs],
            mid_id=0,
            twcc_id=0,
            level_id=0,
            descriptor_id=descriptor_id,
            forwarded_ids=range(1, 256),
        )
        self._connect()
        accepted = {payload_type for pair in pairs for payload_type in pair}
        forwarder = self._engine.open_section(self._publisher, 0, "0", "video", accepted, [ssrc, *repeating])
        self._down_track = self._engine.open_down_track(
            forwarder,
            self._subscriber,
            mid="",
            mid_id=0,
            ssrc=ssrc,
            rtx_ssrc=ssrc ^ 1,
            payload_types=accepted,
            extension_ids=range(1, 256),
            mixed=True,
            cname="",
        )

    def _connect(self) -> None:
        self._publisher = self._engine.open_transport(1)
        self._subscriber = self._engine.open_transport(2)
        self._engine.set_credentials(self._publisher, UFRAG, PWD)
        self._engine.set_keys(self._publisher, PROFILE, KEYS[1], KEYS[0])
        self._engine.set_keys(self._subscriber, PROFILE, KEYS[0], KEYS[1])
        check = binding_request(bytes(12))
        check.attributes["USERNAME"] = f"{UFRAG}:"
        check.attributes["PRIORITY"] = 1
        check.attributes["ICE-CONTROLLED"] = 1
        check.add_message_integrity(PWD.encode())
        self._engine.receive(bytes(check), PUBLISHER, SERVER, 0.0)
        self._engine.select(self._subscriber, RECEIVER, SERVER)

    def set_max_temporal_layer(self, layer: int) -> None:
        """Set the highest temporal layer to forward. A negative value means all."""
        self._engine.set_layer(self._down_track, layer if layer >= 0 else ALL_LAYERS)

    def set_max_spatial_layer(self, layer: int) -> None:
        """Set the highest spatial layer to forward. A negative value means all."""
        self._engine.set_spatial_layer(self._down_track, layer if layer >= 0 else ALL_LAYERS)

    def send(self, packet: bytes, header: "ParsedHeader", now: float) -> list[bytes]:
        """Send a packet as the publisher, and return the packets that the receiver gets."""
        number = self._number(header["ssrc"], header["sequence"])
        start = header["payload_offset"]
        if number < 0 or len(packet) > MAX_PACKET:
            return []
        sealed = self._sender.seal(packet[:start], b"", packet[start:], header["ssrc"], number)
        self._engine.receive(sealed, PUBLISHER, SERVER, now)
        sent = [data for data, remote, _ in self._engine.take_datagrams() if remote == RECEIVER]
        return [plain for data in sent if (plain := self._receiver.unprotect(data)) is not None]

    def _number(self, ssrc: int, sequence: int) -> int:
        highest = self._numbers.get(ssrc, sequence)
        number = extended(highest, sequence)
        self._numbers[ssrc] = max(number, highest)
        return number


def _with_retransmission(payload_types: dict[int, int | None]) -> list[tuple[int, int]]:
    """Return pairs of media and RTX payload types. Missing RTX types are made up, because every browser's
    offer has them.
    """
    pairs = [(repeated, rtx) for rtx, repeated in payload_types.items() if repeated is not None]
    repeated = {media for media, _ in pairs}
    spare = (payload_type for payload_type in range(127, -1, -1) if payload_type not in payload_types)
    media = [payload_type for payload_type, original in payload_types.items() if original is None]
    return pairs + [(payload_type, next(spare)) for payload_type in media if payload_type not in repeated]


def simple_packet(ssrc: int, payload_type: int, sequence: int, timestamp: int) -> bytes:
    """Return a packet with one byte of payload and nothing else."""
    return struct.pack("!BBHIIB", 0x80, payload_type, sequence & 0xFFFF, timestamp, ssrc, 0)
