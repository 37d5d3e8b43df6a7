"""The media in an untrusted import are re-encoded, and imports that exceed a limit are rejected."""

import io
import json
import sqlite3
import struct
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from contextlib import closing, redirect_stderr
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from svc.base import database_file
from svc.base.migrations import migrations_in
from svc.chat.community import DATABASE_NAME, SCHEMA_FOLDER
from svc.chat.import_export import community_import
from svc.chat.import_export.export_file import MAX_LIST_BYTES
from svc.chat.import_export.record_types import MAX_LINE_BYTES
from svc.cli import main

MIGRATIONS = migrations_in(SCHEMA_FOLDER)
# The memory limit for the data of an import. Python and its libraries use most of it.
MEMORY_BYTES = 140 * 1024 * 1024
N = 1_600_000_000_000 << 12
KEY = "uploads/0a0b0c0d-0000-4000-8000-000000000001.webp"
ATTACHED = {"id": "a", "name": "a.webp", "key": KEY, "content_type": "text/html", "bytes": 1, "width": 9}
OBJECT = {
    "kind": "object",
    "key": KEY,
    "content_type": "text/html",
    "bytes": 5,
    "width": 1,
    "height": 1,
    "duration_ms": None,
    "placeholder": "",
    "colour": "",
    "created_at_ms": 1,
    "idle_since_ms": 1,
}
CHANNEL = {
    "kind": "channel",
    "id": "c",
    "name": "general",
    "kind_of_channel": "text",
    "position": 0,
    "topic": "",
    "slow_mode_s": 0,
    "created_at_ms": 1,
}


def message(**changes: object) -> dict[str, object]:
    digits = f"{N:015x}"
    return {
        "kind": "message",
        "n": N,
        "id": f"{digits[:8]}-{digits[8:12]}-7{digits[12:]}-8000-000000000000",
        "channel_id": "c",
        "author_kind": "member",
        "author_id": "m",
        "display_name": "Ada",
        "avatar": None,
        "text": "hello",
        "reply_to": None,
        "mentions": None,
        "cards": None,
        "attachments": None,
        "flagged": 0,
        "edited_at_ms": None,
        **changes,
    }


def picture(kind: str = "PNG", tail: bytes = b"") -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (40, 30), "red").save(file, kind)
    return file.getvalue() + tail


