"""Temporal filtering upholds its guarantees when packets are late, duplicated, missing or lost.

Hypothesis generates a stream with three layers and chooses what happens to each packet. The core forwards it
to one receiver, which changes its requested layers in the meantime. Payloads identify the packets.
"""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from svc._rtp.header import parse_header
from svc.tools.rtp.replay import Replay
from tests.kit import packets
from tests.kit.dependency_descriptor import Descriptor, Structure, Template

MEDIA, RTX, PAYLOAD_TYPE, RTX_PAYLOAD_TYPE, DESCRIPTOR = 1000, 1001, 96, 97, 5
STRUCTURE = Structure(
    [
        Template(0, 0, "SSS"),
        Template(0, 0, "SSS", fdiffs=[4]),
        Template(0, 1, "-DS", fdiffs=[2]),
        Template(0, 2, "--D", fdiffs=[1]),
    ]
)
LAYERS = (0, 2, 1, 2)  # by the frame's position in a group of four
# Packets are late by less than a group of frames, so that no late packet counts as lost.
MAX_OVERTAKING = 6


@dataclass(frozen=True)
class Packet:
    sequence: int
    frame: int  # -1 means padding only
    start: bool = True
    end: bool = True

    @property
    def payload(self) -> bytes:
        return b"%d/%d" % (self.frame, self.sequence)

    @property
    def temporal_id(self) -> int:
        return LAYERS[self.frame % 4]


def dependencies(frame: int) -> set[int]:
    if frame % 16 == 0:
        return set()
    return {frame - {0: 4, 1: 2, 2: 1}[LAYERS[frame % 4]]}


def on_the_wire(packet: Packet, *, repeated_as: int | None = None) -> bytes:
    """Return the packet as it was sent, or its retransmission under a different sequence number."""
    ssrc, payload_type, sequence, payload = MEDIA, PAYLOAD_TYPE, packet.sequence, packet.payload
    if repeated_as is not None:
        payload = (packet.sequence & 0xFFFF).to_bytes(2, "big") + payload
        ssrc, payload_type, sequence = RTX, RTX_PAYLOAD_TYPE, repeated_as
    if packet.frame < 0:
        header = packets.rtp(ssrc=MEDIA, sequence=packet.sequence & 0xFFFF, payload_type=PAYLOAD_TYPE)
        return bytes([header[0] | 0x20]) + header[1:] + bytes([0, 0, 0, 4])
    keyframe = packet.frame % 16 == 0
    descriptor = Descriptor(
        STRUCTURE,
        0 if keyframe else packet.temporal_id + 1,
        frame_number=packet.frame & 0xFFFF,
        start_of_frame=packet.start,
        end_of_frame=packet.end,
        attached=keyframe and packet.start,
    )
    return packets.rtp(
        ssrc=ssrc,
        sequence=sequence & 0xFFFF,
        payload_type=payload_type,
        timestamp=packet.frame * 3000,
        marker=packet.end,
        extensions=packets.two_byte_extensions([(DESCRIPTOR, descriptor.serialise())]),
        payload=payload,
    )


@dataclass
class Receiver:
    """One receiver and the packets that it gets."""

    replay: Replay = field(
        default_factory=lambda: Replay(
            MEDIA,
            repeating=[RTX],
            payload_types={PAYLOAD_TYPE: None, RTX_PAYLOAD_TYPE: PAYLOAD_TYPE},
            descriptor_id=DESCRIPTOR,
        )
    )
    got: dict[int, bytes] = field(default_factory=dict)  # payload by sequence number; b"" for padding
    now: float = 1.0
    repetitions: int = 0

    def take(self, packet: Packet, *, repeated: bool = False) -> None:
        self.repetitions += repeated
        data = on_the_wire(packet, repeated_as=self.repetitions if repeated else None)
        header = parse_header(data)
        assert header is not None
        self.now += 0.001
        for sent in self.replay.send(data, header, self.now):
            ours = parse_header(sent)
            assert ours is not None
            number = ours["sequence"]
            assert number not in self.got, "a sequence number was received twice"
            start = ours["payload_offset"]
            self.got[number] = sent[start : start + ours["payload_length"]]

    @property
    def payloads(self) -> list[bytes]:
        """Return the payloads by sequence number, without padding."""
        return [self.got[number] for number in sorted(self.got) if self.got[number]]

    @property
    def fillers(self) -> int:
        return sum(not payload for payload in self.got.values())

    @property
    def gaps(self) -> int:
        return max(self.got) - min(self.got) + 1 - len(self.got)


