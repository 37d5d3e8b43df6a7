"""Prepares the steps of the RTP core that the micro benchmarks repeat, for any number of repetitions.

test_micro.py times the steps, and instructions.py counts their instructions, for the same packets.
"""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from benchmarks.micro.loops import Descriptor, FanOut, Nack, Parse, Protect, Reports, Rewrite
from svc._rtp.engine import ManualEngine
from svc._rtp.srtp import SrtpKeys
from tests.kit.captures import Packet, capture
from tests.kit.participant import (
    LEVEL,
    SERVER,
    TWCC,
    VP8_DELTA,
    VP8_KEYFRAME,
    Participant,
    binding_request,
    new_engine,
    video,
)

CAPTURE = "vp8_l1t3"
PACKET_BYTES = 1100
HEADER_BYTES = 24
RECEIVERS = (1, 10, 50, 1000)
KEY = bytes(range(28))


class Step(Protocol):
    def run(self, times: int) -> None: ...


def parse() -> Step:
    return Parse(_keyframe_and_delta()[0].data)


def descriptor() -> Step:
    keyframe, delta = _keyframe_and_delta()
    return Descriptor(_descriptor(keyframe), _descriptor(delta))


def rewrite() -> Step:
    kept = capture(CAPTURE).descriptor_id
    assert kept is not None
    return Rewrite(_keyframe_and_delta()[1].data, kept)


def protect() -> Step:
    return Protect(SrtpKeys("AEAD_AES_128_GCM", KEY, KEY), PACKET_BYTES)


def protect_sha1() -> Step:
    key = KEY + KEY[:2]
    return Protect(SrtpKeys("AES_CM_128_HMAC_SHA1_80", key, key), PACKET_BYTES)


def nack() -> Step:
    engine, publisher, receivers = _room(1)
    FanOut(engine, _video(publisher, 256), publisher.address, SERVER).run(256)
    return Nack(engine, receivers[0].transport)


def check(times: int) -> Step:
    """Authenticate and answer a connectivity check."""
    engine, publisher, _ = _room(0)
    checks = [binding_request(publisher.ufrag, publisher.pwd)] * times
    return FanOut(engine, checks, publisher.address, SERVER)


def reports() -> Step:
    """Process transport-wide feedback about a hundred packets."""
    engine, _, receivers = _room(1, numbered=True)
    return Reports(engine, receivers[0].transport)


def fan_out(receivers: int, times: int, *, numbered: bool = False) -> Step:
    """Forward each packet to the given number of receivers. The step can be repeated up to `times` times."""
    engine, publisher, _ = _room(receivers, numbered=numbered)
    return FanOut(engine, _video(publisher, times), publisher.address, SERVER)


def _keyframe_and_delta() -> tuple[Packet, Packet]:
    """Return the first packet of a keyframe, with its layer structure, and the first packet of a later
    frame.
    """
    recorded = capture(CAPTURE)
    keyframe = next(packet for packet in recorded.packets if len(_descriptor(packet)) > 8)
    after = recorded.packets[recorded.packets.index(keyframe) :]
    return keyframe, next(packet for packet in after if len(_descriptor(packet)) == 3)


def _descriptor(packet: Packet) -> bytes:
    return packet.extension(capture(CAPTURE).descriptor_id) or b""


def _room(receivers: int, *, numbered: bool = False) -> tuple[ManualEngine, Participant, list[Participant]]:
    """Return the engine, the participant who sends a camera, and the receivers."""
    engine = new_engine()
    publisher = Participant(engine, 1)
    forwarder = publisher.publish("1", "video")
    others = [Participant(engine, 2 + number) for number in range(receivers)]
    for number, participant in enumerate(others):
        ssrc = 10_000 + 2 * number
        ids = [LEVEL, TWCC] if numbered else [LEVEL]
        participant.subscribe(forwarder, ssrc, rtx_ssrc=ssrc + 1, extension_ids=ids)
    engine.advance(0.1)
    return engine, publisher, others


def _video(publisher: Participant, count: int) -> list[bytes]:
    """Return a keyframe's packet and many later packets, encrypted, as a browser sends a camera's video."""
    packets = []
    for number in range(count):
        payload = (VP8_DELTA if number else VP8_KEYFRAME).ljust(PACKET_BYTES - HEADER_BYTES, b"\x07")
        packet = video(number, payload=payload, timestamp=300 * number, twcc=number & 0xFFFF)
        packets.append(publisher.outbound.protect(packet))
    return packets


def _however_often(make: Callable[[], Step]) -> Callable[[int], Step]:
    return lambda _times: make()


# The steps by name. The argument of each function is the maximum number of repetitions.
STEPS: dict[str, Callable[[int], Step]] = {
    "parse": _however_often(parse),
    "descriptor": _however_often(descriptor),
    "rewrite": _however_often(rewrite),
    "protect_gcm": _however_often(protect),
    "protect_sha1": _however_often(protect_sha1),
    "check": check,
    "nack": _however_often(nack),
    "reports_100": _however_often(reports),
    "numbered_10": partial(fan_out, 10, numbered=True),
    **{f"fan_out_{receivers}": partial(fan_out, receivers) for receivers in RECEIVERS},
}
