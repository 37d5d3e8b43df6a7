"""Tests messages on the live socket and over HTTP, including all errors."""

from typing import Any

import pytest

from tests.chat.chat_server import ChatServer, chat_server
from tests.chat.live_member import LiveMember

CHANNEL = "general"


async def send(member: LiveMember, text: str, **more: object) -> dict[str, Any]:
    frame = await member.ask("message_send", channel_id=CHANNEL, text=text, **more)
    assert frame["event"] == "message_send", frame
    data: dict[str, Any] = frame["data"]
    return data


async def refusal(member: LiveMember, event: str, **data: object) -> str:
    frame = await member.ask(event, **{"channel_id": CHANNEL, **data})
    assert frame["event"] == "error", frame
    return str(frame["data"]["error"])


async def history(member: LiveMember, **which: object) -> list[str]:
    frame = await member.ask("history", channel_id=CHANNEL, **which)
    return [message["text"] for message in frame["data"]["messages"]]


async def test_a_posted_message_appears_in_the_response_an_event_and_the_history(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada, chat.member("Ben") as ben:
        sent = await send(ada, "Hello", nonce="1")
        assert sent["author"] == {
            "kind": "member",
            "id": ada.id,
            "display_name": "Ada",
            "avatar": None,
            "bot": False,
        }
        assert await ben.pushed("message_posted") == {**sent, "nonce": "1"}
        assert (await ben.ask("history", channel_id=CHANNEL))["data"] == {
            "messages": [sent],
            "more_before": False,
            "more_after": False,
        }


async def test_a_repeated_nonce_returns_the_same_message_even_after_a_restart(
    variables: dict[str, str],
) -> None:
    async with chat_server(variables) as chat:
        token = await chat.join("Ada")
        async with chat.member("Ada", token) as ada:
            first = await send(ada, "Once", nonce="n")
            assert await send(ada, "Once", nonce="n") == first
            assert (await send(ada, "Another", nonce="m"))["id"] != first["id"]
    async with chat_server(variables) as chat, chat.member("Ada", token) as ada:
        assert await send(ada, "Once", nonce="n") == first
        assert await history(ada) == ["Once", "Another"]
        await ada.ask("message_delete", channel_id=CHANNEL, message_id=first["id"])
        assert await refusal(ada, "message_send", text="Once", nonce="n") == "unknown_message"
        assert await history(ada) == ["Another"]


async def test_nonces_of_different_members_are_independent(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada, chat.member("Ben") as ben:
        await send(ada, "Mine", nonce="n")
        await send(ben, "Mine as well", nonce="n")
        assert await history(ada) == ["Mine", "Mine as well"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"text": ""}, "empty_message"),
        ({"text": " \n\t"}, "empty_message"),
        ({"text": "\u200b\u2800 \u3164"}, "empty_message"),
        ({}, "empty_message"),
        ({"text": "x" * 4_001}, "message_too_long"),
        ({"text": "a\0b"}, "invalid_request"),
        ({"text": 7}, "invalid_request"),
        ({"text": "x", "nonce": ""}, "invalid_request"),
        ({"text": "x", "nonce": "n" * 65}, "invalid_request"),
        ({"text": "x", "reply_to": "nothing"}, "unknown_message"),
        ({"text": "x", "reply_to": "01890000-0000-7000-8000-000000000000"}, "unknown_message"),
        ({"text": "x", "channel_id": "nowhere"}, "unknown_channel"),
    ],
)
async def test_invalid_messages_are_rejected(chat: ChatServer, data: dict[str, object], code: str) -> None:
    async with chat.member("Ada") as ada:
        assert await refusal(ada, "message_send", **data) == code
        assert await history(ada) == []


