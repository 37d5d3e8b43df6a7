"""A running or stopped server is backed up and then restored elsewhere, unchanged."""

import asyncio
import gzip
import io
import json
import sqlite3
import stat
import tarfile
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from svc.chat.community import Community
from svc.chat.media.stored_media import SERVER, ObjectInfo
from tests.chat.chat_server import ChatServer, chat_server
from tests.chat.http_member import HttpMember, newcomer
from tests.chat.internal_server import server_with_insight
from tests.kit.object_stores import MOTO, RCLONE, Stores
from tests.tools.admin.conftest import Admin

PICTURE = bytes(range(256)) * 400


@pytest.fixture
def variables(data_dir: Path) -> dict[str, str]:
    return {
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "SVC_IDENTITY_TIERS": "local",
        "DATA_DIR": str(data_dir),
        "STORAGE_BACKEND": "filesystem",
        "ADDITIONAL_CHANNELS": "general",
    }


World = tuple[ChatServer, Community, HttpMember]


@pytest.fixture
async def world(variables: dict[str, str]) -> AsyncIterator[World]:
    """Run a server that has an owner, a message, an icon, and a secret key file in its data folder."""
    async with server_with_insight(variables) as (chat, community):
        olga = await newcomer(chat, "Olga")
        key = await community.media.keep(PICTURE, "webp", ObjectInfo("image/webp"))
        await community.media._database.write(lambda c: community.media.refer(c, key, SERVER, "icon"))
        (community._config.data_dir / "some-key").write_text("secret of a feature\n")
        await _post(chat, olga, "before the backup")
        yield chat, community, olga


async def _channel(person: HttpMember) -> str:
    channels = (await person.done("GET", "/api/channels"))["channels"]
    return next(str(channel["id"]) for channel in channels if channel["name"] == "general")


async def _post(chat: ChatServer, person: HttpMember, text: str) -> None:
    async with chat.member("", person.token) as live:
        await live.ask("message_send", channel_id=await _channel(person), text=text)


async def _messages(person: HttpMember) -> list[str]:
    history = await person.done("GET", f"/api/channels/{await _channel(person)}/messages")
    return [message["text"] for message in history["messages"]]


def _contents(folder: Path) -> dict[str, bytes]:
    """Return the files in a data folder, except the database and files that exist only at run time."""
    ours = {"lock", "control.sock", "control.json"}
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ours and "community" not in path.name
    }


async def test_a_running_server_is_restored_elsewhere_unchanged(
    world: World, admin: Admin, variables: dict[str, str], tmp_path: Path
) -> None:
    chat, _, olga = world
    file, elsewhere = tmp_path / "backup.tar.gz", tmp_path / "elsewhere"
    made = await admin.json("backup", str(file))
    assert made == {
        "file": str(file),
        "bytes": file.stat().st_size,
        "objects": 1,
        "schema": made["schema"],
        "missing": [],
        "damaged": [],
        "faults": [],
    }
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    await _post(chat, olga, "after the backup")
    before = _contents(Path(variables["DATA_DIR"]))
    restored = await admin.at(elsewhere).json("restore", str(file), "--verify")
    assert (restored["verified"], restored["objects"], restored["missing"]) == (True, 1, [])
    assert _contents(elsewhere) == before
    modes = {stat.S_IMODE(path.stat().st_mode) for path in elsewhere.rglob("*") if path.is_file()}
    assert modes == {0o600}
    async with chat_server({**variables, "DATA_DIR": str(elsewhere)}) as again:
        # Olga's key still works on the restored server, and only data from after the backup is missing.
        answer = await again.sign_in(olga.device)
        back = HttpMember(again, olga.device, answer["member"]["id"], answer["access_token"])
        assert back.id == olga.id
        assert await _messages(back) == ["before the backup"]


async def test_members_can_write_during_a_backup(world: World, admin: Admin, tmp_path: Path) -> None:
    chat, _, olga = world
    file, elsewhere = tmp_path / "backup.tar.gz", tmp_path / "elsewhere"
    making = asyncio.create_task(admin.json("backup", str(file)))
    channel_id, written = await _channel(olga), 0
    # One socket sends all messages, because sign-ins are rate-limited.
    async with chat.member("", olga.token) as live:
        while not making.done():
            await live.ask("message_send", channel_id=channel_id, text=f"{written}")
            written += 1
    await making
    await admin.at(elsewhere).json("restore", str(file), "--verify")
    with closing(sqlite3.connect(elsewhere / "community.sqlite3")) as copy:
        texts = [row[0] for row in copy.execute("SELECT text FROM messages ORDER BY n")]
    # A snapshot has all messages from before a certain time, and none from after it.
    assert texts == ["before the backup", *(f"{n}" for n in range(len(texts) - 1))]


