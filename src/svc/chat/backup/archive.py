"""The file of a backup: a compressed tar archive that begins with what it is and ends with its checksums.

    backup.json             format, version, schema, when and by which program it was made
    database.sqlite3        the database at one moment
    files/<name>            what else is at the top of the data folder: secrets, keys, ids
    objects/uploads/<name>  the stored media
    manifest.json           bytes and SHA-256 of each of the others, and what was missing

Reads and writes the archive; knows neither the server nor where things go.
"""

import gzip
import hashlib
import io
import json
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from svc.base.progress import report

HEADER, DATABASE, MANIFEST = "backup.json", "database.sqlite3", "manifest.json"
FILES, OBJECTS = "files/", "objects/"
FORMAT, VERSION = "svc-backup", 1
# Pictures and video are packed already, and the time goes into the rest.
_LEVEL = 1
_CHUNK_BYTES = 256 * 1024
# A second's work, on a small machine.
_LARGE_BYTES = 16 * 1024 * 1024
# A header is a few hundred bytes, a manifest some hundred for each object.
_MAX_HEADER_BYTES = 64 * 1024
_MAX_MANIFEST_BYTES = 1024 * 1024 * 1024
# Nothing that leads out of the folder it is unpacked into.
_NAME = re.compile(
    r"database\.sqlite3|files/[A-Za-z0-9_][A-Za-z0-9._-]*|objects/uploads/[A-Za-z0-9_-]+\.[a-z0-9]+"
)


class ArchiveError(Exception):
    """This is no backup, or a damaged one; the message says what and where."""


@dataclass(frozen=True, slots=True)
class Header:
    schema: int
    program: str
    made_at_ms: int
    # The folder for the objects, where they do not go to a bucket.
    objects_folder: str


class Writer:
    """Adds one member after the other; `finish` makes it whole, and in any case it is to be closed."""

    def __init__(self, file: IO[bytes], header: Header) -> None:
        self._gzip = gzip.GzipFile(fileobj=file, mode="wb", compresslevel=_LEVEL, mtime=0)
        self._tar = tarfile.open(fileobj=self._gzip, mode="w|", format=tarfile.PAX_FORMAT)  # noqa: SIM115
        self._sums: dict[str, dict[str, object]] = {}
        self._made_at_s = header.made_at_ms // 1000
        whole = {"format": FORMAT, "version": VERSION, **asdict(header)}
        self._add_json(HEADER, whole)

    def add(self, name: str, content: IO[bytes], size: int) -> None:
        """`size` bytes of `content`. Raises OSError."""
        member = tarfile.TarInfo(name)
        member.size, member.mode, member.mtime = size, 0o600, self._made_at_s
        hashing = _Hashing(content, size)
        self._tar.addfile(member, hashing)
        self._sums[name] = hashing.sum()

    def add_file(self, name: str, path: Path) -> None:
        with path.open("rb") as file:
            self.add(name, file, path.stat().st_size)

    def finish(self, missing: Sequence[str]) -> None:
        """`missing` are the keys of objects that were gone by the time it was their turn."""
        self._add_json(MANIFEST, {"members": dict(self._sums), "missing": list(missing)})
        self._tar.close()
        self._gzip.close()

    def close(self) -> None:
        """Let go of what was not finished, also while a thread is still at it: nobody reads that."""
        with suppress(OSError, ValueError):
            self._tar.close()
            self._gzip.close()

    def _add_json(self, name: str, value: Mapping[str, object]) -> None:
        data = json.dumps(value, indent=1).encode()
        self.add(name, io.BytesIO(data), len(data))


class _Hashing:
    """A file whose bytes are summed as they are read; of a large one it is said how far that is."""

    def __init__(self, file: IO[bytes], size: int = 0) -> None:
        self._file = file
        self._size = size
        self._digest = hashlib.sha256()
        self.bytes = 0

    def read(self, most: int = -1) -> bytes:
        chunk = self._file.read(most)
        self._digest.update(chunk)
        self.bytes += len(chunk)
        if self._size > _LARGE_BYTES:
            report("packing", self.bytes, self._size)
        return chunk

    def sum(self) -> dict[str, object]:
        return {"bytes": self.bytes, "sha256": self._digest.hexdigest()}


