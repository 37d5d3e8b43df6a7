"""The tables in docs/rtcp.md, row by row: what the SFU does with each RTCP packet, and which packets it
sends.

The timing and limits of NACK, PLI and other messages are tested in test_engine_rtcp and related modules.
"""

import struct
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from tests.kit import packets
from tests.kit.call import Call, header, payload, sequences
from tests.kit.markdown import rows
from tests.kit.participant import AUDIO, MID, VIDEO_RTX, VP8_DELTA, Participant, deliver, new_engine

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "rtcp.md"
ARRIVES, MADE = "What arrives", "RTCP from the SFU"
TESTED: set[tuple[str, str]] = set()

Test = Callable[..., None]


def row(section: str, label: str) -> Callable[[Test], Test]:
    """Record which row of the tables a test covers."""

    def note(test: Test) -> Test:
        TESTED.add((section, label))
        return test

    return note


class Watched(Call):
    """A call that has already carried a few packets. Their effects are cleared before the test starts."""

    def __init__(self) -> None:
        super().__init__()
        for sequence in (1, 2, 3):
            self.send(sequence, 10.0 + sequence / 100)
        self.forget()

    def forget(self) -> None:
        self.deliver()
        for participant in (self.alice, self.bob):
            participant.reports.clear()

    def send_report(self, who: Participant, packet: bytes, now: float = 10.05) -> None:
        who.send_rtcp(packet, now)
        self.deliver()

    def untouched(self) -> bool:
        """Return whether the packet was well-formed but nobody received it, and the call continues."""
        media = len(self.bob.media)
        self.send(4, 10.06, payload=VP8_DELTA)
        quiet = self.alice.reports == self.bob.reports == []
        return quiet and len(self.bob.media) == media + 1 and self.engine.counters()["dropped_malformed"] == 0


def feedback(kind: int, number: int, media: int, control: bytes = bytes(4)) -> bytes:
    return packets.rtcp(kind, number, struct.pack("!II", 1, media) + control)


# --- arriving packets ---


@row(ARRIVES, "`SR` 200")
def test_a_sender_report_is_forwarded_with_the_outgoing_ssrc_and_packet_counts() -> None:
    call = Watched()
    call.send_report(
        call.alice, packets.sender_report(1000, 0x0102_0304_0506_0708, 777, packets=99, octets=9999)
    )
    (sr,) = [body for kind, _, body in call.bob.reports if kind == 200]
    assert struct.unpack("!IQII", sr[:20]) == (5000, 0x0102_0304_0506_0708, 777, 3)
    assert call.alice.reports == []


@row(ARRIVES, "`SR` 200")
def test_report_blocks_are_read_from_sender_reports_as_from_receiver_reports() -> None:
    call = Watched()
    call.engine.close_down_track(call.down_track)
    call.bob.subscribe(call.forwarder, 6000, extension_ids=[MID], mid="7")
    block = packets.receiver_report(1, 6000)[8:]
    call.send_report(call.bob, packets.rtcp(200, 1, struct.pack("!IQIII", 7, 1, 2, 3, 4) + block))
    call.send(4, 10.1)
    assert header(call.bob.media[-1])["extensions"] == []


@row(ARRIVES, "`RR` 201")
def test_a_receiver_report_is_consumed_and_yields_the_round_trip_time() -> None:
    call = Watched()
    call.send_report(call.alice, packets.sender_report(1000, 0x0000_AAAA_BBBB_0000, 0), 10.1)
    call.forget()
    # 300 ms after the sender report, 100 ms of which the receiver held it.
    call.send_report(call.bob, packets.receiver_report(1, 5000, lsr=0xAAAA_BBBB, dlsr=6554), 10.4)
    assert call.alice.reports == call.bob.reports == []
    number = sequences(call.bob)[2]
    resent = []
    for now in (10.41, 10.5, 10.6, 10.62):
        before = len(call.bob.media)
        call.send_report(call.bob, packets.nack(5000, [number]), now)
        resent.append(len(call.bob.media) - before)
    # The table says "at most once in a round trip".
    assert resent == [1, 0, 0, 1]


