"""Members with the permission can create bots.

A bot is a member that authenticates with a token, over HTTP and on the live socket.
"""

from typing import Any

import pytest

from tests.chat.chat_server import ChatServer, chat_server
from tests.chat.fake_sfu import FakeSfu
from tests.chat.http_member import HttpMember
from tests.chat.internal_server import server_with_insight
from tests.chat.live_member import LiveMember
from tests.chat.members_by_role import MembersByRole, member_with, members_by_role
from tests.kit.device import Device

BOTS = "/api/bots"
GENERAL = "/api/channels/general/messages"


async def made(members: MembersByRole, by: HttpMember, nickname: str = "Helper") -> HttpMember:
    answer = await by.done("POST", BOTS, {"nickname": nickname})
    assert answer["token"].startswith("svcbot.")
    return HttpMember(members.chat, by.device, answer["member"]["id"], answer["token"])


async def revokes(actor: HttpMember, method: str, path: str, bot: HttpMember) -> Any:
    """Send a request. Check that it closes the bot's live socket and invalidates its token. Return the
    response.
    """
    async with bot.chat.member("", bot.token) as live:
        response = await actor.done(method, path)
        while not live.ws.closed:
            await live.ws.receive()
    assert await bot.refused("GET", "/api/channels") == "token_invalid"
    return response


async def test_a_bot_reads_and_writes_and_is_marked_as_a_bot(members: MembersByRole) -> None:
    keeper = await member_with(members, "manage_bots", "view_channel", "send_messages", *MEMBER_MAY)
    async with members.live("member") as [member]:
        bot = await made(members, keeper)
        joined = await member.pushed("member_joined")
        assert (joined["id"], joined["bot"], joined["roles"]) == (bot.id, True, ["member"])
        async with members.chat.member("", bot.token) as live:
            assert live.welcome["member"]["bot"] is True
            sent = (await live.ask("message_send", channel_id="general", text="beep"))["data"]
            assert (await member.pushed("message_posted"))["author"]["bot"] is True
            await members.member.done("POST", GENERAL, {"text": "hello"})
            while (event := await live.pushed("message_posted"))["text"] != "hello":
                pass
            assert event["author"]["bot"] is False
        assert sent["author"] == {
            "kind": "member",
            "id": bot.id,
            "display_name": "Helper",
            "avatar": None,
            "bot": True,
        }
    await bot.done("POST", GENERAL, {"text": "over HTTP"})
    listed = (await members.member.done("GET", "/api/members?bot=true"))["members"]
    assert [bot_["id"] for bot_ in listed] == [bot.id]
    (entry,) = (await members.owner.done("GET", "/api/audit?action=bot_create"))["entries"]
    assert (entry["actor_id"], entry["target_id"]) == (keeper.id, bot.id)
    assert bot.token not in str(entry)


MEMBER_MAY = (
    *("add_reactions", "join_voice", "speak", "change_nickname"),
    *("attach_files", "share_video", "share_screen", "create_invites"),
)


async def test_a_bot_resumes_its_live_socket_without_losing_events(members: MembersByRole) -> None:
    bot = await made(members, members.owner)
    async with members.chat.member("", bot.token) as live:
        seq = live.welcome["seq"]
    await members.member.done("POST", GENERAL, {"text": "meanwhile"})
    async with members.chat.http.ws_connect("/live") as ws:
        live = LiveMember(ws, bot.token)
        await live.receive()
        assert (await live.ask("resume", access_token=bot.token, seq=seq))["event"] == "resumed"
        assert (await live.pushed("message_posted"))["text"] == "meanwhile"


async def test_a_bot_gets_roles_like_any_member(members: MembersByRole) -> None:
    bot = await made(members, members.owner)
    assert await bot.refused("POST", f"/api/members/{members.guest.id}/kick") == "forbidden"
    await members.owner.done("PUT", f"/api/members/{bot.id}/roles/moderator")
    await bot.done("POST", f"/api/members/{members.guest.id}/kick")
    (entry,) = (await members.owner.done("GET", "/api/audit?action=member_kick"))["entries"]
    assert entry["actor_id"] == bot.id


