"""Channels can be created, edited, reordered and deleted. Members who may not view them never see them."""

from typing import Any

import pytest
from msgspec.structs import fields

from svc.chat.channels.responses import ChannelChanges, NewChannel, SlowMode
from tests.chat.chat_server import ChatServer
from tests.chat.http_member import newcomer
from tests.chat.live_member import LiveMember
from tests.chat.members_by_role import MembersByRole

HIDDEN = [{"type": "role", "target_id": "member", "allow": [], "deny": ["view_channel"]}]


async def made(members: MembersByRole, **wanted: object) -> str:
    body = {"name": "plans", "type": "text"} | wanted
    return str((await members.owner.done("POST", "/api/channels", body))["id"])


async def seen_by(listener: LiveMember) -> list[str]:
    """Return the channel events since the last call. A harmless request ensures that all of them have
    arrived.
    """
    events = []
    reply = await listener.ask("no_such_event")
    assert reply["data"]["error"] == "unknown_event"
    for frame in listener._pushes:
        if frame["event"].startswith("channel_"):
            data: dict[str, Any] = frame["data"]
            events.append(f"{frame['event']} {data.get('name') or 'gone'}")
    listener._pushes.clear()
    return events


async def test_every_member_is_notified_when_a_channel_is_created_changed_or_deleted(
    members: MembersByRole,
) -> None:
    async with members.live("guest") as [guest]:
        channel_id = await made(members, topic="What next", slow_mode_s=5)
        assert (await guest.pushed("channel_created"))["slow_mode_s"] == 5
        edited = await members.admin.done("PATCH", f"/api/channels/{channel_id}", {"name": "ideas"})
        assert (edited["name"], edited["topic"]) == ("ideas", "What next")
        assert await guest.pushed("channel_updated") == edited
        assert await members.guest.done("GET", f"/api/channels/{channel_id}") == edited
        await members.admin.done("DELETE", f"/api/channels/{channel_id}")
        assert await guest.pushed("channel_deleted") == {"channel_id": channel_id}
    assert await members.guest.refused("GET", f"/api/channels/{channel_id}") == "unknown_channel"
    for method in ("PATCH", "DELETE"):
        assert (
            await members.owner.refused(method, f"/api/channels/{channel_id}", {"topic": "x"})
            == "unknown_channel"
        )


async def test_every_property_of_a_channel_is_stored(members: MembersByRole) -> None:
    category = await made(members, name="Rooms", type="category")
    given = {"name": "studio", "type": "voice", "topic": "Takes", "slow_mode_s": 5, "parent_id": category}
    given |= {"user_limit": 7, "bitrate_kbps": 96, "encrypted": True}
    assert {field.name for field in fields(NewChannel)} == given.keys()
    channel = await members.owner.done("POST", "/api/channels", given)
    assert channel.items() >= given.items()
    changed = {"name": "stage", "topic": "Talks", "slow_mode_s": 0, "parent_id": None}
    changed |= {"user_limit": 0, "bitrate_kbps": 0, "encrypted": False, "archived": True}
    assert {field.name for field in fields(ChannelChanges)} == changed.keys()
    edited = await members.owner.done("PATCH", f"/api/channels/{channel['id']}", changed)
    assert edited.items() >= changed.items()


