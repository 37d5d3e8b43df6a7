"""`svc admin` has the same effect on a running server and on a stopped one."""

import asyncio
from pathlib import Path

import pytest

from tests.chat.chat_server import ChatServer, chat_server
from tests.chat.http_member import newcomer
from tests.tools.admin.conftest import Admin

DEFAULTS = {
    "joinPolicy": "invite",
    "discoverable": False,
    "lanOpen": False,
    "profanityMode": "off",
    "name": "",
    "description": "",
    "rules": "",
    "welcomeChannelId": None,
    "retentionDays": 0,
    "linkPreviews": True,
}


async def test_settings_can_be_shown_and_changed(chat: ChatServer | None, admin: Admin) -> None:
    assert await admin.json("settings", "get") == DEFAULTS
    assert await admin.json("settings", "set", "lanOpen", "on") == {**DEFAULTS, "lanOpen": True}
    assert await admin.json("settings", "set", "lanOpen", "false") == DEFAULTS
    assert await admin.json("settings", "set", "joinPolicy", "open") == {**DEFAULTS, "joinPolicy": "open"}
    assert (await admin("settings", "get"))[1].splitlines()[0] == 'joinPolicy  "open"'
    status, output, complaint = await admin("settings", "set", "joinPolicy", "perhaps")
    assert (status, output) == (2, "")
    assert complaint.startswith("svc admin: joinPolicy: ")


