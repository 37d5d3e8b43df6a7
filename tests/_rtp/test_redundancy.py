"""RED is unwrapped on arrival to recover lost packets, and sent to receivers that accept it and
lose audio.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc._rtp.engine import ManualEngine
from svc._rtp.redundancy import parse_red
from tests.kit import packets
from tests.kit.call import header, payload
from tests.kit.participant import (
    AUDIO,
    LEVEL,
    MID,
    PAYLOADS,
    TWCC,
    Participant,
)

RED = 63
SAMPLES = 960
PACKET_S = 0.02


def red(*blocks: tuple[int, bytes], primary: bytes) -> bytes:
    """Build a RED payload from the redundant blocks (timestamp offset, bytes) and the primary block."""
    heads = b"".join(
        bytes([0x80 | AUDIO]) + ((offset << 10) | len(data)).to_bytes(3, "big") for offset, data in blocks
    )
    return heads + bytes([AUDIO]) + b"".join(data for _, data in blocks) + primary


def sound(number: int) -> bytes:
    return number.to_bytes(2, "big") * 40


class Voice:
    """A call in which Alice speaks to Bob, who accepts RED, and to Carol, who does not."""

    def __init__(self) -> None:
        self.engine = ManualEngine(seed=7 << 32)
        self.engine.negotiate(
            payloads=[*PAYLOADS, (RED, "audio", "red", 48000, None)],
            mid_id=MID,
            twcc_id=TWCC,
            level_id=LEVEL,
            descriptor_id=3,
            forwarded_ids=[LEVEL],
            red=(RED, AUDIO),
        )
        self.alice = Participant(self.engine, 1001)
        self.bob = Participant(self.engine, 1002)
        self.carol = Participant(self.engine, 1003)
        self.forwarder = self.engine.open_section(self.alice.transport, 0, "0", "audio", [AUDIO, RED], [])
        for receiver, ssrc, payload_types in ((self.bob, 5000, [AUDIO, RED]), (self.carol, 6000, [AUDIO])):
            self.engine.open_down_track(
                self.forwarder,
                receiver.transport,
                mid="4",
                mid_id=0,
                ssrc=ssrc,
                rtx_ssrc=0,
                payload_types=payload_types,
                extension_ids=[LEVEL, TWCC] if receiver is self.bob else [LEVEL],
                mixed=True,
                cname="alice",
            )
        self.now = 1.0
        self.datagrams: dict[tuple[object, bytes], bytes] = {}  # by receiver and sequence number
        self.resent: list[bytes] = []

    def deliver(self) -> None:
        """Deliver datagrams. Check that datagrams with the same sequence number are identical."""
        people: dict[object, Participant] = {
            receiver.address: receiver for receiver in (self.alice, self.bob, self.carol)
        }
        for data, remote, _ in self.engine.take_datagrams():
            earlier = data if packets.is_rtcp(data) else self.datagrams.setdefault((remote, data[2:4]), data)
            if earlier is not data:
                assert earlier == data
                self.resent.append(data[2:4])
            else:
                people[remote].take_in(data)

    def send(self, number: int, body: bytes | None = None, payload_type: int = AUDIO) -> None:
        self.now += PACKET_S
        self.alice.send(
            packets.rtp(
                ssrc=1000,
                sequence=number,
                payload_type=payload_type,
                timestamp=SAMPLES * number,
                extensions=packets.one_byte_extensions([(MID, b"0"), (LEVEL, b"\x20")]),
                payload=sound(number) if body is None else body,
            ),
            self.now,
        )
        self.deliver()

    def lose(self, *numbers: int) -> None:
        """Report packets as lost on Bob's behalf."""
        self.bob.send_rtcp(packets.nack(5000, numbers), self.now)
        self.deliver()

    def report_arrivals(self, queue_s: float) -> None:
        """Have Bob report that his latest packet waited this long in a queue."""
        values = [value for ext_id, value in header(self.bob.media[-1])["extensions"] if ext_id == TWCC]
        arrival = (int.from_bytes(values[0], "big"), self.now + queue_s)
        self.bob.send_rtcp(packets.transport_feedback([arrival]), self.now + queue_s)
        self.deliver()

    def redundant(self) -> list[bool]:
        return [header(packet)["payload_type"] == RED for packet in self.bob.media]