@row(ARRIVES, "`FMT_NACK` RTPFB 1")
def test_a_nack_is_answered_from_the_history_and_not_forwarded() -> None:
    call = Watched()
    number = sequences(call.bob)[1]
    call.send_report(call.bob, packets.nack(5000, [number]))
    again = call.bob.media[-1]
    assert (header(again)["ssrc"], header(again)["payload_type"]) == (5001, VIDEO_RTX)
    assert payload(again)[:2] == struct.pack("!H", number)
    assert call.alice.reports == []


@pytest.mark.parametrize("request_", [packets.pli, packets.fir])
@row(ARRIVES, "`FMT_PLI` PSFB 1")
@row(ARRIVES, "`FMT_FIR` PSFB 4")
def test_a_keyframe_request_becomes_a_pli_to_the_sender(request_: Callable[[int], bytes]) -> None:
    call = Watched()
    call.send_report(call.bob, request_(5000), 10.6)
    assert call.alice.reports == [(206, 1, struct.pack("!II", 1001, 1000))]


@row(ARRIVES, "`FMT_FIR` PSFB 4")
def test_every_entry_of_a_fir_is_parsed() -> None:
    call = Watched()
    entries = struct.pack("!IBBBB", 4711, 1, 0, 0, 0) + struct.pack("!IBBBB", 5000, 1, 0, 0, 0)
    call.send_report(call.bob, feedback(206, 4, 0, entries), 10.6)
    assert [(kind, number) for kind, number, _ in call.alice.reports] == [(206, 1)]


@pytest.mark.parametrize("by_sender", [True, False], ids=["by a sender", "by a receiver"])
@pytest.mark.parametrize(
    ("kind", "number", "body"),
    [
        pytest.param(202, 1, b"\0\0\0\1\1\5alice\0", id="`SDES` 202"),
        pytest.param(203, 1, struct.pack("!I", 1000), id="`BYE` 203"),
        pytest.param(204, 0, b"\0\0\0\1name", id="204"),
        pytest.param(205, 3, struct.pack("!IIII", 1, 0, 1000, 0), id="RTPFB 3, 4"),
        pytest.param(205, 4, struct.pack("!IIII", 1, 0, 1000, 0), id="RTPFB 3, 4 "),
        pytest.param(
            205, 15, struct.pack("!IIHHI", 1, 1000, 1, 1, 0) + b"\x20\1\0\0", id="`FMT_TWCC` RTPFB 15"
        ),
        pytest.param(206, 2, struct.pack("!III", 1, 1000, 0), id="PSFB 2, 3"),
        pytest.param(206, 3, struct.pack("!III", 1, 1000, 0), id="PSFB 2, 3 "),
        pytest.param(206, 15, packets.remb(5000)[4:], id="`FMT_AFB` PSFB 15"),
        pytest.param(207, 0, struct.pack("!IBBHII", 1, 4, 0, 2, 0, 0), id="207"),
    ],
)
@row(ARRIVES, "`SDES` 202")
@row(ARRIVES, "`BYE` 203")
@row(ARRIVES, "204")
@row(ARRIVES, "RTPFB 3, 4")
@row(ARRIVES, "`FMT_TWCC` RTPFB 15")
@row(ARRIVES, "PSFB 2, 3")
@row(ARRIVES, "`FMT_AFB` PSFB 15")
@row(ARRIVES, "207")
def test_consumed_packets_have_no_effect(kind: int, number: int, body: bytes, by_sender: bool) -> None:
    call = Watched()
    call.send_report(call.alice if by_sender else call.bob, packets.rtcp(kind, number, body))
    assert call.untouched()


@pytest.mark.parametrize("request_", [packets.pli, packets.fir, lambda media: packets.nack(media, [1])])
def test_a_senders_own_requests_about_its_track_are_ignored(request_: Callable[[int], bytes]) -> None:
    call = Watched()
    call.send_report(call.alice, request_(1000), 10.05)
    call.send_report(call.alice, request_(5000), 10.05)
    assert call.untouched()


# --- packets from the SFU itself ---


