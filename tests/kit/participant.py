"""Simulates a participant in a ManualEngine, and stores the packets that it receives.

There is no ICE, DTLS or SDP, because keys and credentials are agreed in advance. The STUN and SRTP code is
third-party: aioice's STUN codec and pylibsrtp stand in for a browser's.
"""

import secrets
from collections.abc import Iterable

import pylibsrtp
from aioice import stun

from svc._rtp.engine import Engine, ManualEngine
from tests.kit import packets

AUDIO, VIDEO, VIDEO_RTX = 111, 112, 113  # Opus, VP8 and its RTX
MID, TWCC, DESCRIPTOR, LEVEL = 1, 2, 3, 4  # extension ids
OTHER_VIDEO = 114  # AV1, without RTX
PAYLOADS = [
    (AUDIO, "audio", "opus", 48000, None),
    (VIDEO, "video", "VP8", 90000, VIDEO_RTX),
    (OTHER_VIDEO, "video", "AV1", 90000, None),
]
SERVER = "192.0.2.1"
VP8_KEYFRAME = bytes([0x10, 0x00])
VP8_DELTA = bytes([0x10, 0x01])


def new_engine(
    seed: int = 7 << 32, kind: type[ManualEngine] = ManualEngine, *, shards: int = 1
) -> ManualEngine:
    engine = kind(seed=seed, shards=shards)
    negotiate(engine)
    return engine


def negotiate(engine: Engine) -> None:
    engine.negotiate(
        payloads=PAYLOADS,
        mid_id=MID,
        twcc_id=TWCC,
        level_id=LEVEL,
        descriptor_id=DESCRIPTOR,
        forwarded_ids=[DESCRIPTOR, LEVEL],
    )


def srtp_session(profile: str, key: bytes, *, outbound: bool) -> pylibsrtp.Session:
    profiles = {
        "AEAD_AES_128_GCM": pylibsrtp.Policy.SRTP_PROFILE_AEAD_AES_128_GCM,
        "AES_CM_128_HMAC_SHA1_80": pylibsrtp.Policy.SRTP_PROFILE_AES128_CM_SHA1_80,
    }
    kind = pylibsrtp.Policy.SSRC_ANY_OUTBOUND if outbound else pylibsrtp.Policy.SSRC_ANY_INBOUND
    policy = pylibsrtp.Policy(key=key, ssrc_type=kind, srtp_profile=profiles[profile])
    policy.allow_repeat_tx = True
    policy.window_size = 1024  # as in Chromium
    return pylibsrtp.Session(policy)


def binding_request(
    ufrag: str,
    pwd: str,
    *,
    use_candidate: bool = False,
    role: str = "ICE-CONTROLLED",
    transaction_id: bytes | None = None,
) -> bytes:
    """Build a connectivity check for this name and password, with a random transaction id."""
    request = stun.Message(stun.Method.BINDING, stun.Class.REQUEST, transaction_id or secrets.token_bytes(12))
    request.attributes["USERNAME"] = f"{ufrag}:theirs"
    request.attributes["PRIORITY"] = 100
    request.attributes[role] = 1
    if use_candidate:
        request.attributes["USE-CANDIDATE"] = None
    request.add_message_integrity(pwd.encode())
    request.add_fingerprint()
    return bytes(request)