def payloads(receiver: Participant) -> list[bytes]:
    return [payload(packet) for packet in receiver.media]


def test_a_receiver_gets_plain_audio_and_recovered_losses_from_a_sender_that_uses_red() -> None:
    voice = Voice()
    voice.send(1, red(primary=sound(1)), RED)
    voice.send(4, red((2 * SAMPLES, sound(2)), (SAMPLES, sound(3)), primary=sound(4)), RED)
    for receiver in (voice.bob, voice.carol):
        assert payloads(receiver) == [sound(number) for number in (1, 2, 3, 4)]
        headers = [header(packet) for packet in receiver.media]
        first = headers[0]
        assert [header["sequence"] - first["sequence"] for header in headers] == [0, 1, 2, 3]
        assert [header["timestamp"] - first["timestamp"] for header in headers] == [0, 960, 1920, 2880]
        assert {header["payload_type"] for header in headers} == {AUDIO}
    assert voice.engine.counters()["audio_recovered"] == 2
    # A recovered packet is not requested again, but counts as lost in the report to its sender.
    voice.now += 1.2
    voice.engine.advance(voice.now)
    voice.deliver()
    assert not [body for kind, count, body in voice.alice.reports if (kind, count) == (205, 1)]
    reports = [body for kind, _, body in voice.alice.reports if kind == 201]
    assert int.from_bytes(reports[-1][9:12], "big") == 2


def test_a_packet_that_arrives_after_its_copy_is_a_duplicate() -> None:
    voice = Voice()
    voice.send(1)
    voice.send(3, red((SAMPLES, sound(2)), primary=sound(3)), RED)
    voice.send(2)
    assert payloads(voice.carol) == [sound(1), sound(2), sound(3)]
    assert voice.engine.counters()["dropped_duplicate"] == 1


def test_a_malformed_red_payload_is_dropped() -> None:
    voice = Voice()
    voice.send(1)
    for number, body in enumerate(
        (b"", b"\xef\x00", red((SAMPLES, sound(1)), primary=b"")[:20], bytes([9])), 2
    ):
        voice.send(number, body, RED)
    assert payloads(voice.carol) == [sound(1)]
    assert voice.engine.counters()["dropped_malformed"] == 4


def test_a_receiver_that_loses_audio_temporarily_gets_each_packet_with_its_predecessor() -> None:
    voice = Voice()
    for number in range(1, 11):
        voice.send(number)
    first = header(voice.bob.media[0])["sequence"]
    voice.lose(first + 3)
    voice.send(11)
    assert not any(voice.redundant()), "one loss is not enough"
    voice.lose(first + 8)
    before = len(voice.bob.media)
    for number in range(12, 20):
        voice.send(number)
    after = voice.bob.media[before:]
    assert all(voice.redundant()[before:])
    for number, packet in enumerate(after, 12):
        assert parse_red(payload(packet)) == [(AUDIO, SAMPLES, sound(number - 1)), (AUDIO, 0, sound(number))]
    assert not {header(packet)["payload_type"] for packet in voice.carol.media} - {AUDIO}
    voice.now += 16
    for number in range(20, 23):
        voice.send(number)
    assert not any(voice.redundant()[-3:])


