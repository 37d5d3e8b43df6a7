"""The operator approves or rejects people who are waiting for approval."""

from tests.chat.chat_server import chat_server
from tests.chat.invites.test_applications import refusal
from tests.kit.device import Device
from tests.tools.admin.conftest import Admin


async def test_applicants_can_be_listed_approved_and_rejected(
    variables: dict[str, str], admin: Admin
) -> None:
    async with chat_server(variables) as chat:
        await chat.join("Olga")
        assert (await admin("application", "list"))[1] == "Nobody is waiting for approval.\n"
        invite = await admin.json("invite", "create", "--approval", "--channel", "#general")
        assert (invite["approval"], invite["channel_id"]) == (True, "general")
        assert ", with approval" in (await admin("invite", "list"))[1]
        good, bad = Device(), Device()
        for device in (good, bad):
            assert await refusal(chat, device, invite["code"]) == "approval_pending"
        first, second = (await admin.json("application", "list"))["applications"]
        assert (await admin("application", "list"))[1].splitlines()[0] == f"{first['id']}  New"
        assert await admin.json("application", "approve", first["id"]) == {}
        assert await admin.json("application", "refuse", second["id"], "--reason", "no") == {}
        assert (await refusal(chat, good), await refusal(chat, bad)) == ("", "approval_refused")
        assert (await admin("application", "approve", first["id"]))[0] == 2
