"""A hostile backup is rejected with a one-line message, using little memory and leaving no files behind."""

import gzip
import hashlib
import io
import json
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Callable
from contextlib import closing, redirect_stderr
from pathlib import Path

import pytest

from svc.base import database_file
from svc.base.migrations import migrations_in
from svc.chat.backup import archive
from svc.chat.backup.archive import MAX_EXTENDED_BYTES, TarError, TarReader
from svc.chat.community import SCHEMA_FOLDER
from svc.cli import main

MIGRATIONS = migrations_in(SCHEMA_FOLDER)
HEADER = {
    "format": "svc-backup",
    "version": 1,
    "schema": len(MIGRATIONS),
    "program": "1.5.0",
    "made_at_ms": 1_700_000_000_000,
    "objects_folder": "uploads-store",
}
# The memory limit for a restore. Python and its libraries use most of it.
MEMORY_BYTES = 700 * 1024 * 1024
Member = tuple[tarfile.TarInfo, bytes]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("database") / "community.sqlite3"
    database_file.make(path, MIGRATIONS)
    return path.read_bytes()


def member(name: str, data: bytes = b"", **changes: object) -> Member:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for field, value in changes.items():
        setattr(info, field, value)
    return info, data


def sums(members: list[Member]) -> bytes:
    entries = {i.name: {"bytes": len(d), "sha256": hashlib.sha256(d).hexdigest()} for i, d in members}
    return json.dumps({"members": entries, "missing": []}).encode()


def packed(path: Path, members: list[Member], tail: bytes = b"", **header: object) -> Path:
    """Write an archive with a header and the given members, and append `tail` as raw data."""
    everything = [member("backup.json", json.dumps({**HEADER, **header}).encode()), *members]
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as written:
        for info, data in everything:
            written.addfile(info, io.BytesIO(data))
        end = written.offset
    content = raw.getvalue()[:end] + tail if tail else raw.getvalue()
    path.write_bytes(gzip.compress(content, 1))
    return path


def restored(file: Path, folder: Path, memory: int = MEMORY_BYTES) -> tuple[int, str]:
    """Run `svc admin restore` in a process with limited memory. Return its exit status and error output."""
    code = (
        "import resource, sys; from svc.cli import main;"
        f"resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory})); sys.exit(main(sys.argv[1:]))"
    )
    words = ["admin", "restore", str(file), "--data-dir", str(folder)]
    ended = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=300)
    return ended.returncode, ended.stderr


def refused(file: Path, *, bounded: bool = False) -> str:
    """Restore a backup that must be rejected. Return the error message. `bounded` limits the memory."""
    folder, complaint = file.parent / "elsewhere", io.StringIO()
    if bounded:
        status, error = restored(file, folder)
    else:
        with redirect_stderr(complaint):
            status = main(["admin", "restore", str(file), "--data-dir", str(folder)])
        error = complaint.getvalue()
    assert status == 2 and error.startswith(f"svc admin: {file}: "), error
    assert error.endswith("; nothing was restored\n") and error.count("\n") == 1, error
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    return error.removeprefix(f"svc admin: {file}: ")


def raw_header(name: bytes, size: int, kind: bytes) -> bytes:
    header = bytearray(512)
    header[: len(name)] = name
    header[124:136] = f"{size:011o}\0".encode()
    header[156:157] = kind
    header[148:156] = b" " * 8
    header[148:156] = f"{sum(header):06o}\0 ".encode()
    return bytes(header)


def test_a_valid_backup_is_restored_within_the_memory_limit(tmp_path: Path, database: bytes) -> None:
    members = [member("database.sqlite3", database), member("files/some-key", b"secret")]
    first = member("backup.json", json.dumps(HEADER).encode())
    file = packed(tmp_path / "b.tar.gz", [*members, member("manifest.json", sums([first, *members]))])
    assert restored(file, tmp_path / "data") == (0, "")
    assert (tmp_path / "data" / "some-key").read_bytes() == b"secret"


@pytest.mark.parametrize("kind", [b"x", b"L", b"K", b"g"])
def test_an_extended_header_of_several_gigabytes_is_not_read(tmp_path: Path, kind: bytes) -> None:
    """Check an archive with 4 GB of zeros, compressed to 4 MB.

    The server rejects the size in the header and never reads the data after it.
    """
    tail = raw_header(b"long", 4 << 30, kind) + bytes(64 << 20)
    error = refused(packed(tmp_path / "b.tar.gz", [], tail))
    assert (
        f"the limit is {MAX_EXTENDED_BYTES}" in error
        if kind == b"x"
        else "of a kind that no backup has" in error
    )


