"""The estimate through the whole core: packet numbers, reports, probes and events."""

import pytest

from tests.kit import packets
from tests.kit.call import header
from tests.kit.estimated_line import DELAY_S, Line
from tests.kit.participant import DESCRIPTOR, MID, SERVER, VIDEO, VIDEO_RTX, Participant
from tests.kit.spatial import stream

UP_TO = 1e7


def test_packets_of_all_tracks_share_one_sequence_and_retransmissions_have_their_own_numbers() -> None:
    line = Line()
    for _ in range(3):
        line.send()
    first = line.numbers()
    assert first == [(first[0] + i) & 0xFFFF for i in range(3)]
    line.now += 0.2
    line.bob.send_rtcp(packets.nack(6000, [header(line.bob.media[1])["sequence"]]), line.now)
    line.take_in()
    assert header(line.bob.media[-1])["payload_type"] == VIDEO_RTX
    assert line.numbers() == [(first[-1] + 1) & 0xFFFF]


def test_an_identical_resend_repeats_its_number_and_the_sequence_continues() -> None:
    line = Line(rtx=False)
    for _ in range(2):
        line.send()
    line.now += 0.2
    line.bob.send_rtcp(packets.nack(6000, [header(line.bob.media[0])["sequence"]]), line.now)
    datagrams = [data for data, remote, _ in line.engine.take_datagrams() if remote == line.bob.address]
    # Bob's SRTP would reject a repeated number as a replay, unless the packet is the same.
    assert [data[2:4] for data in datagrams if data[0] >= 128] == [line.bob.media[0][2:4]]
    first, second = line.numbers()
    line.send()
    assert line.numbers() == [(second + 1) & 0xFFFF]
    assert second == (first + 1) & 0xFFFF


def test_a_receiver_without_the_extension_gets_no_numbers() -> None:
    line = Line(extension_ids=(MID,))
    line.send()
    assert [ext_id for ext_id, _ in header(line.bob.media[0])["extensions"]] == [MID]
    line.engine.want_bandwidth(line.bob.transport, UP_TO)
    line.report([(1, 1.0), (2, 1.0), (3, 1.0)])
    counters = line.engine.counters()
    assert (counters["bandwidth_reports"], counters["bandwidth_reports_ignored"]) == (1, 1)


def test_a_receiver_without_a_request_is_neither_probed_nor_notified() -> None:
    line = Line()
    line.talk(2)
    assert line.engine.counters()["probes_sent"] == 0
    assert line.engine.counters()["bandwidth_reports"] > 10
    assert line.estimates() == []


def test_a_receiver_that_requests_the_estimate_gets_it_once_a_second() -> None:
    line = Line()
    line.engine.want_bandwidth(line.bob.transport, UP_TO)
    line.talk(5)
    estimates = line.estimates()
    assert 4 <= len(estimates) <= 12
    # The video has 0.8 Mbit/s, and the link carries everything.
    assert estimates[-1] >= 5e6
    assert line.engine.counters()["bandwidth_reports_ignored"] == 0


def test_probes_are_consecutive_rtx_packets_that_no_decoder_sees() -> None:
    line = Line()
    line.engine.want_bandwidth(line.bob.transport, UP_TO)
    line.talk(3)
    headers = [header(packet) for packet in line.bob.media]
    media = [one["sequence"] for one in headers if one["ssrc"] == 6000]
    assert media == [(media[0] + i) & 0xFFFF for i in range(len(media))]
    probes = [
        (one, packet) for one, packet in zip(headers, line.bob.media, strict=True) if one["ssrc"] == 6001
    ]
    assert len(probes) == line.engine.counters()["probes_sent"] > 20
    numbers = [one["sequence"] for one, _ in probes]
    assert numbers == [(numbers[0] + i) & 0xFFFF for i in range(len(numbers))]
    repeated = 0
    for one, packet in probes:
        assert one["payload_type"] == VIDEO_RTX
        if one["payload_length"]:
            original = int.from_bytes(packet[one["payload_offset"] :][:2], "big")
            assert original in media
            repeated += 1
        else:
            assert one["padding"] == len(packet) - one["payload_offset"]
    assert repeated > 0