async def test_a_stopped_server_can_also_be_backed_up(
    variables: dict[str, str], admin: Admin, tmp_path: Path
) -> None:
    async with server_with_insight(variables) as (_, community):
        await community.media.keep(PICTURE, "webp", ObjectInfo("image/webp"))
    file = tmp_path / "backup.tar.gz"
    status, output, complaint = await admin("backup", str(file))
    assert (status, complaint) == (0, "")
    assert "database and 1 file" in output and "It contains the secrets" in output
    assert (await admin.at(tmp_path / "elsewhere").json("restore", str(file)))["objects"] == 1


async def test_media_is_restored_to_the_configured_store(
    world: World, admin: Admin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "backup.tar.gz"
    await admin.json("backup", str(file))
    assert (await admin.at(tmp_path / "one").json("restore", str(file)))["objects_folder"] == "uploads-store"
    monkeypatch.setenv("STORAGE_BACKEND", "filesystem")
    monkeypatch.setenv("S3_BUCKET", "pictures")
    restored = await admin.at(tmp_path / "two").json("restore", str(file), "--verify")
    assert restored["objects_folder"] == "pictures"
    assert len([name for name in _contents(tmp_path / "two") if name.startswith("pictures/uploads/")]) == 1


@pytest.mark.parametrize("running", [True, False], ids=["running", "stopped"])
@pytest.mark.parametrize("kind", [RCLONE, MOTO])
async def test_media_in_a_bucket_is_backed_up_and_restored_there(
    variables: dict[str, str],
    admin: Admin,
    stores: Stores,
    kind: str,
    running: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    in_a_bucket, bucket = stores.variables(kind), stores.store(kind, tmp_path)
    for name, value in in_a_bucket.items():
        monkeypatch.setenv(name, value)
    file, elsewhere = tmp_path / "backup.tar.gz", tmp_path / "elsewhere"
    async with server_with_insight({**variables, **in_a_bucket}) as (_, community):
        key = await community.media.keep(PICTURE, "webp", ObjectInfo("image/webp"))
        await community.media._database.write(lambda c: community.media.refer(c, key, SERVER, "icon"))
        if running:
            made = await admin.json("backup", str(file))
    if not running:
        made = await admin.json("backup", str(file))
    assert (made["objects"], made["missing"]) == (1, [])
    # The bucket is lost, but the restore does not need it.
    await bucket.delete(key)
    restored = await admin.at(elsewhere).json("restore", str(file), "--verify")
    assert (restored["verified"], restored["objects"], restored["missing"]) == (True, 1, [])
    assert b"".join([chunk async for chunk in bucket.read(key)]) == PICTURE
    assert list(elsewhere.rglob("*.webp")) == []


async def test_a_restore_overwrites_no_existing_file(world: World, admin: Admin, tmp_path: Path) -> None:
    file = tmp_path / "backup.tar.gz"
    file.write_text("mine")
    assert (await admin("backup", str(file)))[0] == 2
    assert file.read_text() == "mine"
    status, _, complaint = await admin("backup", str(tmp_path / "no" / "backup.tar.gz"))
    assert (status, complaint) == (2, f"svc admin: there is no folder {tmp_path / 'no'}\n")
    file.unlink()
    await admin.json("backup", str(file))
    status, _, complaint = await admin("restore", str(file))
    assert status == 2 and "is not empty" in complaint
    assert list((admin.data_dir / "backups").iterdir()) == []


async def test_objects_that_are_missing_from_the_store_are_reported(
    world: World, admin: Admin, tmp_path: Path
) -> None:
    (picture,) = admin.data_dir.rglob("*.webp")
    key = str(picture.relative_to(admin.data_dir / "uploads-store"))
    picture.unlink()
    file = tmp_path / "backup.tar.gz"
    assert (await admin.json("backup", str(file)))["missing"] == [key]
    status, _, complaint = await admin.at(tmp_path / "verified")("restore", str(file), "--verify")
    assert status == 2
    assert (
        f"1 of 1 files that are referred to are missing or another: {key}; nothing was restored" in complaint
    )
    assert not (tmp_path / "verified").exists()
    # Without --verify, the backup can be restored anyway.
    assert (await admin.at(tmp_path / "taken").json("restore", str(file)))["missing"] == [key]


def _rewritten(file: Path, change: Any) -> None:
    """Rewrite an archive with `change(name, content)`. Omit the files for which it returns None."""
    with tarfile.open(file) as archive:
        entries = [(member, archive.extractfile(member)) for member in archive.getmembers()]
        members = [(member, content.read()) for member, content in entries if content]
    with tarfile.open(file, "w:gz") as archive:
        for member, data in members:
            if (changed := change(member.name, data)) is not None:
                member.size = len(changed)
                archive.addfile(member, io.BytesIO(changed))


def _set(name: str, **values: object) -> Any:
    def change(member_name: str, data: bytes) -> bytes:
        return json.dumps({**json.loads(data), **values}).encode() if member_name == name else data

    return change


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (
            _set("backup.json", schema=10_000),
            "it was created by a newer version (schema 10000, this one supports ",
        ),
        (_set("backup.json", version=2), "it was created by a newer version (format 2, this one supports 1)"),
        (_set("backup.json", format="tar"), "this is not a backup of this program"),
        (_set("backup.json", objects_folder="../.."), "this is not a backup of this program"),
        (
            lambda n, d: d + b"x" if n == "files/some-key" else d,
            "files/some-key differs from the file that was backed up",
        ),
        (lambda n, d: None if n == "files/some-key" else d, "files/some-key is missing"),
        (lambda n, d: None if n == "manifest.json" else d, "it is cut off: there is no manifest at its end"),
        (lambda n, d: b"[]" if n == "manifest.json" else d, "it lists no files"),
    ],
)
async def test_a_backup_that_was_changed_is_rejected_and_nothing_is_restored(
    world: World, admin: Admin, tmp_path: Path, change: Any, complaint: str
) -> None:
    file, elsewhere = tmp_path / "backup.tar.gz", tmp_path / "elsewhere"
    await admin.json("backup", str(file))
    _rewritten(file, change)
    status, _, stderr = await admin.at(elsewhere)("restore", str(file))
    assert (status, stderr.startswith(f"svc admin: {file}: ")) == (2, True)
    assert complaint in stderr and stderr.endswith("nothing was restored\n")
    assert [path for path in _contents(tmp_path) if "elsewhere" in path] == []


