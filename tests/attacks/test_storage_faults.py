"""Corrupt or foreign databases, failing writes and truncated files are detected and reported."""

import asyncio
import os
import resource
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientPayloadError, ClientSession, ServerDisconnectedError

from svc.base import database_file
from svc.base.config_parsing import ConfigError
from svc.base.database import Database, StorageFailed
from svc.base.database_file import APPLICATION_ID
from svc.base.migrations import migrations_in
from svc.base.object_store import FileObjects, ObjectDamaged
from svc.chat.backup.backups import Backups
from svc.chat.community import DATABASE_NAME, SCHEMA_FOLDER, Community
from svc.chat.errors import ChatError
from svc.chat.media.stored_media import ObjectInfo
from svc.tools.doctor.data_folder import database_at_rest
from tests.chat.chat_server import ChatServer, chat_server
from tests.chat.internal_server import server_with_insight
from tests.kit.chat_process import NotStarted, chat_process
from tests.kit.namespace import in_namespace
from tests.kit.object_stores import MOTO, RCLONE, Stores
from tests.kit.wait import wait_until

MIGRATIONS = migrations_in(SCHEMA_FOLDER)
CONTENT = bytes(range(256)) * 4096  # four chunks


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    return {
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "DATA_DIR": str(tmp_path / "data"),
        "SVC_IDENTITY_TIERS": "local",
        "STORAGE_BACKEND": "filesystem",
        "ADDITIONAL_CHANNELS": "general",
    }


@pytest.fixture
async def path(variables: dict[str, str]) -> Path:
    """Run and stop a server. Return the path of its database."""
    async with chat_server(variables):
        pass
    return Path(variables["DATA_DIR"]) / DATABASE_NAME