async def test_a_new_token_ends_the_sockets_and_calls_of_the_old_one(members: MembersByRole) -> None:
    bot = await made(members, members.owner)
    bot.token = (await revokes(members.owner, "POST", f"{BOTS}/{bot.id}/token", bot))["token"]
    await bot.done("GET", "/api/channels")
    (entry,) = (await members.owner.done("GET", "/api/audit?action=bot_token"))["entries"]
    assert entry["target_id"] == bot.id


async def test_a_token_survives_a_restart_and_only_its_digest_is_stored(variables: dict[str, str]) -> None:
    async with server_with_insight(variables) as (chat, community):
        members = await members_by_role(chat)
        bot = await made(members, members.owner)
        rows = await community.bots._database.rows("SELECT * FROM bot_tokens")
        assert bot.token.rpartition(".")[2] not in str([dict(row) for row in rows])
    async with chat_server(variables) as chat:
        bot.chat = chat
        await bot.done("POST", GENERAL, {"text": "still here"})


@pytest.mark.parametrize("how", ["deleted", "kicked", "banned"])
async def test_the_token_of_a_deleted_bot_is_rejected(members: MembersByRole, how: str) -> None:
    bot = await made(members, members.owner)
    ways = {
        "deleted": (members.owner, "DELETE", f"{BOTS}/{bot.id}"),
        "kicked": (members.moderator, "POST", f"/api/members/{bot.id}/kick"),
        "banned": (members.moderator, "PUT", f"/api/bans/{bot.id}"),
    }
    await revokes(*ways[how], bot)
    assert (await members.owner.done("GET", BOTS))["bots"] == []
    assert await members.owner.refused("POST", f"{BOTS}/{bot.id}/token") == "unknown_member"


@pytest.mark.parametrize("how", ["kicked", "banned", "left"])
async def test_the_token_of_a_bot_is_revoked_when_its_creator_leaves(
    members: MembersByRole, how: str
) -> None:
    # The creator knows the token and could otherwise keep using it.
    keeper = await member_with(members, "manage_bots", "view_channel", "send_messages", *MEMBER_MAY)
    bot, other = await made(members, keeper), await made(members, members.owner, "Other")
    ways = {
        "kicked": (members.owner, "POST", f"/api/members/{keeper.id}/kick"),
        "banned": (members.owner, "PUT", f"/api/bans/{keeper.id}"),
        "left": (keeper, "POST", "/api/me/leave"),
    }
    await revokes(*ways[how], bot)
    await other.done("GET", "/api/channels")
    bots = (await members.owner.done("GET", BOTS))["bots"]
    assert {bot_["member"]["id"]: bot_["has_token"] for bot_ in bots} == {bot.id: False, other.id: True}
    bot.token = (await members.owner.done("POST", f"{BOTS}/{bot.id}/token"))["token"]
    await bot.done("GET", "/api/channels")


async def test_a_bot_cannot_be_used_to_gain_permissions(members: MembersByRole) -> None:
    keeper = await member_with(members, "manage_bots", "view_channel", "send_messages", *MEMBER_MAY)
    bot = await made(members, keeper)
    await keeper.done("POST", f"{BOTS}/{bot.id}/token")
    # The new role ranks below the bot's manager but has a permission that the manager lacks.
    strong = {"name": "strong", "rank": 200, "permissions": ["kick_members"]}
    role = await members.owner.done("POST", "/api/roles", strong)
    await members.owner.done("PUT", f"/api/members/{bot.id}/roles/{role['id']}")
    for method, path in (("POST", f"{BOTS}/{bot.id}/token"), ("DELETE", f"{BOTS}/{bot.id}")):
        assert await keeper.refused(method, path) == "forbidden"
    await members.owner.done("PUT", f"/api/members/{bot.id}/roles/moderator")
    assert await keeper.refused("POST", f"{BOTS}/{bot.id}/token") == "rank_too_low"
    # A member who lacks the permissions of the member role cannot create a bot.
    poor = await member_with(members, "manage_bots")
    await members.owner.done("DELETE", f"/api/members/{poor.id}/roles/member")
    assert await poor.refused("POST", BOTS, {"nickname": "B"}) == "forbidden"