async def test_a_file_that_is_damaged_or_not_a_backup_is_rejected(
    world: World, admin: Admin, tmp_path: Path
) -> None:
    file = tmp_path / "backup.tar.gz"
    await admin.json("backup", str(file))
    whole = file.read_bytes()
    for data in (b"", b"not a backup", gzip.compress(b"x" * 2000), whole[: len(whole) // 2], whole[:-4]):
        file.write_bytes(data)
        status, _, stderr = await admin.at(tmp_path / "elsewhere")("restore", str(file))
        assert (status, stderr.startswith(f"svc admin: {file}: ")) == (2, True), stderr
        assert not (tmp_path / "elsewhere").exists()
    status, _, stderr = await admin.at(tmp_path / "elsewhere")("restore", str(tmp_path / "no"))
    assert (status, stderr) == (
        2,
        f"svc admin: {tmp_path / 'no'}: No such file or directory; nothing was restored\n",
    )


async def test_names_that_escape_the_folder_are_rejected(world: World, admin: Admin, tmp_path: Path) -> None:
    file = tmp_path / "backup.tar.gz"
    await admin.json("backup", str(file))
    for name in ("files/../../escaped", "/tmp/escaped", "files/.hidden", "objects/uploads/../x.webp"):
        with tarfile.open(file) as archive:
            header = archive.extractfile("backup.json")
            assert header is not None
            data = header.read()
        bad = tmp_path / "bad.tar.gz"
        with tarfile.open(bad, "w:gz") as archive:
            for member, content in ((tarfile.TarInfo("backup.json"), data), (tarfile.TarInfo(name), b"x")):
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        status, _, stderr = await admin.at(tmp_path / "elsewhere")("restore", str(bad))
        assert (status, f"{name!r} does not belong in a backup" in stderr) == (2, True), stderr
