"""Packets from a participant with valid keys are forwarded or dropped, and never harm anyone else."""

import struct

import pylibsrtp
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit import packets
from tests.kit.call import Call, header
from tests.kit.participant import (
    DESCRIPTOR,
    LEVEL,
    MID,
    TWCC,
    VIDEO,
    VIDEO_RTX,
    VP8_KEYFRAME,
    Participant,
    video,
)

KEYFRAME_DESCRIPTOR = bytes.fromhex("c000018002044eaaaf2860414d34538a0940409fc059c0")
# The longest packet that pylibsrtp accepts.
MAX_PAYLOAD_BYTES = 1500 - 144
# Sequence numbers are mostly close to each other.
NUMBERS = st.integers(0, 60) | st.integers(0, 60) | st.integers(0, 65535)
ELEMENT = st.one_of(
    st.just((DESCRIPTOR, KEYFRAME_DESCRIPTOR)),
    st.tuples(st.just(DESCRIPTOR), st.binary(max_size=60)),
    st.tuples(st.just(DESCRIPTOR), st.binary(max_size=20).map(lambda tail: KEYFRAME_DESCRIPTOR[:4] + tail)),
    st.tuples(st.sampled_from([TWCC, LEVEL, 5, 15, 200]), st.binary(max_size=40)),
)
EXTENSIONS = st.one_of(
    st.lists(ELEMENT, max_size=22).map(lambda tail: packets.two_byte_extensions([(MID, b"1"), *tail])),
    st.lists(ELEMENT, max_size=22).map(lambda tail: packets.two_byte_extensions([(MID, b"1"), *tail])),
    st.binary(min_size=8, max_size=8).map(lambda body: b"\xbe\xde\0\2" + body),
)
RTP = st.builds(
    packets.rtp,
    ssrc=st.sampled_from([1000, 1000, 1000, 1001, 1002]),
    sequence=NUMBERS,
    payload_type=st.sampled_from([VIDEO, VIDEO, VIDEO, VIDEO_RTX, 5]),
    timestamp=st.integers(0, 2**32 - 1),
    marker=st.booleans(),
    extensions=EXTENSIONS,
    csrcs=st.lists(st.just(1), max_size=15),
    payload=st.binary(max_size=30) | st.just(VP8_KEYFRAME + bytes(800)),
    padding=st.sampled_from([0, 0, 1, 255]),
)
RTCP = st.one_of(
    st.builds(
        packets.rtcp,
        st.sampled_from([200, 201, 202, 203, 204, 205, 206, 207]),
        st.integers(0, 31),
        st.lists(
            st.sampled_from([0, 1, 1000, 5000, 5001, 2**32 - 1]) | st.integers(0, 2**32 - 1), max_size=40
        ).map(lambda words: struct.pack(f"!{len(words)}I", *words)),
    ),
    st.binary(max_size=60).map(lambda tail: b"\x81\xc9\0\1" + tail),
)
ACTION = st.one_of(
    st.tuples(st.just("rtp"), RTP),
    st.tuples(st.just("rtcp"), RTCP),
    st.tuples(st.just("nack"), st.lists(NUMBERS, max_size=20)),
    st.tuples(st.just("layer"), st.sampled_from([0, 1, 2, 7, 255])),
    st.tuples(st.just("paused"), st.sampled_from([0, 1])),
    st.tuples(st.just("wait"), st.sampled_from([0.001, 0.02, 0.7])),
    st.tuples(st.just("close"), st.just(0)),
)


class HostileSender:
    """A call in which Alice sends arbitrary media and RTCP reports to Bob and Carol. Dave only sends video to
    Alice.
    """

    def __init__(self) -> None:
        self.call = Call()
        self.carol = Participant(self.call.engine, 1003)
        self.down_tracks = [self.call.down_track]
        self.down_tracks.append(self.subscribe())
        self.dave = Participant(self.call.engine, 1004)
        self.to_dave = self.call.alice.subscribe(self.dave.publish("1", "video"), 7000, rtx_ssrc=7001)
        self.now = 1.0
        self.call.alice.send(video(0), self.now)

    def subscribe(self) -> int:
        ssrc = 5000 + 10 * len(self.down_tracks)
        return self.carol.subscribe(
            self.call.forwarder, ssrc, rtx_ssrc=ssrc + 1, extension_ids=[MID, DESCRIPTOR, LEVEL]
        )

    def act(self, action: str, argument: object) -> None:
        alice, engine = self.call.alice, self.call.engine
        if action == "rtp" and isinstance(argument, bytes):
            alice.send(argument[:MAX_PAYLOAD_BYTES], self.now)
        elif action == "rtcp" and isinstance(argument, bytes):
            alice.send_rtcp(argument, self.now)
        elif action == "nack" and isinstance(argument, list):
            for ssrc in (5000, 5010, 7000):
                for participant in (alice, self.call.bob, self.carol):
                    participant.send_rtcp(packets.nack(ssrc, argument), self.now)
        elif action == "layer" and isinstance(argument, int):
            engine.set_layer(self.down_tracks[-1], argument)
        elif action == "paused":
            engine.set_paused(self.down_tracks[-1], bool(argument))
        elif action == "wait" and isinstance(argument, float):
            self.now += argument
            engine.advance(self.now)
        else:
            engine.close_down_track(self.down_tracks[-1])
            self.down_tracks.append(self.subscribe())


@settings(max_examples=100)
@given(st.lists(ACTION, min_size=1, max_size=40))
def test_no_packet_from_a_participant_interrupts_the_others(actions: list[tuple[str, object]]) -> None:
    malice = HostileSender()
    malice.dave.send(video(1), malice.now)
    for action, argument in actions:
        try:
            malice.act(action, argument)
        except pylibsrtp.Error:
            # Alice's own libsrtp rejects a repeated number, and a header that extends beyond its packet.
            continue
    malice.dave.send(video(2), malice.now)
    malice.call.engine.advance(malice.now)
    malice.call.deliver()
    # In between, a random NACK may have caused an RTX packet.
    headers = map(header, malice.call.alice.media)
    first, second = [header["sequence"] for header in headers if header["ssrc"] == 7000][-2:]
    assert second == first + 1
