"""`svc rtp inspect` agrees with the sidecar files of real captures on every packet. No input crashes it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from svc.cli import main
from svc.tools.rtp.inspect import rows
from svc.tools.rtpdump import Record, write
from tests.kit import packets
from tests.kit.captures import FOLDER, NAMES, capture
from tests.kit.dependency_descriptor import Descriptor, Structure, Template
from tests.kit.temporal_filter import records

BASE = ["seq", "timestamp", "ssrc", "payload_type", "marker", "padding", "size"]
OF_DESCRIPTOR = [
    *("start_of_frame", "end_of_frame", "frame_number", "template_id", "spatial_id", "temporal_id"),
    *("structure", "active_decode_targets", "frame_dependencies", "dtis"),
]
STRUCTURE = Structure(
    [Template(0, 0, "SS"), Template(0, 0, "SS", fdiffs=[2]), Template(0, 1, "-D", fdiffs=[1])]
)

Run = Callable[..., tuple[int, list[str], str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Inspect a file, a capture or records. Return the exit status, the lines of output, and the errors."""

    def run(source: str | Path | list[Record], *flags: str) -> tuple[int, list[str], str]:
        path = source if isinstance(source, Path) else FOLDER / f"{source}.rtpdump"
        if isinstance(source, list):
            path = tmp_path / "made.rtpdump"
            with path.open("wb") as file:
                write(file, source)
        status = main(["rtp", "inspect", str(path), *flags])
        output = capsys.readouterr()
        return status, output.out.splitlines(), output.err

    return run


def lines_of(run: Run, source: str | list[Record], descriptor_id: int | None) -> list[dict[str, Any]]:
    flags = ["--json"] + (["--dd-id", str(descriptor_id)] if descriptor_id else [])
    status, lines, error = run(source, *flags)
    assert (status, error) == (0, "")
    return [json.loads(line) for line in lines]


def record(data: bytes, length: int | None = None) -> Record:
    return Record(7, data, len(data) if length is None else length)


def media(sequence: int, descriptor: bytes = b"", **fields: Any) -> bytes:
    extensions = packets.two_byte_extensions([(5, descriptor)]) if descriptor else b""
    return packets.rtp(ssrc=9, sequence=sequence, payload_type=96, extensions=extensions, **fields)


@pytest.mark.parametrize("name", NAMES)
def test_each_packet_in_a_capture_has_its_own_line(name: str, run: Run) -> None:
    source = capture(name)
    lines = lines_of(run, name, source.descriptor_id)
    for line, packet in zip(lines, source.packets, strict=True):
        row = packet.row
        assert list(line)[:7] == BASE
        assert line["size"] == len(packet.data)
        if row:
            assert [line[key] for key in BASE] == [
                *(
                    row["seq"],
                    row["ts"],
                    row["ssrc"],
                    row["pt"],
                    bool(row["m"]),
                    row.get("pad", 0),
                    row["len"],
                )
            ]
        if "dd" in row:
            check_descriptor(line, row["dd"])


def check_descriptor(line: dict[str, Any], dd: dict[str, Any]) -> None:
    assert list(line)[7:] == OF_DESCRIPTOR
    assert [line["start_of_frame"], line["end_of_frame"]] == [
        bool(dd["start_of_frame"]),
        bool(dd["end_of_frame"]),
    ]
    assert line["structure"] is dd.get("is_keyframe", False)
    assert line["frame_dependencies"] == dd["fdiffs"]
    assert "dtis" not in dd or line["dtis"] == list(dd["dtis"])
    assert set(line["dtis"]) <= set("-DSR")
    for key in ("frame_number", "template_id", "spatial_id", "temporal_id", "active_decode_targets"):
        assert line[key] == dd[key], key


@pytest.mark.parametrize("name", [name for name in NAMES if capture(name).descriptor_id])
def test_a_retransmission_is_displayed_like_its_original(name: str, run: Run) -> None:
    source = capture(name)
    lines = lines_of(run, name, source.descriptor_id)
    assert not any("error" in line for line in lines)
    described = {(line["timestamp"], line["frame_number"]) for line in lines if "frame_number" in line}
    repeating = [line for line, packet in zip(lines, source.packets, strict=True) if "rtx_osn" in packet.row]
    assert all("frame_number" not in line or line["dtis"] for line in repeating)
    assert {
        (line["timestamp"], line["frame_number"]) for line in repeating if "frame_number" in line
    } <= described


def test_without_the_extension_id_no_descriptor_is_displayed(run: Run) -> None:
    assert all(list(line) == BASE for line in lines_of(run, "av1_l1t3", None))


def test_a_malformed_descriptor_is_an_error_only_on_its_own_line(run: Run) -> None:
    good = Descriptor(STRUCTURE, 0, frame_number=1, attached=True).serialise()
    unknown = Descriptor(STRUCTURE, 40, frame_number=2, attached=True).serialise()
    lines = lines_of(
        run,
        [
            record(media(1, Descriptor(STRUCTURE, 2, frame_number=0).serialise())),
            record(media(2, good)),
            record(media(3, good[:7])),
            record(media(4, unknown)),
            record(media(5, b"\xc0")),
            record(media(6, Descriptor(STRUCTURE, 1, frame_number=3).serialise())),
        ],
        5,
    )
    assert [line.get("error") for line in lines] == [
        "dependency descriptor: no structure",
        None,
        "dependency descriptor: truncated",
        "dependency descriptor: unknown template",
        "dependency descriptor: truncated",
        None,
    ]
    assert [line["seq"] for line in lines] == [1, 2, 3, 4, 5, 6]
    assert [list(line) for line in lines if "error" in line] == [["seq", "error"]] * 4