async def test_members_can_reorder_the_channels_they_see_around_hidden_channels(
    members: MembersByRole,
) -> None:
    hidden_from_admin = [{"type": "member", "target_id": members.admin.id, "deny": ["view_channel"]}]
    ids = [await made(members, name=name) for name in ("a", "b")]
    secret = await made(members, name="secret", overrides=hidden_from_admin)
    ids.append(await made(members, name="c"))
    visible = [c["id"] for c in (await members.admin.done("GET", "/api/channels"))["channels"]]
    assert secret not in visible
    wanted = visible[::-1]
    answer = await members.admin.done("PUT", "/api/channels/order", {"channel_ids": wanted})
    assert [channel["id"] for channel in answer["channels"]] == wanted
    everything = [c["id"] for c in (await members.owner.done("GET", "/api/channels"))["channels"]]
    assert [channel_id for channel_id in everything if channel_id != secret] == wanted
    for wrong in (visible[1:], [*visible[1:], visible[1]], [*visible, secret]):
        answer = await members.admin.refused("PUT", "/api/channels/order", {"channel_ids": wrong})
        assert answer == "invalid_request"


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "x"},
        {"type": "text"},
        {"name": "x", "type": "picture"},
        {"name": "\u200b", "type": "text"},
        {"name": "x" * 65, "type": "text"},
        {"name": "x", "type": "text", "topic": "x" * 1025},
        {"name": "x", "type": "text", "slow_mode_s": 21601},
        {"name": "x", "type": "text", "overrides": {}},
        {"name": "x", "type": "text", "overrides": ["x"]},
        {"name": "x", "type": "text", "overrides": [{"type": "team", "target_id": "x"}]},
        {
            "name": "x",
            "type": "text",
            "overrides": [{"type": "role", "target_id": "member", "allow": ["fly"]}],
        },
        {
            "name": "x",
            "type": "text",
            "overrides": [{"type": "role", "target_id": "member", "allow": ["speak"], "deny": ["speak"]}],
        },
        {
            "name": "x",
            "type": "text",
            "overrides": [{"type": "role", "target_id": "member", "allow": ["kick_members"]}],
        },
    ],
)
async def test_an_invalid_channel_is_rejected(chat: ChatServer, wrong: dict[str, object]) -> None:
    owner = await newcomer(chat, "Owner")
    before = await owner.done("GET", "/api/channels")
    assert await owner.refused("POST", "/api/channels", wrong) == "invalid_request"
    assert await owner.done("GET", "/api/channels") == before
    channel_id = before["channels"][0]["id"]
    assert await owner.refused("PATCH", f"/api/channels/{channel_id}", {}) == "invalid_request"


async def test_an_override_needs_an_existing_target(members: MembersByRole) -> None:
    channel_id = await made(members)
    path = f"/api/channels/{channel_id}/overrides"
    deny = {"deny": ["speak"]}
    assert await members.owner.refused("PUT", f"{path}/role/nobody", deny) == "unknown_role"
    assert await members.owner.refused("PUT", f"{path}/member/nobody", deny) == "unknown_member"
    assert await members.owner.refused("PUT", f"{path}/team/x", deny) == "invalid_request"
    assert (
        await members.owner.refused("PUT", "/api/channels/x/overrides/role/member", deny) == "unknown_channel"
    )


async def test_a_visibility_change_looks_like_a_creation_or_deletion(members: MembersByRole) -> None:
    channel_id = await made(members, name="secret", overrides=HIDDEN)
    path = f"/api/channels/{channel_id}/overrides/member/{members.member.id}"
    async with members.live("member", "guest") as [member, guest]:
        assert [c["name"] for c in member.welcome["channels"]].count("secret") == 0
        await members.owner.done("PUT", path, {"allow": ["view_channel"]})
        assert await seen_by(member) == ["channel_created secret"]
        await members.owner.done("PATCH", f"/api/channels/{channel_id}", {"topic": "new"})
        assert await seen_by(member) == ["channel_updated secret"]
        await members.owner.done("DELETE", path)
        assert await seen_by(member) == ["channel_deleted gone"]
        await members.owner.done("PATCH", f"/api/channels/{channel_id}", {"topic": "newer"})
        await members.owner.done("DELETE", f"/api/channels/{channel_id}")
        assert await seen_by(member) == []
        # The channel is hidden from the member role, which guests do not have.
        events = ["channel_updated secret", "channel_updated secret", "channel_deleted gone"]
        assert await seen_by(guest) == events


