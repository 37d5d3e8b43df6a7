"""`svc rtp filter` writes the packets of a captured stream that a receiver would get."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from svc._rtp.header import parse_header
from svc.cli import main
from svc.tools.rtp.capture_streams import find_streams
from svc.tools.rtp.filter import Switch, filter_records
from svc.tools.rtp.inspect import rows
from svc.tools.rtp.packets import read_packets
from svc.tools.rtpdump import Record, RtpdumpError, read
from tests.kit import packets
from tests.kit.captures import FOLDER, NAMES, Capture, capture
from tests.kit.temporal_filter import contiguous, filtered, payload, read_media, records, video

WITH_RTX = [name for name in NAMES if any("rtx_osn" in packet.row for packet in capture(name).packets)]
DESCRIPTOR = 13


def without(name: str, numbers: set[int]) -> list[Record]:
    """Return a capture without the given media packets of its main stream."""
    ssrc = video(name).packets[0].row["ssrc"]
    return [
        record
        for record in records(name)
        if record.is_rtcp or record.data[8:12] != ssrc.to_bytes(4, "big") or sequence(record) not in numbers
    ]


def sequence(record: Record) -> int:
    return int.from_bytes(record.data[2:4], "big")


# --- kept packets ---


@pytest.mark.parametrize("name", [name for name in NAMES if "simulcast" not in name and name != "opus"])
def test_with_all_layers_every_media_packet_is_unchanged(name: str) -> None:
    """Check that only the header extension's format changes: ids, values, all other fields and times stay the
    same.
    """
    source = capture(name)
    sent = filtered(records(name), source.descriptor_id, -1)
    media = [packet for packet in source.packets if "payload" in packet.row]
    for record, original in zip(sent, media, strict=True):
        header = parse_header(record.data)
        assert header is not None
        kept = ("sequence", "timestamp", "ssrc", "payload_type", "marker", "padding", "extensions")
        assert {key: header[key] for key in kept} == {key: original.header[key] for key in kept}  # type: ignore[literal-required]
        assert record.data[header["payload_offset"] :] == original.data[original.header["payload_offset"] :]
        assert (record.offset_ms, record.packet_length) == (original.offset_ms, len(record.data))


def test_with_fewer_layers_the_descriptor_decides_which_packets_are_kept() -> None:
    sent = filtered(records("av1_l1t3"), DESCRIPTOR, 0, [Switch(4500, -1)])
    bitmasks = [(at_ms, row["active_decode_targets"]) for at_ms, row in rows(sent, DESCRIPTOR)]
    assert {targets for at_ms, targets in bitmasks if at_ms < 4500} == {0b001}
    assert {targets for at_ms, targets in bitmasks if at_ms > 4800} == {0b111}


# --- which stream ---


@pytest.mark.parametrize("name", NAMES)
def test_retransmissions_are_recognised_by_their_content(name: str) -> None:
    source = capture(name)
    streams = find_streams(read_packets(records(name)))
    groups = {row["ssrc"]: row["rtx_osn"] for row in (p.row for p in source.packets) if "rtx_osn" in row}
    assert {r.stream.ssrc for group in streams.repetitions.values() for r in group} == groups.keys()
    for media, rtx in source.sidecar.get("fid_groups") or []:
        if rtx in groups:
            assert streams.source_of(rtx) == media


def test_the_given_simulcast_stream_or_else_the_largest_is_chosen() -> None:
    source = capture("vp8_simulcast_l1t3")
    by_ssrc = {packet.row["ssrc"]: packet for packet in source.packets if "dd" in packet.row}
    largest = filter_records(records(source.name), descriptor_id=DESCRIPTOR, layer=-1)
    assert largest.ssrc == video(source.name).packets[0].row["ssrc"]
    for ssrc in by_ssrc:
        outcome = filter_records(records(source.name), descriptor_id=DESCRIPTOR, layer=0, ssrc=ssrc)
        sent = read_media(outcome.records)
        assert {packet.ssrc for packet in sent} == {ssrc}
        assert contiguous(sent)


def test_the_stream_with_descriptors_is_chosen_among_audio_and_video() -> None:
    sent = read_media(filtered(records("av1_l1t3_av"), capture("av1_l1t3_av").descriptor_id, 0))
    assert {packet.payload_type for packet in sent} == {45}


def test_a_capture_with_only_audio_is_forwarded_without_padding() -> None:
    sound = [p for p in capture("opus").packets if p.header["payload_length"]]
    sent = read_media(filtered(records("opus"), None, 0))
    assert contiguous(sent)
    assert [packet.payload for packet in sent] == [payload(packet) for packet in sound]


# --- missing packets ---


def repeated_numbers(source: Capture) -> set[int]:
    return {packet.row["rtx_osn"] for packet in source.packets if "rtx_osn" in packet.row}


@pytest.mark.parametrize("layer", [0, -1])
@pytest.mark.parametrize(
    "name", [name for name in WITH_RTX if "simulcast" not in name and "nodd" not in name]
)
def test_packets_that_exist_only_as_retransmissions_are_recovered(name: str, layer: int) -> None:
    source = capture(name)
    whole = read_media(filtered(records(name), source.descriptor_id, layer))
    mended = read_media(filtered(without(name, repeated_numbers(source)), source.descriptor_id, layer))
    mended.sort(key=lambda packet: packet.sequence)
    assert contiguous(mended)
    # A late packet may turn out to be unwanted after its number was assigned. Padding then uses that number.
    media = [packet for packet in mended if packet.payload]
    assert [(p.timestamp, p.payload) for p in media] == [(p.timestamp, p.payload) for p in whole]
    assert len(mended) - len(media) <= len(repeated_numbers(source))
    assert layer == 0 or mended == whole


def test_a_missing_packet_leaves_a_gap_unless_it_belongs_to_an_unwanted_frame() -> None:
    packets_of = video("vp8_l1t3").packets
    wanted = next(p for p in packets_of[20:] if p.row["dd"]["temporal_id"] == 0)
    first_of_two = next(
        p for p in packets_of[20:] if p.row["dd"]["temporal_id"] == 2 and not p.row["dd"]["end_of_frame"]
    )
    for lost, leaves_none in ((wanted, False), (first_of_two, True)):
        sent = read_media(filtered(without("vp8_l1t3", {lost.row["seq"]}), DESCRIPTOR, 0))
        assert contiguous(sent) is leaves_none


@pytest.mark.parametrize("layer", [0, -1])
@pytest.mark.parametrize("name", WITH_RTX)
def test_reordered_packets_keep_their_sequence_numbers(name: str, layer: int) -> None:
    """Swap neighbouring packets, beginning with the first two."""
    source = records(name)
    swapped = [source[i ^ 1] if i ^ 1 < len(source) else source[i] for i in range(len(source))]
    descriptor_id = capture(name).descriptor_id
    whole, other = (read_media(filtered(order, descriptor_id, layer)) for order in (source, swapped))
    other.sort(key=lambda packet: (packet.sequence - whole[0].sequence) & 0xFFFF)
    assert contiguous(other)
    assert [packet.payload for packet in other if packet.payload] == [packet.payload for packet in whole]


def test_filtered_sequence_numbers_continue_across_the_16_bit_wrap() -> None:
    def moved(record: Record) -> Record:
        if record.is_rtcp or record.data[1] & 0x7F != 96:
            return record
        number = (sequence(record) - video("vp8_l1t3").packets[50].row["seq"]) & 0xFFFF
        return replace(record, data=record.data[:2] + number.to_bytes(2, "big") + record.data[4:])

    sent = read_media(filtered([moved(record) for record in records("vp8_l1t3")], DESCRIPTOR, 0))
    assert contiguous(sent) and {0, 0xFFFF} <= {packet.sequence for packet in sent}
    assert [packet.payload for packet in sent] == [
        payload(packet) for packet in video("vp8_l1t3").of_layers(0)
    ]


def test_a_restarted_sender_continues_with_contiguous_numbers() -> None:
    first = records("vp8_l1t3")
    again = [
        record
        if record.is_rtcp
        else replace(
            record,
            data=record.data[:2] + ((sequence(record) + 9000) & 0xFFFF).to_bytes(2, "big") + record.data[4:],
        )
        for record in first
    ]
    sent = read_media(filtered([*first, *again], DESCRIPTOR, 0))
    assert contiguous(sent)
    assert len(sent) == 2 * len(video("vp8_l1t3").of_layers(0))


# --- other captures ---


def test_filtering_a_capture_with_only_headers_writes_only_headers() -> None:
    cut = [replace(record, data=record.data[:100]) for record in records("vp8_l1t3")]
    sent = filtered(cut, DESCRIPTOR, 0)
    whole = filtered(records("vp8_l1t3"), DESCRIPTOR, 0)
    assert [record.packet_length for record in sent] == [record.packet_length for record in whole]
    for record, other in zip(sent, whole, strict=True):
        # The descriptor for fewer layers is longer.
        assert 100 <= len(record.data) <= 108 and other.data.startswith(record.data)


def test_a_capture_without_packets_is_rejected() -> None:
    with pytest.raises(RtpdumpError, match="the file has no media"):
        filtered([], DESCRIPTOR, 0)
    with pytest.raises(RtpdumpError, match="the file has no media"):
        filtered([Record(0, packets.rtcp(200, 0, bytes(24)), 0)], DESCRIPTOR, 0)
    with pytest.raises(RtpdumpError, match="SSRC 1 sends no media in this file"):
        filter_records(records("opus"), descriptor_id=DESCRIPTOR, layer=0, ssrc=1)


def test_a_descriptor_with_a_different_id_is_reported() -> None:
    with pytest.raises(RtpdumpError, match=f"9 is not a Dependency Descriptor; {DESCRIPTOR} seems"):
        filtered(records("av1_l1t3"), 9, 0)


def test_oversized_packets_are_left_out_and_reported() -> None:
    huge = packets.rtp(ssrc=9, sequence=2, payload_type=96, payload=bytes(2000))
    small = [packets.rtp(ssrc=9, sequence=number, payload_type=96, payload=b"x") for number in (1, 3)]
    source = [Record(0, data, len(data)) for data in (small[0], huge, small[1])]
    outcome = filter_records(source, descriptor_id=DESCRIPTOR, layer=0)
    assert str(outcome) == "SSRC 9: 2 packets written, of 3; 1 are longer than 1484 bytes and were left out"


# --- the command ---

Run = Callable[..., tuple[int, list[Record], str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(name: str, *flags: str) -> tuple[int, list[Record], str]:
        output = tmp_path / "out.rtpdump"
        arguments = ["rtp", "filter", str(FOLDER / f"{name}.rtpdump"), str(output), "--dd-id", "13", *flags]
        status = main(arguments)
        with output.open("rb") as file:
            return status, list(read(file)), capsys.readouterr().err

    return run


def test_the_command_writes_a_capture(run: Run) -> None:
    status, sent, stderr = run("av1_l1t3", "--max-temporal-layer", "1")
    assert (status, sent) == (0, filtered(records("av1_l1t3"), DESCRIPTOR, 1))
    assert stderr == "SSRC 479293648: 111 packets written, of 216\n"


def test_switches_take_effect_at_their_times_even_if_given_in_a_different_order(run: Run) -> None:
    flags = ["--max-temporal-layer", "-1", "--switch", "4000:-1", "--switch", "2000:0"]
    _, sent, _ = run("av1_l1t3", *flags)
    switches = [Switch(2000, 0), Switch(4000, -1)]
    assert sent == filtered(records("av1_l1t3"), DESCRIPTOR, -1, switches)
    middle = [record for record in sent if 2100 < record.offset_ms < 4000]
    lowest = [p for p in video("av1_l1t3").of_layers(0) if 2100 < p.offset_ms < 4000]
    assert [packet.payload for packet in read_media(middle)] == [payload(packet) for packet in lowest]
    later = [packet for packet in video("av1_l1t3").packets if packet.offset_ms > 4300]
    assert len([record for record in sent if record.offset_ms > 4300]) == len(later)


@pytest.mark.parametrize(
    "flags",
    [
        ["--max-temporal-layer", "8"],
        ["--max-temporal-layer", "-2"],
        [],
        ["--max-temporal-layer", "0", "--switch", "5"],
        ["--max-temporal-layer", "0", "--switch", "x:1"],
        ["--max-temporal-layer", "0", "--switch", "5:9"],
    ],
)
def test_a_layer_must_be_0_to_7_or_all(flags: list[str], run: Run) -> None:
    with pytest.raises(SystemExit) as end:
        run("av1_l1t3", *flags)
    assert end.value.code == 2


def test_a_file_that_cannot_be_written_is_reported_on_one_line_with_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "none/out"
    capture_file = str(FOLDER / "opus.rtpdump")
    assert (
        main(["rtp", "filter", capture_file, str(output), "--dd-id", "1", "--max-temporal-layer", "0"]) == 2
    )
    assert capsys.readouterr().err == f"svc rtp: {output}: No such file or directory\n"