def test_a_manifest_of_several_gigabytes_is_read_in_pieces(tmp_path: Path, database: bytes) -> None:
    """Check a manifest with 12 million small lists. As Python objects, they would take over a gigabyte."""
    good = member("database.sqlite3", database)
    filling = b'{"members": {"x": [' + b"[]," * (12 << 20)
    file = packed(tmp_path / "b.tar.gz", [good, member("manifest.json", filling)])
    assert "a value has more than" in refused(file, bounded=True)


def test_the_number_of_missing_files_is_limited(
    tmp_path: Path, database: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MAX_MEMBERS", 10)
    manifest = json.dumps({"members": {}, "missing": ["k"] * 11}).encode()
    file = packed(tmp_path / "b.tar.gz", [member("manifest.json", manifest)])
    with pytest.raises(archive.ArchiveError, match="more than 10 missing files"), file.open("rb") as opened:
        list(archive.ArchiveReader(opened).members())


def test_the_number_of_members_in_an_archive_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MAX_MEMBERS", 10)
    file = packed(tmp_path / "b.tar.gz", [member(f"files/k{n}") for n in range(11)])
    with pytest.raises(archive.ArchiveError, match="more than 10 files"), file.open("rb") as opened:
        list(archive.ArchiveReader(opened).members())


def test_a_decompression_bomb_is_rejected_by_its_declared_size(tmp_path: Path) -> None:
    """Check a file of a few megabytes that expands to a terabyte of zeros, which would not fit on disk."""
    tail = raw_header(b"objects/uploads/bomb.webp", (8 << 30) - 1, b"0")
    pax = b"25 size=1125899906842624\n"
    long = raw_header(b"pax", len(pax), b"x") + pax + bytes(512 - len(pax))
    error = refused(packed(tmp_path / "b.tar.gz", [], long + tail + bytes(1 << 20)), bounded=True)
    assert "objects/uploads/bomb.webp has 1125899906842624 bytes, and the disk has room for" in error


def test_a_secret_of_several_gigabytes_is_rejected_by_its_size(tmp_path: Path) -> None:
    tail = raw_header(b"files/big-key", 2 << 30, b"0") + bytes(1 << 20)
    error = refused(packed(tmp_path / "b.tar.gz", [], tail))
    assert "files/big-key has 2147483648 bytes; the limit is 1048576" in error


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        (tarfile.SYMTYPE, "a link"),
        (tarfile.LNKTYPE, "a link"),
        (tarfile.CHRTYPE, "a device"),
        (tarfile.BLKTYPE, "a device"),
        (tarfile.FIFOTYPE, "a pipe"),
        (tarfile.DIRTYPE, "a folder"),
        (tarfile.GNUTYPE_SPARSE, "a sparse file"),
        (b"Z", "of a kind that no backup has"),
    ],
)
def test_only_regular_files_are_restored(tmp_path: Path, kind: bytes, what: str) -> None:
    tail = raw_header(b"files/some-key", 0, kind)
    assert f"'files/some-key' is {what}, not a file" in refused(packed(tmp_path / "b.tar.gz", [], tail))


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../escaped",
        "files/../../escaped",
        "files/a\\b",
        "files/.hidden",
        "files/" + "n" * 400,
        "files/lock",
        "files/control.sock",
        "files/backups",
        "files/community.sqlite3-wal",
        "objects/uploads/a.b/c.webp",
        "objects/uploads/\x1b[2J.webp",
        "files/\u202egnp.exe",
        "",
        "files/new\nline",
    ],
)
def test_unexpected_file_names_in_a_backup_are_rejected(tmp_path: Path, name: str) -> None:
    error = refused(packed(tmp_path / "b.tar.gz", [member(name, b"x")]))
    assert "does not belong in a backup" in error and error.rstrip("\n").isprintable()


def test_a_file_name_with_a_nul_byte_is_rejected_with_a_message(tmp_path: Path) -> None:
    record = b"path=files/some\0key\n"
    pax = f"{len(record) + 3} ".encode() + record
    tail = raw_header(b"pax", len(pax), b"x") + pax + bytes(512 - len(pax)) + raw_header(b"x", 0, b"0")
    error = refused(packed(tmp_path / "b.tar.gz", [], tail))
    assert "'files/some\\x00key' does not belong in a backup" in error


