"""Channels belong to categories and can be archived, and voice channels have user limits."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from svc.base.migrations import migrate, migrations_in
from svc.chat.community import SCHEMA_FOLDER
from tests.chat.fake_sfu import FakeSfu
from tests.chat.http_member import HttpMember
from tests.chat.members_by_role import MembersByRole, member_with

CHANNELS = "/api/channels"


async def made(person: HttpMember, name: str, kind: str = "text", **more: object) -> str:
    return str((await person.done("POST", CHANNELS, {"name": name, "type": kind, **more}))["id"])


async def listed(person: HttpMember, query: str = "") -> dict[str, dict[str, Any]]:
    return {c["id"]: c for c in (await person.done("GET", CHANNELS + query))["channels"]}


async def audited(person: HttpMember, action: str) -> dict[str, Any]:
    entries: dict[str, Any] = (await person.done("GET", f"/api/audit?action={action}"))["entries"][0]
    return entries


async def test_channels_can_belong_to_a_category_and_remain_when_it_is_deleted(
    members: MembersByRole,
) -> None:
    keeper = await member_with(members, "manage_channels")
    async with members.live("member") as [member]:
        category = await made(keeper, "Games", "category")
        assert (await member.pushed("channel_created"))["type"] == "category"
        chess = await made(keeper, "chess", parent_id=category)
        assert (await member.pushed("channel_created"))["parent_id"] == category
        moved = await keeper.done("PATCH", f"{CHANNELS}/general", {"parent_id": category})
        assert moved["parent_id"] == category
        assert (await member.pushed("channel_updated"))["parent_id"] == category
        assert (await audited(members.owner, "channel_edit"))["details"]["parent_id"]["after"] == category
        assert (await keeper.done("PATCH", f"{CHANNELS}/general", {"parent_id": None}))["parent_id"] is None
        await member.pushed("channel_updated")
        await keeper.done("DELETE", f"{CHANNELS}/{category}")
        assert (await member.pushed("channel_updated"))["parent_id"] is None
        assert await member.pushed("channel_deleted") == {"channel_id": category}
    assert (await listed(members.member))[chess]["parent_id"] is None


async def test_order_and_categories_change_together(members: MembersByRole) -> None:
    keeper = await member_with(members, "manage_channels")
    category, chess = await made(keeper, "Games", "category"), await made(keeper, "chess")
    before = list(await listed(keeper))
    wanted = [category, chess, *(c for c in before if c not in (category, chess))]
    body = {"channel_ids": wanted, "parents": {chess: category, "general": None}}
    answer = (await keeper.done("PUT", f"{CHANNELS}/order", body))["channels"]
    assert [c["id"] for c in answer] == wanted
    assert answer[1]["parent_id"] == category
    details = [e["details"] for e in (await members.owner.done("GET", "/api/audit"))["entries"]]
    assert any(d.get("parent_id") == category for d in details)
    for parents in ({chess: "general"}, {category: category}):
        wrong = {"channel_ids": wanted, "parents": parents}
        assert await keeper.refused("PUT", f"{CHANNELS}/order", wrong) == "invalid_request"
    wrong = {"channel_ids": wanted, "parents": {chess: "nowhere"}}
    assert await keeper.refused("PUT", f"{CHANNELS}/order", wrong) == "unknown_channel"
    assert await members.member.refused("PUT", f"{CHANNELS}/order", body) == "forbidden"


async def test_messages_cannot_be_posted_in_a_category(members: MembersByRole) -> None:
    category = await made(members.owner, "Games", "category")
    path = f"{CHANNELS}/{category}/messages"
    for person in (members.owner, members.member):
        assert await person.refused("POST", path, {"text": "hello"}) == "forbidden"
    webhook = {"name": "Robot", "channel_id": category}
    assert await members.owner.refused("POST", "/api/webhooks", webhook) == "forbidden"
    for wrong in ({"slow_mode_s": 5}, {"archived": True}, {"user_limit": 5}, {"parent_id": category}):
        assert await members.owner.refused("PATCH", f"{CHANNELS}/{category}", wrong) == "invalid_request"


async def test_a_category_that_a_member_may_not_view_counts_as_missing(members: MembersByRole) -> None:
    keeper = await member_with(members, "manage_channels")
    hidden = [{"type": "role", "target_id": "member", "deny": ["view_channel"]}]
    category = await made(members.owner, "Secret", "category", overrides=hidden)
    body = {"parent_id": category}
    assert await keeper.refused("PATCH", f"{CHANNELS}/general", body) == "unknown_channel"
    new = {"name": "x", "type": "text", "parent_id": category}
    assert await keeper.refused("POST", CHANNELS, new) == "unknown_channel"
    # Channels that are already in the category can still be edited.
    await members.owner.done("PATCH", f"{CHANNELS}/general", body)
    assert (await keeper.done("PATCH", f"{CHANNELS}/general", {"topic": "news"}))["topic"] == "news"


async def test_an_archived_channel_is_read_only_and_listed_on_request(members: MembersByRole) -> None:
    keeper = await member_with(members, "manage_channels")
    path = f"{CHANNELS}/general"
    message = await members.member.done("POST", f"{path}/messages", {"text": "old times"})
    webhook = await members.owner.done("POST", "/api/webhooks", {"name": "Robot", "channel_id": "general"})
    assert await members.member.refused("PATCH", path, {"archived": True}) == "forbidden"
    async with members.live("member") as [member]:
        assert (await keeper.done("PATCH", path, {"archived": True}))["archived"] is True
        assert (await member.pushed("channel_updated"))["archived"] is True
        reply = await member.ask("message_send", channel_id="general", text="hello")
        assert reply["data"]["error"] == "channel_archived"
    assert (await audited(members.owner, "channel_edit"))["details"]["archived"]["after"] is True
    for person in (members.owner, members.member):
        assert await person.refused("POST", f"{path}/messages", {"text": "hello"}) == "channel_archived"
        reaction = f"{path}/messages/{message['id']}/reactions/%F0%9F%91%8D"
        assert await person.refused("PUT", reaction) == "channel_archived"
        assert "general" not in await listed(person)
        assert (await listed(person, "?archived=true"))["general"]["archived"] is True
        messages = (await person.done("GET", f"{path}/messages"))["messages"]
        assert [m["text"] for m in messages] == ["old times"]
    posted = f"/api/webhooks/{webhook['id']}/{webhook['token']}"
    nobody = HttpMember(members.chat, members.owner.device, "", "")
    assert await nobody.refused("POST", posted, {"text": "hello"}) == "channel_archived"
    async with members.live("member") as [member]:
        assert "general" not in [c["id"] for c in member.welcome["channels"]]
        assert "general" not in [counts["channel_id"] for counts in member.welcome["unread"]]
    # A moderator can still delete messages in an archived channel.
    await members.moderator.done("DELETE", f"{path}/messages/{message['id']}")
    order = [c for c in await listed(keeper) if c != "general"]
    await keeper.done("PUT", f"{CHANNELS}/order", {"channel_ids": order[::-1]})
    await keeper.done("PATCH", path, {"archived": False})
    await members.member.done("POST", f"{path}/messages", {"text": "back"})


async def test_only_voice_channels_have_limits(members: MembersByRole) -> None:
    for wrong in (
        {"user_limit": 2},
        {"bitrate_kbps": 64},
        {"archived": "yes"},
        {"parent_id": 1},
    ):
        assert await members.owner.refused("PATCH", f"{CHANNELS}/general", wrong) == "invalid_request"
    for wrong in ({"user_limit": -1}, {"user_limit": 1001}, {"bitrate_kbps": 5}, {"bitrate_kbps": 511}):
        assert await members.owner.refused("PATCH", f"{CHANNELS}/lobby", wrong) == "invalid_request"
    assert await members.owner.refused("GET", f"{CHANNELS}?archived=perhaps") == "invalid_request"


async def test_only_moderators_can_join_a_full_voice_channel(members: MembersByRole, sfu: FakeSfu) -> None:
    await sfu.until("sync_request")
    limits = {"user_limit": 1, "bitrate_kbps": 96}
    shown = await members.owner.done("PATCH", f"{CHANNELS}/lobby", limits)
    assert (shown["user_limit"], shown["bitrate_kbps"]) == (1, 96)
    async with members.live("member", "guest", "moderator") as [member, guest, moderator]:
        joined = await member.ask("voice_join", channel_id="lobby")
        assert joined["data"]["bitrate_kbps"] == 96
        # The slot is reserved for the member, who has not joined the SFU yet.
        refused = await guest.ask("voice_join", channel_id="lobby")
        assert refused["data"]["error"] == "channel_full"
        await sfu.send_event("peer_joined", "lobby", member.id)
        await guest.pushed("voice_joined")
        refused = await guest.ask("voice_join", channel_id="lobby")
        assert refused["data"]["error"] == "channel_full"
        assert (await moderator.ask("voice_join", channel_id="lobby"))["event"] == "voice_join"
        assert (await guest.ask("voice_join", channel_id="side-room"))["event"] == "voice_join"
        # Moderators cannot move anyone into a full channel, either.
        await sfu.send_event("peer_joined", "side-room", guest.id)
        await moderator.pushed("voice_joined")
        moved = await moderator.ask("voice_move", member_id=guest.id, channel_id="lobby")
        assert moved["data"]["error"] == "channel_full"


async def test_archiving_a_voice_channel_disconnects_its_participants(
    members: MembersByRole, sfu: FakeSfu
) -> None:
    await sfu.until("sync_request")
    async with members.live("member") as [member]:
        await sfu.send_event("peer_joined", "lobby", member.id)
        await member.pushed("voice_joined")
        await members.owner.done("PATCH", f"{CHANNELS}/lobby", {"archived": True})
        await sfu.until("disconnect_user")
        refused = await member.ask("voice_join", channel_id="lobby")
        assert refused["data"]["error"] == "channel_archived"


@pytest.mark.parametrize("version", [14])
def test_overrides_and_webhooks_survive_the_migration_of_the_channels_table(
    tmp_path: Path, version: int
) -> None:
    migrations = migrations_in(SCHEMA_FOLDER)
    with closing(sqlite3.connect(tmp_path / "old.sqlite3", isolation_level=None)) as old:
        old.execute("PRAGMA foreign_keys=ON")
        migrate(old, migrations[:version], tmp_path / "none")
        old.execute(
            "INSERT INTO channels (id, name, kind, position, topic, created_at_ms)"
            " VALUES ('c', 'plans', 'voice', 3, 'what next', 7)"
        )
        old.execute("INSERT INTO channel_overrides VALUES ('c', 'role', 'member', '', 'speak')")
        old.execute("INSERT INTO webhooks VALUES ('w', 'Robot', 'c', NULL, x'00', x'00', NULL, 1)")
        migrate(old, migrations, tmp_path / "backups")
        channel = old.execute("SELECT name, kind, position, topic, created_at_ms, parent_id FROM channels")
        assert channel.fetchall() == [("plans", "voice", 3, "what next", 7, None)]
        assert old.execute("SELECT deny FROM channel_overrides").fetchall() == [("speak",)]
        assert old.execute("SELECT channel_id FROM webhooks").fetchall() == [("c",)]
        assert old.execute("PRAGMA foreign_key_check").fetchall() == []
        old.execute("DELETE FROM channels")
        assert old.execute("SELECT channel_id FROM webhooks").fetchall() == [(None,)]
        assert old.execute("SELECT * FROM channel_overrides").fetchall() == []
