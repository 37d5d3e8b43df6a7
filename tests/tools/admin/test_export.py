"""Exports can be read by other programs, and importing one recreates the same server."""

import asyncio
import io
import json
import re
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from svc.base.database import Connection
from svc.chat.community import Community
from svc.chat.import_export.record_types import KINDS
from svc.chat.media.stored_media import EMOJI, ObjectInfo
from tests.chat.chat_server import chat_server
from tests.chat.http_member import HttpMember, newcomer
from tests.chat.internal_server import server_with_insight
from tests.chat.members_by_role import members_by_role
from tests.kit.markdown import rows
from tests.tools.admin.conftest import Admin

FILES = {"STORAGE_BACKEND": "filesystem"}
DOCUMENT = Path(__file__).parents[3] / "docs" / "operations.md"


def _records(file: Path) -> list[dict[str, Any]]:
    with zipfile.ZipFile(file) as archive:
        return [json.loads(line) for line in archive.read("export.jsonl").splitlines()]


COLOURS = ("red", "blue")  # of the icon and of the emoji


def _picture(colour: str) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (16, 16), colour).save(file, "WEBP", lossless=True)
    return file.getvalue()


async def _put_media(community: Community) -> None:
    """Add a server icon and a custom emoji."""
    keys = [
        await community.media.keep(_picture(colour), "webp", ObjectInfo("image/webp", width=16, height=16))
        for colour in COLOURS
    ]

    def write(connection: Connection) -> None:
        community.files.icon.set(connection, keys[0])
        connection.execute("INSERT INTO emoji VALUES ('e', 'smile', ?, 0, NULL, 1)", (keys[1],))
        community.media.refer(connection, keys[1], EMOJI, "e")

    await community.media._database.write(write)


async def _put_preview(community: Community, member_id: str, channel_id: str, message_id: str) -> None:
    feature, media = community.messages, community.media
    key = await media.keep(_picture("green"), "webp", ObjectInfo("image/webp", width=16, height=16))
    message = await feature.history.get(member_id, channel_id, message_id)
    image = {"key": key, "content_type": "image/webp", "width": 16, "height": 16, "placeholder": "x"}
    shown = [{"url": "https://example.org/", "title": "Tea", "image": image}]
    await media._database.write(lambda c: feature.marking.show_previews(c, message, shown))


@pytest.fixture
async def exported(variables: dict[str, str], admin: Admin, tmp_path: Path) -> tuple[Path, HttpMember]:
    """Export a server with records of most kinds. Yield the file and the owner."""
    file = tmp_path / "export.zip"
    async with server_with_insight({**variables, **FILES, "ADDITIONAL_CHANNELS": "general"}) as (
        chat,
        community,
    ):
        members = await members_by_role(chat)
        olga, channels = members.owner, (await members.owner.done("GET", "/api/channels"))["channels"]
        general = next(channel["id"] for channel in channels if channel["name"] == "general")
        await olga.done("PATCH", "/api/settings", {"joinPolicy": "open"})
        games = await olga.done("POST", "/api/channels", {"name": "Games", "type": "category"})
        changes = {"topic": "Everything else", "parent_id": games["id"]}
        await olga.done("PATCH", f"/api/channels/{general}", changes)
        address = f"/api/channels/{general}/messages"
        first = await olga.done("POST", address, {"text": "caf\u00e9 \U0001f600"})
        text = f"[Admin](mention:{members.admin.id}) see above"
        second = await olga.done("POST", address, {"text": text, "reply_to": first["id"]})
        await olga.done("PATCH", f"{address}/{second['id']}", {"text": text + "!"})
        await members.admin.done("PUT", f"{address}/{first['id']}/reactions/\U0001f44d")
        aside_message = await members.admin.done("POST", address, {"text": "aside", "thread": first["id"]})
        await members.admin.done("DELETE", f"{address}/{aside_message['id']}/previews")
        await _put_preview(community, olga.id, general, first["id"])
        await olga.done("PUT", f"/api/channels/{general}/pins/{first['id']}")
        await _put_media(community)
        await admin.json("export", str(file))
    return file, olga