class Participant:
    """One transport of the engine, connected and keyed, and the client at the other end."""

    def __init__(
        self,
        engine: ManualEngine,
        port: int,
        *,
        now: float = 0.0,
        profile: str = "AEAD_AES_128_GCM",
        keyed: bool = True,
    ) -> None:
        self.engine = engine
        self.address = ("198.51.100.7", port)
        self.ufrag = f"ufrag{port}"
        self.pwd = "password" * 3
        self.transport = engine.open_transport(rtcp_ssrc=port)
        engine.set_credentials(self.transport, self.ufrag, self.pwd)
        key_length = 28 if profile == "AEAD_AES_128_GCM" else 30
        ours, theirs = secrets.token_bytes(key_length), secrets.token_bytes(key_length)
        self.outbound = srtp_session(profile, theirs, outbound=True)
        self.inbound = srtp_session(profile, ours, outbound=False)
        self.media: list[bytes] = []  # decrypted RTP received
        self.reports: list[tuple[int, int, bytes]] = []  # (type, count, body) of decrypted RTCP received
        self.other: list[bytes] = []
        if keyed:
            engine.set_keys(self.transport, profile, ours, theirs)
        self.check(now)
        engine.select(self.transport, self.address, SERVER)
        engine.advance(now)

    def check(
        self, now: float, *, use_candidate: bool = False, pwd: str | None = None, role: str = "ICE-CONTROLLED"
    ) -> None:
        """Send a connectivity check."""
        request = binding_request(self.ufrag, pwd or self.pwd, use_candidate=use_candidate, role=role)
        self.engine.receive(request, self.address, SERVER, now)

    def send(self, packet: bytes, now: float) -> None:
        """Encrypt and send an RTP packet."""
        self.engine.receive(self.outbound.protect(packet), self.address, SERVER, now)

    def send_rtcp(self, packet: bytes, now: float) -> None:
        self.engine.receive(self.outbound.protect_rtcp(packet), self.address, SERVER, now)

    def publish(self, mid: str, kind: str, ssrcs: Iterable[int] = ()) -> int:
        payload_types = [AUDIO] if kind == "audio" else [VIDEO, VIDEO_RTX, OTHER_VIDEO]
        return self.engine.open_section(self.transport, 0, mid, kind, payload_types, list(ssrcs))

    def subscribe(
        self,
        forwarder: int,
        ssrc: int,
        *,
        rtx_ssrc: int = 0,
        kind: str = "video",
        extension_ids: Iterable[int] = (LEVEL,),
        mixed: bool = True,
        mid: str = "4",
    ) -> int:
        payload_types = [AUDIO] if kind == "audio" else [VIDEO] + ([VIDEO_RTX] if rtx_ssrc else [])
        ids = list(extension_ids)
        return self.engine.open_down_track(
            forwarder,
            self.transport,
            mid=mid,
            mid_id=MID if MID in ids else 0,
            ssrc=ssrc,
            rtx_ssrc=rtx_ssrc,
            payload_types=payload_types,
            extension_ids=ids,
            mixed=mixed,
            cname="alice",
        )

    def take_in(self, data: bytes) -> None:
        """Decrypt one datagram from the engine, and store it."""
        if data[0] < 128:
            self.other.append(data)
        elif 192 <= data[1] < 224:
            remaining = self.inbound.unprotect_rtcp(data)
            while remaining:
                size = 4 * (1 + int.from_bytes(remaining[2:4], "big"))
                self.reports.append((remaining[1], remaining[0] & 31, remaining[4:size]))
                remaining = remaining[size:]
        else:
            self.media.append(self.inbound.unprotect(data))


def deliver(engine: ManualEngine, *participants: Participant) -> None:
    """Deliver the engine's packets to the participants to which they are addressed."""
    by_address = {participant.address: participant for participant in participants}
    for data, remote, _local in engine.take_datagrams():
        if remote in by_address:
            by_address[remote].take_in(data)


def video(
    sequence: int,
    *,
    ssrc: int = 1000,
    mid: bytes | None = b"1",
    payload: bytes = VP8_KEYFRAME,
    timestamp: int = 0,
    marker: bool = False,
    twcc: int | None = None,
) -> bytes:
    """Build a packet like a browser's camera packets."""
    elements = []
    if mid is not None:
        elements.append((MID, mid))
    if twcc is not None:
        elements.append((TWCC, twcc.to_bytes(2, "big")))
    return packets.rtp(
        ssrc=ssrc,
        sequence=sequence,
        payload_type=VIDEO,
        timestamp=timestamp,
        marker=marker,
        extensions=packets.one_byte_extensions(elements) if elements else b"",
        payload=payload,
    )
