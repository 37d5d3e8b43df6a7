"""Webhooks that are created on the command line can post until they are deleted."""

from aiohttp import ClientSession

from tests.chat.chat_server import ChatServer, chat_server
from tests.tools.admin.conftest import Admin


async def _post(server: ChatServer, path: str) -> int:
    async with ClientSession(server.address) as nobody, nobody.post(path, json={"text": "hello"}) as response:
        return response.status


async def test_a_webhook_can_be_created_changed_and_deleted(
    chat: ChatServer | None, admin: Admin, variables: dict[str, str]
) -> None:
    made = await admin.json("webhook", "create", "--channel", "Voice", "--name", "Robot")
    assert made["path"] == f"/api/webhooks/{made['webhook_id']}/{made['token']}"
    assert [hook["token"] for hook in (await admin.json("webhook", "list"))["webhooks"]] == [made["token"]]
    if chat is not None:
        assert made["url"] == chat.address + made["path"]
    assert (await admin("webhook", "list"))[1] == f"{made['webhook_id']}  Robot  {made['url']}\n"
    edited = await admin.json("webhook", "edit", made["webhook_id"], "--name", "Android")
    assert (edited["name"], edited["token"]) == ("Android", made["token"])
    if chat is not None:
        assert await _post(chat, made["path"]) == 200
    else:
        async with chat_server(variables) as server:
            assert await _post(server, made["path"]) == 200
    (line,) = (await admin("webhook", "create", "--channel", "general", "--name", "Siren"))[1].splitlines()
    [siren] = [hook for hook in (await admin.json("webhook", "list"))["webhooks"] if hook["name"] == "Siren"]
    assert line == f"{siren['webhook_id']}  Siren  {siren['url']}"
    assert siren["url"].startswith("http://") and siren["url"].endswith(siren["path"])
    for webhook in (made, siren):
        assert await admin.json("webhook", "delete", webhook["webhook_id"]) == {}
    assert (await admin("webhook", "delete", made["webhook_id"]))[0] == 2
    assert (await admin("webhook", "list"))[1] == "There are no webhooks.\n"
    if chat is not None:
        assert await _post(chat, made["path"]) == 404


async def test_the_error_for_an_unknown_channel_names_the_channel(
    chat: ChatServer | None, admin: Admin
) -> None:
    status, output, complaint = await admin("webhook", "create", "--channel", "nowhere", "--name", "Robot")
    assert (status, output, complaint) == (2, "", "svc admin: There is no such channel\n")