@st.composite
def streams(draw: st.DrawFn) -> list[Packet]:
    """Generate up to sixty frames of one to three packets, with padding between some of the frames."""
    # Start far from a wraparound, because the sequence numbers are compared directly.
    sequence = 100
    stream = []
    for frame in range(draw(st.integers(4, 60))):
        size = draw(st.integers(1, 3))
        for index in range(size):
            stream.append(Packet(sequence, frame, index == 0, index == size - 1))
            sequence += 1
        if draw(st.integers(0, 9)) == 0:
            stream.append(Packet(sequence, -1))
            sequence += 1
    return stream


changes = st.dictionaries(st.integers(1, 150), st.sampled_from([0, 1, 2, -1]), max_size=8)
delays = st.lists(st.integers(0, MAX_OVERTAKING), min_size=200, max_size=200)
some = st.sets(st.integers(1, 150), max_size=30)


def forwarded(stream: list[Packet], layers: dict[int, int]) -> Receiver:
    receiver = Receiver()
    for index, packet in enumerate(stream):
        if index in layers:
            receiver.replay.set_max_temporal_layer(layers[index])
        receiver.take(packet)
    return receiver


def overtaken(stream: list[Packet], late: list[int]) -> list[Packet]:
    """Delay each packet except the first by the given number of places in the stream."""
    order = sorted(range(1, len(stream)), key=lambda i: (i + late[i], i))
    return [stream[0], *(stream[i] for i in order)]


def check_whole_frames_with_all_they_need(stream: list[Packet], receiver: Receiver) -> None:
    got = set(receiver.payloads)
    parts: dict[int, set[bool]] = {}
    for packet in stream:
        if packet.frame >= 0:
            parts.setdefault(packet.frame, set()).add(packet.payload in got)
    assert {frame for frame, going in parts.items() if len(going) > 1} == set(), "incomplete frames"
    sent = {frame for frame, going in parts.items() if True in going}
    assert {frame for frame in sent if not dependencies(frame) <= sent} == set(), (
        "frames without their dependencies"
    )


@given(streams(), changes)
def test_a_stream_that_arrives_in_order_has_no_gap_and_needs_no_padding(
    stream: list[Packet], layers: dict[int, int]
) -> None:
    receiver = forwarded(stream, layers)
    assert (receiver.gaps, receiver.fillers) == (0, 0)
    assert receiver.payloads == [packet.payload for packet in stream if packet.payload in receiver.payloads]
    check_whole_frames_with_all_they_need(stream, receiver)


@given(streams(), changes, delays)
def test_late_packets_get_the_numbers_reserved_for_them(
    stream: list[Packet], layers: dict[int, int], late: list[int]
) -> None:
    arriving = overtaken(stream, late)
    receiver = forwarded(arriving, layers)
    assert receiver.gaps == 0
    assert receiver.payloads == [packet.payload for packet in stream if packet.payload in receiver.payloads]
    assert receiver.fillers <= arrivals_behind_a_newer(arriving)
    check_whole_frames_with_all_they_need(stream, receiver)


def arrivals_behind_a_newer(arriving: list[Packet]) -> int:
    highest = count = 0
    for packet in arriving:
        count += packet.sequence < highest
        highest = max(highest, packet.sequence)
    return count