def export(path: Path, *records: Mapping[str, object], media: dict[str, bytes] | None = None) -> Path:
    first = {"kind": "export", "format": "svc-export", "version": 1}
    lines = [first, *records, {"kind": "end", "records": len(records)}]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("export.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        for key, content in (media or {}).items():
            archive.writestr(f"media/{key.rpartition('/')[2]}", content)
    return path


def imported(file: Path, data: Path, *words: str) -> str:
    """Run `svc admin import`. Return its error message, or an empty string on success."""
    complaint = io.StringIO()
    with redirect_stderr(complaint):
        status = main(["admin", "import", str(file), "--data-dir", str(data), *words])
    error = complaint.getvalue()
    assert (status, error.count("\n")) == ((2, 1) if error else (0, 0)), error
    return error


def refused(file: Path, data: Path, *words: str) -> str:
    error = imported(file, data, *words)
    assert error.startswith("svc admin: ") and error.endswith("; nothing was imported\n"), error
    assert error.rstrip("\n").isprintable()
    assert rows(data, "SELECT * FROM messages") == [] and stored(data) == []
    return error


def within_memory(file: Path, data: Path, *words: str) -> tuple[int, str]:
    code = (
        "import resource, sys; from svc.cli import main;"
        f"resource.setrlimit(resource.RLIMIT_DATA, ({MEMORY_BYTES}, {MEMORY_BYTES}));"
        "sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "admin", "import", str(file), "--data-dir", str(data), *words]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return ended.returncode, ended.stderr


def rows(data: Path, sql: str) -> list[Any]:
    path = data / DATABASE_NAME
    if not path.exists():
        return []
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


def stored(data: Path) -> list[Path]:
    return [path for path in (data / "uploads-store").rglob("*") if path.is_file()]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def owned(data: Path) -> Path:
    """Create a server that has one member. Return the server's folder."""
    data.mkdir(mode=0o700)
    database_file.make(data / DATABASE_NAME, MIGRATIONS)
    with closing(sqlite3.connect(data / DATABASE_NAME, isolation_level=None)) as connection:
        connection.execute("INSERT INTO members (id, nickname, joined_at_ms) VALUES ('o', 'Olga', 1)")
        connection.execute("INSERT INTO member_roles VALUES ('o', 'owner')")
    return data


# Media


def test_an_imported_image_is_re_encoded_under_a_new_key(tmp_path: Path, data: Path) -> None:
    hostile = picture(tail=b"<script>alert(1)</script>")
    reference = {"kind": "reference", "owner_kind": "message", "owner_id": "x", "key": KEY}
    avatar = {"avatar": KEY, "attachments": [{**ATTACHED, "thumbnail": None}]}
    file = export(tmp_path / "e.zip", OBJECT, CHANNEL, message(**avatar), reference, media={KEY: hostile})
    assert imported(file, data) == ""
    (path,) = stored(data)
    assert b"script" not in path.read_bytes()
    with Image.open(path) as opened:
        assert (opened.format, opened.size) == ("WEBP", (40, 30))
    key = f"uploads/{path.name}"
    assert key != KEY
    known = [(key, "image/webp", path.stat().st_size, 40, 30)]
    assert rows(data, "SELECT key, content_type, bytes, width, height FROM objects") == known
    assert rows(data, "SELECT key FROM object_references") == [(key,)]
    ((avatar_key, attachments),) = rows(data, "SELECT avatar, attachments FROM messages")
    (attached,) = json.loads(attachments)
    assert avatar_key == attached["key"] == key
    assert (attached["content_type"], attached["bytes"], attached["width"]) == ("image/webp", known[0][2], 40)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (picture()[:60], "invalid_image"),
        (b"\0\0\0\x18ftypmp42" + bytes(40), "invalid_video"),
        (b"", "unsupported_type"),
    ],
)
def test_empty_and_broken_files_are_left_out_and_reported(
    tmp_path: Path, data: Path, content: bytes, code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    icon = {"kind": "fact", "name": "icon_key", "value": KEY}
    file = export(tmp_path / "e.zip", OBJECT, icon, CHANNEL, message(), media={KEY: content})
    assert imported(file, data) == ""
    assert f"left out: 1 file ({code})" in capsys.readouterr().out
    assert stored(data) == [] and rows(data, "SELECT * FROM objects") == []
    assert rows(data, "SELECT * FROM facts WHERE name = 'icon_key'") == []
    assert len(rows(data, "SELECT * FROM messages")) == 1


@pytest.mark.parametrize("content", [b"<!doctype html>", b"<svg onload='alert(1)'/>", b"%PDF-1.7"])
def test_a_file_with_a_false_content_type_becomes_a_download(
    tmp_path: Path, data: Path, content: bytes
) -> None:
    """Check that such a file is never used as an icon or an avatar."""
    icon = {"kind": "fact", "name": "icon_key", "value": KEY}
    posted = message(attachments=[{**ATTACHED, "kind": "picture", "content_type": "text/html"}], avatar=KEY)
    file = export(tmp_path / "e.zip", OBJECT, icon, CHANNEL, posted, media={KEY: content})
    assert imported(file, data) == ""
    [path] = stored(data)
    assert path.read_bytes() == content
    assert rows(data, "SELECT content_type, width FROM objects") == [("application/octet-stream", None)]
    assert rows(data, "SELECT * FROM facts WHERE name = 'icon_key'") == []
    ((avatar_key, attachments),) = rows(data, "SELECT avatar, attachments FROM messages")
    (attached,) = json.loads(attachments)
    assert avatar_key is None
    assert (attached["kind"], attached["content_type"]) == ("file", "application/octet-stream")


def test_an_object_of_another_server_in_the_same_store_is_never_touched(tmp_path: Path, data: Path) -> None:
    """An export chooses its objects' keys. A failed import once deleted existing objects with those keys."""
    theirs = data / "uploads-store" / KEY
    theirs.parent.mkdir(parents=True)
    theirs.write_bytes(b"theirs")
    good = export(tmp_path / "a.zip", OBJECT, media={KEY: picture()})
    assert imported(good, data) == ""
    bad = export(tmp_path / "b.zip", OBJECT, CHANNEL, CHANNEL, media={KEY: picture()})
    assert "is there already" in imported(bad, tmp_path / "other") and theirs.read_bytes() == b"theirs"
    assert len(stored(data)) == 2


# Records


@pytest.mark.parametrize(
    "changes",
    [
        {"attachments": 5},
        {"attachments": {"0": ATTACHED}},
        {"attachments": [{**ATTACHED, "url": "https://elsewhere.example/track.png"}]},
        {"attachments": [{**ATTACHED, "width": -1}]},
        {"attachments": [{"name": "no key"}]},
        {"attachments": [ATTACHED] * 101},
        {"attachments": [{**ATTACHED, "thumbnail": "x"}]},
        {"cards": "x"},
        {"cards": [[]]},
        {"cards": [{"image": {"key": KEY, "url": "javascript:alert(1)"}}]},
        {"cards": [{"title": "x" * 9000}]},
        {"cards": [{"fields": {"name": "x"}}]},
        {"mentions": [{}]},
        {"mentions": "m"},
        {"text": "a\0b"},
        {"display_name": 5},
        {"avatar": "\0"},
    ],
)
def test_an_import_with_an_invalid_message_field_is_rejected(
    tmp_path: Path, data: Path, changes: dict[str, object]
) -> None:
    error = refused(export(tmp_path / "e.zip", CHANNEL, message(**changes)), data)
    (name,) = changes
    assert f"line 3: message: {name}" in error


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b'{"kind": "message", "text": "' + b"x" * MAX_LINE_BYTES + b'"}', "a record has at most"),
        (b"[" * 5000, "nested too deeply"),
        (b'{"kind": ' + b'{"a":' * 5000 + b"1" + b"}" * 5001, "nested too deeply"),
        (b'{"kind": "' + b"k" * 100_000 + b'"}', "unknown kind of record"),
        (b'{"kind": "\\ud800"}', "surrogates not allowed"),
        (b'{"kind": "\\u001b[2J"}', "unknown kind of record"),
        (b"\xff\xfe", "this is not a JSON object"),
        (b"1" * 10_000, "this is not a JSON object"),
        (b'{"kind": "role", "\\u0000": 1}', "role has '\\x00', which is not a field of it"),
    ],
)
def test_an_invalid_import_line_is_rejected(tmp_path: Path, data: Path, line: bytes, complaint: str) -> None:
    file = tmp_path / "e.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "export.jsonl", b'{"kind": "export", "format": "svc-export", "version": 1}\n' + line + b"\n"
        )
    error = refused(file, data)
    assert f"{file}: export.jsonl, line 2: " in error and complaint in error and len(error) < 1000


