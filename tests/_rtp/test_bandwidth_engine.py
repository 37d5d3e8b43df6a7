"""Tests bandwidth estimation through the whole core: packet numbers, reports, probes and events."""

import pytest

from tests.kit import packets
from tests.kit.call import header
from tests.kit.estimated_downlink import DELAY_S, Downlink
from tests.kit.participant import DESCRIPTOR, MID, SERVER, VIDEO, VIDEO_RTX, Participant
from tests.kit.spatial_streams import stream

UP_TO = 1e7


def test_all_tracks_share_one_number_sequence_and_retransmissions_get_new_numbers() -> None:
    downlink = Downlink()
    for _ in range(3):
        downlink.send()
    first = downlink.numbers()
    assert first == [(first[0] + i) & 0xFFFF for i in range(3)]
    downlink.now += 0.2
    downlink.bob.send_rtcp(packets.nack(6000, [header(downlink.bob.media[1])["sequence"]]), downlink.now)
    downlink.take_in()
    assert header(downlink.bob.media[-1])["payload_type"] == VIDEO_RTX
    assert downlink.numbers() == [(first[-1] + 1) & 0xFFFF]


def test_an_identical_resend_repeats_its_number_and_the_sequence_continues() -> None:
    downlink = Downlink(rtx=False)
    for _ in range(2):
        downlink.send()
    downlink.now += 0.2
    downlink.bob.send_rtcp(packets.nack(6000, [header(downlink.bob.media[0])["sequence"]]), downlink.now)
    datagrams = [
        data for data, remote, _ in downlink.engine.take_datagrams() if remote == downlink.bob.address
    ]
    # Bob's SRTP library rejects a repeated number as a replay, unless the whole packet is identical.
    assert [data[2:4] for data in datagrams if data[0] >= 128] == [downlink.bob.media[0][2:4]]
    first, second = downlink.numbers()
    downlink.send()
    assert downlink.numbers() == [(second + 1) & 0xFFFF]
    assert second == (first + 1) & 0xFFFF


def test_a_receiver_without_the_extension_gets_no_numbers() -> None:
    downlink = Downlink(extension_ids=(MID,))
    downlink.send()
    assert [ext_id for ext_id, _ in header(downlink.bob.media[0])["extensions"]] == [MID]
    downlink.engine.want_bandwidth(downlink.bob.transport, UP_TO)
    downlink.report([(1, 1.0), (2, 1.0), (3, 1.0)])
    counters = downlink.engine.counters()
    assert (counters["bandwidth_reports"], counters["bandwidth_reports_ignored"]) == (1, 1)


def test_a_receiver_that_does_not_request_the_estimate_is_neither_probed_nor_notified() -> None:
    downlink = Downlink()
    downlink.talk(2)
    assert downlink.engine.counters()["probes_sent"] == 0
    assert downlink.engine.counters()["bandwidth_reports"] > 10
    assert downlink.estimates() == []


def test_a_receiver_that_requests_the_estimate_gets_it_once_a_second() -> None:
    downlink = Downlink()
    downlink.engine.want_bandwidth(downlink.bob.transport, UP_TO)
    downlink.talk(5)
    estimates = downlink.estimates()
    assert 4 <= len(estimates) <= 12
    # The video has a bitrate of 0.8 Mbit/s, and the link is unlimited.
    assert estimates[-1] >= 5e6
    assert downlink.engine.counters()["bandwidth_reports_ignored"] == 0


def seconds_until_a_drop_is_reported(warmed_up_s: float) -> float:
    """Return the time from a drop in capacity below the sent rate to the report of a lower estimate."""
    downlink = Downlink()
    downlink.engine.want_bandwidth(downlink.bob.transport, 1e6)
    downlink.talk(warmed_up_s, report_every_s=0.02)
    downlink.estimates()
    sent_bps = 0.8e6
    downlink.rate_bps, fell_at = 0.2e6, downlink.now
    while not any(estimate < 0.9 * sent_bps for estimate in downlink.estimates()):
        downlink.talk(0.02, report_every_s=0.02)
        assert downlink.now < fell_at + 2
    return downlink.now - fell_at


def test_a_drop_is_reported_within_100_ms_no_matter_when_the_estimate_was_last_reported() -> None:
    # The estimator takes the same time to detect the drop in every case. If no estimate was reported shortly
    # before, the drop is reported immediately.
    times = [seconds_until_a_drop_is_reported(2 + 0.04 * step) for step in range(25)]
    assert max(times) - min(times) <= 0.1
    assert min(times) < 0.3


def test_resends_are_reported_with_the_estimate_and_probes_are_not() -> None:
    downlink = Downlink()
    downlink.engine.want_bandwidth(downlink.bob.transport, UP_TO)

    def repeated_bytes(seconds: float) -> int:
        downlink.talk(seconds)
        return sum(c for kind, *_, c in downlink.engine.take_events() if kind == "bandwidth")

    assert repeated_bytes(3) == 0
    assert downlink.engine.counters()["probes_sent"] > 20
    media = [packet for packet in downlink.bob.media if header(packet)["ssrc"] == 6000]
    lost = [header(packet)["sequence"] for packet in media[-5:-2]]
    downlink.bob.send_rtcp(packets.nack(6000, lost), downlink.now)
    assert downlink.engine.counters()["retransmissions_sent"] == 3
    # A resend has the original sequence number, which RTX puts before the payload, and the SRTP tag.
    assert repeated_bytes(1.2) == sum(len(packet) + 2 + 16 for packet in media[-5:-2])