def test_probes_end_with_the_last_subscription_to_estimates() -> None:
    line = Line()
    line.engine.want_bandwidth(line.bob.transport, UP_TO)
    line.talk(1)
    line.engine.want_bandwidth(line.bob.transport, 0)
    line.talk(0.3)
    before = line.engine.counters()["probes_sent"]
    line.estimates()
    line.talk(3)
    assert line.engine.counters()["probes_sent"] == before
    assert line.estimates() == []


def test_a_receiver_with_all_video_off_is_probed_too() -> None:
    line = Line()
    line.talk(0.5)
    line.engine.set_paused(line.down_track, True)
    line.engine.want_bandwidth(line.bob.transport, UP_TO)
    line.talk(4)
    assert line.engine.counters()["probes_sent"] > 20
    assert line.estimates()[-1] >= 2e6


@pytest.mark.parametrize(
    ("numbers", "ignored"),
    [
        pytest.param([30_000, 30_001], 1, id="never sent"),
        pytest.param([], 0, id="cut short"),
    ],
)
def test_impossible_reports_change_nothing(numbers: list[int], ignored: int) -> None:
    line = Line()
    for _ in range(5):
        line.send()
    base = line.numbers()[0]
    if numbers:
        line.report([((base + number) & 0xFFFF, 1.0) for number in numbers])
    else:
        line.bob.send_rtcp(packets.rtcp(205, 15, bytes(8)), line.now)
    counters = line.engine.counters()
    assert counters["bandwidth_reports_ignored"] == ignored
    assert counters["dropped_malformed"] == 1 - ignored


def test_a_repeated_report_counts_once() -> None:
    line = Line()
    for _ in range(5):
        line.send()
    line.report(line.report_all())
    assert line.engine.counters()["bandwidth_reports_ignored"] == 1


@pytest.mark.parametrize("how", ["replayed", "forged"])
def test_a_report_that_a_stranger_repeats_or_forges_changes_nothing(how: str) -> None:
    """Check this because a packet's address can be copied, but the receiver's key cannot."""
    line = Line()
    for _ in range(5):
        line.send()
    arrivals = [(number, line.now + DELAY_S) for number in line.numbers()]
    report = packets.transport_feedback(arrivals, 1)
    sender = line.bob if how == "replayed" else Participant(line.engine, 1004)
    datagram = sender.outbound.protect_rtcp(report)
    for _ in range(2):
        line.engine.receive(datagram, line.bob.address, SERVER, line.now)
    counters = line.engine.counters()
    forged = how == "forged"
    assert (counters["bandwidth_reports"], counters["dropped_unauthenticated"]) == (1 - forged, 1 + forged)


def test_a_receiver_that_leaves_during_a_probe_leaves_nothing_behind() -> None:
    line = Line()
    line.engine.want_bandwidth(line.bob.transport, UP_TO)
    line.talk(0.2)
    line.engine.close_transport(line.bob.transport)
    line.now += 1
    line.engine.advance(line.now)
    line.engine.take_datagrams()
    line.send()
    assert line.engine.take_datagrams() == []


def test_the_bytes_of_each_spatial_layer_of_one_stream_are_reported() -> None:
    line = Line()
    line.engine.want_bandwidth(line.bob.transport, UP_TO)
    line.engine.take_events()
    for number, packet in enumerate(stream("vp9_l3t3_key").packets[:300]):
        (descriptor,) = (data for ext_id, data in header(packet.record.data)["extensions"] if ext_id == 13)
        line.now += 0.005
        media = packets.rtp(
            ssrc=1000,
            sequence=number,
            payload_type=VIDEO,
            timestamp=packet.rtp.timestamp,
            payload=packet.rtp.payload,
            extensions=packets.two_byte_extensions([(MID, b"1"), (DESCRIPTOR, descriptor)]),
        )
        line.alice.send(media, line.now)
        line.engine.advance(line.now)
        line.engine.take_datagrams()
    events = line.engine.take_events()
    reports = [
        (list(memoryview(data).cast("I")), b) for kind, _, data, _, _, _, b, _ in events if kind == "rates"
    ]
    assert len(reports) > 3
    for sizes, active in reports[1:]:
        assert (len(sizes), active) == (9, 0b111)
        assert 0 < sum(sizes[:3]) < sum(sizes[6:])
