"""Sets up an engine with two participants in a call, for fuzz targets that require authentication.

Keys and credentials are constants, so an input always has the same effect. Only the engine's random choices
depend on earlier rooms. The encryption is real, with known keys. Both participants send microphone audio and
camera video. Bob has negotiated RTX, RED and both extension forms, and Alice has negotiated none of them.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import count
from typing import TYPE_CHECKING

import pylibsrtp

from svc._rtp.engine import ManualEngine
from svc._rtp.header import parse_header
from tests.kit import packets
from tests.kit.participant import DESCRIPTOR, LEVEL, MID, SERVER, TWCC, binding_request, srtp_session
from tests.kit.simulation.invariant import EncryptionInvariant

if TYPE_CHECKING:
    from svc._rtp.engine import Address

AUDIO, RED = 111, 63
VIDEO = {"VP8": 112, "VP9": 114, "H264": 116, "AV1": 118}
PAYLOADS: list[tuple[int, str, str, int, int | None]] = [
    (AUDIO, "audio", "opus", 48000, None),
    (RED, "audio", "red", 48000, None),
    *((number, "video", name, 90000, number + 1) for name, number in VIDEO.items()),
]
PAYLOAD_TYPES = [AUDIO, *range(112, 120)]
PROFILE = "AEAD_AES_128_GCM"
RID, REPAIRED_RID = 10, 11
RIDS = (b"q", b"h", b"f")
PWD = "passwordpasswordpassword"
# Packets to a participant, including RTCP, have SSRCs that start at this number times the participant's
# number.
SSRCS = 100_000
LARGEST = 1720  # OUTGOING_BYTES in the core
LARGEST_RECEIVED = 1350  # MAX_DATAGRAM minus the overhead of encryption, as counted by pylibsrtp


@dataclass
class Source:
    """A participant's stream in one media section, and its current position."""

    mid: bytes
    ssrc: int
    sequence: int = 65530  # so that sequence numbers wrap early
    timestamp: int = 0xFFFFF000


@dataclass
class Peer:
    """A participant, its keys, and the packets that it has received."""

    number: int
    address: "Address"
    transport: int
    outbound: pylibsrtp.Session
    sources: list[Source] = field(init=False)
    ssrcs: list[int] = field(default_factory=list)  # the SSRCs of down tracks, each followed by an RTX SSRC
    invariant: EncryptionInvariant = field(default_factory=EncryptionInvariant)
    last_sequence: dict[int, int] = field(default_factory=dict)  # by SSRC
    last_number: int = 0  # transport-wide sequence numbers

    def __post_init__(self) -> None:
        self.sources = [Source(b"0", 1000 * self.number), Source(b"1", 1000 * self.number + 500)]

    def take_in(self, data: bytes) -> None:
        self.invariant.check(data)
        if not packets.is_rtcp(data):
            ssrc, sequence = int.from_bytes(data[8:12], "big"), int.from_bytes(data[2:4], "big")
            self.last_sequence[ssrc] = sequence
            # The length of the padding is encrypted.
            parsed = parse_header(bytes([data[0] & ~0x20]) + data[1:])
            assert parsed is not None
            numbers = [value for ext_id, value in parsed["extensions"] if ext_id == TWCC]
            self.last_number = int.from_bytes(numbers[0], "big") if numbers else self.last_number


@lru_cache(maxsize=1)
def _engine(number: int) -> ManualEngine:
    """Return the engine that all rooms use one after another, because creating an engine takes longer than
    running most inputs.
    """
    engine = ManualEngine(seed=7 << 32, shards=2)
    engine.negotiate(
        payloads=PAYLOADS,
        mid_id=MID,
        twcc_id=TWCC,
        level_id=LEVEL,
        descriptor_id=DESCRIPTOR,
        forwarded_ids=[DESCRIPTOR, LEVEL],
        rid_id=RID,
        repaired_rid_id=REPAIRED_RID,
        red=(RED, AUDIO),
    )
    return engine


_ROOMS = count()
ROOMS_IN_AN_ENGINE = 1000
# The time between rooms in seconds. It must exceed any room's duration and be a multiple of all clock units.
APART = 4096