async def test_visibility_follows_the_roles_of_a_member(members: MembersByRole) -> None:
    owner = members.owner
    role = await owner.done("POST", "/api/roles", {"name": "Crew", "rank": 50})
    crew = [{"type": "role", "target_id": role["id"], "allow": ["view_channel"]}]
    await made(members, name="deck", overrides=HIDDEN + crew)
    path = f"/api/members/{members.member.id}/roles/{role['id']}"
    async with members.live("member") as [member]:
        await owner.done("PUT", path)
        assert await seen_by(member) == ["channel_created deck"]
        await owner.done("DELETE", path)
        assert await seen_by(member) == ["channel_deleted gone"]
        await owner.done("PUT", path)
        await owner.done("DELETE", f"/api/roles/{role['id']}")
        assert await seen_by(member) == ["channel_created deck", "channel_deleted gone"]
        without = [p for p in (await owner.done("GET", "/api/roles"))["roles"] if p["id"] == "member"]
        remaining = [p for p in without[0]["permissions"] if p != "view_channel"]
        await owner.done("PATCH", "/api/roles/member", {"permissions": remaining})
        assert set(await seen_by(member)) == {"channel_deleted gone"}
        assert (await members.member.done("GET", "/api/channels"))["channels"] == []


async def test_nobody_can_set_an_override_above_their_rank_or_beyond_their_permissions(
    members: MembersByRole,
) -> None:
    owner = members.owner
    moderator = await owner.done("PATCH", "/api/roles/moderator", {"permissions": [
        "view_channel", "send_messages", "manage_channels", "add_reactions"]})  # fmt: skip
    assert "manage_channels" in moderator["permissions"]
    channel_id = await made(members)
    path = f"/api/channels/{channel_id}/overrides"
    ask = members.moderator.refused
    # Without the member role, the moderator lacks the permission to attach files, and so cannot grant it.
    await owner.done("DELETE", f"/api/members/{members.moderator.id}/roles/member")
    assert await ask("PUT", f"{path}/role/guest", {"allow": ["attach_files"]}) == "forbidden"
    assert await ask("PUT", f"{path}/role/admin", {"deny": ["send_messages"]}) == "rank_too_low"
    assert (
        await ask("PUT", f"{path}/member/{members.admin.id}", {"deny": ["send_messages"]}) == "rank_too_low"
    )
    # The admin also has the member role and would lose access to the channel.
    assert await ask("PUT", f"{path}/role/member", {"deny": ["view_channel"]}) == "rank_too_low"
    await members.moderator.done("PUT", f"{path}/role/admin", {"allow": ["view_channel"]})
    await members.moderator.done("PUT", f"{path}/role/member", {"deny": ["view_channel"]})
    assert await members.member.refused("GET", f"/api/channels/{channel_id}") == "unknown_channel"
    await members.admin.done("GET", f"/api/channels/{channel_id}")
    assert await ask("DELETE", f"{path}/role/admin") == "rank_too_low"
    # The owner sees every channel, regardless of the overrides.
    await owner.done("PUT", f"{path}/member/{owner.id}", {"deny": ["view_channel"]})
    await owner.done("GET", f"/api/channels/{channel_id}")
    listed = (await owner.done("GET", path))["overrides"]
    assert {entry["target_id"] for entry in listed} == {"admin", "member", owner.id}


async def test_overrides_of_deleted_targets_are_deleted(members: MembersByRole) -> None:
    overrides = [{"type": "member", "target_id": members.guest.id, "deny": ["speak"]}]
    channel_id = await made(members, overrides=overrides)
    await members.owner.done("POST", f"/api/members/{members.guest.id}/kick")
    assert (await members.owner.done("GET", f"/api/channels/{channel_id}/overrides"))["overrides"] == []


def test_slow_mode_applies_to_each_member_and_each_channel_separately() -> None:
    slow = SlowMode()
    rows = [
        # Member, channel, slow mode, current time, expected wait
        ("ada", "a", 10, 100.0, 0.0),
        ("ada", "a", 10, 104.0, 6.0),
        ("bob", "a", 10, 104.0, 0.0),
        ("ada", "b", 10, 104.0, 0.0),
        ("ada", "a", 0, 105.0, 0.0),
        ("ada", "a", 2, 105.0, 2.0),
        ("ada", "a", 10, 110.0, 0.0),
        ("ada", "a", 10, 2000.0, 0.0),
    ]
    for member_id, channel_id, slow_mode_s, now, wait_s in rows:
        assert slow.wait_s(member_id, channel_id, slow_mode_s, now) == wait_s
    assert len(slow._until) == 1
