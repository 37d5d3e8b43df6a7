"""Reads and writes the fixed RTP header, and header extensions in the one-byte and two-byte forms."""

from typing import TypedDict

class ParsedHeader(TypedDict):
    marker: bool
    payload_type: int
    sequence: int
    timestamp: int
    ssrc: int
    padding: int
    payload_offset: int
    payload_length: int
    extensions: list[tuple[int, bytes]]

def parse_header(packet: bytes) -> ParsedHeader | None: ...
def rewrite_header(
    packet: bytes,
    *,
    ssrc: int,
    sequence: int,
    payload_type: int,
    ext_ids: dict[int, int],
    mixed: bool,
    mid: tuple[int, bytes] | None = None,
) -> bytes | None: ...
