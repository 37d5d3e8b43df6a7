"""Reads the structure of media containers: the boxes of ISO files (MP4, HEIF, AVIF) and Matroska's header.

Decodes nothing. A size stated in a file is used only as an offset, never to allocate memory.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass

# The content of a file, or a file descriptor.
File = bytes | int

# The number of bytes to read from the start: enough for the brands, the list of a photo's parts, and
# Matroska's header. In files from phones, these take up to 2 KiB.
HEAD_BYTES = 4096
# The maximum number of boxes to read. Movies have up to ten boxes before their index, and photos a few.
_MAX_BOXES = 64
_MIN_FTYP_BYTES, _MAX_FTYP_BYTES = 12, 4096
_IN_MOOV = frozenset((b"mvhd", b"cmov", b"rmra", b"iods", b"udta", b"meta", b"trak", b"prfl", b"clip"))
_EBML_HEADER, _EBML_DOCTYPE = b"\x1a\x45\xdf\xa3", b"\x42\x82"


@dataclass(frozen=True, slots=True)
class Box:
    """A box of an ISO container, with the start and end of its content."""

    kind: bytes
    start: int
    end: int


def peek(file: File, at: int, size: int) -> bytes:
    return file[at : at + size] if isinstance(file, bytes) else os.pread(file, size, at)


def brands_of(file: File) -> list[bytes]:
    """Return an ISO container's brands, its major brand first, or an empty list for other files."""
    head = peek(file, 0, HEAD_BYTES)
    size = int.from_bytes(head[:4])
    if head[4:8] != b"ftyp" or not _MIN_FTYP_BYTES <= size <= _MAX_FTYP_BYTES:
        return []
    # The four bytes after the major brand are its version, not a brand.
    listed = head[16:size]
    return [head[8:12], *(listed[at : at + 4] for at in range(0, len(listed) - 3, 4))]


def boxes(file: File, at: int, end: int) -> Iterator[Box]:
    """Yield the boxes between two positions, up to the first invalid or missing header."""
    for _ in range(_MAX_BOXES):
        head = peek(file, at, 16) if at + 8 <= end else b""
        if len(head) < 8:
            return
        size, kind, start = int.from_bytes(head[:4]), head[4:8], at + 8
        if size == 0:
            size = end - at
        elif size == 1:
            size, start = int.from_bytes(head[8:16]), at + 16
        if size < start - at:
            return
        yield Box(kind, start, at + size)
        at += size


def holds_movie(file: File, length: int) -> bool:
    """Return whether an ISO container of `length` bytes contains the index of a movie.

    An incomplete upload counts as a movie if the index may still follow.
    """
    end = 0
    for box in boxes(file, 0, length):
        if box.kind == b"moov":
            return peek(file, box.start + 4, 4) in _IN_MOOV
        end = box.end
    return end + 8 <= length and not peek(file, end, 1)


def coded_items(file: File) -> set[bytes]:
    """Return the item types in an image container (ISO/IEC 23008-12), such as hvc1 and av01."""
    top = {box.kind: box for box in boxes(file, 0, HEAD_BYTES)}
    if (meta := top.get(b"meta")) is None:
        return set()
    # Version and flags come first, and in `iinf` also the number of items.
    inside = {box.kind: box for box in boxes(file, meta.start + 4, meta.end)}
    if (listed := inside.get(b"iinf")) is None:
        return set()
    version = int.from_bytes(peek(file, listed.start, 1))
    entries = boxes(file, listed.start + (6 if version == 0 else 8), listed.end)
    types = set()
    for entry in entries:
        head = peek(file, entry.start, 12)
        # An item number has two bytes in version 2, and four in version 3.
        at = 8 if head[:1] == b"\2" else 10
        types.add(peek(file, entry.start + at, 4))
    return types


def code_points(file: File) -> tuple[int, int] | None:
    """Return the colour primaries and transfer characteristics (H.273) stated in an image container."""
    at, end = 0, HEAD_BYTES
    for kind in (b"meta", b"iprp", b"ipco"):
        if (box := next((box for box in boxes(file, at, end) if box.kind == kind), None)) is None:
            return None
        # Version and flags come first in `meta`.
        at, end = box.start + (4 if kind == b"meta" else 0), box.end
    for box in boxes(file, at, end):
        stated = peek(file, box.start, 8) if box.kind == b"colr" else b""
        if stated.startswith(b"nclx") and len(stated) == 8:
            return int.from_bytes(stated[4:6]), int.from_bytes(stated[6:8])
    return None


def document_type(file: File) -> bytes:
    """Return the document type in the header of an EBML file, such as webm or matroska, or `b""`."""
    head = peek(file, 0, HEAD_BYTES)
    if not head.startswith(_EBML_HEADER):
        return b""
    size, at = _variable(head, len(_EBML_HEADER))
    end = min(at + size, len(head))
    while at < end:
        name_at = at
        _, at = _variable(head, at)
        name = head[name_at:at]
        size, at = _variable(head, at)
        if name == _EBML_DOCTYPE:
            return head[at : at + size].rstrip(b"\0")
        at += size
    return b""


def _variable(head: bytes, at: int) -> tuple[int, int]:
    """Return the variable-length number at a position, without its marker, and the position after the
    number.
    """
    first = head[at] if at < len(head) else 0
    length = 9 - first.bit_length()
    return int.from_bytes(head[at : at + length]) & (1 << 7 * length) - 1, at + length