def _sql(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def _overwrite(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


def _content(path: Path) -> bytes:
    return path.read_bytes()


def _rename(path: Path, target: Path) -> None:
    path.rename(target)


def _flip_a_page(path: Path) -> None:
    """Flip the bits in one page of a table, as a failing disk might."""
    with closing(sqlite3.connect(path)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'channels'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        content = file.read(size)
        file.seek((page - 1) * size)
        file.write(bytes(byte ^ 0xFF for byte in content))


async def _refused(variables: dict[str, str]) -> str:
    with pytest.raises(ConfigError) as refusal:
        async with chat_server(variables):
            pass
    return str(refusal.value)


# Other files in place of the server's database


async def test_a_new_database_records_its_server(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)


async def test_an_empty_file_is_not_treated_as_a_new_server(path: Path, variables: dict[str, str]) -> None:
    os.truncate(path, 0)
    error = await _refused(variables)
    assert error.startswith(f"{path} is empty (0 bytes)")
    assert "svc admin restore" in error and "delete the empty file" in error
    assert _content(path) == b""


@pytest.mark.parametrize(
    ("statements", "complaint"),
    [
        (["PRAGMA application_id=0x46465343"], "its application_id is 0x46465343, another program's"),
        (["DROP TABLE messages"], "it lacks the table messages"),
        (["PRAGMA user_version=0"], "it has no schema of this program"),
        (
            ["CREATE TRIGGER mine AFTER INSERT ON messages BEGIN DELETE FROM members; END"],
            "it holds 'mine', a trigger or view that this program does not make",
        ),
    ],
)
async def test_a_foreign_database_is_rejected_and_not_changed(
    path: Path, variables: dict[str, str], statements: list[str], complaint: str
) -> None:
    _sql(path, *statements)
    before = _content(path)
    error = await _refused(variables)
    assert error.startswith(f"{path} is not a database of this program: ") and complaint in error
    assert "Restore a backup" in error
    assert _content(path) == before


async def test_a_file_that_is_not_a_database_is_rejected(path: Path, variables: dict[str, str]) -> None:
    _overwrite(path, 0, b"\x7fELF" + bytes(8192))
    assert "is not a database" in await _refused(variables)


async def test_a_write_ahead_log_without_its_database_is_not_treated_as_a_new_server(
    path: Path, variables: dict[str, str]
) -> None:
    _rename(path, path.with_name(path.name + "-wal"))
    error = await _refused(variables)
    assert f"{path} is missing, but its log" in error
    with pytest.raises(FileNotFoundError):
        _content(path)


async def test_an_older_database_without_an_id_is_recognised_by_its_tables(
    path: Path, variables: dict[str, str]
) -> None:
    _sql(path, "PRAGMA application_id=0")
    async with chat_server(variables):
        pass
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)


async def test_the_error_for_a_foreign_database_is_one_line_without_a_traceback(
    path: Path, variables: dict[str, str]
) -> None:
    os.truncate(path, 0)
    with pytest.raises(NotStarted) as ended:
        async with chat_process(variables):
            pass
    (line,) = str(ended.value).splitlines()
    assert line.startswith(f"svc chat: {path} is empty")


async def test_a_startup_that_is_killed_leaves_no_partial_database(tmp_path: Path) -> None:
    left = tmp_path / f".{DATABASE_NAME}.new"
    left.write_bytes(b"")
    database = await Database.open(tmp_path / DATABASE_NAME, MIGRATIONS, tmp_path / "backups")
    await database.close()
    assert not left.exists()


# Flipped bits


async def test_a_server_does_not_start_with_flipped_bits_in_its_database(
    path: Path, variables: dict[str, str]
) -> None:
    _flip_a_page(path)
    error = await _refused(variables)
    assert error.startswith(f"{path} is damaged: ") and "Restore a backup" in error


async def test_a_large_database_is_checked_while_the_server_is_running(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_file, "CHECK_FIRST_BYTES", 0)
    monkeypatch.setattr("svc.base.database.CHECK_FIRST_BYTES", 0)
    _flip_a_page(path)
    database = await Database.open(path, MIGRATIONS, path.parent / "backups")

    async def known() -> bool:
        return not await database.works()

    try:
        await wait_until("the damage is found", known, within_s=20)
    finally:
        await database.close()


async def test_svc_doctor_checks_the_entire_database(path: Path) -> None:
    (sound,) = database_at_rest(path.parent)
    assert sound.what == "The database is intact: SQLite checked all of it"
    # Remove a row from an index. Only a full check finds this.
    index = "name = 'identities_of_member'"
    with closing(sqlite3.connect(path)) as connection:
        row = connection.execute(f"SELECT * FROM sqlite_schema WHERE {index}").fetchone()
    _sql(path, "PRAGMA writable_schema=ON", f"DELETE FROM sqlite_schema WHERE {index}")
    _sql(
        path,
        "INSERT INTO members (id, nickname, joined_at_ms) VALUES ('m', 'Ada', 1)",
        "INSERT INTO identities VALUES ('', 'k', 'm', 1)",
    )
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema=ON")
        connection.execute("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", row)
    (damage,) = database_at_rest(path.parent)
    assert damage.verdict.value == "problem" and "is damaged" in damage.what
    assert "restore" in damage.advice


@pytest.mark.parametrize("command", ["doctor", "admin channel list", "admin backup copy.tar.gz", "up"])
def test_commands_report_a_read_only_file_system(path: Path, command: str) -> None:
    """Check a bind mount that is read-only in its own mount namespace, even for root."""
    (path.parent / "lock").touch()

    async def body() -> None:
        process = await asyncio.create_subprocess_exec(
            *("sh", "-c", 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'),
            *(
                str(path.parent),
                sys.executable,
                "-m",
                "svc.cli",
                *command.split(),
                "--data-dir",
                str(path.parent),
            ),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output = (await process.communicate())[0].decode()
        assert process.returncode and "read-only" in output.lower() and "Traceback" not in output, output

    in_namespace(body, (), {})


async def test_a_corrupt_database_is_backed_up_only_on_request(path: Path, tmp_path: Path) -> None:
    database = await Database.open(path, MIGRATIONS, tmp_path / "none")
    backups = Backups(database, path.parent, FileObjects(tmp_path / "objects"), "uploads-store", "1.5.0")
    good = await backups.make(1000.0)
    kept = (path.parent / good.path).read_bytes()
    _flip_a_page(path)
    with pytest.raises(ChatError) as refusal:
        await backups.make(1001.0)
    assert "The database is damaged" in refusal.value.message and "--damaged" in refusal.value.message
    assert [file.name for file in (path.parent / "backups").iterdir()] == [Path(good.path).name]
    made = await backups.make(1002.0, damaged=True)
    assert made.faults and made.path != good.path
    assert (path.parent / good.path).read_bytes() == kept
    await database.close()


# Failing writes


async def _health(http: ClientSession) -> tuple[int, dict[str, Any]]:
    async with http.get("/health") as response:
        return response.status, await response.json()


async def test_the_health_endpoint_reports_failed_writes_even_if_a_small_write_would_succeed(
    variables: dict[str, str],
) -> None:
    """Limit the size of files, so that the disk looks full to the server."""
    async with chat_process(variables) as server, ClientSession(server.address) as http:
        pid, unlimited = server.process.pid, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        chat = ChatServer(
            server.address, http, (Path(variables["DATA_DIR"]) / "invite-code").read_text().strip()
        )
        assert (await _health(http))[0] == 200
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        with pytest.raises(AssertionError, match="storage_unavailable"):
            await chat.join("Ada")
        status, body = await _health(http)
        assert (status, body["status"]) == (503, "degraded")
        assert sorted(body) == ["serverName", "service", "status", "timestamp"]
        resource.prlimit(pid, resource.RLIMIT_FSIZE, unlimited)
        # A small write would now succeed, as it often does on a disk without room for a message.
        assert (await _health(http))[1]["status"] == "degraded"
        await chat.join("Ada")
        os.kill(pid, signal.SIGTERM)
        assert await server.ended() == 0


async def test_writes_count_as_healthy_again_half_a_minute_after_the_last_failure(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = await Database.open(path, MIGRATIONS, path.parent / "backups")
    pages = await database.row("PRAGMA page_count")
    assert pages is not None
    await database.write(lambda connection: connection.execute(f"PRAGMA max_page_count={pages[0]}"))
    with pytest.raises(StorageFailed):
        await database.write(
            lambda connection: connection.execute("CREATE TABLE big AS SELECT zeroblob(1e6)")
        )
    assert not await database.works()
    monkeypatch.setattr("svc.base.database.DEGRADED_FOR_S", 0.0)
    assert await database.works()
    await database.close()


async def test_the_health_endpoint_reports_corruption_found_by_a_read(path: Path) -> None:
    database = await Database.open(path, MIGRATIONS, path.parent / "backups")
    assert await database.works()
    _flip_a_page(path)
    with pytest.raises(sqlite3.DatabaseError):
        await database.rows("SELECT * FROM channels")
    assert not await database.works()
    await database.close()


# Truncated files in the media store


@pytest.fixture
async def shortened(variables: dict[str, str]) -> AsyncIterator[tuple[ChatServer, Community, str]]:
    """Start a server with a stored file that was truncated within its second chunk."""
    async with server_with_insight(variables) as (chat, community):
        key = await community.media.keep(CONTENT, "webp", ObjectInfo("image/webp"))
        os.truncate(Path(variables["DATA_DIR"]) / "uploads-store" / key, 300_000)
        yield chat, community, key


@pytest.mark.parametrize("wanted", ["", "bytes=500000-", "bytes=299999-300010", "bytes=-5"])
async def test_reading_a_truncated_file_ends_with_an_error(
    shortened: tuple[ChatServer, Community, str], wanted: str, caplog: pytest.LogCaptureFixture
) -> None:
    chat, community, key = shortened
    headers = {"Range": wanted} if wanted else {}
    async with asyncio.timeout(30), chat.http.get(community.media.url(key), headers=headers) as response:
        assert (response.status, (await response.json())["error"]) == (500, "internal_error")
    (record,) = [record for record in caplog.records if record.message == "stored media cannot be read"]
    assert (record.__dict__["key"], record.__dict__["because"]) == (key, "damaged")
    assert 'svc_chat_media_failed_reads_total{because="damaged"} 1.0' in await chat.metrics()


async def test_a_range_before_the_end_of_a_truncated_file_can_be_read(
    shortened: tuple[ChatServer, Community, str],
) -> None:
    chat, community, key = shortened
    async with chat.http.get(community.media.url(key), headers={"Range": "bytes=0-299999"}) as response:
        assert (response.status, await response.read()) == (206, CONTENT[:300_000])


async def test_a_file_truncated_while_it_is_being_read_closes_the_connection(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with server_with_insight(variables) as (chat, community):
        key = await community.media.keep(CONTENT, "webp", ObjectInfo("image/webp"))
        stored = Path(variables["DATA_DIR"]) / "uploads-store" / key
        real = community.media.objects.read

        async def cut(key: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
            async for chunk in real(key, start, end):
                yield chunk
                os.truncate(stored, 300_000)

        monkeypatch.setattr(community.media.objects, "read", cut)
        async with asyncio.timeout(30), chat.http.get(community.media.url(key)) as response:
            assert response.status == 200
            with pytest.raises((ClientPayloadError, ServerDisconnectedError)):
                await response.read()
        assert 'svc_chat_media_failed_reads_total{because="damaged"} 1.0' in await chat.metrics()


async def test_a_missing_file_is_reported_to_the_operator(
    variables: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    async with server_with_insight(variables) as (chat, community):
        key = await community.media.keep(CONTENT, "webp", ObjectInfo("image/webp"))
        (Path(variables["DATA_DIR"]) / "uploads-store" / key).unlink()
        async with chat.http.get(community.media.url(key)) as response:
            assert response.status == 404
        assert 'svc_chat_media_failed_reads_total{because="missing"} 1.0' in await chat.metrics()
    assert any(record.__dict__.get("key") == key for record in caplog.records)


@pytest.mark.parametrize("kind", [MOTO, RCLONE])
async def test_a_truncated_object_in_a_bucket_is_detected(stores: Stores, kind: str, tmp_path: Path) -> None:
    store = stores.store(kind, tmp_path)
    await store.put("uploads/short.webp", CONTENT[:1000], "image/webp")
    got = b""
    with pytest.raises(ObjectDamaged, match="is cut off"):
        async for chunk in store.read("uploads/short.webp", 0, len(CONTENT)):
            got += chunk
    assert len(got) <= 1000