def test_redundancy_and_resends_together_add_at_most_nine_sixteenths_to_the_bytes_of_audio() -> None:
    voice, resent_bytes = Voice(), 0
    voice.bob.send_rtcp(packets.receiver_report(1, 5000, fraction_lost=20), voice.now)
    for number in range(1, 1001):
        voice.send(number, sound(number) * 4)
        sequence = header(voice.bob.media[-1])["sequence"]
        if number % 8 == 0:  # Three packets in a row are lost.
            voice.now += 0.03
            voice.lose(*((sequence - back) & 0xFFFF for back in (3, 2, 1)))
        resent_bytes += sum(len(voice.datagrams[voice.bob.address, number]) + 28 for number in voice.resent)
        voice.resent.clear()
    sent = [data for (remote, _), data in voice.datagrams.items() if remote == voice.bob.address]
    plain = [data for (remote, _), data in voice.datagrams.items() if remote == voice.carol.address]
    added = sum(len(data) + 28 for data in sent) + resent_bytes - sum(len(data) + 36 for data in plain)
    assert added <= 9 / 16 * sum(len(data) + 36 for data in plain) + 1_000
    assert resent_bytes and 300 < sum(voice.redundant()) < 900


def test_a_queue_of_100_ms_ends_redundancy_for_30_s() -> None:
    voice, number = Voice(), 0

    def speak(seconds: float, queue_s: float) -> list[bool]:
        """Send packets that wait in a queue, some of which Bob loses. Return which of them are redundant."""
        nonlocal number
        before = len(voice.bob.media)
        for _ in range(round(seconds / PACKET_S)):
            number += 1
            voice.send(number)
            voice.report_arrivals(queue_s)
            if number % 10 == 0:
                voice.bob.send_rtcp(packets.receiver_report(1, 5000, fraction_lost=20), voice.now)
        return voice.redundant()[before:]

    assert all(speak(2, 0.0)[10:])
    assert all(speak(1, 0.08)), "a queue of less than 100 ms"
    queued = speak(1, 0.12)
    assert queued == [True, *[False] * 49]
    assert not any(speak(28.9, 0.0)), "losses continue and the queue is empty"
    assert all(speak(2, 0.0)[20:])


def test_a_redundant_packet_is_resent_with_the_same_bytes_or_not_at_all() -> None:
    voice = Voice()
    for number in range(1, 11):
        voice.send(number)
    first = header(voice.bob.media[0])["sequence"]
    voice.lose(first + 3)
    voice.lose(first + 5)
    voice.send(11)
    wanted = header(voice.bob.media[-1])
    assert wanted["payload_type"] == RED
    voice.now += 0.2
    voice.resent.clear()
    voice.lose(wanted["sequence"])
    assert voice.resent == [wanted["sequence"].to_bytes(2, "big")]
    # By now the preceding packet is older than 600 ms, so the same bytes can no longer be written.
    voice.now += 0.39
    voice.engine.advance(voice.now)
    voice.lose(wanted["sequence"])
    assert len(voice.resent) == 1


def test_a_lossy_receiver_without_red_gets_every_second_packet_again_six_packets_later() -> None:
    voice = Voice()
    voice.carol.send_rtcp(packets.receiver_report(1, 6000, fraction_lost=20), voice.now)
    copies = [copy for number in range(1, 31) for copy in sent_again(voice, number)]
    assert [latest - copy for latest, copy in copies] == [6] * 12
    assert all(copy % 2 == 0 for _, copy in copies)
    # A receiver that requests lost audio gets only what it requests.
    voice.carol.send_rtcp(packets.nack(6000, [copies[-1][0]]), voice.now)
    voice.deliver()
    assert len(voice.resent) == 1
    voice.resent.clear()
    assert not any(sent_again(voice, number) for number in range(31, 51))


def test_copies_end_after_a_minute_without_losses() -> None:
    voice = Voice()
    voice.carol.send_rtcp(packets.receiver_report(1, 6000, fraction_lost=20), voice.now)
    assert any(sent_again(voice, number) for number in range(1, 11))
    voice.now += 60
    assert not any(sent_again(voice, number) for number in range(11, 31))


