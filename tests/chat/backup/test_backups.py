"""A backup is either complete or does not exist, whichever store holds the media."""

import asyncio
import tarfile
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

import pytest

from svc.base.database import Database
from svc.base.migrations import migrations_in
from svc.base.object_store import FileObjects, ObjectStore, StoreFailed
from svc.base.progress import Progress, reports_to
from svc.chat.backup import archive
from svc.chat.backup.backups import Backups
from svc.chat.backup.restore import faults, restore
from svc.chat.community import SCHEMA_FOLDER
from svc.chat.errors import ChatError

KEY = "uploads/01890000-0000-7000-8000-000000000001.webp"
DATA = b"a picture" * 1000


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("secrets.json", "server-id", "lock", "control.json", ".hidden"):
        (folder / name).write_text(name)
    return folder


@pytest.fixture
async def filled(data_dir: Path) -> AsyncIterator[Database]:
    """Create a server's database with one stored image and a reference to it. Yield the open database."""
    database = await Database.open(
        data_dir / "community.sqlite3", migrations_in(SCHEMA_FOLDER), data_dir / "none"
    )

    def fill(connection: object) -> None:
        execute = connection.execute  # type: ignore[attr-defined]
        execute(
            "INSERT INTO objects VALUES (?, 'stored', 'image/webp', ?, 1, 1, NULL, '', '', 1, 1, '')",
            (KEY, len(DATA)),
        )
        execute("INSERT INTO object_references VALUES ('server', 'icon', ?)", (KEY,))

    await database.write(fill)
    yield database
    await database.close()


@pytest.fixture
async def bucket(tmp_path: Path) -> ObjectStore:
    """Create an object store outside the data folder."""
    store = FileObjects(tmp_path / "bucket")
    await store.put(KEY, DATA, "image/webp")
    return store


def _backups(database: Database, data_dir: Path, objects: ObjectStore | None) -> Backups:
    return Backups(database, data_dir, objects, "uploads-store", "1.5.0")


def _names(archive: Path) -> list[str]:
    with tarfile.open(archive) as opened:
        return opened.getnames()


async def test_a_backup_contains_media_and_restores_it_to_the_store(
    filled: Database, data_dir: Path, bucket: ObjectStore, tmp_path: Path
) -> None:
    made = await _backups(filled, data_dir, bucket).make(1000.0)
    file = data_dir / made.path
    assert _names(file) == [
        "backup.json",
        "database.sqlite3",
        "files/secrets.json",
        "files/server-id",
        f"objects/{KEY}",
        "manifest.json",
    ]
    another, folder = FileObjects(tmp_path / "another"), tmp_path / "restored"
    folder.mkdir()
    restored = await restore(file, folder, made.schema, "community.sqlite3", another)
    assert (restored.files, restored.objects) == (3, 1)
    assert b"".join([chunk async for chunk in another.read(KEY)]) == DATA
    assert sorted(path.name for path in folder.iterdir()) == [
        "community.sqlite3",
        "secrets.json",
        "server-id",
    ]
    assert await faults(folder / "community.sqlite3", another) == []
    # Verification finds missing and changed files.
    await another.put(KEY, DATA[:-1], "image/webp")
    (fault,) = await faults(folder / "community.sqlite3", another)
    assert fault == f"1 of 1 files that are referred to are missing or another: {KEY}"


async def test_a_corrupt_database_is_detected(
    filled: Database, data_dir: Path, bucket: ObjectStore, tmp_path: Path
) -> None:
    made = await _backups(filled, data_dir, bucket).make(1000.0)
    folder = tmp_path / "restored"
    folder.mkdir()
    await restore(data_dir / made.path, folder, made.schema, "community.sqlite3", None)
    damaged = folder / "community.sqlite3"
    content = bytearray(await asyncio.to_thread(damaged.read_bytes))
    content[5 * 4096 : 9 * 4096] = b"\xff" * (4 * 4096)
    await asyncio.to_thread(damaged.write_bytes, content)
    assert await faults(damaged, FileObjects(folder / "uploads-store"))


class Failing(FileObjects):
    async def read(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        yield b"some of it"
        raise StoreFailed("the bucket is unavailable")


class Waiting(FileObjects):
    """A store that returns no data until the test allows it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.started, self.may = asyncio.Event(), asyncio.Event()

    async def read(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        self.started.set()
        await self.may.wait()
        yield DATA


async def test_a_failing_store_leaves_nothing_behind(
    filled: Database, data_dir: Path, tmp_path: Path
) -> None:
    with pytest.raises(ChatError, match="storage_unavailable") as refusal:
        await _backups(filled, data_dir, Failing(tmp_path)).make(1000.0)
    assert refusal.value.message == "The backup could not be created: the bucket is unavailable"
    assert _left(data_dir) == []


async def test_a_backup_reports_that_uploads_are_not_configured(filled: Database, data_dir: Path) -> None:
    with pytest.raises(ChatError, match="uploads_disabled"):
        await _backups(filled, data_dir, None).make(1000.0)
    assert _left(data_dir) == []


async def test_only_one_backup_runs_at_a_time_and_a_cancelled_backup_leaves_nothing(
    filled: Database, data_dir: Path, tmp_path: Path
) -> None:
    store = Waiting(tmp_path)
    backups = _backups(filled, data_dir, store)
    first = asyncio.ensure_future(backups.make(1000.0))
    async with asyncio.timeout(30):
        await store.started.wait()
    with pytest.raises(ChatError, match="too_many"):
        await backups.make(1001.0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert _left(data_dir) == []


async def test_leftovers_from_a_killed_server_are_deleted_by_the_next_backup(
    filled: Database, data_dir: Path, bucket: ObjectStore
) -> None:
    left = data_dir / "backups" / ".backup-left"
    left.mkdir(parents=True)
    (left / "database.sqlite3").write_text("half of it")
    made = await _backups(filled, data_dir, bucket).make(1000.0)
    assert _left(data_dir) == [Path(made.path).name]


def _left(data_dir: Path) -> list[str]:
    return [path.name for path in (data_dir / "backups").iterdir()]


async def test_the_progress_of_a_large_backup_is_reported(
    filled: Database, data_dir: Path, bucket: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "_LARGE_BYTES", 0)
    reports: list[Progress] = []
    with reports_to(reports.append):
        made = await _backups(filled, data_dir, bucket).make(1000.0)
    assert {progress.what for progress in reports} == {"database", "packing", "files"}
    assert all(progress.done <= progress.total for progress in reports)
    assert made.objects == 1
