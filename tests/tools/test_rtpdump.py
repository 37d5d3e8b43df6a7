"""Captures are read and written in the rtpplay format, and other formats are rejected with a message."""

import io
import struct
from pathlib import Path

import pytest

from svc.tools.rtpdump import Record, RtpdumpError, read, write

CAPTURES = sorted((Path(__file__).parent.parent / "data/captures").glob("*.rtpdump"))
NO_CAPTURE = "not an rtpdump file: it does not start with #!rtpplay1.0 address/port"
HEADER = b"#!rtpplay1.0 127.0.0.1/5004\n" + bytes(16)


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_a_capture_is_rewritten_identically(path: Path) -> None:
    again = io.BytesIO()
    with path.open("rb") as file:
        write(again, read(file), start_s=1_700_000_000)
    assert again.getvalue() == path.read_bytes()


def test_rtcp_is_recognised_by_its_zero_length() -> None:
    packet = Record(3, b"\x80abc", 4)
    report = Record(70_000, b"\x80def", 0)
    file = io.BytesIO()
    write(file, [packet, report])
    file.seek(0)
    assert list(read(file)) == [packet, report]
    assert [packet.is_rtcp, report.is_rtcp] == [False, True]


def test_a_capture_with_only_headers_keeps_the_packet_lengths() -> None:
    file = io.BytesIO(HEADER + struct.pack("!HHI", 8 + 12, 1200, 5) + bytes(12))
    assert list(read(file)) == [Record(5, bytes(12), 1200)]


def test_an_empty_capture_has_no_records() -> None:
    assert list(read(io.BytesIO(HEADER))) == []


@pytest.mark.parametrize("address", ["224.2.0.1/3456", "::1/5004", "example.org/1"])
def test_any_source_address_is_accepted(address: str) -> None:
    assert list(read(io.BytesIO(f"#!rtpplay1.0 {address}\n".encode() + bytes(16)))) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", NO_CAPTURE),
        (b"\xd4\xc3\xb2\xa1" * 100, NO_CAPTURE),
        (
            b"#!rtpplay1.0 " + bytes(100_000),
            "not an rtpdump file: it does not start with #!rtpplay1.0 address/port",
        ),
        (HEADER[:-1], "the file ends inside its header"),
        (HEADER + b"\x00", "the file ends inside record 0"),
        (HEADER + struct.pack("!HHI", 7, 0, 0), "record 0 is shorter than its own header"),
        (
            HEADER + struct.pack("!HHIB", 9, 1, 0, 0) + struct.pack("!HHIB", 10, 2, 0, 0),
            "the file ends inside record 1",
        ),
    ],
)
def test_a_file_that_is_not_a_capture_is_rejected(content: bytes, message: str) -> None:
    with pytest.raises(RtpdumpError) as refusal:
        list(read(io.BytesIO(content)))
    assert str(refusal.value) == message


def test_a_file_in_another_format_is_rejected_before_anything_is_read() -> None:
    with pytest.raises(RtpdumpError):
        read(io.BytesIO(b"no capture\n"))
