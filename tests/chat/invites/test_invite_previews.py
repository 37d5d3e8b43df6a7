"""A preview shows the holder of an invite what they would join. Guessing codes reveals nothing."""

from typing import Any

from tests.chat.chat_server import ChatServer, chat_server
from tests.chat.http_member import newcomer
from tests.chat.members_by_role import MembersByRole


async def viewed(chat: ChatServer, code: str) -> tuple[int, Any]:
    async with chat.http.post("/api/invites/view", json={"code": code}) as response:
        return response.status, await response.json()


async def test_a_preview_shows_how_many_people_are_online(members: MembersByRole) -> None:
    invite = await members.member.done("POST", "/api/invites", {"lifetime_s": 60})
    status, shown = await viewed(members.chat, invite["code"])
    assert status == 200
    assert shown == {
        "founder": False,
        "members": len(members.by_role),
        "online": 0,
        "approval": False,
        "expires_at_ms": invite["expires_at_ms"],
    }
    async with members.chat.member("Ada", members.member.token):
        assert (await viewed(members.chat, invite["code"]))[1]["online"] == 1
    assert (await members.member.done("GET", "/api/invites"))["invites"][0]["uses"] == 0


async def test_the_preview_of_the_first_link_states_that_it_creates_an_owner(chat: ChatServer) -> None:
    assert (await viewed(chat, chat.invite))[1]["founder"]
    await newcomer(chat, "Owner")
    status, shown = await viewed(chat, chat.invite)
    assert (status, shown["founder"], shown["members"]) == (200, False, 1)


async def test_guessing_invite_codes_through_previews_is_rate_limited_by_address(
    variables: dict[str, str],
) -> None:
    async with chat_server(variables | {"SERVER_INVITE_MAX_RETRIES": "2"}) as chat:
        for _ in range(2):
            status, answer = await viewed(chat, "guess")
            assert (status, answer["error"]) == (403, "invite_invalid")
        status, answer = await viewed(chat, chat.invite)
        assert (status, answer["error"]) == (429, "too_many_invite_attempts")
        assert answer["retry_after_ms"] > 0
        # Joins have a separate limit.
        await newcomer(chat, "Owner")