def test_a_duplicate_file_name_in_a_backup_is_rejected(tmp_path: Path) -> None:
    two = [member("files/some-key", b"1"), member("files/some-key", b"2")]
    assert "'files/some-key' occurs twice" in refused(packed(tmp_path / "b.tar.gz", two))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"made_at_ms": 10**30}, "made_at_ms is 1000"),
        ({"made_at_ms": -1}, "made_at_ms is -1"),
        ({"objects_folder": "a\0b"}, "this is not a backup of this program"),
        ({"objects_folder": ""}, "this is not a backup of this program"),
        ({"objects_folder": "n" * 300}, "this is not a backup of this program"),
        ({"objects_folder": "community.sqlite3"}, "another file's name"),
        ({"objects_folder": "lock"}, "another file's name"),
        ({"schema": 0}, "this is not a backup of this program"),
        ({"program": "\ud800"}, "surrogates not allowed"),
    ],
)
def test_an_invalid_backup_header_is_rejected(
    tmp_path: Path, changes: dict[str, object], complaint: str
) -> None:
    assert complaint in refused(packed(tmp_path / "b.tar.gz", [], b"", **changes))


@pytest.mark.parametrize(
    "data", [b"[" * 60_000, b"{" * 60_000, b'{"a":' * 10_000, b"\xff\xfe", b"9" * 60_000]
)
def test_a_backup_header_that_is_not_json_is_rejected(tmp_path: Path, data: bytes) -> None:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as written:
        info, _ = member("backup.json", data)
        written.addfile(info, io.BytesIO(data))
    file = tmp_path / "b.tar.gz"
    file.write_bytes(gzip.compress(raw.getvalue()))
    assert "its beginning" in refused(file)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda c: c.execute("DROP TABLE members"), "it lacks the table members"),
        (lambda c: c.execute("PRAGMA application_id=7"), "another program's"),
        (
            lambda c: c.execute("CREATE TRIGGER t AFTER INSERT ON members BEGIN DELETE FROM bans; END"),
            "a trigger or view that this program does not make",
        ),
    ],
)
def test_a_foreign_database_is_not_restored(
    tmp_path: Path, database: bytes, change: Callable[[sqlite3.Connection], object], complaint: str
) -> None:
    path = tmp_path / "changed"
    path.write_bytes(database)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        change(connection)
    content = path.read_bytes()
    path.unlink()
    first, second = member("backup.json", json.dumps(HEADER).encode()), member("database.sqlite3", content)
    manifest = member("manifest.json", sums([first, second]))
    assert complaint in refused(packed(tmp_path / "b.tar.gz", [second, manifest]))


def test_a_backup_without_a_database_is_rejected(tmp_path: Path) -> None:
    first = member("backup.json", json.dumps(HEADER).encode())
    assert "cannot be read" in refused(
        packed(tmp_path / "b.tar.gz", [member("manifest.json", sums([first]))])
    )


@pytest.mark.parametrize("cut", [1, 100, 511, 512, 513, 700])
def test_a_truncated_archive_is_reported_wherever_it_ends(cut: int) -> None:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as written:
        info, data = member("files/some-key", bytes(1000))
        written.addfile(info, io.BytesIO(data))
    source = io.BytesIO(raw.getvalue()[:cut])

    def read_all() -> None:
        tape = TarReader(source.read)
        while tape.next():
            while tape.read(100):
                pass

    with pytest.raises(TarError, match="cut off"):
        read_all()


def test_archives_written_by_tarfile_can_be_read(tmp_path: Path) -> None:
    """Check file names of more than 100 characters, which need an extended header."""
    files = {
        "files/" + "n" * 200: b"1",
        "files/short": bytes(513),
        "files/empty": b"",
        "files/block": bytes(512),
    }
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as written:
        for name, data in files.items():
            info, _ = member(name, data)
            written.addfile(info, io.BytesIO(data))
    raw.seek(0)
    tape, contents = TarReader(raw.read), {}
    while entry := tape.next():
        contents[entry[0]] = b"".join(iter(lambda: tape.read(100), b""))
        assert len(contents[entry[0]]) == entry[1]
    assert contents == files


def test_restored_files_are_private_regardless_of_the_modes_in_the_archive(
    tmp_path: Path, database: bytes
) -> None:
    members = [member("database.sqlite3", database, mode=0o6777), member("files/some-key", b"s", mode=0o777)]
    first = member("backup.json", json.dumps(HEADER).encode())
    file = packed(tmp_path / "b.tar.gz", [*members, member("manifest.json", sums([first, *members]))])
    assert restored(file, tmp_path / "data") == (0, "")
    assert {oct(path.stat().st_mode & 0o7777) for path in (tmp_path / "data").iterdir()} == {"0o600"}
    assert (tmp_path / "data").stat().st_mode & 0o7777 == 0o700
