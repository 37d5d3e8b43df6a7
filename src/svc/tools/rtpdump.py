"""Reads and writes RTP captures in the `#!rtpplay1.0` format of rtptools, record by record.

A file consists of one line of text, a fixed header (start time, source), and records. Each record has a
length, the packet's original length, the milliseconds since the start, and the bytes. This module does not
interpret packets. rtptools' rtpdump(1) describes the format. Wireshark and GStreamer can also read it.
"""

import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

# "#!rtpplay1.0 address/port"; the longest textual address has 45 characters.
_FIRST_LINE = re.compile(rb"#!rtpplay1\.0 [^\s/]{1,64}/\d{1,5}\n")
_FIRST_LINE_BYTES = 96
# Start time in seconds and microseconds, source address (IPv4) and port, padding.
_FILE_HEADER = struct.Struct("!IIIHH")
# Length including this header, length of the packet (0 for RTCP), milliseconds since the start.
_RECORD_HEADER = struct.Struct("!HHI")


class RtpdumpError(ValueError):
    """The file is not a capture, or is truncated. The message gives the position."""


@dataclass(frozen=True, slots=True)
class Record:
    """One captured packet, possibly truncated: some captures contain only headers."""

    offset_ms: int
    data: bytes
    packet_length: int  # before truncation; 0 means RTCP

    @property
    def is_rtcp(self) -> bool:
        return self.packet_length == 0


def read(file: BinaryIO) -> Iterator[Record]:
    """Return the records in a capture. Raises RtpdumpError immediately for a different format, and later for
    a truncated file.
    """
    if not _FIRST_LINE.fullmatch(file.readline(_FIRST_LINE_BYTES)):
        raise RtpdumpError("not an rtpdump file: it does not start with #!rtpplay1.0 address/port")
    if len(file.read(_FILE_HEADER.size)) < _FILE_HEADER.size:
        raise RtpdumpError("the file ends inside its header")
    return _records(file)


def _records(file: BinaryIO) -> Iterator[Record]:
    index = 0
    while header := file.read(_RECORD_HEADER.size):
        if len(header) < _RECORD_HEADER.size:
            raise RtpdumpError(f"the file ends inside record {index}")
        length, packet_length, offset_ms = _RECORD_HEADER.unpack(header)
        if length < _RECORD_HEADER.size:
            raise RtpdumpError(f"record {index} is shorter than its own header")
        data = file.read(length - _RECORD_HEADER.size)
        if len(data) < length - _RECORD_HEADER.size:
            raise RtpdumpError(f"the file ends inside record {index}")
        yield Record(offset_ms, data, packet_length)
        index += 1


def write(file: BinaryIO, records: Iterable[Record], *, start_s: float = 0.0) -> None:
    """Write a capture. The source in its header is 127.0.0.1/5004, where nothing is listening."""
    seconds, microseconds = divmod(round(start_s * 1_000_000), 1_000_000)
    file.write(b"#!rtpplay1.0 127.0.0.1/5004\n")
    file.write(_FILE_HEADER.pack(seconds, microseconds, 0x7F000001, 5004, 0))
    for record in records:
        length = _RECORD_HEADER.size + len(record.data)
        file.write(_RECORD_HEADER.pack(length, record.packet_length, record.offset_ms))
        file.write(record.data)
