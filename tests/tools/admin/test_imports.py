"""Discord and Slack exports become channels and messages, either completely or not at all."""

import asyncio
import io
import json
import sys
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from svc.tools.admin.imports.slack import markdown
from tests.chat.chat_server import chat_server
from tests.chat.http_member import HttpMember, newcomer
from tests.kit.device import Device
from tests.kit.wait import wait_until
from tests.tools.admin.conftest import Admin

ADA = {"id": "10", "name": "ada", "nickname": "Ada L."}
BEN = {"id": "11", "name": "ben", "nickname": ""}
DISCORD: dict[str, Any] = {
    "guild": {"id": "1", "name": "Old place"},
    "channel": {"id": "2", "type": "GuildTextChat", "name": "general", "topic": "All things"},
    "messages": [
        {
            "id": "100",
            "type": "Default",
            "timestamp": "2020-01-02T03:04:05.678+00:00",
            "timestampEdited": "2020-01-02T03:05:00+00:00",
            "isPinned": True,
            "content": "Hello **world**",
            "author": ADA,
            "attachments": [
                {"id": "1", "url": "general_Files/cat.png", "fileName": "cat.png", "fileSizeBytes": 1},
                {"id": "2", "url": "https://cdn.example/a.pdf", "fileName": "a[1].pdf", "fileSizeBytes": 1},
                {"id": "3", "url": "../../etc/passwd", "fileName": "passwd", "fileSizeBytes": 1},
            ],
            "embeds": [],
            "reactions": [
                {"emoji": {"id": "", "name": "\U0001f44d"}, "count": 2, "users": [ADA, BEN]},
                {"emoji": {"id": "77", "name": "Pepe"}, "count": 1, "users": [BEN]},
                {"emoji": {"id": "", "name": "no emoji"}, "count": 1, "users": [BEN]},
            ],
        },
        {
            "id": "101",
            "type": "Reply",
            "timestamp": "2020-01-02T03:04:05.678+00:00",
            "content": "Hi " + "x" * 5000,
            "author": BEN,
            "reference": {"messageId": "100", "channelId": "2"},
        },
        {"id": "102", "timestamp": "2020-01-02T05:04:06+02:00", "content": " ", "author": BEN},
    ],
    "messageCount": 3,
}
USERS = [
    {"id": "U1", "name": "ada", "profile": {"display_name": "Ada L.", "real_name": "Ada"}},
    {"id": "U2", "name": "ben", "profile": {"display_name": "", "real_name": "Ben"}},
]
CHANNELS = [{"id": "C1", "name": "general", "topic": {"value": "All &amp; things"}, "members": ["U1"]}]
DAY = [
    {
        "type": "message",
        "user": "U1",
        "ts": "1577934245.000100",
        "text": "*Hello* <@U2>, see <https://example.org|this> &amp; `*code*`",
        "reactions": [{"name": "+1::skin-tone-3", "users": ["U2"], "count": 1}],
        "thread_ts": "1577934245.000100",
        "pinned_to": ["C1"],
    },
    {"type": "message", "subtype": "channel_join", "user": "U2", "ts": "1577934246.000000", "text": "joined"},
    {
        "type": "message",
        "user": "U2",
        "ts": "1577934247.000000",
        "text": "a reply",
        "thread_ts": "1577934245.000100",
        "edited": {"user": "U2", "ts": "1577934250.000000"},
        "files": [{"id": "F1", "name": "plan.pdf", "permalink": "https://files.example/plan.pdf"}],
    },
    {"type": "message", "bot_id": "B1", "username": "deploy", "ts": "1577934248.000000", "text": "done"},
]


@pytest.fixture
async def owner(variables: dict[str, str]) -> AsyncIterator[Device]:
    """Create a server and stop it again. Yield the owner's device."""
    async with chat_server(variables) as chat:
        olga = await newcomer(chat, "Olga")
    yield olga.device


