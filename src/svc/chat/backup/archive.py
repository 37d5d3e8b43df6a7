"""Reads and writes backups, which are compressed tar archives that begin with a header and end with
checksums.

    backup.json             format, version, schema, time, and the program's version
    database.sqlite3        a consistent snapshot of the database
    files/<name>            other files at the top of the data folder: secrets, keys, ids
    objects/uploads/<name>  the stored media
    manifest.json           the size and SHA-256 of every other file, and the missing objects

This module does not depend on the server or on where a backup is restored. A backup is untrusted input: each
part has a size limit, and only the list of names is kept in memory.

The archive is read sequentially (`TarReader`). Only the kinds of entries in our backups are accepted: files
(ustar), and extended headers for long names and sizes over 8 GiB (pax). Links, folders, devices, sparse files
and GNU long names are rejected. `tarfile` would load an extended header of any size into memory.
"""

import gzip
import hashlib
import io
import json
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from svc.base.incremental_json import JsonStream
from svc.base.progress import report
from svc.base.strict_json import loads

BLOCK_BYTES = 512
# The size limit for an extended header. Headers written by Python are about a hundred bytes long.
MAX_EXTENDED_BYTES = 16 * 1024
_OTHER_KINDS = {
    b"1": "a link",
    b"2": "a link",
    b"3": "a device",
    b"4": "a device",
    b"5": "a folder",
    b"6": "a pipe",
    b"S": "a sparse file",
}


class TarError(Exception):
    """The file is not an archive of plain files, or is damaged."""


class TarReader:
    """An iterator over the files in an archive. `read` takes a number of bytes and returns at most that many,
    or none at the end.
    """

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._source = read
        # The number of unread bytes in the current file, and the number of padding bytes after the file.
        self._left = 0
        self._filling = 0

    def next(self) -> tuple[str, int] | None:
        """Return the name and size of the next file, or None at the end. Raises TarError."""
        while self.read(1 << 16):
            pass
        self._exactly(self._filling)
        self._filling = 0
        extended: dict[str, str] = {}
        while (header := self._exactly(BLOCK_BYTES, may_end=True)).strip(b"\0"):
            _check_sum(header)
            kind, size = header[156:157], _number(header[124:136])
            if kind == b"x" and not extended:
                if size > MAX_EXTENDED_BYTES:
                    raise TarError(f"an extended header has {size} bytes; the limit is {MAX_EXTENDED_BYTES}")
                extended = _records(self._exactly(size))
                self._exactly(-size % BLOCK_BYTES)
                continue
            name = extended.get("path", _name(header))
            if kind not in (b"0", b"\0"):
                what = _OTHER_KINDS.get(kind, "of a kind that no backup has")
                raise TarError(f"{name[:200]!r} is {what}, not a file")
            self._left = _size(extended.get("size", str(size)))
            self._filling = -self._left % BLOCK_BYTES
            return name, self._left
        return None

    def read(self, maximum: int) -> bytes:
        """Return the next bytes of the current file. Raises TarError."""
        if not self._left:
            return b""
        data = self._source(min(maximum, self._left))
        if not data:
            raise TarError("the archive is cut off")
        self._left -= len(data)
        return data

    def _exactly(self, size: int, *, may_end: bool = False) -> bytes:
        pieces = b""
        while len(pieces) < size:
            piece = self._source(size - len(pieces))
            if not piece:
                if may_end and not pieces:
                    return b""
                raise TarError("the archive is cut off")
            pieces += piece
        return pieces


def _check_sum(header: bytes) -> None:
    if _number(header[148:156]) != sum(header[:148]) + 8 * ord(" ") + sum(header[156:]):
        raise TarError("a header's checksum is wrong: this is not a tar archive, or a damaged one")


def _number(field: bytes) -> int:
    text = field.strip(b" \0")
    if not all(byte in b"01234567" for byte in text):
        raise TarError("a header has an invalid number")
    return int(text or b"0", 8)