@row(MADE, "`SR`, and `SDES` with the CNAME, in one compound")
def test_a_sender_report_and_the_cname_are_sent_in_one_compound() -> None:
    call = Watched()
    call.alice.send_rtcp(packets.sender_report(1000, 1 << 32, 777), 10.1)
    ((data, remote, _),) = call.engine.take_datagrams()
    assert remote == call.bob.address
    call.bob.take_in(data)
    (sr, sdes) = call.bob.reports
    assert (sr[0], sdes[0]) == (200, 202)
    assert sdes[2].startswith(struct.pack("!IBB", 5000, 1, 5) + b"alice")


@row(MADE, "`BYE`")
def test_a_receiver_is_notified_that_a_track_has_ended() -> None:
    call = Watched()
    call.engine.close_transport(call.alice.transport)
    call.engine.advance(10.1)
    call.deliver()
    assert call.bob.reports == [(203, 1, struct.pack("!I", 5000))]


@row(MADE, "`RR`")
def test_a_sender_gets_a_report_each_second() -> None:
    call = Watched()
    came = []
    for step in range(1, 501):
        now = 10.1 + step / 100
        call.engine.advance(now)
        call.deliver()
        came += [now] * sum(kind == 201 for kind, _, _ in call.alice.reports)
        call.alice.reports.clear()
    gaps = [later - earlier for earlier, later in pairwise(came)]
    assert 4 <= len(gaps) <= 6
    assert all(0.89 <= gap <= 1.02 for gap in gaps)
    assert [kind for kind, _, _ in call.bob.reports] == []


def reported_loss(reports: dict[int, int], *, now: float, lost_by_us: int = 0) -> tuple[int, int]:
    """Return the loss that is reported to a speaker whose listeners report these losses.

    The loss is a fraction and a number of packets.
    """
    engine = new_engine()
    speaker = Participant(engine, 1001)
    sound = speaker.publish("0", "audio")
    listeners = [Participant(engine, 1002 + number) for number in range(len(reports))]
    for listener, ssrc in zip(listeners, reports, strict=True):
        listener.subscribe(sound, ssrc)
    for number in range(10 + lost_by_us):
        if number < 9 or number == 9 + lost_by_us:
            packet = packets.rtp(
                ssrc=1000,
                sequence=number,
                payload_type=AUDIO,
                extensions=packets.one_byte_extensions([(MID, b"0")]),
            )
            speaker.send(packet, now - 0.2 + number / 1000)
    for listener, (ssrc, lost) in zip(listeners, reports.items(), strict=True):
        listener.send_rtcp(packets.receiver_report(1, ssrc, fraction_lost=lost), 11.0)
    engine.advance(now)
    deliver(engine, speaker, *listeners)
    (report,) = [body for kind, _, body in speaker.reports if kind == 201]
    return report[8], int.from_bytes(report[9:12], "big")


@row(ARRIVES, "`RR` 201")
@row(MADE, "`RR`")
def test_the_worst_listeners_loss_is_reported_to_a_speaker() -> None:
    assert reported_loss({5000: 10, 5001: 40, 5002: 0}, now=12.0) == (40, 0)


@row(MADE, "`RR`")
@pytest.mark.parametrize(("lost", "reported"), [(4, 4), (5, 30), (30, 30), (31, 31)])
def test_a_loss_that_only_fec_can_repair_is_reported_as_high_enough_to_trigger_fec(
    lost: int, reported: int
) -> None:
    assert reported_loss({5000: lost}, now=12.0) == (reported, 0)


@row(MADE, "`RR`")
def test_a_listener_with_extreme_loss_counts_as_losing_20_percent() -> None:
    assert reported_loss({5000: 200}, now=12.0) == (51, 0)


@row(MADE, "`RR`")
def test_a_speakers_own_loss_is_reported_if_it_is_larger() -> None:
    assert reported_loss({5000: 26}, now=12.0, lost_by_us=10) == (128, 10)


@row(MADE, "`RR`")
def test_old_reports_from_a_listener_are_forgotten() -> None:
    assert reported_loss({5000: 4}, now=22.9) == (4, 0)
    assert reported_loss({5000: 4}, now=23.1) == (0, 0)