async def test_a_message_may_contain_four_thousand_code_points(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada:
        assert len((await send(ada, "\U0001f600" * 4_000))["text"]) == 4_000


async def test_the_author_and_managers_can_see_the_text_before_an_edit(chat: ChatServer) -> None:
    async with chat.member("Olga") as owner, chat.member("Ada") as ada, chat.member("Ben") as ben:
        sent = await send(ada, "Frist")
        which = {"channel_id": CHANNEL, "message_id": sent["id"]}
        edited = (await ada.ask("message_edit", **which, text="First"))["data"]
        assert edited["text"] == "First" and edited["edited_at_ms"] >= sent["posted_at_ms"]
        pushed = await ben.pushed("message_edited")
        assert (pushed["id"], pushed["text"]) == (sent["id"], "First")
        for member in (ada, owner):
            edits = (await member.ask("message_edits", **which))["data"]["edits"]
            assert edits == [{"text": "Frist", "replaced_at_ms": edited["edited_at_ms"]}]
        assert await refusal(ben, "message_edits", message_id=sent["id"]) == "forbidden"
        assert await refusal(ben, "message_edit", message_id=sent["id"], text="Mine") == "forbidden"
        assert await refusal(owner, "message_edit", message_id=sent["id"], text="Mine") == "forbidden"
        assert await refusal(ada, "message_edit", message_id=sent["id"], text=" ") == "empty_message"
        assert await history(ben) == ["First"]


async def test_the_id_of_a_deleted_message_still_works_as_a_cursor(chat: ChatServer) -> None:
    async with chat.member("Olga") as owner, chat.member("Ada") as ada, chat.member("Ben") as ben:
        first, second, third = [await send(ada, text) for text in ("1", "2", "3")]
        assert await refusal(ben, "message_delete", message_id=second["id"]) == "forbidden"
        await owner.ask("message_delete", channel_id=CHANNEL, message_id=second["id"])
        gone = {"channel_id": CHANNEL, "id": second["id"], "thread": None}
        assert await ben.pushed("message_deleted") == gone
        assert await history(ben) == ["1", "3"]
        assert await history(ben, before=second["id"]) == ["1"]
        assert await history(ben, after=second["id"]) == ["3"]
        assert await history(ben, around=second["id"]) == ["1", "3"]
        assert await refusal(ada, "message_delete", message_id=second["id"]) == "unknown_message"
        assert await refusal(ada, "message_send", text="x", reply_to=second["id"]) == "unknown_message"
        assert (await send(ben, "4", reply_to=third["id"]))["reply_to"] == third["id"]
        await ada.ask("message_delete", channel_id=CHANNEL, message_id=first["id"])
        entries = (await remaining(chat, owner, "GET", "/api/audit?action=message_delete"))["entries"]
        assert [entry["target_id"] for entry in entries] == [second["id"]]


async def test_history_can_be_paginated_in_both_directions(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada:
        sent = [await send(ada, str(number)) for number in range(10)]
        assert await history(ada, limit=3) == ["7", "8", "9"]
        assert await history(ada, limit=3, before=sent[7]["id"]) == ["4", "5", "6"]
        assert await history(ada, limit=3, after=sent[2]["id"]) == ["3", "4", "5"]
        assert await history(ada, limit=4, around=sent[5]["id"]) == ["3", "4", "5", "6"]
        assert await history(ada, limit=1, around=sent[5]["id"]) == ["5"]
        for wrong in ({"limit": 101}, {"limit": 0}, {"before": sent[0]["id"], "after": sent[1]["id"]}):
            assert await refusal(ada, "history", **wrong) == "invalid_request"
        assert await refusal(ada, "history", before="x" * 36) == "unknown_message"


async def test_a_member_can_react_only_once_with_each_emoji(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada, chat.member("Ben") as ben:
        which = {"channel_id": CHANNEL, "message_id": (await send(ada, "Good?"))["id"]}
        for _ in range(2):
            await ben.ask("reaction_add", **which, emoji="👍")
        await ada.ask("reaction_add", **which, emoji="👍")
        await ada.ask("reaction_add", **which, emoji=":party:")
        page = (await ada.ask("history", channel_id=CHANNEL))["data"]["messages"]
        assert page[0]["reactions"] == [
            {"emoji": ":party:", "member_ids": [ada.id]},
            {"emoji": "👍", "member_ids": [ben.id, ada.id]},
        ]
        await ben.ask("reaction_remove", **which, emoji="👍")
        await ben.ask("reaction_remove", **which, emoji="👍")
        pushes = [await ada.pushed("reactions_changed") for _ in range(4)]
        changes = [(push["member_id"], push["emoji"], push["added"]) for push in pushes]
        assert changes == [
            (ben.id, "👍", True),
            (ada.id, "👍", True),
            (ada.id, ":party:", True),
            (ben.id, "👍", False),
        ]
        assert await refusal(ben, "reaction_add", **which, emoji="yes") == "invalid_emoji"


async def test_the_number_of_different_reactions_to_a_message_is_limited(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada, chat.member("Ben") as ben:
        which = {"channel_id": CHANNEL, "message_id": (await send(ada, "Many"))["id"]}
        for number in range(20):
            await ada.ask("reaction_add", **which, emoji=f":e{number}:")
        assert await refusal(ada, "reaction_add", **which, emoji="👍") == "too_many"
        assert (await ben.ask("reaction_add", **which, emoji=":e7:"))["event"] == "reaction_add"


async def test_only_members_who_manage_messages_can_pin_them(chat: ChatServer) -> None:
    async with chat.member("Olga") as owner, chat.member("Ada") as ada:
        which = {"channel_id": CHANNEL, "message_id": (await send(ada, "Read me"))["id"]}
        assert await refusal(ada, "pin_add", **which) == "forbidden"
        await owner.ask("pin_add", **which)
        assert await ada.pushed("pins_changed") == {
            "channel_id": CHANNEL,
            "id": which["message_id"],
            "pinned": True,
        }
        pins = (await ada.ask("pins", channel_id=CHANNEL))["data"]["messages"]
        assert [(pin["id"], pin["pinned"]) for pin in pins] == [(which["message_id"], True)]
        await owner.ask("pin_remove", **which)
        assert (await ada.ask("pins", channel_id=CHANNEL))["data"]["messages"] == []


async def test_typing_is_pushed_to_others_at_a_limited_rate(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada, chat.member("Ben") as ben:
        for _ in range(3):
            await ada.ask("typing", channel_id=CHANNEL)
        await send(ada, "done")
        key = {"channel_id": CHANNEL, "member_id": ada.id}
        assert await ben.pushed("typing") == {**key, "thread": None}
        await ben.pushed("message_posted")
        assert "typing" not in ben.kept_events()
        assert await refusal(ben, "typing", channel_id="nowhere") == "unknown_channel"


async def test_messages_work_the_same_over_http(chat: ChatServer) -> None:
    async with chat.member("Olga") as owner, chat.member("Ada") as ada:
        messages = f"/api/channels/{CHANNEL}/messages"
        sent = await remaining(chat, owner, "POST", messages, 201, text="Over HTTP", nonce="n")
        message_path = f"{messages}/{sent['id']}"
        assert (await ada.pushed("message_posted"))["id"] == sent["id"]
        assert (await remaining(chat, ada, "GET", messages + "?limit=1"))["messages"] == [sent]
        assert await remaining(chat, ada, "GET", message_path) == sent
        await remaining(chat, owner, "PUT", f"{message_path}/reactions/👍", 204)
        await remaining(chat, owner, "PUT", f"/api/channels/{CHANNEL}/pins/{sent['id']}", 204)
        edited = await remaining(chat, owner, "PATCH", message_path, text="Edited")
        assert (edited["text"], edited["pinned"], len(edited["reactions"])) == ("Edited", True, 1)
        assert len((await remaining(chat, owner, "GET", message_path + "/edits"))["edits"]) == 1
        assert len((await remaining(chat, ada, "GET", f"/api/channels/{CHANNEL}/pins"))["messages"]) == 1
        counts = await remaining(chat, ada, "POST", f"/api/channels/{CHANNEL}/read", message_id=sent["id"])
        assert (counts["unread"], counts["mentions"]) == (0, 0)
        await remaining(chat, ada, "POST", f"/api/channels/{CHANNEL}/typing", 204)
        await remaining(chat, owner, "DELETE", f"{message_path}/reactions/👍", 204)
        await remaining(chat, owner, "DELETE", f"/api/channels/{CHANNEL}/pins/{sent['id']}", 204)
        await remaining(chat, owner, "DELETE", message_path, 204)
        assert (await remaining(chat, ada, "GET", message_path, 404))["error"] == "unknown_message"
        too_many = await remaining(chat, ada, "GET", "/api/search?query=x&limit=51", 400)
        assert too_many["error"] == "invalid_request"


async def remaining(
    chat: ChatServer, member: LiveMember, method: str, path: str, status: int = 200, **body: object
) -> Any:
    headers = {"Authorization": f"Bearer {member.token}"}
    async with chat.http.request(method, path, headers=headers, json=body or None) as response:
        answered = await response.json() if response.content_length else None
        assert response.status == status, answered
        return answered