def test_the_number_of_stored_files_is_limited(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(community_import, "MAX_OBJECTS", 2)
    many = [{**OBJECT, "key": f"uploads/{n}.webp"} for n in range(3)]
    assert "line 4: there are more than 2 stored files" in refused(export(tmp_path / "e.zip", *many), data)


# Zip files


def test_a_file_list_of_several_gigabytes_is_rejected_before_it_is_read(tmp_path: Path, data: Path) -> None:
    file = tmp_path / "e.zip"
    size = MAX_LIST_BYTES + 46
    file.write_bytes(bytes(size) + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, size, 0, 0))
    assert f"its list of files has {size} bytes; the limit is {MAX_LIST_BYTES}" in refused(file, data)


def test_a_decompression_bomb_in_an_import_is_rejected_by_its_declared_size(
    tmp_path: Path, data: Path
) -> None:
    file = export(tmp_path / "e.zip", CHANNEL)
    content = bytearray(file.read_bytes())
    at = content.rindex(b"PK\1\2")
    content[at + 24 : at + 28] = struct.pack("<L", 0xFFFFFFFE)
    file.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("svc.chat.import_export.export_file.MAX_RECORDS_BYTES", 1 << 30)
        assert "'export.jsonl' has 4294967294 bytes uncompressed" in refused(file, data)


