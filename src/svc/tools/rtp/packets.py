"""Reads a capture's RTP packets and parses their headers.

Omits RTCP, marks malformed packets, and does not group packets into streams. See RFC 3550 section 5.1, RFC
5761 section 4 (distinguishing RTCP from RTP).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from svc._rtp.header import parse_header
from svc.tools.rtpdump import Record, RtpdumpError, read, write

if TYPE_CHECKING:
    from svc._rtp.header import ParsedHeader

PADDING_BIT = 0x20


@dataclass(frozen=True)
class Packet:
    """One RTP packet. If the capture is truncated, the last `cut` bytes are zeros."""

    offset_ms: int
    data: bytes
    cut: int
    header: "ParsedHeader"

    @cached_property
    def payload(self) -> bytes:
        start = self.header["payload_offset"]
        return self.data[start : start + self.header["payload_length"]]

    def extension(self, ext_id: int) -> bytes | None:
        return next(
            (value for extension_id, value in self.header["extensions"] if extension_id == ext_id), None
        )


@dataclass(frozen=True, slots=True)
class Malformed:
    """The data of a record that is not valid RTP."""

    offset_ms: int
    data: bytes
    problem: str

    @property
    def sequence(self) -> int | None:
        return int.from_bytes(self.data[2:4], "big") if len(self.data) >= 4 else None


def load(path: Path) -> list[Record]:
    """Return all records in a capture. Raises RtpdumpError, with the file's name, if it is unreadable."""
    try:
        with path.open("rb") as file:
            return list(read(file))
    except OSError as problem:
        raise RtpdumpError(f"{path}: {problem.strerror}") from problem
    except RtpdumpError as problem:
        raise RtpdumpError(f"{path}: {problem}") from problem


def save(path: Path, records: Iterable[Record]) -> None:
    try:
        with path.open("wb") as file:
            write(file, records)
    except OSError as problem:
        raise RtpdumpError(f"{path}: {problem.strerror}") from problem


def read_packets(records: Iterable[Record]) -> list[Packet | Malformed]:
    """Return the packets in the records, without RTCP."""
    return [_read(record) for record in records if not _is_rtcp(record)]


def _is_rtcp(record: Record) -> bool:
    return record.is_rtcp or (len(record.data) > 1 and 192 <= record.data[1] < 224)


def _read(record: Record) -> Packet | Malformed:
    cut = max(record.packet_length - len(record.data), 0)
    data = record.data + bytes(cut)
    if cut and data[0] & PADDING_BIT:
        # The byte with the amount of padding was cut off. Assume the minimum.
        data = data[:-1] + b"\x01"
    header = parse_header(data)
    if header is None:
        return Malformed(record.offset_ms, record.data, "malformed RTP header")
    if header["payload_offset"] > len(record.data):
        return Malformed(record.offset_ms, record.data, "cut off inside the RTP header")
    return Packet(record.offset_ms, data, cut, header)
