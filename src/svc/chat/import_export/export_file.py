"""Reads and writes exports: zip archives with `export.jsonl`, and the stored media in `media/`.

The first line of `export.jsonl` identifies the format. The last line contains the number of records, to
detect truncation. This module does not depend on the database.

Untrusted zip files are opened with limits (`open_archive`), because `zipfile` loads the complete list of
entries into memory. Deflate is the only accepted compression, because LZMA's header may request 4 GB of
memory. Callers read entries piece by piece.
"""

import json
import shutil
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from svc.base.strict_json import dumps, loads_object
from svc.chat.import_export.record_types import (
    FORMAT,
    KINDS,
    MAX_LINE_BYTES,
    VERSION,
    BadRecord,
    Record,
    validate,
)

# The size limit for the list of files, enough for 140,000 files in an export. Python uses up to 16 bytes of
# memory per byte of the list.
MAX_LIST_BYTES = 16 * 1024 * 1024
# The library's errors for a damaged archive or an unknown type.
ZIP_FAULTS = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OverflowError, RuntimeError, ValueError)
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_LIST_BYTES_AT = 5  # The index of the list's size in the library's end record.


def open_archive(path: Path, what: str) -> zipfile.ZipFile:
    """Open an archive. Raises OSError or BadRecord. `what` describes the expected archive in error
    messages.
    """
    try:
        with path.open("rb") as file:
            # Use the library's function, because two parsers could see different lists in a crafted file.
            end = zipfile._EndRecData(file)  # type: ignore[attr-defined]
        if end and end[_LIST_BYTES_AT] > MAX_LIST_BYTES:
            raise BadRecord(
                f"{path}: its list of files has {end[_LIST_BYTES_AT]} bytes; the limit is {MAX_LIST_BYTES}"
            )
        archive = zipfile.ZipFile(path)
    except ZIP_FAULTS as fault:
        raise BadRecord(f"{path}: this is not {what} ({fault})") from None
    try:
        _check(path, archive)
    except BadRecord:
        archive.close()
        raise
    return archive


def entry(archive: zipfile.ZipFile, name: str, maximum: int) -> IO[bytes]:
    """Open an entry of at most `maximum` uncompressed bytes. Raises BadRecord or one of ZIP_FAULTS."""
    info = archive.getinfo(name)
    if info.file_size > maximum:
        raise BadRecord(f"{name!a} has {info.file_size} bytes uncompressed; the limit is {maximum}")
    return archive.open(info)


def _check(path: Path, archive: zipfile.ZipFile) -> None:
    """Raise BadRecord if a name occurs twice, or a compression method is not accepted."""
    for info in archive.infolist():
        if archive.NameToInfo[info.filename] is not info:
            raise BadRecord(f"{path}: {info.filename[:200]!a} occurs twice")
        if info.compress_type not in _METHODS:
            raise BadRecord(f"{path}: {info.filename[:200]!a} is compressed in a way that is not accepted")


RECORDS, MEDIA = "export.jsonl", "media/"
_CHUNK_BYTES = 256 * 1024
# The size limit for a stored file. Our worker's files are tens of megabytes at most.
MAX_OBJECT_BYTES = 1024 * 1024 * 1024
# The size limit for the records, enough for forty million messages. Imports that do not fit on the disk have
# already been rejected.
MAX_RECORDS_BYTES = 16 * 1024 * 1024 * 1024