async def test_a_promoted_bot_has_no_more_permissions_than_the_creator_of_its_token(
    members: MembersByRole,
) -> None:
    keeper = await member_with(members, "manage_bots", "view_channel", "send_messages", *MEMBER_MAY)
    bot = await made(members, keeper)
    high = {"name": "high", "rank": 600, "permissions": ["kick_members", "manage_roles"]}
    role = await members.owner.done("POST", "/api/roles", high)
    low = await members.owner.done("POST", "/api/roles", {"name": "low", "rank": 550, "permissions": []})
    await members.owner.done("PUT", f"/api/members/{bot.id}/roles/{role['id']}")
    assert await bot.refused("PUT", f"/api/members/{keeper.id}/roles/{low['id']}") == "forbidden"
    assert await bot.refused("POST", f"/api/members/{members.guest.id}/kick") == "forbidden"
    # Even with the same permissions as the bot's role, the creator's rank still limits the bot.
    equal = {"name": "equal", "rank": 200, "permissions": ["kick_members", "manage_roles"]}
    given = await members.owner.done("POST", "/api/roles", equal)
    await members.owner.done("PUT", f"/api/members/{keeper.id}/roles/{given['id']}")
    assert await bot.refused("PUT", f"/api/members/{keeper.id}/roles/{low['id']}") == "rank_too_low"
    # With a token created by the owner, the bot has all permissions of its own roles.
    bot.token = (await members.owner.done("POST", f"{BOTS}/{bot.id}/token"))["token"]
    await bot.done("PUT", f"/api/members/{keeper.id}/roles/{low['id']}")


@pytest.mark.parametrize("how", ["hidden", "timeout"])
async def test_a_bot_loses_a_permission_as_soon_as_its_creator_does(members: MembersByRole, how: str) -> None:
    keeper = await member_with(members, "manage_bots", "view_channel", "send_messages", *MEMBER_MAY)
    bot = await made(members, keeper)
    async with members.chat.member("", bot.token) as live:
        if how == "hidden":
            await members.owner.done(
                "PUT", f"/api/channels/general/overrides/member/{keeper.id}", {"deny": ["view_channel"]}
            )
            assert (await live.pushed("channel_deleted"))["channel_id"] == "general"
            assert await bot.refused("GET", GENERAL) == "unknown_channel"
        else:
            await members.owner.done("PUT", f"/api/members/{keeper.id}/timeout", {"duration_s": 600})
            await live.pushed("permissions_changed")
            assert await bot.refused("POST", GENERAL, {"text": "for my maker"}) == "in_timeout"


async def test_only_permitted_members_can_manage_bots_and_people_cannot_be_managed_as_bots(
    members: MembersByRole,
) -> None:
    bot = await made(members, members.admin)
    for person in (members.moderator, members.member, members.guest, bot):
        assert await person.refused("GET", BOTS) == "forbidden"
        assert await person.refused("POST", BOTS, {"nickname": "B"}) == "forbidden"
        assert await person.refused("POST", f"{BOTS}/{bot.id}/token") == "forbidden"
        assert await person.refused("DELETE", f"{BOTS}/{bot.id}") == "forbidden"
    assert await members.owner.refused("POST", f"{BOTS}/{members.member.id}/token") == "unknown_member"
    assert await members.owner.refused("DELETE", f"{BOTS}/{members.member.id}") == "unknown_member"
    assert await members.owner.refused("POST", BOTS, {"nickname": "\u200b"}) == "invalid_nickname"