@pytest.fixture
def discord(tmp_path: Path) -> Path:
    folder = tmp_path / "from discord"
    (folder / "general_Files").mkdir(parents=True)
    Image.new("RGB", (40, 30), "red").save(folder / "general_Files" / "cat.png")
    file = folder / "general.json"
    file.write_text(json.dumps(DISCORD), encoding="utf-8-sig")
    return file


def _write(file: Path, content: str) -> None:
    file.write_text(content)


def _slack(path: Path, **changes: object) -> Path:
    files: dict[str, object] = {
        "channels.json": CHANNELS,
        "users.json": USERS,
        "groups.json": [{"id": "G1", "name": "secret"}],
        "general/2020-01-02.json": DAY,
        "secret/2020-01-02.json": DAY,
        **changes,
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content if isinstance(content, str) else json.dumps(content))
    return path


async def _imported(
    variables: dict[str, str], device: Device
) -> tuple[dict[str, Any], list[Any], dict[str, Any]]:
    """Return the new channel with its messages, its threads after their root messages, and the latest audit
    log entry.
    """
    async with chat_server({**variables, "STORAGE_BACKEND": "filesystem"}) as chat:
        answer = await chat.sign_in(device)
        owner = HttpMember(chat, device, answer["member"]["id"], answer["access_token"])
        channel = (await owner.done("GET", "/api/channels"))["channels"][-1]
        path, messages = f"/api/channels/{channel['id']}/messages", []
        for message in (await owner.done("GET", path))["messages"]:
            messages.append(message)
            if message["answers"]:
                messages += (await owner.done("GET", f"{path}?thread={message['id']}"))["messages"]
        await _check_picture(owner, messages)
        entry = (await owner.done("GET", "/api/audit"))["entries"][0]
        return channel, messages, entry


async def _check_picture(owner: HttpMember, messages: list[Any]) -> None:
    for message in messages:
        for attachment in message["attachments"]:
            async with owner.chat.http.get(attachment["url"]) as response:
                assert response.status == 200
                with Image.open(io.BytesIO(await response.read())) as picture:
                    assert (picture.format, picture.size) == ("WEBP", (40, 30))


async def test_a_discord_channel_is_imported(
    owner: Device, discord: Path, admin: Admin, variables: dict[str, str]
) -> None:
    result = await admin.json("import", str(discord), "--from", "discord")
    assert result == {
        "channels": 1,
        "messages": 3,
        "authors": 2,
        "pictures": 1,
        "left_out": {
            "files that are missing or not pictures": 1,
            "reactions with an emoji that this server does not have": 1,
            "empty messages": 1,
        },
    }
    channel, (hello, long, third), entry = await _imported(variables, owner)
    assert (entry["action"], entry["actor_id"]) == ("import", None)
    assert entry["details"] == {"from": "discord", "channels": 1, "messages": 3}
    assert (channel["name"], channel["topic"]) == ("general", "All things")
    assert hello["text"] == "Hello **world**\n[a(1).pdf](https://cdn.example/a.pdf)\n(passwd)"
    assert hello["posted_at_ms"] == 1577934245678 and hello["edited_at_ms"] == 1577934300000
    assert hello["author"]["display_name"] == "Ada L." and hello["pinned"]
    assert [attachment["name"] for attachment in hello["attachments"]] == ["cat.webp"]
    assert {r["emoji"]: len(r["member_ids"]) for r in hello["reactions"]} == {":pepe:": 1, "\U0001f44d": 2}
    # The text is longer than a message may be, so it is split into two messages. The reply comes last.
    assert long["text"] + third["text"] == "Hi " + "x" * 5000
    assert third["reply_to"] == hello["id"] and third["author"]["display_name"] == "ben"