@row(MADE, "`FMT_NACK`")
def test_a_sender_gets_ten_requests_for_missing_packets_and_then_a_keyframe_request() -> None:
    call = Watched()
    call.send(6, 10.05)
    requests = []
    for step in range(1, 400):
        now = 10.05 + step / 100
        call.engine.advance(now)
        call.deliver()
        for kind, number, body in call.alice.reports:
            if (kind, number) == (205, 1):
                assert list(packets.read_nack(body)) == [4, 5]
                requests.append(now - 10.05)
        call.alice.reports.clear()
    assert 0.009 < requests[0] < 0.03
    assert len(requests) <= 10
    assert requests[-1] <= 1.0
    assert all(0.09 <= later - earlier <= 0.12 for earlier, later in pairwise(requests))


@row(MADE, "`FMT_NACK`")
def test_a_sender_that_responds_quickly_gets_the_next_request_sooner() -> None:
    call = Watched()
    call.send(5, 10.05)
    call.engine.advance(10.07)
    call.send(4, 10.10)  # 30 ms after the NACK
    call.send(7, 10.20)
    call.forget()
    steps = []
    for step in range(1, 20):
        call.engine.advance(10.20 + step / 100)
        call.deliver()
        steps += [step] * sum((kind, number) == (205, 1) for kind, number, _ in call.alice.reports)
        call.alice.reports.clear()
    assert 4 <= steps[1] - steps[0] <= 6


@row(MADE, "`FMT_PLI`")
def test_a_sender_gets_a_keyframe_request_after_a_lost_packet_is_abandoned() -> None:
    plis = {}
    for keyframe_follows in (False, True):
        call = Watched()
        call.send(5, 10.55, payload=VP8_DELTA)
        if keyframe_follows:
            call.send(6, 10.56)
        plis[keyframe_follows] = 0
        for step in range(1, 400):
            call.engine.advance(10.56 + step / 100)
            call.deliver()
            plis[keyframe_follows] += sum(
                (kind, number) == (206, 1) for kind, number, _ in call.alice.reports
            )
            call.alice.reports.clear()
    # Two of them are the periodic requests, one every two seconds.
    assert plis == {False: 3, True: 2}


@row(MADE, "`FMT_TWCC`")
def test_arrival_times_are_reported_to_a_sender_within_100_ms() -> None:
    call = Watched()
    for sequence in range(4, 24):
        now = 10.05 + sequence / 50
        call.send(sequence, now, payload=VP8_DELTA, twcc=sequence)
        call.engine.advance(now)
        call.deliver()
    feedback = [body for kind, number, body in call.alice.reports if (kind, number) == (205, 15)]
    assert sum(struct.unpack_from("!H", body, 10)[0] for body in feedback) >= 16
    assert len(feedback) >= 4


# --- a receiver that loses too much ---


def test_a_receiver_that_reports_a_third_lost_for_5_s_gets_no_video_until_a_keyframe() -> None:
    call = Watched()
    number = 4
    for second in range(8):
        call.send_report(call.bob, packets.receiver_report(1, 5000, fraction_lost=100), 11.0 + second)
        call.send(number, 11.5 + second, payload=VP8_DELTA)
        number += 1
    # Three keyframe requests are sent at the beginning, and one after each of the first five reports.
    assert len(call.bob.media) == 3 + 5
    call.forget()
    call.send_report(call.bob, packets.pli(5000), 18.6)
    assert call.alice.reports == []
    call.send(number, 18.7)
    assert sequences(call.bob)[-1] == sequences(call.bob)[0] + 8


def test_a_receiver_that_recovers_is_not_paused() -> None:
    call = Watched()
    for second in range(12):
        lost = 100 if second % 5 else 20
        call.send_report(call.bob, packets.receiver_report(1, 5000, fraction_lost=lost), 11.0 + second)
    assert call.untouched()


def test_every_row_of_the_tables_has_a_test() -> None:
    assert {
        (row.heading, row.cells[0]) for section in (ARRIVES, MADE) for row in rows(DOCUMENT, section)
    } == TESTED