@given(streams(), changes, some, st.booleans())
def test_duplicated_packets_are_not_forwarded_again(
    stream: list[Packet], layers: dict[int, int], again: set[int], retransmitted: bool
) -> None:
    """Check duplicates as RTX packets and as plain packets, in forwarded frames and in dropped frames."""
    once, receiver = forwarded(stream, layers), Receiver()
    for index, packet in enumerate(stream):
        if index in layers:
            receiver.replay.set_max_temporal_layer(layers[index])
        receiver.take(packet)
        if index in again:
            receiver.take(stream[index // 2], repeated=retransmitted and stream[index // 2].frame >= 0)
    assert receiver.got == once.got


@given(streams(), changes, some)
def test_permanent_losses_leave_only_their_own_gaps(
    stream: list[Packet], layers: dict[int, int], lost: set[int]
) -> None:
    arriving = [packet for index, packet in enumerate(stream) if index not in lost]
    receiver = forwarded(arriving, layers)
    assert receiver.gaps <= len(stream) - len(arriving)
    assert receiver.fillers == 0
    got = set(receiver.payloads)
    for packet in arriving:
        others = [other for other in arriving if other.frame == packet.frame >= 0]
        # A frame is forwarded whole or not at all. If its structure is lost, its layer is unknown, so it is
        # forwarded.
        assert len({other.payload in got for other in others}) <= 1, (
            "only a part of a received frame was forwarded"
        )


@given(streams(), changes, some, st.integers(1, 12))
def test_a_retransmission_fills_the_gap_left_by_the_lost_packet(
    stream: list[Packet], layers: dict[int, int], lost: set[int], later: int
) -> None:
    lost = {index for index in lost if index < len(stream) and stream[index].frame >= 0}
    receiver = Receiver()
    for index in range(len(stream) + later):
        if index in layers:
            receiver.replay.set_max_temporal_layer(layers[index])
        if index < len(stream) and index not in lost:
            receiver.take(stream[index])
        if index - later in lost:
            receiver.take(stream[index - later], repeated=True)
    last_came = max(index for index in range(len(stream)) if index not in lost)
    assert receiver.gaps == 0 or last_came < max(lost)
    assert receiver.fillers <= len(lost)


def test_a_late_packet_between_two_padding_packets_is_forwarded() -> None:
    stream = [Packet(100, 0), Packet(101, -1), Packet(102, 1), Packet(103, -1), Packet(104, 2)]
    receiver = forwarded([stream[0], stream[1], stream[3], stream[2], stream[4]], {})
    assert receiver.payloads == [stream[0].payload, stream[2].payload, stream[4].payload]


def test_the_rest_of_an_unwanted_frame_is_dropped_even_if_its_first_packet_was_lost() -> None:
    stream = [
        Packet(100, 0),
        Packet(101, 1, True, False),
        Packet(102, 1, False, True),
        Packet(103, 2),
        Packet(104, 4),
    ]
    receiver = forwarded([stream[0], *stream[2:]], {0: 0})
    assert receiver.payloads == [stream[0].payload, stream[4].payload]
    assert receiver.gaps == 0


def test_a_late_packet_in_an_unwanted_frame_is_replaced_by_padding() -> None:
    stream = [Packet(100, 0), Packet(101, 1), Packet(102, 2), Packet(103, 3), Packet(104, 4)]
    receiver = forwarded([stream[0], stream[4], stream[2]], {0: 0})
    assert receiver.payloads == [stream[0].payload, stream[4].payload]
    assert receiver.fillers == 1
    assert receiver.gaps == 2


def test_a_frame_is_forwarded_whole_even_if_its_structure_arrives_in_the_middle() -> None:
    keyframe = [Packet(100, 0, True, False), Packet(101, 0, False, True)]
    upper = [Packet(102, 1, True, False), Packet(103, 1, False, True)]
    receiver = forwarded(
        [keyframe[1], upper[0], keyframe[0], upper[1], Packet(104, 2), Packet(105, 3)], {0: 0}
    )
    assert {packet.payload for packet in upper} <= set(receiver.payloads)
    assert Packet(104, 2).payload not in receiver.payloads