async def test_several_discord_files_are_imported_without_duplicates(
    owner: Device, discord: Path, admin: Admin, variables: dict[str, str]
) -> None:
    later = {
        **DISCORD["messages"][1],
        "id": "200",
        "timestamp": "2020-02-01T00:00:00+00:00",
        "content": "later",
    }
    part = {**DISCORD, "messages": [later]}
    (discord.parent / "a second part.json").write_text(json.dumps(part))
    other = {**DISCORD, "channel": {"id": "3", "type": "GuildTextChat", "name": "memes"}}
    (discord.parent / "memes.json").write_text(json.dumps(other))
    result = await admin.json("import", str(discord.parent), "--from", "discord")
    assert (result["channels"], result["messages"], result["authors"]) == (2, 7, 2)
    status, _, complaint = await admin("import", str(discord), "--from", "discord")
    assert (status, complaint) == (
        2,
        "svc admin: the channel general has been imported before; nothing was imported\n",
    )


async def test_a_slack_workspace_is_imported(
    owner: Device, tmp_path: Path, admin: Admin, variables: dict[str, str]
) -> None:
    result = await admin.json("import", str(_slack(tmp_path / "slack.zip")), "--from", "slack")
    assert (result["channels"], result["messages"], result["authors"]) == (1, 3, 3)
    channel, (hello, reply, robot), _ = await _imported(variables, owner)
    assert (channel["name"], channel["topic"]) == ("general", "All & things")
    assert hello["text"] == "**Hello** @Ben, see [this](https://example.org) & `*code*`"
    assert hello["author"]["display_name"] == "Ada L." and hello["pinned"]
    assert [reaction["emoji"] for reaction in hello["reactions"]] == ["\U0001f44d"]
    assert reply["text"] == "a reply\n[plan.pdf](https://files.example/plan.pdf)"
    assert (reply["thread"], reply["edited_at_ms"]) == (hello["id"], 1577934250000)
    assert (robot["author"]["display_name"], robot["posted_at_ms"]) == ("deploy", 1577934248000)


async def test_imported_authors_do_not_count_as_members_and_cannot_sign_in(
    owner: Device, discord: Path, admin: Admin, variables: dict[str, str]
) -> None:
    await admin.json("import", str(discord), "--from", "discord")
    members = (await admin.json("member", "list"))["members"]
    assert [member["nickname"] for member in members] == ["Olga"]
    async with chat_server({**variables, "MAX_MEMBERS": "2"}) as chat:
        ada = await newcomer(chat, "Ada L.")
        assert ada.id not in {"10", "11"}
        # Their messages can be found in a channel that everybody may read.
        results = await ada.done("GET", "/api/search?query=hello")
        assert [message["author"]["display_name"] for message in results["messages"]] == ["Ada L."]


async def test_only_administrators_see_hidden_channels(
    owner: Device, discord: Path, admin: Admin, variables: dict[str, str]
) -> None:
    renamed = {**DISCORD, "channel": {**DISCORD["channel"], "name": "archive"}}
    _write(discord, json.dumps(renamed))
    await admin.json("import", str(discord), "--from", "discord", "--hidden")
    async with chat_server(variables) as chat:
        eve = await newcomer(chat, "Eve")

        async def names() -> list[str]:
            return [channel["name"] for channel in (await eve.done("GET", "/api/channels"))["channels"]]

        assert "archive" not in await names()
        await admin.json("member", "role", "Eve", "admin")
        assert "archive" in await names()