async def test_a_setting_can_be_reset_to_its_environment_variable(
    variables: dict[str, str], admin: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with chat_server(variables | {"SERVER_NAME": "Chess"}) as chat:
        await chat.join("Olga")
        assert (await admin.json("settings", "set", "name", "Go"))["name"] == "Go"
        assert (await admin.json("settings", "reset", "name"))["name"] == "Chess"
    # The same applies while no server is running.
    monkeypatch.setenv("SERVER_NAME", "Chess")
    assert (await admin.json("settings", "set", "retentionDays", "30"))["retentionDays"] == 30
    assert (await admin.json("settings", "get"))["name"] == "Chess"


async def test_a_person_can_join_with_a_printed_invite(
    chat: ChatServer | None, admin: Admin, variables: dict[str, str]
) -> None:
    invite = await admin.json("invite", "create", "--uses", "1", "--hours", "2")
    assert invite["max_uses"] == 1 and invite["expires_at_ms"] > invite["created_at_ms"]
    if chat is not None:
        chat.invite = invite["code"]
        await chat.join("Ada")
    else:
        async with chat_server(variables) as server:
            server.invite = invite["code"]
            await server.join("Ada")
    names = [member["nickname"] for member in (await admin.json("member", "list"))["members"]]
    assert sorted(names) == ["Ada", "Olga"]


async def test_an_invite_can_be_listed_and_revoked(chat: ChatServer | None, admin: Admin) -> None:
    invite = await admin.json("invite", "create", "--uses", "3", "--hours", "1")
    link = invite.pop("link")
    assert link.endswith(f"/#invite={invite['code']}")
    assert chat is None or link.startswith(f"{chat.address}/#")
    assert invite in (await admin.json("invite", "list"))["invites"]
    once = await admin.json("invite", "create", "--uses", "1", "--hours", "1")
    listed = (await admin("invite", "list"))[1]
    assert f"{invite['id']}  {invite['code']}  0 of 3 uses, until " in listed
    assert f"{once['id']}  {once['code']}  0 of 1 use, until " in listed
    assert await admin.json("invite", "revoke", invite["id"]) == {}
    status, _, complaint = await admin("invite", "revoke", invite["id"])
    assert (status, len(complaint.splitlines())) == (2, 1)
    assert (await admin("invite", "create", "--role", "owner"))[0] == 2
    (printed,) = (await admin("invite", "create"))[1].splitlines()
    assert printed.startswith("http://") and " " not in printed
    if chat is not None:  # The server creates an invite itself when it starts.
        for left in (await admin.json("invite", "list"))["invites"]:
            await admin("invite", "revoke", left["id"])
        assert (await admin("invite", "list"))[1] == "There are no invites.\n"


def test_a_folder_without_a_server_is_reported(admin: Admin, data_dir: Path) -> None:
    status, output, complaint = asyncio.run(admin("settings", "get"))
    assert (status, output) == (2, "")
    assert "no server has run" in complaint
    assert not data_dir.exists()


async def test_a_server_reports_that_it_has_no_members_and_no_jobs(
    variables: dict[str, str], admin: Admin
) -> None:
    async def check_empty() -> None:
        assert await admin("member", "list") == (0, "There are no members.\n", "")
        assert await admin("job", "list") == (0, "There are no jobs.\n", "")

    async with chat_server(variables):
        await check_empty()
    await check_empty()


async def test_roles_can_be_given_to_a_member_and_taken_away(chat: ChatServer | None, admin: Admin) -> None:
    (olga,) = (await admin.json("member", "list"))["members"]
    assert (await admin.json("member", "role", "Olga", "moderator"))["roles"] == [
        "member",
        "moderator",
        "owner",
    ]
    assert (await admin.json("member", "role", olga["id"], "moderator", "--take"))["roles"] == olga["roles"]
    for words, complaint in [
        (["Nobody", "admin"], "There is no such member"),
        (["Olga", "king"], "There is no such role"),
        (["Olga", "owner"], "You need a higher role to do this"),
    ]:
        status, output, stderr = await admin("member", "role", *words)
        assert (status, output, stderr) == (2, "", f"svc admin: {complaint}\n")


async def test_the_operator_can_transfer_a_server_whose_owner_has_left(
    variables: dict[str, str], admin: Admin
) -> None:
    async with chat_server(variables) as chat:
        await chat.join("Olga")
        ada = await newcomer(chat, "Ada")
        assert (await admin.json("member", "owner", "Ada"))["roles"] == ["member", "owner"]
        members = (await admin.json("member", "list"))["members"]
        assert {member["nickname"]: member["roles"] for member in members} == {
            "Ada": ["member", "owner"],
            "Olga": ["admin", "member"],
        }
        # From then on, Ada is the owner, and the log entry has no member as its actor.
        (entry,) = (await ada.done("GET", "/api/audit?action=owner_transfer"))["entries"]
        assert (entry["actor_id"], entry["target_id"]) == (None, ada.id)
        for name, complaint in [
            ("Ada", "This member already owns the server"),
            ("Nobody", "There is no such member"),
        ]:
            assert await admin("member", "owner", name) == (2, "", f"svc admin: {complaint}\n")


async def test_members_can_be_banned_and_unbanned(variables: dict[str, str], admin: Admin) -> None:
    async with chat_server(variables) as chat:
        await chat.join("Olga")
        for name in ("Ada", "Ben", "Ben"):
            await chat.join(name)
        async with chat.member("Eve") as eve:
            assert await admin.json("member", "ban", eve.id, "--reason", "noise") == {"member_id": eve.id}
            # Their client is disconnected immediately.
            while not eve.ws.closed:
                await eve.ws.receive()
        assert (await admin("member", "bans"))[1] == f"{eve.id}  Eve  noise\n"
        assert (await admin("member", "ban", "Olga"))[2] == "svc admin: This cannot be done to the owner\n"
        await admin.json("member", "kick", "Ada")
        names = [member["nickname"] for member in (await admin.json("member", "list"))["members"]]
        assert sorted(names) == ["Ben", "Ben 2", "Olga"]
        await admin.json("member", "unban", eve.id)
        assert (await admin.json("member", "bans"))["bans"] == []
        assert (await admin("member", "bans"))[1] == "Nobody is banned.\n"
        assert (await admin("member", "unban", eve.id))[0] == 2
