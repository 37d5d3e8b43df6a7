"""Notification levels are private to a member, apply to all their clients and survive a restart."""

from typing import Any

from svc.chat.notification_levels.rules import LevelChoice
from tests.chat.internal_server import server_with_insight
from tests.chat.members_by_role import MembersByRole, members_by_role

OWN, GENERAL = "/api/me/notifications", "/api/channels/general/notifications"
DAY_MS = 24 * 3_600_000


async def test_a_changed_level_is_pushed_only_to_the_other_clients_of_the_member(
    members: MembersByRole,
) -> None:
    async with members.live("member", "member", "owner") as [one, two, other]:
        reply = await one.ask("notifications_set", channel_id="general", level="all")
        assert reply["data"] == {
            "channel_id": "general",
            "level": "all",
            "muted": False,
            "muted_until_ms": None,
        }
        assert await two.pushed("notifications_changed") == reply["data"]
        await other.ask("ping")
        assert "notifications_changed" not in other.kept_events()
    async with members.live("member", "owner") as [again, other]:
        assert again.welcome["notifications"] == [reply["data"]]
        assert other.welcome["notifications"] == []


async def test_resetting_a_level_deletes_it(members: MembersByRole) -> None:
    await members.member.done("PUT", GENERAL, {"level": "nothing"})
    await members.member.done("PUT", GENERAL, {})
    assert await members.member.done("GET", OWN) == {"notifications": []}


async def test_a_mute_ends_when_it_expires_or_is_lifted(members: MembersByRole) -> None:
    for_good = await members.member.done("PUT", OWN, {"muted": True})
    assert (for_good["channel_id"], for_good["muted"], for_good["muted_until_ms"]) == (None, True, None)
    for_an_hour = await members.member.done("PUT", GENERAL, {"muted": True, "mute_for_s": 3600})
    assert for_an_hour["muted_until_ms"] > 0
    assert [entry["channel_id"] for entry in (await members.member.done("GET", OWN))["notifications"]] == [
        None,
        "general",
    ]


async def test_a_channel_uses_the_default_level_until_it_has_its_own(variables: dict[str, str]) -> None:
    async with server_with_insight(variables) as (chat, community):
        members = await members_by_role(chat)
        levels, who = community.notifications.levels, members.member.id

        def level(now_ms: int = 0) -> str:
            return levels.level(who, "general", now_ms)

        assert level() == "mentions"
        await levels.choose(who, None, LevelChoice("all"))
        assert level() == "all"
        await levels.choose(who, "general", LevelChoice("nothing"))
        assert level() == "nothing"
        await levels.choose(who, "general", LevelChoice(None, muted=True, muted_until_ms=1000))
        assert [level(999), level(1000)] == ["nothing", "all"]
        await levels.choose(who, None, LevelChoice("all", muted=True))
        assert level(DAY_MS) == "nothing"


async def test_notification_levels_survive_a_restart_and_are_deleted_with_their_channel_or_member(
    variables: dict[str, str],
) -> None:
    async with server_with_insight(variables) as (chat, community):
        members = await members_by_role(chat)
        made = await members.owner.done("POST", "/api/channels", {"name": "short-lived", "type": "text"})
        await members.member.done("PUT", f"/api/channels/{made['id']}/notifications", {"level": "all"})
        await members.member.done("PUT", GENERAL, {"level": "all"})
        await members.guest.done("PUT", OWN, {"level": "all"})
        await members.owner.done("DELETE", f"/api/channels/{made['id']}")
        await members.guest.done("POST", "/api/me/leave")
        kept: Any = community.notifications.levels._chosen
    async with server_with_insight(variables) as (_, community):
        expected = {members.member.id: {"general": LevelChoice("all")}}
        assert community.notifications.levels._chosen == kept == expected


async def test_an_invalid_notification_level_is_rejected(members: MembersByRole) -> None:
    refused = members.member.refused
    assert await refused("PUT", OWN, {"level": "loud"}) == "invalid_request"
    assert await refused("PUT", OWN, {"muted": True, "mute_for_s": 10**9}) == "invalid_request"
    assert await refused("PUT", "/api/channels/nowhere/notifications", {"level": "all"}) == "unknown_channel"