def _export_with(**changes: object) -> dict[str, Any]:
    message = {**DISCORD["messages"][1], **changes}
    return {**DISCORD, "messages": [DISCORD["messages"][0], message]}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "this is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("{}", "this is not a JSON file of DiscordChatExporter"),
        (json.dumps({**DISCORD, "channel": {"id": 5, "name": "x"}}), "channel: id is missing or not valid"),
        (json.dumps(_export_with(timestamp="yesterday")), "messages[1]: 'yesterday' is not a time"),
        (
            json.dumps(_export_with(timestamp="2020-01-01T00:00:00")),
            "messages[1]: '2020-01-01T00:00:00' is not a time",
        ),
        (json.dumps(_export_with(author=None)), "messages[1]: author is missing or not valid"),
        (json.dumps({**DISCORD, "messages": {}}), "messages is missing or not valid"),
    ],
)
async def test_a_malformed_discord_export_is_reported_and_changes_nothing(
    owner: Device, discord: Path, admin: Admin, tmp_path: Path, content: str, complaint: str
) -> None:
    _write(discord, content)
    before = await _all(admin, tmp_path / "before.zip")
    status, _, stderr = await admin("import", str(discord), "--from", "discord")
    assert (status, stderr.startswith(f"svc admin: {discord}: ")) == (2, True)
    assert complaint in stderr and stderr.endswith("; nothing was imported\n")
    assert await _all(admin, tmp_path / "after.zip") == before


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"channels.json": "{"}, "channels.json: this is not JSON"),
        ({"channels.json": {}}, "channels.json: it is not a list"),
        ({"users.json": [{}]}, "users.json[0]: id is missing"),
        ({"general/2020-01-02.json": [{"ts": "x", "user": "U1"}]}, "2020-01-02.json[0]: 'x' is not the time"),
        ({"general/2020-01-02.json": [{"ts": "1.000000"}]}, "2020-01-02.json[0]: user is missing"),
    ],
)
async def test_a_malformed_slack_export_is_reported_and_changes_nothing(
    owner: Device, admin: Admin, tmp_path: Path, changes: dict[str, object], complaint: str
) -> None:
    file = _slack(tmp_path / "slack.zip", **changes)
    before = await _all(admin, tmp_path / "before.zip")
    status, _, stderr = await admin("import", str(file), "--from", "slack")
    assert (status, complaint in stderr) == (2, True), stderr
    assert await _all(admin, tmp_path / "after.zip") == before


async def _all(admin: Admin, file: Path) -> list[bytes]:
    """Return all of the server's records."""
    await admin.json("export", str(file))
    with zipfile.ZipFile(file) as archive:
        return archive.read("export.jsonl").splitlines()[1:]


async def test_nothing_can_be_imported_before_the_first_member_has_joined(
    variables: dict[str, str], discord: Path, admin: Admin
) -> None:
    # Otherwise, the first person to join would not be the owner.
    async with chat_server(variables):
        pass
    status, _, stderr = await admin("import", str(discord), "--from", "discord")
    assert (status, "let its owner join first" in stderr) == (2, True)
    stored = admin.data_dir / "uploads-store"
    # Images that have already been stored are deleted again.
    assert not list(stored.rglob("*.webp"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*bold* _slanted_ ~gone~", "**bold** _slanted_ ~~gone~~"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("<@U1> <#C1|general> <!here> <!subteam^S1|@team>", "@Ada #general @here @@team"),
        ("<https://a.example/?x=1&amp;y=2>", "https://a.example/?x=1&y=2"),
        ("&lt;b&gt;", "<b>"),
        ("```*not* <@U1> &amp;```", "```*not* <@U1> &```"),
    ],
)
def test_slack_markup_becomes_markdown(text: str, expected: str) -> None:
    assert markdown(text, {"U1": "Ada"}.__getitem__) == expected


async def test_an_import_that_is_killed_imports_nothing(
    owner: Device, discord: Path, admin: Admin, tmp_path: Path
) -> None:
    message = {**DISCORD["messages"][1], "content": "x" * 500, "reference": None}
    many = [{**message, "id": str(number)} for number in range(20_000)]
    _write(discord, json.dumps({**DISCORD, "messages": many}))
    before = await _all(admin, tmp_path / "before.zip")
    importing = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "svc.cli", "admin", "import", str(discord)),
        *("--from", "discord", "--data-dir", str(admin.data_dir)),
    )
    log = admin.data_dir / "community.sqlite3-wal"

    async def half_done() -> bool:
        # The write-ahead log contains data that did not fit into memory before the commit.
        return importing.returncode is not None or (log.exists() and log.stat().st_size > 2_000_000)

    await wait_until("the import is writing", half_done, within_s=60)
    assert importing.returncode is None, "the import finished too soon"
    importing.kill()
    await importing.wait()
    assert await _all(admin, tmp_path / "after.zip") == before