async def test_endpoints_for_people_reject_bots(members: MembersByRole) -> None:
    bot = await made(members, members.owner)
    for method, path in (
        ("GET", "/api/me/devices"),
        ("POST", "/api/me/devices/link"),
        ("POST", "/api/me/devices/recovery"),
        ("DELETE", "/api/me/devices/x"),
        ("POST", "/api/me/leave"),
        ("DELETE", "/api/me"),
        ("PUT", "/api/me/push"),
    ):
        assert await bot.refused(method, path) == "forbidden"
    assert await members.owner.refused("POST", f"/api/members/{bot.id}/owner") == "invalid_request"
    assert await members.owner.refused("POST", f"/api/members/{bot.id}/recovery") == "unknown_member"


@pytest.mark.parametrize(
    "wrong", ["svcbot.", "svcbot.x", "svcbot.{id}.", "svcbot.{id}.guess", "svcbot.{id}.é"]
)
async def test_a_wrong_bot_token_is_rejected(members: MembersByRole, wrong: str) -> None:
    bot = await made(members, members.owner)
    async with members.chat.http.ws_connect("/live") as ws:
        await ws.receive_json()
        token = wrong.format(id=bot.id)
        await ws.send_json({"event": "authenticate", "id": 1, "data": {"access_token": token}})
        assert (await ws.receive_json())["data"]["error"] == "token_invalid"


async def test_a_bot_joins_and_leaves_a_voice_channel_with_its_token(
    members: MembersByRole, sfu: FakeSfu
) -> None:
    await sfu.until("sync_request")
    bot = await made(members, members.owner)
    async with members.chat.member("", bot.token) as live:
        assert (await live.ask("voice_join", channel_id="lobby"))["event"] == "voice_join"
        await sfu.send_event("peer_joined", "lobby", bot.id)
        await live.pushed("voice_joined")
        await members.owner.done("POST", f"{BOTS}/{bot.id}/token")
        await sfu.until("disconnect_user")


async def test_the_number_of_bots_is_limited(members: MembersByRole, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("svc.chat.bots.rules.MAX_BOTS", 1)
    await made(members, members.owner)
    assert await members.owner.refused("POST", BOTS, {"nickname": "B"}) == "too_many"


async def test_nobody_can_sign_in_as_a_bot(chat: ChatServer) -> None:
    device = Device()
    answer: dict[str, Any] = await chat.sign_in(device, nickname="Olga", invite_code=chat.invite)
    assert answer["member"]["bot"] is False


@pytest.mark.parametrize("how", ["kicked", "token renewed", "bot deleted"])
async def test_tokens_created_by_a_bot_are_revoked_with_its_own_token(
    members: MembersByRole, how: str
) -> None:
    # The first bot's creator knows these tokens and could continue to act through the second bot.
    powers = ("manage_bots", "view_channel", "send_messages", *MEMBER_MAY)
    keeper = await member_with(members, *powers)
    first = await made(members, keeper)
    role = await members.owner.done(
        "POST", "/api/roles", {"name": "makers", "rank": 200, "permissions": list(powers)}
    )
    await members.owner.done("PUT", f"/api/members/{first.id}/roles/{role['id']}")
    second = await made(members, first, "Second")
    ways = {
        "kicked": ("POST", f"/api/members/{keeper.id}/kick"),
        "token renewed": ("POST", f"{BOTS}/{first.id}/token"),
        "bot deleted": ("DELETE", f"{BOTS}/{first.id}"),
    }
    await revokes(members.owner, *ways[how], second)


@pytest.mark.parametrize("how", ["its creator banned", "another token"])
async def test_invites_created_by_a_bot_are_revoked_with_its_token(members: MembersByRole, how: str) -> None:
    # The invites may have been created by anyone who knew the token.
    keeper = await member_with(members, "manage_bots", "view_channel", "send_messages", *MEMBER_MAY)
    bot, other = await made(members, keeper), await made(members, members.owner, "Other")
    for account in (bot, other):
        await account.done("POST", "/api/invites", {})
    if how == "another token":
        await members.owner.done("POST", f"{BOTS}/{bot.id}/token")
    else:
        await members.owner.done("PUT", f"/api/bans/{keeper.id}")
    left = (await members.owner.done("GET", "/api/invites"))["invites"]
    assert [bot_["created_by"] for bot_ in left if bot_["created_by"] in (bot.id, other.id)] == [other.id]
