"""Zip files from strangers, opened with bounds: `zipfile` holds the whole list of entries in memory.

Compression other than deflate is refused: LZMA's header may ask for 4 GB. What an entry holds is
read by whoever asks, piece by piece.
"""

import struct
import zipfile
import zlib
from pathlib import Path
from typing import IO

from svc.chat.transfer.kinds import BadRecord

# The list of files: Python makes up to 16 bytes of memory of each byte. 140,000 files of an export.
MAX_LIST_BYTES = 16 * 1024 * 1024
# What the library says of a damaged archive, or one of a kind that it does not know.
ZIP_FAULTS = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OverflowError, RuntimeError, ValueError)
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_LIST_BYTES_AT = 5  # In what the library reads at the end of a zip file.


def opened(path: Path, what: str) -> zipfile.ZipFile:
    """Raises BadRecord where it is not `what`, and OSError."""
    try:
        with path.open("rb") as file:
            # The library's own: two readers of this record could be shown two different lists.
            end = zipfile._EndRecData(file)  # type: ignore[attr-defined]
        if end and end[_LIST_BYTES_AT] > MAX_LIST_BYTES:
            raise BadRecord(
                f"{path}: its list of files has {end[_LIST_BYTES_AT]} bytes, and at most {MAX_LIST_BYTES}"
            )
        archive = zipfile.ZipFile(path)
    except ZIP_FAULTS as fault:
        raise BadRecord(f"{path}: this is no {what} ({fault})") from None
    try:
        _check(path, archive)
    except BadRecord:
        archive.close()
        raise
    return archive


def entry(archive: zipfile.ZipFile, name: str, most: int) -> IO[bytes]:
    """An entry to read, of at most `most` bytes unpacked. Raises BadRecord and ZIP_FAULTS."""
    info = archive.getinfo(name)
    if info.file_size > most:
        raise BadRecord(f"{name!a} has {info.file_size} bytes unpacked, and at most {most}")
    return archive.open(info)


def _check(path: Path, archive: zipfile.ZipFile) -> None:
    """Raises BadRecord."""
    for info in archive.infolist():
        if archive.NameToInfo[info.filename] is not info:
            raise BadRecord(f"{path}: {info.filename[:200]!a} is there twice")
        if info.compress_type not in _METHODS:
            raise BadRecord(f"{path}: {info.filename[:200]!a} is compressed in a way that is not accepted")