def sent_again(voice: Voice, number: int) -> list[tuple[int, int]]:
    """Send a packet. Return Carol's number for the packet, paired with the number of each earlier packet that
    she gets again.
    """
    voice.send(number)
    latest = header(voice.carol.media[-1])["sequence"]
    again = [(latest, int.from_bytes(copy, "big")) for copy in voice.resent]
    voice.resent.clear()
    return again


def receives_red(numbers: int) -> tuple[Voice, list[int]]:
    """Return a stream of audio that Bob receives entirely as RED, and the last sequence numbers that he
    received.
    """
    voice = Voice()
    voice.bob.send_rtcp(packets.receiver_report(1, 5000, fraction_lost=20), voice.now)
    for number in range(1, numbers + 3):
        voice.send(number)
    assert all(voice.redundant()[1:])
    return voice, [header(packet)["sequence"] for packet in voice.bob.media[1:-1]]


@pytest.mark.parametrize(
    ("lost", "resent"), [([2], []), ([1, 2], [1]), ([0, 1, 2, 3], [0, 2]), ([0, 2], []), ([0, 1, 3], [0])]
)
def test_a_packet_that_the_next_packet_contains_is_not_resent(lost: list[int], resent: list[int]) -> None:
    voice, numbers = receives_red(5)
    voice.lose(*(numbers[at] for at in lost))
    assert sorted(voice.resent) == [numbers[at].to_bytes(2, "big") for at in resent]


def test_losses_reported_by_a_listener_that_gets_red_are_not_passed_to_the_speaker() -> None:
    voice, _ = receives_red(5)

    def reported() -> int:
        voice.now += 1.2
        voice.engine.advance(voice.now)
        voice.deliver()
        return [body for kind, _, body in voice.alice.reports if kind == 201][-1][8]

    assert reported() == 0
    voice.carol.send_rtcp(packets.receiver_report(1, 6000, fraction_lost=40), voice.now)
    assert reported() == 40


STEPS = st.sampled_from(["send", "send", "send as red", "skip", "lose", "lose more", "wait", "send late"])


@given(st.lists(st.tuples(STEPS, st.integers(0, 12)), max_size=60))
def test_no_sequence_number_is_ever_used_for_different_bytes(steps: list[tuple[str, int]]) -> None:
    """Rely on `Voice.deliver`, which checks this for every datagram to Bob."""
    voice, sent = Voice(), 1
    voice.send(sent)
    for step, number in steps:
        first = header(voice.bob.media[-1])["sequence"] - number
        if step == "send":
            sent += 1
            voice.send(sent)
        elif step == "send as red":
            sent += 1
            voice.send(sent, red((SAMPLES, sound(sent - 1)), primary=sound(sent)), RED)
        elif step == "skip":
            sent += number
        elif step == "lose":
            voice.lose(first & 0xFFFF)
        elif step == "lose more":
            voice.lose(*(number & 0xFFFF for number in range(first, first + 5)))
        elif step == "wait":
            voice.now += number / 4
            voice.engine.advance(voice.now)
            voice.deliver()
        else:
            voice.send(max(1, sent - number))


def test_a_packet_after_a_gap_is_sent_without_redundancy() -> None:
    voice = Voice()
    for number in range(1, 6):
        voice.send(number)
    first = header(voice.bob.media[0])["sequence"]
    voice.lose(first)
    voice.lose(first + 1)
    voice.send(7)
    assert voice.redundant()[-1] is False
    voice.send(8)
    assert voice.redundant()[-1] is True


@given(
    st.lists(st.tuples(st.integers(0, (1 << 14) - 1), st.binary(max_size=60)), max_size=9),
    st.binary(max_size=100),
)
def test_every_red_payload_is_parsed_as_it_was_written(
    blocks: list[tuple[int, bytes]], primary: bytes
) -> None:
    read = parse_red(red(*blocks, primary=primary))
    assert read == [*((AUDIO, offset, data) for offset, data in blocks), (AUDIO, 0, primary)]