def test_a_file_larger_than_the_free_space_is_rejected(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(community_import, "MIN_FREE_BYTES", 1 << 62)
    assert "the disk has room for 0" in refused(export(tmp_path / "e.zip", CHANNEL), data)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compression_that_needs_too_much_memory_is_rejected(tmp_path: Path, data: Path, method: int) -> None:
    file = tmp_path / "e.zip"
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("export.jsonl", "{}")
    assert "'export.jsonl' is compressed in a way that is not accepted" in refused(file, data)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_duplicate_file_name_in_an_import_is_rejected(tmp_path: Path, data: Path) -> None:
    file = export(tmp_path / "e.zip", CHANNEL)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("media/\u202ea.webp", b"1")
        archive.writestr("media/\u202ea.webp", b"2")
    assert r"'media/\u202ea.webp' occurs twice" in refused(file, data)


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../../escaped", "media/../../x", "a\0b", "\x1b[2J", "n" * 9000]
)
def test_other_files_in_the_archive_are_ignored(tmp_path: Path, data: Path, name: str) -> None:
    file = export(tmp_path / "e.zip", CHANNEL)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(name, b"x")
    assert imported(file, data) == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "e.zip"]


# Discord exports

ADA = {"id": "10", "name": "ada"}
POST = {"id": "1", "timestamp": "2020-01-02T03:04:05+00:00", "content": "hello", "author": ADA}


def discord(file: Path, *messages: Mapping[str, object], channel: str = "general") -> Path:
    file.parent.mkdir(exist_ok=True)
    document = {"channel": {"id": "2", "name": channel, "topic": ""}, "messages": list(messages)}
    file.write_text(json.dumps(document))
    return file


@pytest.mark.parametrize(
    "url",
    [
        "a\0b.png",
        "x" * 10_000,
        "/etc/passwd",
        "../../../../etc/passwd",
        "\ud800.png",
        "file:///etc/passwd",
        "link.png",
        "circle.png",
        "pipe",
        ".",
        "",
    ],
)
def test_an_attachment_name_cannot_refer_to_another_file(
    tmp_path: Path, owned: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "from"
    attached = {"fileName": "a\0b", "url": url}
    file = discord(folder / "general.json", {**POST, "attachments": [attached]})
    (folder / "link.png").symlink_to("/etc/passwd")
    (folder / "circle.png").symlink_to("circle.png")
    subprocess.run(["mkfifo", str(folder / "pipe")], check=True)
    assert imported(file, owned, "--from", "discord") == ""
    assert "left out: 1 files" in capsys.readouterr().out
    ((text, attachments),) = rows(owned, "SELECT text, attachments FROM messages")
    assert attachments is None and "root:" not in text and "\0" not in text
    assert stored(owned) == []


def test_a_large_discord_export_is_read_message_by_message(tmp_path: Path, owned: Path) -> None:
    """Check the peak memory for a 5 MB export. Reading it in one piece would take 120 MB more."""
    file = tmp_path / "from" / "general.json"
    discord(file)
    junk = "[" + ",".join(["[]"] * 1000) + "]"
    post = json.dumps({**POST, "content": ""})[:-1] + f', "x": {junk}}}'
    file.write_text(
        '{"channel": {"id": "2", "name": "general"}, "messages": [' + ",".join([post] * 1_500) + "]}"
    )
    assert file.stat().st_size > 4_500_000
    status, error = within_memory(file, owned, "--from", "discord")
    assert (status, error) == (0, "")


def test_the_files_of_an_export_may_be_given_in_any_order(tmp_path: Path, owned: Path) -> None:
    folder = tmp_path / "from"
    times = [f"2020-01-0{day}T00:00:00+00:00" for day in (3, 1, 2)]
    posts = [{**POST, "id": str(n), "timestamp": time, "content": time} for n, time in enumerate(times)]
    discord(folder / "a.json", *posts[:2])
    discord(folder / "b.json", posts[2])
    assert imported(folder, owned, "--from", "discord") == ""
    assert rows(owned, "SELECT text FROM messages ORDER BY n") == [(time,) for time in sorted(times)]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b'{"channel": ' + b'{"a":' * 100_000, "nested too deeply"),
        (b'{"channel": "' + b"x" * (5 << 20), "a value has more than"),
        (b'{"channel": {"id": "2", "name": "g"}, "messages": [' + b"[" * 100_000, "nested too deeply"),
        (b"\xff\xfe\0", "this is not"),
        (b'{"channel": NaN}', "NaN is not JSON"),
        (b'{"channel": {"id": "2", "name": "g"}, "messages": []} more', "there is more data after the end"),
        (b'{"channel": {"id": "2", "name": "g"}, "messages": [', "not JSON"),
        (b"", "not JSON"),
    ],
)
def test_a_document_that_is_not_an_export_is_rejected(
    tmp_path: Path, owned: Path, content: bytes, complaint: str
) -> None:
    file = tmp_path / "general.json"
    file.write_bytes(content)
    error = refused(file, owned, "--from", "discord")
    assert error.startswith(f"svc admin: {file}: ") and complaint in error