def test_probes_are_consecutive_rtx_packets_that_no_decoder_sees() -> None:
    downlink = Downlink()
    downlink.engine.want_bandwidth(downlink.bob.transport, UP_TO)
    downlink.talk(3)
    headers = [header(packet) for packet in downlink.bob.media]
    media = [header["sequence"] for header in headers if header["ssrc"] == 6000]
    assert media == [(media[0] + i) & 0xFFFF for i in range(len(media))]
    probes = [
        (header, packet)
        for header, packet in zip(headers, downlink.bob.media, strict=True)
        if header["ssrc"] == 6001
    ]
    assert len(probes) == downlink.engine.counters()["probes_sent"] > 20
    numbers = [header["sequence"] for header, _ in probes]
    assert numbers == [(numbers[0] + i) & 0xFFFF for i in range(len(numbers))]
    repeated = 0
    for probe, packet in probes:
        assert probe["payload_type"] == VIDEO_RTX
        if probe["payload_length"]:
            original = int.from_bytes(packet[probe["payload_offset"] :][:2], "big")
            assert original in media
            repeated += 1
        else:
            assert probe["padding"] == len(packet) - probe["payload_offset"]
    assert repeated > 0


def test_probing_stops_when_nobody_requests_the_estimate() -> None:
    downlink = Downlink()
    downlink.engine.want_bandwidth(downlink.bob.transport, UP_TO)
    downlink.talk(1)
    downlink.engine.want_bandwidth(downlink.bob.transport, 0)
    downlink.talk(0.3)
    before = downlink.engine.counters()["probes_sent"]
    downlink.estimates()
    downlink.talk(3)
    assert downlink.engine.counters()["probes_sent"] == before
    assert downlink.estimates() == []


def test_a_receiver_with_all_video_off_is_also_probed() -> None:
    downlink = Downlink()
    downlink.talk(0.5)
    downlink.engine.set_paused(downlink.down_track, True)
    downlink.engine.want_bandwidth(downlink.bob.transport, UP_TO)
    downlink.talk(4)
    assert downlink.engine.counters()["probes_sent"] > 20
    assert downlink.estimates()[-1] >= 2e6


@pytest.mark.parametrize(
    ("numbers", "ignored"),
    [
        pytest.param([30_000, 30_001], 1, id="never sent"),
        pytest.param([], 0, id="cut short"),
    ],
)
def test_invalid_reports_do_not_change_the_estimate(numbers: list[int], ignored: int) -> None:
    downlink = Downlink()
    for _ in range(5):
        downlink.send()
    base = downlink.numbers()[0]
    if numbers:
        downlink.report([((base + number) & 0xFFFF, 1.0) for number in numbers])
    else:
        downlink.bob.send_rtcp(packets.rtcp(205, 15, bytes(8)), downlink.now)
    counters = downlink.engine.counters()
    assert counters["bandwidth_reports_ignored"] == ignored
    assert counters["dropped_malformed"] == 1 - ignored


def test_a_repeated_report_is_counted_once() -> None:
    downlink = Downlink()
    for _ in range(5):
        downlink.send()
    downlink.now += DELAY_S
    downlink.report(downlink.report_all())
    assert downlink.engine.counters()["bandwidth_reports_ignored"] == 1


@pytest.mark.parametrize("how", ["replayed", "forged"])
def test_a_report_replayed_or_forged_by_an_attacker_does_not_change_the_estimate(how: str) -> None:
    # A packet's address can be copied, but the receiver's key cannot.
    downlink = Downlink()
    for _ in range(5):
        downlink.send()
    arrivals = [(number, downlink.now + DELAY_S) for number in downlink.numbers()]
    report = packets.transport_feedback(arrivals, 1)
    sender = downlink.bob if how == "replayed" else Participant(downlink.engine, 1004)
    datagram = sender.outbound.protect_rtcp(report)
    for _ in range(2):
        downlink.engine.receive(datagram, downlink.bob.address, SERVER, downlink.now)
    counters = downlink.engine.counters()
    forged = how == "forged"
    assert (counters["bandwidth_reports"], counters["dropped_unauthenticated"]) == (1 - forged, 1 + forged)


def test_a_receiver_that_leaves_during_a_probe_leaves_no_state_behind() -> None:
    downlink = Downlink()
    downlink.engine.want_bandwidth(downlink.bob.transport, UP_TO)
    downlink.talk(0.2)
    downlink.engine.close_transport(downlink.bob.transport)
    downlink.now += 1
    downlink.engine.advance(downlink.now)
    downlink.engine.take_datagrams()
    downlink.send()
    assert downlink.engine.take_datagrams() == []


def test_the_bytes_in_a_stream_are_reported_for_each_spatial_layer() -> None:
    downlink = Downlink()
    downlink.engine.want_bandwidth(downlink.bob.transport, UP_TO)
    downlink.engine.take_events()
    for number, packet in enumerate(stream("vp9_l3t3_key").packets[:300]):
        (descriptor,) = (data for ext_id, data in header(packet.record.data)["extensions"] if ext_id == 13)
        downlink.now += 0.005
        media = packets.rtp(
            ssrc=1000,
            sequence=number,
            payload_type=VIDEO,
            timestamp=packet.rtp.timestamp,
            payload=packet.rtp.payload,
            extensions=packets.two_byte_extensions([(MID, b"1"), (DESCRIPTOR, descriptor)]),
        )
        downlink.alice.send(media, downlink.now)
        downlink.engine.advance(downlink.now)
        downlink.engine.take_datagrams()
    events = downlink.engine.take_events()
    reports = [
        (list(memoryview(data).cast("I")), b) for kind, _, data, _, _, _, b, _ in events if kind == "rates"
    ]
    assert len(reports) > 3
    for sizes, active in reports[1:]:
        assert (len(sizes), active) == (9, 0b111)
        assert 0 < sum(sizes[:3]) < sum(sizes[6:])
