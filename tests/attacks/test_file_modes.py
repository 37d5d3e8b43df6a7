"""Only the server's user can open its files, regardless of the umask and of earlier file modes."""

import asyncio
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from svc.base.config_parsing import ConfigError
from svc.base.data_folder import hold
from svc.base.database import Database
from svc.base.migrations import Migration
from svc.base.object_store import FileObjects
from svc.base.private_files import make_private_folder, read_or_create
from svc.cli import main
from tests.chat.chat_server import chat_server

FIRST = Migration(1, "words", "CREATE TABLE words (word TEXT PRIMARY KEY) STRICT;")
SECOND = Migration(2, "more", "ALTER TABLE words ADD COLUMN length INTEGER;")
UMASKS = (0o000, 0o022, 0o077, 0o777)


@pytest.fixture(params=UMASKS, ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    wrong = {}
    for path in (folder, *folder.rglob("*")):
        mode = path.lstat().st_mode
        wanted = 0o700 if stat.S_ISDIR(mode) else 0o600
        if stat.S_IMODE(mode) != wanted:
            wrong[str(path.relative_to(folder))] = oct(stat.S_IMODE(mode))
    return wrong


async def test_server_files_backups_and_exports_are_private(
    umask: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = tmp_path / "data", tmp_path / "out"
    make_private_folder(out)
    variables = {
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "DATA_DIR": str(data),
        "SVC_IDENTITY_TIERS": "local",
        "STORAGE_BACKEND": "filesystem",
    }
    async with chat_server(variables) as chat:
        await chat.join("Olga")
        # The folder contains the write-ahead log, its shared-memory file and the control socket.
        names = {path.name for path in data.iterdir()}
        assert {"community.sqlite3-wal", "community.sqlite3-shm", "control.sock", "invite-code"} <= names
        assert modes(data) == {}
        for words in (["backup", str(out / "b.tar.gz")], ["export", str(out / "e.zip")]):
            command = ["admin", *words, "--data-dir", str(data)]
            assert await asyncio.to_thread(main, command) == 0, capsys.readouterr().err
            os.umask(umask)
    restored = ["admin", "restore", str(out / "b.tar.gz"), "--data-dir", str(out / "again")]
    assert await asyncio.to_thread(main, restored) == 0, capsys.readouterr().err
    assert modes(data) == {} and modes(out) == {}


async def test_stored_media_secrets_and_copies_are_private(umask: int, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    await FileObjects(folder / "uploads-store").put("uploads/a.webp", b"x", "image/webp")
    assert read_or_create(folder / "some-key", lambda: "secret") == "secret"
    for migrations in ([FIRST], [FIRST, SECOND]):
        database = await Database.open(folder / "words.sqlite3", migrations, folder / "backups")
        await database.close()
    assert (folder / "backups" / "before-schema-2-from-1.sqlite3").exists()
    assert modes(folder) == {}


def test_permissions_that_are_too_open_are_tightened_at_startup(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    for path in (folder, folder / "backups", folder / "incoming"):
        path.mkdir()
        path.chmod(0o777)
    for name in ("community.sqlite3", "secrets.json", "tls.pem"):
        (folder / name).write_text("x")
        (folder / name).chmod(0o664)
    (folder / "link").symlink_to("/etc/passwd")
    with hold(folder):
        (folder / "link").unlink()
        assert modes(folder) == {}


def test_the_permissions_of_a_readable_secret_are_tightened_when_it_is_read(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    path = tmp_path / "webhook-key"
    path.write_text("secret")
    path.chmod(0o644)
    assert read_or_create(path, lambda: "another") == "secret"
    assert modes(tmp_path) == {}


def test_an_earlier_copy_of_a_database_is_never_replaced(tmp_path: Path) -> None:
    async def changed() -> None:
        for migrations in ([FIRST], [FIRST, SECOND]):
            path = tmp_path / "words.sqlite3"
            database = await Database.open(path, migrations, tmp_path / "backups")
            await database.close()

    asyncio.run(changed())
    (tmp_path / "words.sqlite3").unlink()
    first = tmp_path / "backups" / "before-schema-2-from-1.sqlite3"
    first.write_bytes(b"the good one")
    asyncio.run(changed())
    assert first.read_bytes() == b"the good one"
    assert (tmp_path / "backups" / "before-schema-2-from-1.2.sqlite3").exists()


def test_another_users_folder_with_open_permissions_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check a folder that belongs to another user, such as a container volume owned by root."""
    tmp_path.chmod(0o775)
    owner = tmp_path.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(ConfigError) as refusal, hold(tmp_path):
        pass
    error = str(refusal.value)
    assert error.startswith(f"{tmp_path} belongs to the user with the id {owner}") and "(mode 775)" in error
    assert f"chown {owner + 1} {tmp_path}" in error and "inside it" in error
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o775


def test_only_programs_that_store_secrets_change_the_umask(capsys: pytest.CaptureFixture[str]) -> None:
    before = os.umask(0o022)
    try:
        main(["rtp", "inspect", "/nowhere.rtpdump", "--json"])
        assert os.umask(0o022) == 0o022
        main(["admin", "member", "list", "--data-dir", "/nowhere"])
        assert os.umask(0o022) == 0o077
    finally:
        os.umask(before)
        capsys.readouterr()
