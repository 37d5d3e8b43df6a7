"""Members who reserve, send or store the maximum do not use up other members' upload space."""

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from svc.base import object_store
from svc.base.migrations import migrate, migrations_in
from svc.chat.community import SCHEMA_FOLDER
from svc.chat.errors import ChatError
from svc.chat.media.usage import MAX_BYTES, MAX_BYTES_PER_MEMBER, StoredBytes
from svc.chat.uploads import limits
from svc.chat.uploads.limits import Load, SpaceUsed, require_room
from svc.chat.uploads.queue import LEASE_S, MAX_ATTEMPTS
from tests.chat.http_member import HttpMember, newcomer
from tests.chat.uploads.upload_helpers import TUS, UploadServer
from tests.kit.wait import eventually

LARGEST = limits.MAX_ATTACHMENT_BYTES
DISK = 100 * 1024**3


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Reduce the upload space so that a test can fill it. Return the space in bytes."""
    monkeypatch.setattr(limits, "EXPECTED_BYTES", 1_000)
    monkeypatch.setattr(limits, "RESERVED_AT_ONCE", 1_000)
    monkeypatch.setattr(limits, "MAX_INCOMING_BYTES", 120_000)
    yield 120_000


async def begun(server: UploadServer, person: HttpMember, length: int) -> str:
    """Start an upload, which must be accepted. Return its URL."""
    status, where, answer = await server.begin(person, length)
    assert status == 201, answer
    return where


def later(server: UploadServer, seconds: float) -> None:
    queue = server.community.files.queue
    now = queue._now
    queue._now = lambda: now() + seconds


async def test_announced_but_unsent_files_do_not_use_up_other_members_space(server: UploadServer) -> None:
    """Check a case in which four members once reserved all 16 GiB with 16 uploads of 256 MiB each, and
    everybody got status 507.
    """
    members = [server.members.member, *[await newcomer(server.chat, f"Member {n}") for n in range(3)]]
    for member in members:
        for _ in range(16):
            await begun(server, member, LARGEST)
    guest = await newcomer(server.chat, "Newcomer")
    assert (await server.send(guest))[0] == 201
    await begun(server, guest, LARGEST)


async def test_announced_but_unsent_uploads_expire_within_minutes(server: UploadServer) -> None:
    member = server.members.member
    for _ in range(limits.MAX_UNFINISHED_PER_MEMBER - 1):
        empty = await begun(server, member, LARGEST)
    continued = await begun(server, member, 10)
    await server.append(member, continued, 0, b"12345")
    assert (await server.begin(member, 10))[0] == 409
    later(server, limits.EMPTY_KEPT_S + 1)
    await begun(server, member, 10)
    assert await member.refused("GET", empty) == "unknown_upload"
    assert (await member.done("GET", continued))["received"] == 5


async def test_a_member_who_fills_the_space_leaves_some_for_others(server: UploadServer, small: int) -> None:
    greedy, other = server.members.member, server.members.moderator
    where = await begun(server, greedy, 90_000)
    taken = 0
    while (answer := await server.append(greedy, where, taken, bytes(10_000)))[0] == 204:
        taken += 10_000
    assert answer == (507, "storage_full")
    assert taken == small // 2
    status, _, body = await server.begin(greedy, 20_000)
    assert (status, body["error"]) == (507, "storage_full")
    assert "members who have the most" in body["message"]
    assert (await server.send(other, content=bytes(20_000)))[0] == 201


async def test_an_upload_that_ran_out_of_space_resumes_once_there_is_space(
    server: UploadServer, small: int
) -> None:
    member = server.members.member
    first, second = [await begun(server, member, 50_000) for _ in range(2)]
    assert (await server.append(member, first, 0, bytes(49_000)))[0] == 204
    assert (await server.append(member, second, 0, bytes(50_000))) == (507, "storage_full")
    kept = (await member.done("GET", second))["received"]
    await member.done("DELETE", first)
    assert (await server.append(member, second, kept, bytes(50_000 - kept)))[0] == 204


async def test_failed_jobs_still_count_as_long_as_their_files_are_stored(
    server: UploadServer, small: int
) -> None:
    member, queue = server.members.member, server.community.files.queue
    assert (await server.send(member, content=bytes(55_000)))[0] == 201
    clock = [queue._now()]
    queue._now = lambda: clock[0]
    for _ in range(MAX_ATTEMPTS):
        assert await server.claim() is not None
        clock[0] += LEASE_S + 1
    assert await server.claim() is None
    status, _, body = await server.begin(member, 40_000)
    assert (status, body["error"]) == (507, "storage_full")


@pytest.mark.parametrize("command", ["backup", "export"])
async def test_a_backup_leaves_the_last_free_disk_space_for_writes(
    server: UploadServer, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    await server.done(server.members.member)
    real = shutil.disk_usage
    free = [object_store.MIN_FREE_BYTES + 1]
    monkeypatch.setattr(shutil, "disk_usage", lambda path: real(path)._replace(free=free[0]))
    refused = await server.command(command)
    assert refused["error"] == "storage_unavailable" and "almost full" in refused["message"]
    assert list(server.data_dir.glob(f"*/{command}-*")) == []
    free[0] = 2 * object_store.MIN_FREE_BYTES
    assert "error" not in await server.command(command)
    assert len(list(server.data_dir.glob(f"*/{command}-*"))) == 1


async def test_concurrent_uploads_are_limited_and_shared_among_members(
    server: UploadServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    greedy, other = server.members.member, server.members.moderator
    arriving = server.community.files.uploads._receiving
    monkeypatch.setattr(arriving, "maximum", 4)
    where = [await begun(server, greedy, 100) for _ in range(3)]
    end = asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        yield b"first"
        await end.wait()

    headers = {**TUS, "Upload-Offset": "0", "Authorization": f"Bearer {greedy.token}"}
    headers["Content-Type"] = "application/offset+octet-stream"
    async with asyncio.TaskGroup() as group:
        for path in where[:2]:
            group.create_task(sent(server, path, headers, slow()))
        await eventually("two uploads are being received", lambda: arriving.taken == 2, within_s=10)
        assert await server.append(greedy, where[2], 0, b"x") == (503, "too_many_connections")
        assert (await server.send(other))[0] == 201
        end.set()
    assert (await server.append(greedy, where[2], 0, b"x"))[0] == 204


async def sent(
    server: UploadServer, path: str, headers: dict[str, str], content: AsyncIterator[bytes]
) -> None:
    async with server.chat.http.patch(path, data=content, headers=headers) as response:
        assert response.status == 204


# Rules for reserving upload space


def space_used(
    own: int = 0, everyone: int = 0, kept: int = 0, kept_by_all: int = 0, disk: int = DISK
) -> SpaceUsed:
    stored = StoredBytes(kept, kept_by_all)
    return SpaceUsed(Load(1, own, 0), Load(9, everyone, 0), stored, disk, kept_here=True)


@pytest.mark.parametrize(
    ("room", "code"),
    [
        (space_used(), None),
        (space_used(kept=MAX_BYTES_PER_MEMBER, kept_by_all=MAX_BYTES_PER_MEMBER), "quota_exceeded"),
        (space_used(kept=MAX_BYTES_PER_MEMBER - LARGEST, kept_by_all=MAX_BYTES_PER_MEMBER), None),
        # The total space is nearly full, because of this member or of others.
        (space_used(kept=MAX_BYTES_PER_MEMBER // 2, kept_by_all=MAX_BYTES - LARGEST), "storage_full"),
        (space_used(kept_by_all=MAX_BYTES - LARGEST), None),
        # The disk is nearly full, because of this member's files or of other files.
        (space_used(kept=1024**3, disk=limits.MIN_FREE_BYTES + 1024**3), "storage_full"),
        (space_used(disk=limits.MIN_FREE_BYTES + LARGEST), None),
        (space_used(disk=limits.MIN_FREE_BYTES + LARGEST - 1), "storage_full"),
    ],
)
def test_uploads_of_the_member_who_uses_the_most_space_are_rejected_first(
    room: SpaceUsed, code: str | None
) -> None:
    try:
        require_room(room, LARGEST)
        refused = None
    except ChatError as refusal:
        refused = refusal.code
    assert refused == code


def test_bytes_reserved_by_others_cannot_be_taken() -> None:
    disk = limits.MIN_FREE_BYTES + LARGEST
    room = SpaceUsed(Load(0, 0, 0), Load(1, 10, 10), StoredBytes(0, 0), disk, kept_here=False)
    with pytest.raises(ChatError, match="storage_full"):
        require_room(room, LARGEST)


# Storage quotas


async def kept(server: UploadServer) -> dict[str, int]:
    rows = await server.community.media._database.rows("SELECT * FROM kept WHERE bytes > 0")
    return {row["holder"]: row["bytes"] for row in rows}


async def test_processed_files_and_thumbnails_count_towards_a_members_quota(server: UploadServer) -> None:
    member = server.members.member
    upload_id = await server.done(member)
    assert await kept(server) == {member.id: len(b"written anew") + len(b"small")}
    await member.done("DELETE", f"/api/uploads/{upload_id}")
    sweep = server.community.files.sweep
    now = sweep._now
    sweep._now = lambda: now() + sweep._grace_ms / 1000 + 60
    await sweep.run_once()
    assert await kept(server) == {}


def test_upgrading_an_older_database_records_each_holders_stored_bytes(tmp_path: Path) -> None:
    migrations = migrations_in(SCHEMA_FOLDER)
    with closing(sqlite3.connect(tmp_path / "old.sqlite3", isolation_level=None)) as old:
        migrate(old, migrations[:8], tmp_path)
        for key, size in (("film", 100), ("small", 20), ("frame", 3), ("card", 7)):
            values = (f"uploads/{key}.webp", size)
            old.execute(
                "INSERT INTO objects VALUES (?, 'stored', 'image/webp', ?, 1, 1, NULL, '', '', 1, 1)", values
            )
        old.execute(
            "INSERT INTO uploads VALUES ('u', 'ada', 'attachment', '', '', '', 0, 50, 50, 'done',"
            ' \'{"thumbnail": {"key": "uploads/small.webp"}, "poster": {"key": "uploads/frame.webp"}}\','
            " NULL, 'uploads/film.webp', 123, 1, 1)"
        )
        migrate(old, migrations, tmp_path)
        assert old.execute("SELECT * FROM kept ORDER BY holder").fetchall() == [("", 7), ("ada", 123)]
        old.execute("DELETE FROM objects WHERE key = 'uploads/film.webp'")
        assert old.execute("SELECT bytes FROM kept WHERE holder = 'ada'").fetchall() == [(23,)]
