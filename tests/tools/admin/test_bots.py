"""The operator creates bots, gives them new tokens and deletes them."""

from tests.chat.chat_server import ChatServer, chat_server
from tests.tools.admin.conftest import Admin


async def test_a_bot_can_be_created_given_a_new_token_and_deleted(
    chat: ChatServer | None, admin: Admin
) -> None:
    assert (await admin("bot", "list"))[1] == "There are no bots.\n"
    made = await admin.json("bot", "create", "Helper")
    bot_id = made["member"]["id"]
    assert (await admin("bot", "list"))[1] == f"{bot_id}  Helper  member\n"
    (printed,) = (await admin("bot", "token", "Helper"))[1].splitlines()
    assert printed.startswith(f"svcbot.{bot_id}.") and printed != made["token"]
    assert await admin.json("bot", "delete", "Helper") == {"member_id": bot_id}
    assert await admin("bot", "delete", "Helper") == (2, "", "svc admin: There is no such member\n")


async def test_the_bots_token_works(variables: dict[str, str], admin: Admin) -> None:
    async with chat_server(variables) as chat:
        await chat.join("Olga")
        token = (await admin("bot", "create", "Helper"))[1].strip()
        async with chat.member("", token) as bot:
            reply = await bot.ask("message_send", channel_id="general", text="beep")
            assert reply["data"]["author"]["bot"] is True
