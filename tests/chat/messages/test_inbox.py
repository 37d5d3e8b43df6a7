"""The inbox lists all messages that mention a member, in any channel or thread, and is cheap to read."""

from pathlib import Path
from typing import Any

from svc.base.database import Database
from svc.base.migrations import migrations_in
from svc.chat.access.directory import TEXT, Channel
from svc.chat.access.permissions import Override, Overrides, Permission
from svc.chat.community import SCHEMA_FOLDER
from svc.chat.messages import store
from tests.chat.chat_server import ChatServer
from tests.chat.internal_server import give_role, server_with_insight
from tests.chat.live_member import LiveMember
from tests.chat.members_by_role import MembersByRole


async def request(member: LiveMember, event: str, **data: object) -> Any:
    frame = await member.ask(event, **data)
    assert frame["event"] == event, frame
    return frame["data"]


async def send(member: LiveMember, text: str, channel_id: str = "general", **more: object) -> Any:
    return await request(member, "message_send", channel_id=channel_id, text=text, **more)


async def inbox(member: LiveMember, **more: object) -> list[str]:
    return [message["text"] for message in (await request(member, "mentions", **more))["messages"]]


async def test_the_inbox_contains_every_kind_of_mention_and_nothing_else(
    variables: dict[str, str],
) -> None:
    async with (
        server_with_insight(variables) as (chat, community),
        chat.member("Olga") as owner,
        chat.member("Ben") as ben,
    ):
        give_role(community, ben.id, "member", "moderator")
        mine = await send(ben, f"[myself](mention:{ben.id})")
        await send(owner, "nobody")
        await send(owner, f"[Ben](mention:{ben.id})")
        await send(owner, "[all](mention:everyone)")
        await send(owner, "[you](mention:here)")
        await send(owner, "[moderators](role:moderator)")
        await send(owner, "[admins](role:admin)")
        await send(owner, "an answer", reply_to=mine["id"])
        await send(owner, "a quiet answer", reply_to=mine["id"], ping=False)
        await send(owner, f"in [Ben](mention:{ben.id})’s thread", thread=mine["id"])
        assert await inbox(ben) == [
            f"in [Ben](mention:{ben.id})’s thread",
            "an answer",
            "[moderators](role:moderator)",
            "[you](mention:here)",
            "[all](mention:everyone)",
            f"[Ben](mention:{ben.id})",
        ]
        assert await inbox(owner) == []


async def test_the_inbox_is_paginated_across_all_channels(members: MembersByRole) -> None:
    channel = await members.owner.done("POST", "/api/channels", {"name": "other", "type": "text"})
    for number in range(5):
        where = ("general", channel["id"])[number % 2]
        text = f"{number} [m](mention:{members.member.id})"
        await members.admin.done("POST", f"/api/channels/{where}/messages", {"text": text})
    first = await members.member.done("GET", "/api/me/mentions?limit=3")
    assert ([message["text"][0] for message in first["messages"]], first["more"]) == (["4", "3", "2"], True)
    before = first["messages"][-1]["id"]
    second = await members.member.done("GET", f"/api/me/mentions?limit=3&before={before}")
    assert ([message["text"][0] for message in second["messages"]], second["more"]) == (["1", "0"], False)
    await members.owner.done("DELETE", f"/api/channels/{channel['id']}")
    left = await members.member.done("GET", "/api/me/mentions")
    assert [message["text"][0] for message in left["messages"]] == ["4", "2", "0"]


async def test_invisible_and_archived_channels_are_left_out_of_the_inbox(variables: dict[str, str]) -> None:
    async with (
        server_with_insight(variables) as (chat, community),
        chat.member("Olga") as owner,
        chat.member("Ben") as ben,
    ):
        for name in ("open", "old"):
            community.directory.put_channel(Channel(name, name, TEXT))
        for where in ("general", "open", "old"):
            await send(owner, f"{where} [Ben](mention:{ben.id})", where)
        hidden = Overrides(members={ben.id: Override(deny=Permission.VIEW_CHANNEL)})
        community.directory.put_channel(Channel("general", "general", TEXT, overrides=hidden))
        community.directory.put_channel(Channel("old", "old", TEXT, archived=True))
        assert await inbox(ben) == [f"open [Ben](mention:{ben.id})"]
        community.directory.put_channel(Channel("general", "general", TEXT))
        assert [text.split()[0] for text in await inbox(ben)] == ["open", "general"]


async def test_deleted_messages_and_removed_mentions_disappear_from_the_inbox(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada, chat.member("Ben") as ben:
        gone, changed = [await send(ada, f"{number} [b](mention:{ben.id})") for number in range(2)]
        assert len(await inbox(ben)) == 2
        await request(ada, "message_edit", channel_id="general", message_id=changed["id"], text="never mind")
        assert await inbox(ben) == [gone["text"]]
        await request(ada, "message_delete", channel_id="general", message_id=gone["id"])
        assert await inbox(ben) == []


async def test_an_invalid_inbox_cursor_is_rejected(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada:
        refused = await ada.ask("mentions", before="yesterday")
        assert (refused["event"], refused["data"]["error"]) == ("error", "unknown_message")


async def test_an_inbox_page_is_read_as_one_range_of_an_index(tmp_path: Path) -> None:
    # Otherwise, the query would read and sort all mentions of the member.
    database = await Database.open(tmp_path / "chat.db", migrations_in(SCHEMA_FOLDER), tmp_path)
    query = f"EXPLAIN QUERY PLAN {store.NEWEST_MENTIONS}"
    plan = await database.rows(query, ("ada", 9, '["general"]', 26))
    await database.close()
    steps = [row["detail"] for row in plan]
    assert "SEARCH mentions USING COVERING INDEX mentions_by_member (member_id=? AND n<?)" in steps
    assert not [step for step in steps if "TEMP B-TREE" in step], steps
