"""A member is idle while all their clients are idle.

Do-not-disturb and invisibility are settings, which the server stores.
"""

from typing import Any

import pytest

from svc.chat.live.hub import Presence
from svc.chat.messages import presence
from svc.chat.notification_levels.rules import LevelChoice
from tests.chat.chat_server import ChatServer
from tests.chat.internal_server import server_with_insight
from tests.chat.live_member import LiveMember
from tests.chat.members_by_role import members_by_role


async def how(watcher: LiveMember, who: str) -> tuple[bool, bool, bool]:
    """Wait for the next event about a member. Return its `online`, `idle` and `do_not_disturb` flags."""
    presence: Any = await watcher.pushed("presence")
    while presence["member_id"] != who:
        presence = await watcher.pushed("presence")
    return presence["online"], presence["idle"], presence["do_not_disturb"]


async def test_a_member_is_idle_when_all_their_clients_are_idle(chat: ChatServer) -> None:
    token = await chat.join("Ben")
    async with chat.member("Ada") as ada, chat.member("", token) as ben:
        assert await how(ada, ben.id) == (True, False, False)
        await ben.ask("idle", idle=True)
        assert await how(ada, ben.id) == (True, True, False)
        async with chat.member("Cleo") as cleo:
            assert cleo.welcome["idle"] == [ben.id]
        # A newly connected client counts as active.
        async with chat.member("", token) as other:
            assert await how(ada, ben.id) == (True, False, False)
            assert other.welcome["idle"] == []
        assert await how(ada, ben.id) == (True, True, False)
        await ben.ask("idle", idle=False)
        assert await how(ada, ben.id) == (True, False, False)
        # Reporting the same state again sends no event.
        await ben.ask("idle", idle=False)
        await ben.ask("idle", idle=True)
        assert await how(ada, ben.id) == (True, True, False)
        assert (await ben.ask("idle"))["event"] == "error"


async def test_do_not_disturb_is_visible_to_others_and_suppresses_notifications(
    variables: dict[str, str],
) -> None:
    async with server_with_insight(variables) as (chat, community):
        members = await members_by_role(chat)
        levels, who = community.notifications.levels, members.member.id
        await levels.choose(who, None, LevelChoice("all"))
        async with members.live("owner", "member", "member") as [owner, one, two]:
            assert await how(owner, who) == (True, False, False)
            assert (await one.ask("quiet_set", quiet=True))["data"] == {"quiet": True}
            assert await two.pushed("quiet_changed") == {"quiet": True}
            assert await how(owner, who) == (True, False, True)
            assert levels.level(who, "general", 0) == "nothing"
            assert "quiet_changed" not in owner.kept_events()
    # The setting survives a restart and applies to clients that connect later.
    async with server_with_insight(variables) as (chat, community):
        members.chat = chat
        for person in members.by_role.values():
            person.chat = chat
        async with members.live("member", "owner") as [member, owner]:
            assert member.welcome["quiet"]
            assert owner.welcome["do_not_disturb"] == [who]
            assert not owner.welcome["quiet"]
            assert await members.member.done("PUT", "/api/me/quiet", {"quiet": False}) == {"quiet": False}
            assert await how(owner, who) == (True, False, False)
            assert community.notifications.levels.level(who, "general", 0) == "all"


async def test_an_invisible_member_looks_offline(variables: dict[str, str]) -> None:
    async with server_with_insight(variables) as (chat, _):
        members = await members_by_role(chat)
        who = members.member.id
        async with members.live("owner", "member", "member") as [owner, one, two]:
            assert await how(owner, who) == (True, False, False)
            assert (await one.ask("invisible_set", invisible=True))["data"] == {"invisible": True}
            assert await two.pushed("invisible_changed") == {"invisible": True}
            assert await how(owner, who) == (False, False, False)
            # No event reveals an invisible member.
            await one.ask("quiet_set", quiet=True)
            await one.ask("idle", idle=True)
            async with members.live("moderator", "member") as [moderator, third]:
                assert who not in moderator.welcome["online"]
                assert who not in moderator.welcome["do_not_disturb"]
                # An invisible member sees themselves as online.
                assert third.welcome["invisible"] and who in third.welcome["online"]
                assert await how(owner, moderator.id) == (True, False, False)
    # The setting survives a restart.
    async with server_with_insight(variables) as (chat, _):
        members.chat = chat
        for person in members.by_role.values():
            person.chat = chat
        async with members.live("member", "owner") as [member, owner]:
            assert member.welcome["invisible"] and not owner.welcome["invisible"]
            assert who not in owner.welcome["online"]
            assert await members.member.done("PUT", "/api/me/invisible", {"invisible": False}) == {
                "invisible": False
            }
            assert await how(owner, who) == (True, False, True)


async def test_members_online_at_the_last_owner_stay_online_until_they_had_time_to_return(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with server_with_insight(variables) as (chat, community), chat.member("Ada") as ada:
        token, _, _ = [await chat.join(name) for name in ("Ben", "Cleo", "Dora")]
        ids = {member.nickname: member.id for member in community.directory.members.values()}
        shown, clock = community.messages.presence, [0.0]
        monkeypatch.setattr(shown, "_now", lambda: shown._began_at + clock[0])
        idle = Presence(idle=True, do_not_disturb=False)
        shown.adopt({ids["Ada"]: idle, ids["Ben"]: idle, "somebody who has left": idle})
        assert await how(ada, ids["Ben"]) == (True, True, False)
        # The last owner may have stored a do-not-disturb setting without announcing it.
        community.hub.quiet.add(ids["Dora"])
        shown.adopt({ids["Dora"]: idle})
        assert await how(ada, ids["Dora"]) == (True, True, True)
        async with chat.member("", token) as ben:
            assert ben.welcome["online"] == sorted([ada.id, ben.id, ids["Dora"]])
            assert await how(ada, ben.id) == (True, False, False)
            monkeypatch.setattr(presence, "RETURN_GRACE_S", 0.0)
            shown.adopt({ids["Ben"]: idle, ids["Cleo"]: idle})
            assert await how(ada, ids["Cleo"]) == (True, True, False)
            assert await how(ada, ids["Cleo"]) == (False, False, False)
            clock[0] = 1.0
            shown.adopt({ids["Cleo"]: idle})
            assert ids["Cleo"] not in community.hub.presences
            assert community.hub.presences.keys() == {ada.id, ben.id, ids["Dora"]}


async def test_members_who_just_became_invisible_or_were_removed_are_offline_in_a_new_state(
    chat: ChatServer,
) -> None:
    members = await members_by_role(chat)
    async with members.live("owner", "member", "guest") as [owner, member, guest]:
        assert await how(owner, guest.id) == (True, False, False)
        await member.ws.close()
        await members.member.done("PUT", "/api/me/invisible", {"invisible": True})
        assert await how(owner, member.id) == (False, False, False)
        await members.owner.done("POST", f"/api/members/{guest.id}/kick", {})
        async with members.live("moderator") as [moderator]:
            assert moderator.welcome["online"] == sorted([owner.id, moderator.id])
