"""The owner can create, download and delete backups. Each download link works only once."""

import io
import tarfile
from functools import partial
from pathlib import Path

import pytest

from svc.base.database import Connection
from svc.chat.backup import stored_backups
from svc.chat.backup.backups import Backups
from svc.chat.errors import ChatError
from tests.chat.internal_server import server_with_insight
from tests.chat.members_by_role import MembersByRole, member_with, members_by_role

BACKUPS = "/api/backups"


async def made(members: MembersByRole) -> str:
    async with members.live("owner") as [owner]:
        await members.owner.done("POST", BACKUPS)
        event = await owner.pushed("backup_finished")
        assert event["fault"] is None
        return str(event["name"])


async def test_the_owner_creates_downloads_and_deletes_a_backup(members: MembersByRole) -> None:
    name = await made(members)
    listed = await members.owner.done("GET", BACKUPS)
    (backup,) = listed["backups"]
    assert (backup["name"], listed["making"], listed["fault"]) == (name, None, None)
    headers = {"Authorization": f"Bearer {members.owner.token}"}
    async with members.chat.http.get(f"{BACKUPS}/{name}", headers=headers) as response:
        content = await response.read()
        assert response.headers["Content-Disposition"] == f'attachment; filename="{name}"'
        assert len(content) == backup["bytes"]
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        assert any("sqlite3" in member for member in archive.getnames())
    await members.owner.done("DELETE", f"{BACKUPS}/{name}")
    assert await members.owner.refused("GET", f"{BACKUPS}/{name}") == "unknown_backup"
    assert (await members.owner.done("GET", BACKUPS))["backups"] == []
    entries = (await members.owner.done("GET", "/api/audit"))["entries"]
    done = [entry["action"] for entry in entries if entry["action"].startswith("backup")]
    assert done == ["backup_delete", "backup_download", "backup_create"]


async def test_a_download_link_works_only_once(members: MembersByRole) -> None:
    name = await made(members)
    url = (await members.owner.done("POST", f"{BACKUPS}/{name}/link"))["url"]
    for _ in range(2):  # Some programs send a HEAD request first, which does not count.
        async with members.chat.http.head(url) as response:
            assert (response.status, await response.read()) == (200, b"")
    async with members.chat.http.get(url) as response:
        assert (response.status, len(await response.read()) > 1000) == (200, True)
    async with members.chat.http.get(url) as response:
        assert (response.status, (await response.json())["error"]) == (404, "unknown_backup")


async def test_a_download_link_expires(members: MembersByRole, monkeypatch: pytest.MonkeyPatch) -> None:
    name = await made(members)
    monkeypatch.setattr(stored_backups, "LINK_S", 0.0)
    url = (await members.owner.done("POST", f"{BACKUPS}/{name}/link"))["url"]
    async with members.chat.http.get(url) as response:
        assert response.status == 404


async def test_the_download_link_of_a_former_owner_does_not_work(members: MembersByRole) -> None:
    name = await made(members)
    url = (await members.owner.done("POST", f"{BACKUPS}/{name}/link"))["url"]
    await members.owner.done("POST", f"/api/members/{members.admin.id}/owner")
    async with members.chat.http.get(url) as response:
        assert response.status == 404


async def test_only_the_owner_can_download_a_backup(members: MembersByRole) -> None:
    name = await made(members)
    keeper = await member_with(members, "manage_channels", "view_audit_log")
    for person in (members.admin, members.moderator, members.member, keeper):
        for method, path in (
            ("GET", ""),
            ("POST", ""),
            ("GET", f"/{name}"),
            ("DELETE", f"/{name}"),
            ("POST", f"/{name}/link"),
        ):
            assert await person.refused(method, BACKUPS + path) == "forbidden"
        assert await person.refused("GET", "/api/storage") == "forbidden"


@pytest.mark.parametrize("name", ["identity-key", "..%2fidentity-key", "backup-1.tar.gz", "backup-x.tar.gz"])
async def test_a_download_link_cannot_name_a_file_that_is_not_a_backup(
    members: MembersByRole, name: str
) -> None:
    assert await members.owner.refused("GET", f"{BACKUPS}/{name}") in ("unknown_backup", "not_found")
    assert await members.owner.refused("POST", f"{BACKUPS}/{name}/link") in ("unknown_backup", "not_found")


async def test_the_number_of_backups_is_limited(members: MembersByRole, variables: dict[str, str]) -> None:
    folder = Path(variables["DATA_DIR"]) / "backups"
    folder.mkdir(exist_ok=True)
    for number in range(stored_backups.MAX_KEPT):
        (folder / f"backup-{number}.tar.gz").touch()
    assert await members.owner.refused("POST", BACKUPS) == "too_many"


async def test_the_reason_for_a_failed_backup_is_reported(
    members: MembersByRole, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(self: Backups, now: float, *, damaged: bool = False) -> None:
        raise ChatError("storage_unavailable", "The disk is full")

    monkeypatch.setattr(Backups, "make", fails)
    async with members.live("owner") as [owner]:
        await members.owner.done("POST", BACKUPS)
        assert await owner.pushed("backup_finished") == {"name": None, "fault": "The disk is full"}
    assert (await members.owner.done("GET", BACKUPS))["fault"] == "The disk is full"


def _store(key: str, holder: str, kind: str, size: int, connection: Connection) -> None:
    values = (key, "stored", "image/webp", size, 1, 1, None, "", "", 1, 1, holder)
    connection.execute(f"INSERT INTO objects VALUES ({','.join('?' * 12)})", values)
    connection.execute("INSERT INTO object_references VALUES (?, ?, ?)", (kind, "owner", key))


async def test_storage_is_reported_by_kind_and_by_member(variables: dict[str, str]) -> None:
    async with server_with_insight(variables) as (chat, community):
        members = await members_by_role(chat)
        before = await members.owner.done("GET", "/api/storage")
        assert (before["bytes"], before["by_kind"], before["by_member"]) == (0, [], [])
        assert before["database_bytes"] > 0 and before["disk_free_bytes"] > 0
        database = community.media._database
        for number, (holder, kind, size) in enumerate(
            [
                (members.member.id, "message", 100),
                (f"webhooks of {members.member.id}", "message", 20),
                (members.guest.id, "member", 50),
                ("", "server", 5),
            ]
        ):
            await database.write(partial(_store, f"uploads/{number}", holder, kind, size))
        shown = await members.owner.done("GET", "/api/storage")
        assert {kind["kind"]: kind["bytes"] for kind in shown["by_kind"]} == {
            "message": 120,
            "member": 50,
            "server": 5,
        }
        assert [(member["nickname"], member["bytes"]) for member in shown["by_member"]] == [
            ("Member", 120),
            ("Guest", 50),
        ]
        assert (shown["bytes"], shown["others_bytes"]) == (175, 5)
        short = await members.owner.done("GET", "/api/storage?limit=1")
        assert (len(short["by_member"]), short["others_bytes"]) == (1, 55)