class Writer:
    """A writer of one export. Call `finish` to complete it. Always call `close`."""

    def __init__(self, file: IO[bytes], facts: Mapping[str, object]) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        self._facts = facts

    def add_records(self, records: Iterator[dict[str, object]]) -> int:
        """Add all records and return their number."""
        count = 0
        with self._zip.open(RECORDS, "w", force_zip64=True) as lines:
            lines.write(
                dumps({"kind": "export", "format": FORMAT, "version": VERSION, **self._facts}) + b"\n"
            )
            for record in records:
                lines.write(dumps(record) + b"\n")
                count += 1
            lines.write(dumps({"kind": "end", "records": count}) + b"\n")
        return count

    def add_object(self, key: str, content: IO[bytes]) -> None:
        info = zipfile.ZipInfo(MEDIA + key.rpartition("/")[2])
        # Not compressed, because media files already are.
        with self._zip.open(info, "w", force_zip64=True) as entry:
            shutil.copyfileobj(content, entry, _CHUNK_BYTES)

    def finish(self) -> None:
        self._zip.close()

    def close(self) -> None:
        """Close an unfinished archive. Safe even while a thread is writing to it, because an unfinished
        archive is never read.
        """
        with suppress(OSError, ValueError):
            self._zip.close()


class Export:
    """A reader of one export. Errors are raised as BadRecord and include the position in the file."""

    def __init__(self, path: Path) -> None:
        self._zip = open_archive(path, "an export of this program")
        self._names = set(self._zip.namelist())
        if RECORDS not in self._names:
            raise BadRecord(f"{path}: this is not an export of this program: it has no {RECORDS}")
        self.path = path

    def close(self) -> None:
        self._zip.close()

    def records(self) -> Iterator[tuple[int, type[Record], Mapping[str, object]]]:
        """Yield the line number, kind and content of each record."""
        number, count, ended = 0, 0, False
        try:
            with entry(self._zip, RECORDS, MAX_RECORDS_BYTES) as lines:
                while line := lines.readline(MAX_LINE_BYTES + 1):
                    number += 1
                    record = _read(line)
                    if ended:
                        raise BadRecord("there is more data after the end")
                    if number == 1:
                        _check_first(record)
                    elif record.get("kind") == "end":
                        ended = True
                        if record.get("records") != count:
                            raise BadRecord(
                                f"it declares {record.get('records')} records, but there are {count}"
                            )
                    else:
                        count += 1
                        yield number, *_of_a_kind(record)
            if not ended:
                raise BadRecord("the file is cut off")
        except BadRecord as fault:
            raise self.at(number, fault) from None
        except (*ZIP_FAULTS, OSError) as fault:
            raise self.at(number, fault) from None

    def at(self, line: int, fault: Exception) -> BadRecord:
        return BadRecord(f"{self.path}: {RECORDS}, line {line}: {fault}")

    def media(self, key: str) -> IO[bytes] | None:
        """Open the content of an object. Return None if the export does not contain it. Raises BadRecord."""
        name = MEDIA + key.rpartition("/")[2]
        if name not in self._names:
            return None
        try:
            return entry(self._zip, name, MAX_OBJECT_BYTES)
        except BadRecord as fault:
            raise BadRecord(f"{self.path}: {fault}") from None
        except ZIP_FAULTS as fault:
            raise BadRecord(f"{self.path}: {name} cannot be read ({fault})") from None

    def unpacked_bytes(self) -> int:
        """Return the uncompressed size of the records."""
        return self._zip.getinfo(RECORDS).file_size


def _read(line: bytes) -> dict[str, object]:
    if len(line) > MAX_LINE_BYTES:
        raise BadRecord(f"a record has at most {MAX_LINE_BYTES} bytes")
    try:
        return loads_object(line.decode())
    except (ValueError, json.JSONDecodeError) as fault:
        raise BadRecord(f"this is not a JSON object ({fault})") from None


def _check_first(record: Mapping[str, object]) -> None:
    match record:
        case {"kind": "export", "format": "svc-export", "version": int(version)}:
            if version > VERSION:
                raise BadRecord(
                    f"it was created by a newer version (format {version}, this one supports {VERSION})"
                )
        case _:
            raise BadRecord("this is not an export of this program")


def _of_a_kind(record: dict[str, object]) -> tuple[type[Record], Mapping[str, object]]:
    kind = KINDS.get(str(record.get("kind")))
    if kind is None:
        raise BadRecord(f"unknown kind of record: {str(record.get('kind'))[:100]!r}")
    return kind, validate(kind, record)