class Member(_Hashing):
    """One file of an archive; what its reading fails with names it."""

    def __init__(self, name: str, file: IO[bytes]) -> None:
        super().__init__(file)
        self.name = name

    def read(self, most: int = -1) -> bytes:
        with _named_faults(self.name):
            return super().read(most)


class Reader:
    """Gives the members in their order, and at the end compares them with the manifest."""

    def __init__(self, file: IO[bytes]) -> None:
        """Raises ArchiveError."""
        with _named_faults("its beginning"):
            self._gzip = gzip.GzipFile(fileobj=file, mode="rb")
            self._tar = tarfile.open(fileobj=self._gzip, mode="r|")  # noqa: SIM115
            first = self._next()
            if first is None or first.name != HEADER:
                raise ArchiveError("this is no backup of this program")
            self.header = _header(json.loads(first.read(_MAX_HEADER_BYTES)))
        self._sums = {HEADER: first.sum()}
        # Objects that were gone by the time it was their turn; known at the end.
        self.missing: list[str] = []

    def members(self) -> Iterator[Member]:
        """Whatever is not read of one is passed over. Raises ArchiveError."""
        while True:
            with _named_faults(f"what comes after {list(self._sums)[-1]}"):
                member = self._next()
            if member is None:
                raise ArchiveError("it is cut off: there is no manifest at its end")
            if member.name == MANIFEST:
                with _named_faults(MANIFEST):
                    manifest = json.loads(member.read(_MAX_MANIFEST_BYTES))
                    while self._gzip.read(_CHUNK_BYTES):
                        pass  # To its end: what was cut off there is noticed too.
                return self._compare(manifest)
            if not _NAME.fullmatch(member.name) or member.name in self._sums:
                raise ArchiveError(f"{member.name!r} has no place in a backup")
            yield member
            while member.read(_CHUNK_BYTES):
                pass
            self._sums[member.name] = member.sum()

    def _next(self) -> Member | None:
        found = self._tar.next()
        if found is None:
            return None
        file = self._tar.extractfile(found) if found.isreg() else None
        if file is None:
            raise ArchiveError(f"{found.name!r} is no file")
        return Member(found.name, file)

    def _compare(self, manifest: object) -> None:
        match manifest:
            case {"members": dict(sums), "missing": list(missing)}:
                self.missing = [str(key) for key in missing]
            case _:
                raise ArchiveError("it lists nothing")
        for name in sorted(self._sums.keys() | sums.keys()):
            if self._sums.get(name) != sums.get(name):
                what = "is missing" if name not in self._sums else "is not what was backed up"
                raise ArchiveError(f"{name} {what}")


def _header(value: object) -> Header:
    match value:
        case {"format": "svc-backup", "version": int(version)} if version > VERSION:
            raise ArchiveError(f"a newer version made it (format {version}, this one knows {VERSION})")
        case {
            "format": "svc-backup",
            "schema": int(schema),
            "program": str(program),
            "made_at_ms": int(made_at_ms),
            "objects_folder": str(folder),
        } if "/" not in folder and folder not in (".", ".."):
            return Header(schema, program, made_at_ms, folder)
    raise ArchiveError("this is no backup of this program")


@contextmanager
def _named_faults(where: str) -> Iterator[None]:
    """Whatever the libraries say of a damaged file, as one error that says where."""
    try:
        yield
    except ArchiveError as fault:
        raise ArchiveError(f"{where}: {fault}") from None
    except (tarfile.TarError, EOFError, zlib.error, OSError, ValueError) as fault:
        raise ArchiveError(f"{where} cannot be read: {fault or type(fault).__name__}") from None