def test_a_late_packet_is_parsed_with_the_structure_that_defines_its_template() -> None:
    newer = Structure(STRUCTURE.templates, template_id_offset=3)
    source = [
        record(media(1, Descriptor(STRUCTURE, 0, frame_number=1, attached=True).serialise())),
        record(media(3, Descriptor(newer, 3, frame_number=3, attached=True).serialise())),
        record(media(2, Descriptor(STRUCTURE, 2, frame_number=2).serialise())),
        record(media(4, Descriptor(newer, 4, frame_number=5).serialise())),
    ]
    assert [row["temporal_id"] for _, row in rows(source, 5)] == [0, 0, 1, 0]


def test_the_displayed_decode_targets_are_those_active_after_the_packet() -> None:
    source = [
        record(media(1, Descriptor(STRUCTURE, 0, frame_number=1, attached=True).serialise())),
        record(media(2, Descriptor(STRUCTURE, 1, frame_number=3, active_decode_targets=1).serialise())),
        record(media(3, Descriptor(STRUCTURE, 1, frame_number=5).serialise())),
        record(media(4, Descriptor(STRUCTURE, 0, frame_number=7, attached=True).serialise())),
    ]
    assert [row["active_decode_targets"] for _, row in rows(source, 5)] == [3, 1, 1, 3]


def test_no_line_is_printed_for_rtcp_packets(run: Run) -> None:
    report = packets.rtcp(200, 0, bytes(24))
    source = [record(report, 0), record(media(1)), record(report)]
    assert [line["seq"] for line in lines_of(run, source, 5)] == [1]


def test_a_truncated_packet_is_displayed_with_its_original_size(run: Run) -> None:
    descriptor = Descriptor(STRUCTURE, 0, frame_number=1, attached=True).serialise()
    whole = media(1, descriptor, payload=bytes(500))
    padded = bytes([0xA0]) + media(2, payload=bytes(500))[1:]
    source = [
        record(whole[:60], len(whole)),
        record(whole[:20], len(whole)),
        record(padded[:12], len(padded)),
    ]
    kept, headless, unpadded = lines_of(run, source, 5)
    assert (kept["size"], kept["frame_number"], kept["padding"]) == (len(whole), 1, 0)
    assert headless == {"seq": 1, "error": "cut off inside the RTP header"}
    assert (unpadded["size"], unpadded["padding"]) == (len(padded), None)


@pytest.mark.parametrize(
    ("data", "seq"), [(b"\x00\x60\x00\x05" + bytes(20), 5), (b"\x80\x60\x00\x05", 5), (b"\x80", None)]
)
def test_a_packet_that_is_not_rtp_is_an_error_in_its_own_line(data: bytes, seq: int | None, run: Run) -> None:
    assert lines_of(run, [record(data)], 5) == [{"seq": seq, "error": "malformed RTP header"}]
    assert run([record(data)])[0] == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_descriptor_of_arbitrary_bytes_is_parsed_or_rejected(name: str) -> None:
    source = records(name)
    for ext_id in (1, 2, 4, 9):
        assert len(list(rows(source, ext_id))) == len(capture(name).packets)


def test_without_json_a_table_is_printed(run: Run) -> None:
    source = [
        record(media(1, Descriptor(STRUCTURE, 0, frame_number=1, attached=True).serialise(), marker=True)),
        record(media(2, Descriptor(STRUCTURE, 2, frame_number=2, end_of_frame=False).serialise())),
        record(media(3, b"\x01")),
        record(media(4)),
        record(b"\x80"),
    ]
    status, lines, error = run(source, "--dd-id", "5")
    assert (status, error) == (0, "")
    assert lines == [
        "      ms    seq   timestamp        ssrc  pt  m  pad  size   frame  part  layer  template"
        "  needs         dtis       targets",
        "       7      1           0           9  96  M    .    28       1    SE   S0T0         0"
        "  nothing       SS         11  structure",
        "       7      2           0           9  96  .    .    24       2    S-   S0T1         2"
        "  -1            -D         11",
        "       7      3  dependency descriptor: truncated",
        "       7      4           0           9  96  .    .    12",
        "       7      ?  malformed RTP header",
    ]


def test_a_missing_or_broken_file_is_reported_on_one_line_with_status_2(run: Run, tmp_path: Path) -> None:
    broken, missing = tmp_path / "broken", tmp_path / "missing"
    broken.write_bytes((FOLDER / "opus.rtpdump").read_bytes()[:5000])
    status, lines, error = run(broken)
    assert (status, lines) == (2, [])
    assert error.startswith(f"svc rtp: {broken}: the file ends inside record ") and error.count("\n") == 1
    assert run(missing) == (2, [], f"svc rtp: {missing}: No such file or directory\n")


@pytest.mark.parametrize("flag", ["0", "256", "x", "-1"])
def test_an_extension_id_must_be_1_to_255(flag: str, run: Run) -> None:
    with pytest.raises(SystemExit) as end:
        run("opus", "--dd-id", flag)
    assert end.value.code == 2
