"""The file of an export: a zip archive with `export.jsonl`, and the stored media in `media/`.

The first line says what it is, the last how many records there were: a file that was cut off is
noticed. Reads and writes the file; knows no database.
"""

import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from svc.base.strict_json import dumps, loads_object
from svc.chat.transfer.kinds import FORMAT, KINDS, MAX_LINE_BYTES, VERSION, BadRecord, Kind
from svc.chat.transfer.zips import ZIP_FAULTS, entry, opened

RECORDS, MEDIA = "export.jsonl", "media/"
_CHUNK_BYTES = 256 * 1024
# What media there may be: our worker writes some ten megabytes at most.
MAX_OBJECT_BYTES = 1024 * 1024 * 1024
# Forty million messages. What the disk has no room for is refused before.
MAX_RECORDS_BYTES = 16 * 1024 * 1024 * 1024


class Writer:
    """`finish` makes it whole, and in any case it is to be closed."""

    def __init__(self, file: IO[bytes], facts: Mapping[str, object]) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        self._facts = facts

    def add_records(self, records: Iterator[dict[str, object]]) -> int:
        """All of them; how many there were."""
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
        with self._zip.open(info, "w", force_zip64=True) as entry:  # Stored: it is packed already.
            while chunk := content.read(_CHUNK_BYTES):
                entry.write(chunk)

    def finish(self) -> None:
        self._zip.close()

    def close(self) -> None:
        """Let go of what was not finished, also while a thread is still at it: nobody reads that."""
        with suppress(OSError, ValueError):
            self._zip.close()


class Export:
    """One that is read. Whatever is wrong with it is a BadRecord that says where."""

    def __init__(self, path: Path) -> None:
        self._zip = opened(path, "export of this program")
        self._names = set(self._zip.namelist())
        if RECORDS not in self._names:
            raise BadRecord(f"{path}: this is no export of this program: it has no {RECORDS}")
        self.path = path

    def close(self) -> None:
        self._zip.close()

    def records(self) -> Iterator[tuple[int, Kind, Mapping[str, object]]]:
        """Line, kind and record of each."""
        number, count, ended = 0, 0, False
        try:
            with entry(self._zip, RECORDS, MAX_RECORDS_BYTES) as lines:
                while line := lines.readline(MAX_LINE_BYTES + 1):
                    number += 1
                    record = _read(line)
                    if ended:
                        raise BadRecord("there is more after the end")
                    if number == 1:
                        _check_first(record)
                    elif record.get("kind") == "end":
                        ended = True
                        if record.get("records") != count:
                            raise BadRecord(
                                f"there should have been {record.get('records')} records, not {count}"
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
        """The content of an object; None where the file has none."""
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
        """How much the records are, unpacked."""
        return self._zip.getinfo(RECORDS).file_size


def _read(line: bytes) -> dict[str, object]:
    if len(line) > MAX_LINE_BYTES:
        raise BadRecord(f"a record has at most {MAX_LINE_BYTES} bytes")
    try:
        return loads_object(line.decode())
    except (ValueError, json.JSONDecodeError) as fault:
        raise BadRecord(f"this is no JSON object ({fault})") from None


def _check_first(record: Mapping[str, object]) -> None:
    match record:
        case {"kind": "export", "format": "svc-export", "version": int(version)}:
            if version > VERSION:
                raise BadRecord(f"a newer version made it (format {version}, this one knows {VERSION})")
        case _:
            raise BadRecord("this is no export of this program")


def _of_a_kind(record: dict[str, object]) -> tuple[Kind, Mapping[str, object]]:
    kind = KINDS.get(str(record.get("kind")))
    if kind is None:
        raise BadRecord(f"there is no kind of record called {str(record.get('kind'))[:100]!r}")
    return kind, kind.checked(record)