def _without_files(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the number of records of each kind, and the records without their file keys, which an import
    changes.
    """
    plain = [record for record in records[1:] if record["kind"] not in ("object", "reference", "fact")]
    for record in plain:
        for preview in record.get("previews") or ():
            preview["image"] = sorted(preview["image"])
    counts = Counter(record["kind"] for record in records)
    return [dict(counts), *({k: v for k, v in record.items() if k != "key"} for record in plain)]


async def test_an_export_recreates_the_same_server(
    exported: tuple[Path, HttpMember], admin: Admin, variables: dict[str, str], tmp_path: Path
) -> None:
    file, olga = exported
    elsewhere = admin.at(tmp_path / "elsewhere")
    counts = (await elsewhere.json("import", str(file)))["records"]
    assert (counts["message"], counts["edit"], counts["reaction"], counts["pin"]) == (3, 1, 1, 1)
    assert counts["thread_follow"] == 2
    again = tmp_path / "again.zip"
    await elsewhere.json("export", str(again))
    before, after = _records(file), _records(again)
    assert _without_files(before) == _without_files(after) and len(before) > 20
    async with chat_server({**variables, **FILES, "DATA_DIR": str(tmp_path / "elsewhere")}) as chat:
        async with chat.http.get("/icon") as icon:
            with Image.open(io.BytesIO(await icon.read())) as picture:
                assert (picture.format, picture.size) == ("WEBP", (16, 16))
        answer = await chat.sign_in(olga.device)
        back = HttpMember(chat, olga.device, answer["member"]["id"], answer["access_token"])
        assert answer["member"]["roles"] == ["member", "owner"]
        (thread,) = (await back.done("GET", "/api/me/threads"))["threads"]
        assert (thread["root"]["answers"]["count"], thread["unread"]) == (1, 1)
        (preview,) = thread["root"]["previews"]
        assert (preview["url"], preview["title"]) == ("https://example.org/", "Tea")
        async with chat.http.get(preview["image"]["url"]) as picture:
            assert picture.status == 200
        channels = (await back.done("GET", "/api/channels"))["channels"]
        assert sorted(channel["name"] for channel in channels) == ["Games", "Voice", "general"]
        games, general = (next(c for c in channels if c["name"] == n) for n in ("Games", "general"))
        assert general["parent_id"] == games["id"]
        results = await back.done("GET", "/api/search?query=above")
        assert len(results["messages"]) == 1


async def test_an_import_replaces_the_defaults_of_a_new_server(
    exported: tuple[Path, HttpMember], admin: Admin, variables: dict[str, str], tmp_path: Path
) -> None:
    file, _ = exported
    elsewhere = {**variables, **FILES, "DATA_DIR": str(tmp_path / "elsewhere")}
    async with chat_server(elsewhere):
        pass  # The new server already has its default channels.
    await admin.at(tmp_path / "elsewhere").json("import", str(file))
    async with chat_server(elsewhere):
        await admin.at(tmp_path / "elsewhere").json("export", str(tmp_path / "again.zip"))
    assert _without_files(_records(tmp_path / "again.zip")) == _without_files(_records(file))


async def test_an_export_contains_no_secrets(
    exported: tuple[Path, HttpMember], variables: dict[str, str]
) -> None:
    file, olga = exported
    with zipfile.ZipFile(file) as archive:
        text = archive.read("export.jsonl").decode()
    for name in ("invite-code",):
        assert (Path(variables["DATA_DIR"]) / name).read_text().strip() not in text
    assert olga.token not in text
    assert file.stat().st_mode & 0o777 == 0o600


async def test_an_import_into_a_server_with_members_is_rejected(
    exported: tuple[Path, HttpMember], admin: Admin
) -> None:
    file, _ = exported
    status, _, complaint = await admin("import", str(file))
    assert (status, "somebody has joined this server already" in complaint) == (2, True)


async def test_an_import_is_rejected_while_the_server_is_running(
    exported: tuple[Path, HttpMember], admin: Admin, variables: dict[str, str]
) -> None:
    async with chat_server(variables):
        status, _, complaint = await admin("import", str(exported[0]))
    assert (status, "Stop it before you import" in complaint) == (2, True)


def _changed(file: Path, change: Any) -> None:
    records = _records(file)
    change(records)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("export.jsonl", "".join(json.dumps(record) + "\n" for record in records))


def _first(records: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return next(record for record in records if record["kind"] == kind)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda r: r.pop(), r"line \d+: the file is cut off"),
        (lambda r: r.pop(5), r"line \d+: it declares \d+ records, but there are \d+"),
        (
            lambda r: r[0].update(version=2),
            r"line 1: it was created by a newer version \(format 2, this one supports 1\)",
        ),
        (lambda r: r[0].update(format="other"), "line 1: this is not an export of this program"),
        (lambda r: r[3].update(kind="dragon"), "line 4: unknown kind of record: 'dragon'"),
        (lambda r: _first(r, "message").pop("text"), r"line \d+: message: text is missing"),
        (lambda r: _first(r, "message").update(text=5), r"line \d+: message: text must be a string"),
        (lambda r: _first(r, "message").update(n=5), r"line \d+: message: id and n do not match"),
        (lambda r: _first(r, "pin").update(n=5), r"line \d+: pin refers to a record that does not exist"),
        (lambda r: _first(r, "channel").update(archived=2), r"line \d+: channel: archived must be at most 1"),
        (lambda r: _first(r, "channel").update(kind_of_channel="x"), r"line \d+: channel CHECK constraint"),
        (
            lambda r: _first(r, "member").update(colour="red"),
            r"member has 'colour', which is not a field of it",
        ),
        (lambda r: r.append({"kind": "end"}), r"line \d+: there is more data after the end"),
    ],
)
async def test_a_malformed_export_is_reported_and_nothing_is_imported(
    exported: tuple[Path, HttpMember], admin: Admin, tmp_path: Path, change: Any, complaint: str
) -> None:
    file, _ = exported
    _changed(file, change)
    elsewhere = admin.at(tmp_path / "elsewhere")
    status, _, stderr = await elsewhere("import", str(file))
    assert status == 2
    assert re.search(re.escape(str(file)) + ".*" + complaint, stderr), stderr
    assert stderr.endswith("; nothing was imported\n")
    assert (await elsewhere.json("member", "list"))["members"] == []


async def test_damaged_media_is_detected_and_nothing_is_imported(
    exported: tuple[Path, HttpMember], admin: Admin, tmp_path: Path
) -> None:
    file, _ = exported
    data = await asyncio.to_thread(file.read_bytes)
    smile = _picture(COLOURS[1])
    await asyncio.to_thread(file.write_bytes, data.replace(smile, smile[:-1] + b"x", 1))
    elsewhere = admin.at(tmp_path / "elsewhere")
    status, _, stderr = await elsewhere("import", str(file))
    assert (status, "is damaged" in stderr) == (2, True), stderr
    assert (await elsewhere.json("member", "list"))["members"] == []
    assert [name for name in _files(tmp_path / "elsewhere") if name.endswith(".webp")] == []


def _files(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*")]


async def test_a_file_that_is_not_an_export_is_rejected(admin: Admin, tmp_path: Path) -> None:
    file = tmp_path / "export.zip"
    # Only a newer version of the program could unpack the last entry.
    future = b"PK\x01\x02" + b"\x7d" * 42 + b"PK\x05\x06" + bytes([0, 0, 0, 0, 1, 0, 1, 0, 46]) + bytes(9)
    for data in (b"", b"not a zip", future):
        file.write_bytes(data)
        status, _, stderr = await admin("import", str(file))
        assert (status, "this is not an export of this program" in stderr) == (2, True)
    status, _, stderr = await admin("import", str(tmp_path / "no.zip"))
    assert (status, stderr) == (
        2,
        f"svc admin: {tmp_path / 'no.zip'}: No such file or directory; nothing was imported\n",
    )


def test_every_record_kind_is_documented() -> None:
    table = rows(DOCUMENT, "The format of an export")
    assert {row.code(0)[0]: set(row.code(1)) for row in table} == {
        name: set(kind.__struct_fields__) for name, kind in KINDS.items()
    }


async def test_the_first_person_to_join_an_imported_server_is_not_its_owner(
    exported: tuple[Path, HttpMember], admin: Admin, variables: dict[str, str], tmp_path: Path
) -> None:
    await admin.at(tmp_path / "elsewhere").json("import", str(exported[0]))
    async with chat_server({**variables, "DATA_DIR": str(tmp_path / "elsewhere")}) as chat:
        eve = await newcomer(chat, "Eve")
        assert (await eve.done("GET", f"/api/members/{eve.id}"))["roles"] == ["member"]