def test_the_number_of_people_in_an_export_is_limited(
    tmp_path: Path, owned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc.chat.import_export.foreign_import.MAX_AUTHORS", 2)
    posts = [{**POST, "id": str(n), "author": {"id": f"{n}", "name": "x"}} for n in range(3)]
    assert "more than 2 people" in refused(discord(tmp_path / "g.json", *posts), owned, "--from", "discord")


def test_a_channel_name_cannot_control_the_terminal(tmp_path: Path, owned: Path) -> None:
    file = discord(tmp_path / "g.json", POST, channel="\x1b]0;owned\x07")
    assert imported(file, owned, "--from", "discord") == ""
    error = imported(file, owned, "--from", "discord")
    assert "has been imported before" in error and error.rstrip("\n").isprintable()


# Slack exports


def test_a_decompression_bomb_from_slack_is_read_message_by_message(tmp_path: Path, owned: Path) -> None:
    """Check a file of a few KB that expands to 4 MB of empty messages."""
    day = json.dumps(
        {"type": "message", "user": "U1", "ts": "1577934245.000100", "text": "", "x": [[]] * 5000}
    )
    file = tmp_path / "slack.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("channels.json", json.dumps([{"id": "C1", "name": "general"}]))
        archive.writestr("users.json", "[]")
        archive.writestr("general/2020-01-02.json", "[" + ",".join([day] * 200) + "]")
    status, error = within_memory(file, owned, "--from", "slack")
    assert (status, error) == (0, "")


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("users.json", "[" * 100_000, "nested too deeply"),
        ("users.json", '[{"id": "' + "x" * (5 << 20), "a value has more than"),
        (
            "channels.json",
            "[" + ",".join(['{"id": "C", "name": "g"}'] * 1000) + "]",
            "channels.json has more than",
        ),
        (
            "general/2020-01-02.json",
            '[{"user": "U", "ts": "99999999999999.000000"}]',
            "is not the time of a message",
        ),
    ],
)
def test_an_oversized_slack_file_is_rejected(
    tmp_path: Path, owned: Path, name: str, content: str, complaint: str
) -> None:
    files = {"channels.json": '[{"id": "C1", "name": "general"}]', "users.json": "[]", name: content}
    file = tmp_path / "slack.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    error = refused(file, owned, "--from", "slack")
    assert name in error and complaint in error