class Room:
    """A clock and all participants, who join at the start and leave at the end."""

    def __init__(self) -> None:
        engine, before = divmod(next(_ROOMS), ROOMS_IN_AN_ENGINE)
        self.engine = _engine(engine)
        self.now = float(APART * (before + 1))
        self.forwarders: list[int] = []
        self.down_tracks: list[int] = []
        self.transports: list[int] = []
        self.peers: list[Peer] = []
        for number in (1, 2):
            self.peers.append(self.join(number))
            self.publish(self.peers[-1])
        alice, bob = self.peers
        for forwarder in self.forwarders[:2]:
            self.subscribe(bob, forwarder)
        for forwarder in self.forwarders[2:]:
            self.subscribe(alice, forwarder)

    def __enter__(self) -> "Room":
        return self

    def __exit__(self, *_: object) -> None:
        """Close all transports. Check that the engine then sends nothing."""
        for transport in self.transports:
            self.engine.close_transport(transport)
        self.wait(0.0)
        self.engine.advance(self.now + 1)
        assert not self.engine.take_datagrams()

    def join(self, number: int) -> Peer:
        """Open a transport that is connected and has keys."""
        key = bytes([number, len(self.transports) & 255]) * 14
        engine, address = self.engine, ("198.51.100.7", 1000 + number)
        transport = engine.open_transport(rtcp_ssrc=SSRCS * number)
        engine.set_credentials(transport, f"ufrag{number}", PWD)
        engine.set_keys(transport, PROFILE, key, key)
        engine.receive(check(number), address, SERVER, self.now)
        engine.select(transport, address, SERVER)
        self.transports.append(transport)
        return Peer(number, address, transport, srtp_session(PROFILE, key, outbound=True))

    def rejoin(self, number: int) -> None:
        """Leave, and rejoin with new keys."""
        self.engine.close_transport(self.peers[number - 1].transport)
        self.wait(0.0)
        self.peers[number - 1] = self.join(number)
        self.publish(self.peers[number - 1])

    def publish(self, peer: Peer) -> None:
        for line, (kind, payload_types) in enumerate((("audio", [AUDIO, RED]), ("video", PAYLOAD_TYPES[1:]))):
            ssrcs = [peer.sources[line].ssrc]
            self.forwarders.append(
                self.engine.open_section(
                    peer.transport,
                    0,
                    str(line),
                    kind,
                    payload_types,
                    ssrcs,
                    [rid.decode() for rid in RIDS] if kind == "video" and peer.number == 2 else [],
                )
            )

    def subscribe(self, peer: Peer, forwarder: int) -> None:
        alice = peer.number == 1
        ssrc = SSRCS * peer.number + 2 + 2 * len(peer.ssrcs)
        peer.ssrcs.append(ssrc)
        self.down_tracks.append(
            self.engine.open_down_track(
                forwarder,
                peer.transport,
                mid="4",
                mid_id=MID,
                ssrc=ssrc,
                rtx_ssrc=0 if alice else ssrc + 1,
                payload_types=PAYLOAD_TYPES if alice else [*PAYLOAD_TYPES, RED],
                extension_ids=[MID, TWCC, DESCRIPTOR, LEVEL],
                mixed=not alice,
                cname="cname",
            )
        )

    def send(self, peer: Peer, packet: bytes) -> None:
        """Send an RTP packet. Ignore packets that the SRTP library rejects, because the core would not accept
        them either.
        """
        with suppress(pylibsrtp.Error):
            self.receive(peer.outbound.protect(packet[:LARGEST_RECEIVED]), peer.address)

    def send_rtcp(self, peer: Peer, compound: bytes) -> None:
        with suppress(pylibsrtp.Error):
            self.receive(peer.outbound.protect_rtcp(compound[:LARGEST_RECEIVED]), peer.address)

    def receive(self, datagram: bytes, source: "Address") -> None:
        self.engine.receive(datagram, source, SERVER, self.now)
        self.look()

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.engine.advance(self.now)
        self.look()

    def look(self) -> None:
        """Check the packets that the engine has sent, and discard its events."""
        self.engine.take_events()
        for data, _, _ in self.engine.take_datagrams():
            assert len(data) <= LARGEST
            if data[0] >= 128:
                ssrc = int.from_bytes(data[4:8] if packets.is_rtcp(data) else data[8:12], "big")
                self.peers[ssrc // SSRCS - 1].take_in(data)

    def talk(self) -> None:
        """Send a few packets of every kind, in both directions."""
        for _ in range(2):
            for peer in self.peers:
                for source, payload_type in zip(peer.sources, (AUDIO, VIDEO["VP8"]), strict=True):
                    self.send(peer, media(source, payload_type, b"\x10\0 picture"))
            self.wait(0.02)


def media(source: Source, payload_type: int, payload: bytes) -> bytes:
    """Build a source's next packet, with its mid and a transport-wide sequence number."""
    source.sequence += 1
    source.timestamp += 3000
    elements = [(MID, source.mid), (TWCC, (source.sequence & 0xFFFF).to_bytes(2, "big"))]
    return packets.rtp(
        ssrc=source.ssrc,
        sequence=source.sequence,
        payload_type=payload_type,
        timestamp=source.timestamp,
        marker=True,
        extensions=packets.one_byte_extensions(elements),
        payload=payload,
    )


@cache
def check(number: int, use_candidate: bool = True, role: str = "ICE-CONTROLLED") -> bytes:
    """Build a participant's connectivity check."""
    return binding_request(
        f"ufrag{number}", PWD, use_candidate=use_candidate, role=role, transaction_id=b"transaction."
    )
