"""Channels that are created on the command line appear for members immediately and are logged."""

from dataclasses import fields

from svc.chat.access.channel_properties import ChannelProperties
from tests.chat.chat_server import ChatServer, chat_server
from tests.tools.admin.conftest import Admin


async def test_a_channel_can_be_created_changed_and_deleted(chat: ChatServer | None, admin: Admin) -> None:
    made = await admin.json("channel", "create", "plans", "--topic", "what comes", "--slow-mode", "5")
    assert (made["name"], made["type"], made["topic"], made["slow_mode_s"]) == (
        "plans",
        "text",
        "what comes",
        5,
    )
    assert made in (await admin.json("channel", "list"))["channels"]
    assert f"{made['id']}  text  plans  what comes" in (await admin("channel", "list"))[1].splitlines()
    edited = await admin.json("channel", "edit", "plans", "--name", "ideas", "--slow-mode", "0")
    assert (edited["id"], edited["name"], edited["slow_mode_s"]) == (made["id"], "ideas", 0)
    assert await admin.json("channel", "delete", "#ideas") == {"channel_id": made["id"]}
    assert await admin("channel", "delete", "ideas") == (2, "", "svc admin: There is no such channel\n")


async def test_every_property_can_be_set_by_a_flag(chat: ChatServer | None, admin: Admin) -> None:
    flags = "--topic x --slow-mode 5 --user-limit 7 --bitrate 96 --encrypted"
    made = await admin.json("channel", "create", "stage", "--type", "voice", *flags.split())
    wanted = {"topic": "x", "slow_mode_s": 5, "user_limit": 7, "bitrate_kbps": 96, "encrypted": True}
    assert wanted.keys() == {field.name for field in fields(ChannelProperties)}
    assert made.items() >= wanted.items()


async def test_members_see_the_new_channel_and_its_audit_log_entry_has_no_actor(
    variables: dict[str, str], admin: Admin
) -> None:
    async with chat_server(variables) as chat, chat.member("Olga") as olga:
        made = await admin.json("channel", "create", "stage", "--type", "voice")
        assert (await olga.pushed("channel_created"))["id"] == made["id"]
        await admin.json("channel", "edit", made["id"], "--topic", "loud")
        assert (await olga.pushed("channel_updated"))["topic"] == "loud"
        await admin.json("channel", "delete", made["id"])
        assert await olga.pushed("channel_deleted") == {"channel_id": made["id"]}
        headers = {"Authorization": f"Bearer {olga.token}"}
        async with chat.http.get("/api/audit", headers=headers) as response:
            entries = (await response.json())["entries"]
        done = [(entry["action"], entry["actor_id"]) for entry in entries]
        assert done[:3] == [("channel_delete", None), ("channel_edit", None), ("channel_create", None)]


async def test_a_server_reports_that_it_has_no_channels(variables: dict[str, str], admin: Admin) -> None:
    async with chat_server(variables):
        for channel in (await admin.json("channel", "list"))["channels"]:
            await admin.json("channel", "delete", channel["id"])
        assert (await admin("channel", "list"))[1] == "There are no channels.\n"


async def test_an_invalid_channel_is_reported(chat: ChatServer | None, admin: Admin) -> None:
    for words in (["create", ""], ["create", "x", "--slow-mode", "-1"], ["edit", "general"]):
        status, output, complaint = await admin("channel", *words)
        assert (status, output, len(complaint.splitlines())) == (2, "", 1)
