"""The owner can change the server's name, rules and welcome channel while the server is running."""

from typing import Any

from tests.chat.chat_server import ChatServer, chat_server
from tests.chat.http_member import HttpMember, newcomer
from tests.chat.invites.test_applications import apply
from tests.chat.members_by_role import MembersByRole
from tests.kit.device import Device

SETTINGS = "/api/settings"


async def info(chat: ChatServer) -> dict[str, Any]:
    async with chat.http.get("/info") as response:
        body: dict[str, Any] = await response.json()
        return body


async def test_a_changed_server_name_appears_everywhere_immediately(members: MembersByRole) -> None:
    async with members.live("member") as [member]:
        wanted = {"name": "Chess club", "description": "We play on Mondays"}
        await members.owner.done("PATCH", SETTINGS, wanted)
        assert await member.pushed("settings_changed") == wanted
    shown = await info(members.chat)
    assert (shown["name"], shown["description"]) == ("Chess club", "We play on Mondays")
    async with members.chat.http.get("/manifest.webmanifest") as response:
        assert (await response.json(content_type=None))["name"] == "Chess club"
    async with members.chat.http.get("/health") as response:
        assert (await response.json())["serverName"] == "Chess club"
    (entry,) = (await members.owner.done("GET", "/api/audit?action=settings_change"))["entries"]
    assert entry["details"]["name"] == {"from": "Tests", "to": "Chess club"}
    for person in (members.admin, members.moderator, members.member):
        assert await person.refused("PATCH", SETTINGS, wanted) == "forbidden"


async def test_a_stored_setting_overrides_the_environment(variables: dict[str, str]) -> None:
    device = Device()
    async with chat_server(variables) as chat:
        answer = await chat.sign_in(device, nickname="Olga", invite_code=chat.invite)
        olga = HttpMember(chat, device, answer["member"]["id"], answer["access_token"])
        await olga.done("PATCH", SETTINGS, {"name": "Chess club"})
    async with chat_server(variables | {"SERVER_NAME": "Other", "SERVER_DESCRIPTION": "Words"}) as chat:
        shown = await info(chat)
        assert (shown["name"], shown["description"]) == ("Chess club", "Words")
        answer = await chat.sign_in(device)
        olga = HttpMember(chat, device, answer["member"]["id"], answer["access_token"])
        assert (await olga.done("PATCH", SETTINGS, {"name": None}))["name"] == "Other"
    async with chat_server(variables | {"SERVER_NAME": "Third"}) as chat:
        assert (await info(chat))["name"] == "Third"


async def test_new_members_must_accept_the_current_rules(members: MembersByRole) -> None:
    assert (await info(members.chat))["rulesVersion"] == ""
    await members.owner.done("PATCH", SETTINGS, {"rules": "Be kind."})
    version = (await info(members.chat))["rulesVersion"]
    device = Device()
    for accepted in ("", "x"):
        status, answer = await apply(members.chat, device, members.chat.invite, rules_accepted=accepted)
        assert (status, answer["error"]) == (403, "rules_not_accepted")
        assert (answer["rules"], answer["rules_version"]) == ("Be kind.", version)
    await members.owner.done("PATCH", SETTINGS, {"rules": "Be very kind."})
    status, answer = await apply(members.chat, device, members.chat.invite, rules_accepted=version)
    assert answer["error"] == "rules_not_accepted"
    status, answer = await apply(
        members.chat, device, members.chat.invite, rules_accepted=answer["rules_version"]
    )
    assert status == 200
    # Existing members do not have to accept the rules.
    assert (await apply(members.chat, device))[0] == 200
    await members.owner.done("PATCH", SETTINGS, {"rules": None})
    await newcomer(members.chat, "New")


async def test_new_members_are_sent_to_the_welcome_channel(members: MembersByRole) -> None:
    await members.owner.done("PATCH", SETTINGS, {"welcomeChannelId": "general"})
    assert (await apply(members.chat, Device(), members.chat.invite))[1]["channel_id"] == "general"
    invite = await members.owner.done("POST", "/api/invites", {"channel_id": "lobby"})
    assert (await apply(members.chat, Device(), invite["code"]))[1]["channel_id"] == "lobby"
    category = await members.owner.done("POST", "/api/channels", {"name": "Games", "type": "category"})
    for wrong in ("nowhere", category["id"]):
        body = {"welcomeChannelId": wrong}
        assert await members.owner.refused("PATCH", SETTINGS, body) == "invalid_settings"
    await members.owner.done("DELETE", "/api/channels/general")
    assert (await apply(members.chat, Device(), members.chat.invite))[1]["channel_id"] is None
    await members.owner.done("PATCH", SETTINGS, {"welcomeChannelId": None})