def _name(header: bytes) -> str:
    name, prefix = (part.partition(b"\0")[0] for part in (header[:100], header[345:500]))
    return (prefix + b"/" + name if prefix else name).decode("utf-8", "replace")


def _size(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise TarError(f"{text[:40]!r} is not a size")
    return int(text)


def _records(data: bytes) -> dict[str, str]:
    """Parse an extended header. Each line consists of its length, a space, `name=value` and a line feed."""
    records: dict[str, str] = {}
    while data:
        length, _, _ = data[:8].partition(b" ")
        size = int(length) if length.isdigit() else 0
        line, data = data[:size], data[size:]
        name, equals, value = line[len(length) + 1 : -1].decode("utf-8", "replace").partition("=")
        if not line.endswith(b"\n") or len(line) != size or not equals:
            raise TarError("an extended header cannot be read")
        if name.startswith("GNU.sparse") or name == "linkpath":
            raise TarError("an extended header belongs to a sparse file or a link")
        records[name] = value
    return records


HEADER, DATABASE, MANIFEST = "backup.json", "database.sqlite3", "manifest.json"
FILES, OBJECTS = "files/", "objects/"
FORMAT, VERSION = "svc-backup", 1
# Images and videos are already compressed, and a higher level would slow down everything else.
_LEVEL = 1
_CHUNK_BYTES = 256 * 1024
# Progress is reported for files larger than this. A file of this size takes a second on a small machine.
_LARGE_BYTES = 16 * 1024 * 1024
# The size limit for the archive's header. A genuine header is a few hundred bytes long.
_MAX_HEADER_BYTES = 64 * 1024
# The size limit for files at the top level of the data folder, all of which are short secrets and ids.
MAX_FILE_BYTES = 1024 * 1024
# The maximum number of files. The reader uses about 300 bytes of memory per file.
MAX_MEMBERS = 1_000_000
# The limits for a file's entry in the manifest, and for its name.
_MAX_ENTRY_CHARACTERS = 1024
_MAX_NAME_CHARACTERS = 300
# The year 10000, beyond Python's calendar.
_END_OF_TIME_MS = 253_402_300_800_000
# The accepted names, none of which can escape the target folder.
_NAME = re.compile(
    r"database\.sqlite3|files/[A-Za-z0-9_][A-Za-z0-9._-]*|objects/uploads/[A-Za-z0-9_-]+\.[a-z0-9]+"
)


# The files and folders that are left out of backups, because the running process, the database or a feature
# creates them.
NOT_KEPT = frozenset({"lock", "control.sock", "control.json", "backups", "incoming"})
_FOLDER = re.compile(r"[^/\\\x00-\x1f\x7f]{1,255}")


class ArchiveError(Exception):
    """The file is not a backup, or is damaged. The message describes the fault and its location."""


@dataclass(frozen=True, slots=True)
class Header:
    schema: int
    program: str
    made_at_ms: int
    # The server's folder for stored objects, if they are not in a bucket.
    objects_folder: str


class ArchiveWriter:
    """A writer of one archive. Call `finish` to complete the archive. Always call `close`."""

    def __init__(self, file: IO[bytes], header: Header) -> None:
        self._gzip = gzip.GzipFile(fileobj=file, mode="wb", compresslevel=_LEVEL, mtime=0)
        self._tar = tarfile.open(fileobj=self._gzip, mode="w|", format=tarfile.PAX_FORMAT)  # noqa: SIM115
        self._sums: dict[str, dict[str, object]] = {}
        self._made_at_s = header.made_at_ms // 1000
        whole = {"format": FORMAT, "version": VERSION, **asdict(header)}
        self._add_json(HEADER, whole)

    def add(self, name: str, content: IO[bytes], size: int) -> None:
        """Add `size` bytes of `content`. Raises OSError."""
        member = tarfile.TarInfo(name)
        member.size, member.mode, member.mtime = size, 0o600, self._made_at_s
        hashing = _Hashing(content, size)
        self._tar.addfile(member, hashing)
        self._sums[name] = hashing.sum()

    def add_file(self, name: str, path: Path) -> None:
        with path.open("rb") as file:
            self.add(name, file, path.stat().st_size)

    def finish(self, missing: Sequence[str]) -> None:
        """Write the manifest. `missing` lists the keys of objects that disappeared before being copied."""
        self._add_json(MANIFEST, {"members": dict(self._sums), "missing": list(missing)})
        self._tar.close()
        self._gzip.close()

    def close(self) -> None:
        """Close an unfinished archive. Safe even while a thread is writing to it, because an unfinished
        archive is never read.
        """
        with suppress(OSError, ValueError):
            self._tar.close()
            self._gzip.close()

    def _add_json(self, name: str, value: Mapping[str, object]) -> None:
        data = json.dumps(value, indent=1).encode()
        self.add(name, io.BytesIO(data), len(data))


class _Hashing:
    """A file reader that hashes the bytes as they are read, and reports progress on a large file."""

    def __init__(self, file: IO[bytes], size: int = 0) -> None:
        self._file = file
        self._size = size
        self._digest = hashlib.sha256()
        self.bytes = 0

    def read(self, maximum: int = -1) -> bytes:
        chunk = self._file.read(maximum)
        self._digest.update(chunk)
        self.bytes += len(chunk)
        if self._size > _LARGE_BYTES:
            report("packing", self.bytes, self._size)
        return chunk

    def sum(self) -> dict[str, object]:
        return {"bytes": self.bytes, "sha256": self._digest.hexdigest()}


class ArchiveMember:
    """A file in an archive. Errors from reading it contain its name."""

    def __init__(self, name: str, size: int, tar: TarReader) -> None:
        self.name = name
        self.size = size
        self._tar = tar
        self._digest = hashlib.sha256()

    def read(self, maximum: int) -> bytes:
        with _named_faults(self.name):
            chunk = self._tar.read(maximum)
        self._digest.update(chunk)
        return chunk

    def sum(self) -> bytes:
        return _sum(self.size, self._digest.digest())


class ArchiveReader:
    """A reader that yields an archive's files in order and compares them with the manifest at the end."""

    def __init__(self, file: IO[bytes]) -> None:
        """Read the header. Raises ArchiveError."""
        with _named_faults("its beginning"):
            self._gzip = gzip.GzipFile(fileobj=file, mode="rb")
            self._tar = TarReader(self._gzip.read)
            first = self._next()
            if first is None or first.name != HEADER:
                raise ArchiveError("this is not a backup of this program")
            _refuse_large(first, _MAX_HEADER_BYTES)
            self.header = _header(loads(_whole(first).decode()))
        self._sums = {HEADER: first.sum()}
        # The keys of objects that disappeared before they were copied. Known once all files have been read.
        self.missing: list[str] = []

    def members(self) -> Iterator[ArchiveMember]:
        """Yield the files. Skip anything that the caller leaves unread. Raises ArchiveError."""
        last = HEADER
        while True:
            with _named_faults(f"what comes after {last}"):
                member = self._next()
            if member is None:
                raise ArchiveError("it is cut off: there is no manifest at its end")
            if member.name == MANIFEST:
                with _named_faults(MANIFEST):
                    self._compare(JsonStream(member.read, _MAX_ENTRY_CHARACTERS))
                    while self._gzip.read(_CHUNK_BYTES):
                        pass  # Read to the end, to detect a truncated checksum too.
                return
            self._check(member)
            yield member
            while member.read(_CHUNK_BYTES):
                pass
            self._sums[member.name] = member.sum()
            last = member.name

    def _next(self) -> ArchiveMember | None:
        header = self._tar.next()
        return None if header is None else ArchiveMember(*header, self._tar)

    def _check(self, member: ArchiveMember) -> None:
        """Raise ArchiveError for a file that does not belong in a backup."""
        name = member.name
        if not _NAME.fullmatch(name[: _MAX_NAME_CHARACTERS + 1]) or len(name) > _MAX_NAME_CHARACTERS:
            raise ArchiveError(f"{name[:200]!r} does not belong in a backup")
        if name in self._sums:
            raise ArchiveError(f"{name!r} occurs twice")
        if len(self._sums) > MAX_MEMBERS:
            raise ArchiveError(f"it contains more than {MAX_MEMBERS} files")
        if name.startswith(FILES):
            kept = name.removeprefix(FILES)
            if kept in NOT_KEPT or kept.startswith("community.sqlite3"):
                raise ArchiveError(f"{name!r} does not belong in a backup")
            _refuse_large(member, MAX_FILE_BYTES)

    def _compare(self, manifest: JsonStream) -> None:
        """Compare the files with the manifest's entries one by one."""
        has_members = False
        for part in manifest.names() if manifest.peek() == "{" else ():
            if part == "members":
                has_members = True
                for name in manifest.names():
                    self._compare_one(name, manifest.value())
            elif part == "missing":
                for _ in manifest.items():
                    self.missing.append(str(manifest.value()))
                    if len(self.missing) > MAX_MEMBERS:
                        raise ArchiveError(f"it lists more than {MAX_MEMBERS} missing files")
            else:
                manifest.value()
        if not has_members:
            raise ArchiveError("it lists no files")
        for name in self._sums:
            raise ArchiveError(f"{name} is not listed in the manifest")

    def _compare_one(self, name: str, value: object) -> None:
        actual = self._sums.pop(name, None)
        if actual is None:
            raise ArchiveError(f"{_printable(name)} is missing")
        match value:
            case {"bytes": int(size), "sha256": str(digest)} if re.fullmatch("[0-9a-f]{64}", digest):
                if 0 <= size < 2**63 and actual == _sum(size, bytes.fromhex(digest)):
                    return
        raise ArchiveError(f"{_printable(name)} differs from the file that was backed up")


def _printable(name: str) -> str:
    """Return untrusted text in a form that is safe to print on one terminal line."""
    return name[:200] if name.isprintable() else ascii(name[:200])


def _sum(size: int, digest: bytes) -> bytes:
    return size.to_bytes(8) + digest


def _whole(member: ArchiveMember) -> bytes:
    pieces = b""
    while piece := member.read(_CHUNK_BYTES):
        pieces += piece
    return pieces


def _refuse_large(member: ArchiveMember, maximum: int) -> None:
    if member.size > maximum:
        raise ArchiveError(f"{member.name} has {member.size} bytes; the limit is {maximum}")


def _header(value: object) -> Header:
    match value:
        case {"format": "svc-backup", "version": int(version)} if version > VERSION:
            raise ArchiveError(
                f"it was created by a newer version (format {version}, this one supports {VERSION})"
            )
        case {
            "format": "svc-backup",
            "schema": int(schema),
            "program": str(program),
            "made_at_ms": int(made_at_ms),
            "objects_folder": str(folder),
        } if _FOLDER.fullmatch(folder) and folder not in (".", "..") and schema > 0:
            if not 0 <= made_at_ms < _END_OF_TIME_MS:
                raise ArchiveError(f"made_at_ms is {made_at_ms}, which is not a time")
            if folder in NOT_KEPT or folder.startswith("community.sqlite3"):
                raise ArchiveError(f"objects_folder is {folder!r}, which is another file's name")
            return Header(schema, program[:100], made_at_ms, folder)
    raise ArchiveError("this is not a backup of this program")


@contextmanager
def _named_faults(where: str) -> Iterator[None]:
    """Convert the libraries' errors about a damaged file to ArchiveError, and add the position."""
    try:
        yield
    except ArchiveError as fault:
        raise ArchiveError(f"{where}: {fault}") from None
    except (TarError, EOFError, zlib.error, OSError, ValueError) as fault:
        raise ArchiveError(f"{where} cannot be read: {fault or type(fault).__name__}") from None
