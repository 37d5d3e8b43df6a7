"""Checks the encryption invariant: under one key, an SSRC and sequence number are never used for different
bytes.

A violation would reveal AES-GCM's authentication key (RFC 7714 section 8.1). The tests watch the sent
datagrams: two datagrams with the same number must be identical.
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit import packets
from tests.kit.call import Call, header
from tests.kit.dependency_descriptor import Descriptor, Structure, Template
from tests.kit.participant import (
    DESCRIPTOR,
    LEVEL,
    MID,
    TWCC,
    VIDEO,
    VIDEO_RTX,
    VP8_DELTA,
    VP8_KEYFRAME,
    Participant,
    deliver,
    video,
)
from tests.kit.simulcast import CODECS, RID, Scene


def feedback(datagrams: Iterable[bytes], now: float) -> bytes:
    """Return feedback that reports these datagrams as received 0.1 s apart, the latest at `now`."""
    extensions = [value for data in datagrams for value in header(data)["extensions"]]
    numbers = [int.from_bytes(value, "big") for ext_id, value in extensions if ext_id == TWCC]
    arrivals = [(number, now - 0.1 * back) for back, number in enumerate(reversed(numbers))]
    return packets.transport_feedback(arrivals[::-1], 1)


@dataclass
class Watched:
    """A call whose receiver has no RTX and sends no report at the start, so every resend is an identical
    packet.
    """

    profile: str = "AEAD_AES_128_GCM"
    call: Call = field(init=False)
    seen: dict[tuple[int, int], bytes] = field(default_factory=dict)
    resent: int = 0
    now: float = 1.0
    ssrc: int = 1000
    sequence: int = 100
    rtx_sequence: int = 0
    payloads: int = 0
    padding: int = 0

    def __post_init__(self) -> None:
        self.call = Call(rtx=False, profile=self.profile)
        self.call.engine.close_down_track(self.call.down_track)
        self.call.down_track = self.call.bob.subscribe(
            self.call.forwarder, 5000, extension_ids=[MID, TWCC, LEVEL]
        )

    def watch(self) -> None:
        for data, remote, _ in self.call.engine.take_datagrams():
            if remote != self.call.bob.address or data[0] < 128 or 192 <= data[1] < 224:
                continue
            sequence, _, ssrc = struct.unpack("!HII", data[2:12])
            self.resent += (ssrc, sequence) in self.seen
            assert self.seen.setdefault((ssrc, sequence), data) == data, (
                f"{sequence} of {ssrc} was encrypted with different bytes"
            )

    def send(self, sequence: int, *, keyframe: bool = False, as_rtx: bool = False) -> None:
        self.payloads += 1
        payload = (
            (VP8_KEYFRAME if keyframe else VP8_DELTA) + struct.pack("!I", self.payloads) + bytes(self.padding)
        )
        if as_rtx:
            self.rtx_sequence += 1
            packet = packets.rtp(
                ssrc=self.ssrc + 1,
                sequence=self.rtx_sequence,
                payload_type=VIDEO_RTX,
                extensions=packets.one_byte_extensions([(MID, b"1")]),
                payload=struct.pack("!H", sequence & 0xFFFF) + payload,
            )
        else:
            packet = video(sequence, ssrc=self.ssrc, payload=payload)
        self.call.alice.send(packet, self.now)
        self.watch()

    def nack(self, numbers: list[int]) -> None:
        self.call.bob.send_rtcp(packets.nack(5000, numbers), self.now)
        self.watch()

    def pace(self) -> None:
        """Send media and reports for a second, so that the core estimates the link's bandwidth and paces the
        video.
        """
        self.call.engine.want_bandwidth(self.call.bob.transport, 1)
        for _ in range(10):
            self.now += 0.1
            self.sequence += 1
            self.send(self.sequence)
        self.call.bob.send_rtcp(feedback(self.seen.values(), self.now), self.now)
        self.call.engine.set_paced(self.call.down_track, True)

    def last_number(self) -> int:
        return max((sequence for _, sequence in self.seen), default=0)


@pytest.mark.parametrize("profile", ["AEAD_AES_128_GCM", "AES_CM_128_HMAC_SHA1_80"])
def test_a_packet_from_a_new_sender_never_reuses_a_number_of_an_old_sender(profile: str) -> None:
    watched = Watched(profile)
    watched.send(100, keyframe=True)
    watched.ssrc = 2000
    # The new source happens to use the same sequence numbers as the old one, and has not sent a keyframe yet.
    watched.send(100)
    watched.nack([watched.last_number()])
    assert watched.resent == 0


def test_a_resend_repeats_the_mid_even_if_new_packets_no_longer_contain_it() -> None:
    watched = Watched()
    watched.send(100, keyframe=True)
    watched.call.bob.send_rtcp(packets.receiver_report(1, 5000), watched.now)
    watched.send(101)
    watched.now += 0.1
    watched.nack([watched.last_number() - 1, watched.last_number()])
    assert watched.resent == 2


ENCODING_STEP = st.one_of(
    st.tuples(st.just("keyframe"), st.integers(0, 2)),
    st.tuples(st.just("send"), st.integers(0, 2)),
    st.tuples(st.just("late"), st.integers(0, 2)),
    st.tuples(st.just("codec"), st.integers(0, 2)),
    st.tuples(st.just("restart"), st.integers(0, 2)),
    st.tuples(st.just("want"), st.integers(0, 2)),
    st.tuples(st.just("want at once"), st.integers(0, 2)),
    st.tuples(st.just("paced"), st.integers(0, 1)),
    st.tuples(st.just("nack"), st.integers(0, 30)),
    st.tuples(st.just("wait"), st.sampled_from([1, 150, 400])),
)


class WatchedEncodings:
    """A track in three encodings with separate sequence numbers, and a receiver without RTX."""

    def __init__(self, padding: int = 0) -> None:
        self.padding = padding
        self.scene = Scene("VP8", rtx=False, extension_ids=[TWCC])
        self.encodings = list(self.scene.encodings.values())
        self.codecs = [CODECS["VP8"]] * 3
        self.now = 1.0
        self.count = 0
        self.seen: dict[tuple[int, int], bytes] = {}

    def send(self, which: int, *, keyframe: bool = False, back: int = 0) -> None:
        encoding = self.encodings[which]
        self.count += 1
        encoding.sequence += 2 - back
        encoding.picture_id += 1
        first = 0 if keyframe else 1
        numbers = struct.pack("!HBB", 0x8000 | encoding.picture_id & 0x7FFF, encoding.tl0 & 0xFF, 0)
        packet = packets.rtp(
            ssrc=encoding.ssrc,
            sequence=encoding.sequence,
            payload_type=self.codecs[which],
            timestamp=encoding.timestamp + int(self.now * 90_000),
            extensions=packets.one_byte_extensions([(MID, b"1"), (RID, encoding.rid.encode())]),
            payload=b"\x90\xe0"
            + numbers
            + bytes([first])
            + struct.pack("!I", self.count)
            + bytes(self.padding),
        )
        encoding.sequence += back
        self.scene.alice.send(packet, self.now)
        self.watch()

    def watch(self) -> None:
        for data, remote, _ in self.scene.engine.take_datagrams():
            if remote == self.scene.bob.address and data[0] >= 128 and not 192 <= data[1] < 224:
                number = struct.unpack("!H", data[2:4])[0], struct.unpack("!I", data[8:12])[0]
                assert self.seen.setdefault(number, data) == data, f"{number} was encrypted twice"

    def pace(self) -> None:
        """Send media and a report for a second, and pace the video from now on."""
        self.scene.engine.want_bandwidth(self.scene.bob.transport, 1)
        for _ in range(10):
            self.now += 0.1
            self.send(2)
        self.scene.bob.send_rtcp(feedback(self.seen.values(), self.now), self.now)
        self.scene.engine.set_paced(self.scene.down_track, True)

    def act(self, action: str, argument: int) -> None:
        if action in ("send", "keyframe", "late"):
            self.send(argument, keyframe=action == "keyframe", back=3 if action == "late" else 0)
        elif action == "codec":
            self.codecs[argument] = CODECS["VP9" if self.codecs[argument] == CODECS["VP8"] else "VP8"]
        elif action == "restart":
            self.encodings[argument].ssrc += 1
            self.encodings[argument].sequence -= 20
        elif action == "want":
            self.scene.want(argument)
        elif action == "want at once":
            self.scene.engine.set_spatial_layer(self.scene.down_track, argument, True)
        elif action == "paced":
            self.scene.engine.set_paced(self.scene.down_track, bool(argument))
        elif action == "wait":
            self.now += argument / 1000
        else:
            last = max((sequence for sequence, _ in self.seen), default=0)
            requested = [last - back & 0xFFFF for back in range(argument)] or [last]
            self.scene.bob.send_rtcp(packets.nack(5000, requested), self.now)
        self.scene.engine.advance(self.now)
        self.watch()


@settings(max_examples=150)
@given(st.lists(ENCODING_STEP, max_size=80))
def test_switching_encodings_never_reuses_a_sequence_number_for_different_bytes(
    steps: list[tuple[str, int]],
) -> None:
    watched = WatchedEncodings()
    for which in range(3):
        watched.send(which, keyframe=True)
    for action, argument in steps:
        watched.act(action, argument)


@settings(max_examples=150)
@given(st.lists(ENCODING_STEP, max_size=80))
def test_switching_paced_encodings_never_reuses_a_sequence_number_for_different_bytes(
    steps: list[tuple[str, int]],
) -> None:
    watched = WatchedEncodings(padding=1000)
    for which in range(3):
        watched.send(which, keyframe=True)
    watched.pace()
    before = len(watched.seen)
    for _ in range(10):
        watched.send(2)
    assert len(watched.seen) < before + 10, "some packets wait"
    for action, argument in steps:
        watched.act(action, argument)


STEP = st.one_of(
    st.tuples(st.just("send"), st.integers(1, 4)),
    st.tuples(st.just("keyframe"), st.integers(1, 3)),
    st.tuples(st.just("late"), st.integers(0, 12)),
    st.tuples(st.just("rtx"), st.integers(-2, 12)),
    st.tuples(st.just("nack"), st.integers(-3, 12)),
    st.tuples(st.just("report"), st.just(0)),
    st.tuples(st.just("new source"), st.integers(-20, 20)),
    st.tuples(st.just("jump"), st.sampled_from([3001, 5000, 20000])),
    st.tuples(st.just("wait"), st.sampled_from([1, 30, 150, 700])),
    st.tuples(st.just("link"), st.sampled_from([0, 1, 3, None])),
    st.tuples(st.just("paused"), st.sampled_from([0, 1])),
    st.tuples(st.just("paced"), st.sampled_from([0, 1])),
    st.tuples(st.just("down track"), st.just(0)),
)


def act(watched: Watched, action: str, argument: int | None, subscribed: list[int]) -> None:
    call = watched.call
    if action == "link":
        # The link accepts this many more datagrams. Later packets have to wait and are eventually dropped.
        call.engine.limit(argument)
        return
    assert argument is not None
    if action in ("send", "keyframe"):
        watched.sequence += argument
        watched.send(watched.sequence, keyframe=action == "keyframe")
    elif action in ("late", "rtx"):
        watched.send(watched.sequence - argument, as_rtx=action == "rtx")
    elif action == "nack":
        last = watched.last_number()
        watched.nack(list(range(last - argument, last + 1)) or [last + 1])
    elif action == "report":
        call.bob.send_rtcp(packets.receiver_report(1, 5000), watched.now)
    elif action == "new source":
        watched.ssrc += 1000
        watched.sequence += argument
    elif action == "jump":
        watched.sequence += argument
        watched.send(watched.sequence)
    elif action == "wait":
        watched.now += argument / 1000
        call.engine.advance(watched.now)
        watched.watch()
    elif action == "paused":
        call.engine.set_paused(subscribed[-1], bool(argument))
        watched.watch()
    elif action == "paced":
        call.engine.set_paced(subscribed[-1], bool(argument))
        watched.watch()
    else:
        # Another participant joins, because an SSRC is never reused for the same participant.
        call.engine.close_down_track(subscribed[-1])
        call.bob = Participant(call.engine, call.bob.address[1] + 1)
        watched.seen.clear()
        subscribed.append(call.bob.subscribe(call.forwarder, 5000, extension_ids=[MID, TWCC]))


@settings(max_examples=150)
@given(st.lists(STEP, max_size=60))
def test_no_sequence_of_events_reuses_a_sequence_number_for_different_bytes(
    steps: list[tuple[str, int | None]],
) -> None:
    watched = Watched()
    subscribed = [watched.call.down_track]
    watched.send(watched.sequence, keyframe=True)
    for action, argument in steps:
        act(watched, action, argument, subscribed)


@settings(max_examples=150)
@given(st.lists(STEP, max_size=60))
def test_pacing_never_reuses_a_sequence_number_for_different_bytes(
    steps: list[tuple[str, int | None]],
) -> None:
    watched = Watched(padding=1000)
    watched.send(watched.sequence, keyframe=True)
    watched.pace()
    subscribed = [watched.call.down_track]
    before = len(watched.seen)
    for _ in range(10):
        watched.sequence += 1
        watched.send(watched.sequence)
    assert len(watched.seen) < before + 10, "some packets wait"
    for action, argument in steps:
        act(watched, action, argument, subscribed)


L2T1_KEY = Structure(
    [
        Template(0, 0, "SS"),
        Template(0, 0, "S-", fdiffs=[2]),
        Template(1, 0, "-S", fdiffs=[1]),
        Template(1, 0, "-S", fdiffs=[2]),
    ]
)
SPATIAL_STEP = st.one_of(
    st.tuples(st.just("picture"), st.booleans()),
    st.tuples(st.just("lower half"), st.booleans()),
    st.tuples(st.just("late"), st.just(False)),
    st.tuples(st.just("want"), st.sampled_from([0, 1, 255])),
    st.tuples(st.just("nack"), st.integers(0, 12)),
    st.tuples(st.just("wait"), st.sampled_from([30, 700])),
)


class WatchedLayers(Watched):
    """A track with two spatial layers in one stream, and a receiver without RTX."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.call.engine.close_down_track(self.call.down_track)
        self.call.bob = Participant(self.call.engine, 1003)
        self.down_track = self.call.bob.subscribe(self.call.forwarder, 5000, extension_ids=[MID, DESCRIPTOR])
        self.held: list[bytes] = []
        self.frame = 0

    def send_layer(self, spatial_id: int, *, keyframe: bool, hold: bool = False) -> None:
        self.frame += 1
        self.sequence += 1
        self.payloads += 1
        descriptor = Descriptor(
            L2T1_KEY,
            2 * spatial_id + (not keyframe),
            frame_number=self.frame & 0xFFFF,
            attached=keyframe and not spatial_id,
        )
        extensions = packets.two_byte_extensions([(MID, b"1"), (DESCRIPTOR, descriptor.serialise())])
        packet = packets.rtp(
            ssrc=self.ssrc,
            sequence=self.sequence & 0xFFFF,
            payload_type=VIDEO,
            timestamp=3000 * (self.frame // 2),
            marker=bool(spatial_id),
            extensions=extensions,
            payload=(VP8_DELTA if spatial_id or not keyframe else VP8_KEYFRAME)
            + struct.pack("!I", self.payloads),
        )
        if hold:
            self.held.append(packet)
        else:
            self.call.alice.send(packet, self.now)
            self.watch()

    def act(self, action: str, argument: int) -> None:
        if action in ("picture", "lower half"):
            self.send_layer(0, keyframe=bool(argument))
            self.send_layer(1, keyframe=bool(argument), hold=action == "lower half")
        elif action == "late":
            for packet in self.held:
                self.call.alice.send(packet, self.now)
            self.held.clear()
        elif action == "want":
            self.call.engine.set_spatial_layer(self.down_track, argument)
        elif action == "nack":
            last = self.last_number()
            self.nack(list(range(last - argument, last + 1)))
        else:
            self.now += argument / 1000
            self.call.engine.advance(self.now)
        self.watch()


@settings(max_examples=150)
@given(st.lists(SPATIAL_STEP, max_size=80))
def test_changing_spatial_layers_never_reuses_a_sequence_number_for_different_bytes(
    steps: list[tuple[str, int]],
) -> None:
    watched = WatchedLayers()
    watched.act("picture", True)
    for action, argument in steps:
        watched.act(action, argument)


def test_switching_to_a_higher_spatial_layer_requests_one_keyframe() -> None:
    watched = WatchedLayers()
    watched.act("picture", True)
    watched.act("want", 0)
    watched.act("picture", False)
    watched.now += 1
    call = watched.call
    deliver(call.engine, call.alice, call.bob)
    call.alice.reports.clear()
    for _ in range(20):
        watched.call.engine.set_spatial_layer(watched.down_track, 0)
        watched.call.engine.set_spatial_layer(watched.down_track, 1)
        call.engine.advance(watched.now)
        deliver(call.engine, call.alice, call.bob)
    assert [(kind, count) for kind, count, _ in call.alice.reports].count((206, 1)) == 1


# A browser's VP8 L1T3 keyframe: frame 1, template 0, with the structure of three decode targets.
KEYFRAME_DESCRIPTOR = bytes.fromhex("c000018002044eaaaf2860414d34538a0940409fc059c0")
# Frame 2, template 1 (temporal layer 0 again), with the active decode targets reduced to the first.
CUT_DESCRIPTOR = bytes.fromhex("c1000241")


def described(sequence: int, descriptors: list[bytes], payload: bytes = VP8_KEYFRAME) -> bytes:
    elements = [(MID, b"1"), *((DESCRIPTOR, descriptor) for descriptor in descriptors)]
    extensions = packets.two_byte_extensions(elements)
    return packets.rtp(
        ssrc=1000, sequence=sequence, payload_type=VIDEO, extensions=extensions, payload=payload
    )


def watched_with_layers(payload_types: list[int]) -> Watched:
    """Return a call whose receiver has an SSRC for RTX and has requested temporal layers 0 and 1."""
    watched = Watched()
    engine = watched.call.engine
    watched.call.bob = Participant(engine, 1003)
    down_track = engine.open_down_track(
        watched.call.forwarder,
        watched.call.bob.transport,
        mid="4",
        mid_id=0,
        ssrc=5000,
        rtx_ssrc=5001,
        payload_types=payload_types,
        extension_ids=[DESCRIPTOR],
        mixed=True,
        cname="",
    )
    engine.set_layer(down_track, 1)
    return watched


def test_an_identical_resend_does_not_follow_the_active_decode_targets_of_the_sender() -> None:
    watched = watched_with_layers([VIDEO])
    watched.call.alice.send(described(100, [KEYFRAME_DESCRIPTOR]), 1.0)
    watched.watch()
    number = watched.last_number()
    watched.call.alice.send(described(101, [CUT_DESCRIPTOR]), 1.0)
    watched.watch()
    watched.nack([number])
    assert watched.resent == 1


def test_a_descriptor_that_occurs_twice_in_a_packet_is_replaced_once() -> None:
    watched = watched_with_layers([VIDEO, VIDEO_RTX])
    # If each descriptor were replaced by the first one, the descriptors would outgrow the buffer.
    others = [b"x"] * 18
    watched.call.alice.send(described(100, [KEYFRAME_DESCRIPTOR, *others]), 1.0)
    watched.call.deliver()
    (packet,) = watched.call.bob.media
    first, *later_values = [value for _, value in header(packet)["extensions"]]
    assert first != KEYFRAME_DESCRIPTOR
    assert later_values == others
