"""Tests posts over HTTP: all documented responses, the order of checks and the resulting messages.

See docs/webhooks.md and docs/http.md, "Messages".
"""

import asyncio
import json
from typing import Any

import pytest

from svc.chat.webhooks import endpoints
from tests.chat.chat_server import chat_server
from tests.chat.http_member import newcomer
from tests.chat.members_by_role import MembersByRole
from tests.chat.webhooks.webhook_client import Hook

StatusAndBody = tuple[int, Any]


async def post(hook: Hook, body: object, path: str = "", **headers: str) -> StatusAndBody:
    """Post a JSON value or raw bytes. Return the status and the body of the response."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with hook.chat.http.post(path or hook.path, data=data, headers=headers) as response:
        return response.status, await response.json()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Stop the rate limiter's clock. Return a list with the time in ms as its only item, which the test may
    change.
    """
    now = [1_000_000]
    monkeypatch.setattr(endpoints, "now_ms", lambda: now[0])
    return now


async def test_a_post_gets_a_response_and_is_delivered_to_readers(hook: Hook) -> None:
    status, answer = await post(hook, {"text": "The build is **green**", "colour": 1})
    assert (status, answer["conversation_id"]) == (200, "general")
    assert answer["warnings"] == [
        {"path": "colour", "code": "unknown_key", "message": "This key is not known and was ignored"}
    ]
    message = await hook.arrived()
    assert (message["id"], message["text"]) == (answer["message_id"], "The build is **green**")
    assert message["author"] == {
        "kind": "webhook",
        "id": hook.path.split("/")[3],
        "display_name": "Hook",
        "avatar": None,
        "bot": False,
    }


async def test_cards_are_delivered_and_stored_as_sent(hook: Hook, members: MembersByRole) -> None:
    card = {
        "title": "Build 512",
        "url": "https://ci.example/512",
        "description": "All **300** tests passed",
        "author": {"name": "ci", "url": "https://ci.example"},
        "fields": [{"name": "Branch", "value": "`main`", "inline": True}, {"name": "Took", "value": "9 s"}],
        "footer": {"text": "example"},
    }
    sent = {**card, "color": "#2DA44E", "timestamp": "2026-01-31 12:00+01:00"}
    assert (await post(hook, {"cards": [sent]}))[1]["warnings"] == []
    message = await hook.arrived()
    expected = {**card, "color": 0x2DA44E, "timestamp": "2026-01-31T12:00:00+01:00"}
    expected["fields"][1]["inline"] = False  # type: ignore[index]
    assert (message["text"], message["cards"]) == ("", [expected])
    history = await members.member.done("GET", "/api/channels/general/messages")
    assert history["messages"][-1]["cards"] == [expected]


PROBLEM = {"path": "text", "code": "wrong_type", "message": "Must be a string"}
ANSWERS: list[tuple[object, int, object]] = [
    ({}, 400, {"error": "empty_message"}),
    ({"text": "  "}, 400, {"error": "empty_message"}),
    ({"cards": []}, 400, {"error": "empty_message"}),
    ({"text": "a" * 4001}, 400, {"error": "message_too_long"}),
    (b"{", 400, {"error": "invalid_json"}),
    (b"", 400, {"error": "invalid_json"}),
    (
        {"text": 1},
        400,
        {"error": "invalid_payload", "message": "text: Must be a string", "problems": [PROBLEM]},
    ),
    (b" " * 262_145, 413, {"error": "body_too_large"}),
]


@pytest.mark.parametrize(("body", "status", "answer"), ANSWERS)
async def test_errors_have_exactly_the_documented_bodies(
    hook: Hook, body: object, status: int, answer: object
) -> None:
    assert await post(hook, body) == (status, answer)


async def test_a_post_without_a_channel_gets_the_error_no_channel(hook: Hook, members: MembersByRole) -> None:
    await members.owner.done("PATCH", hook.path.rpartition("/")[0], {"channel_id": None})
    assert await post(hook, {"text": "a"}) == (400, {"error": "no_channel"})
    # The channel is checked before the payload is parsed.
    assert await post(hook, {"text": 1}) == (400, {"error": "no_channel"})


@pytest.mark.parametrize("wrong", ["token", "id", "both", "another webhook's"])
async def test_only_the_right_token_for_the_right_webhook_works(
    hook: Hook, members: MembersByRole, wrong: str
) -> None:
    other = await members.owner.done("POST", "/api/webhooks", {"name": "Other", "channel_id": "general"})
    _, _, _, webhook_id, token = hook.path.split("/")
    path = {
        "token": f"/api/webhooks/{webhook_id}/{token[:-1]}",
        "id": f"/api/webhooks/nobody/{token}",
        "both": "/api/webhooks/a/%C3%BC%00",
        "another webhook's": f"/api/webhooks/{webhook_id}/{other['token']}",
    }[wrong]
    assert await post(hook, {"text": "a"}, path) == (404, {"error": "not_found"})
    # Size and JSON are checked before the webhook is looked up.
    assert await post(hook, b"{", path) == (400, {"error": "invalid_json"})
    assert (await post(hook, b" " * 262_145, path))[0] == 413


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "application/json; charset=nothing"},
        {"Origin": "https://elsewhere.example"},
        {"Authorization": "Bearer nothing"},
    ],
)
async def test_no_header_is_required_and_any_header_is_accepted(hook: Hook, headers: dict[str, str]) -> None:
    assert (await post(hook, {"text": "a"}, **headers))[0] == 200


async def test_other_http_methods_are_rejected(hook: Hook) -> None:
    async with hook.chat.http.get(hook.path) as response:
        assert (response.status, response.headers["Allow"]) == (405, "POST")


# The rate limit


async def test_fifteen_of_forty_simultaneous_posts_are_accepted(
    hook: Hook, clock: list[int], members: MembersByRole
) -> None:
    answers = await asyncio.gather(*(post(hook, {"text": str(n)}) for n in range(40)))
    refused = [answer for answer in answers if answer[0] != 200]
    assert refused == [(429, {"error": "rate_limited", "retry_after_ms": 60_000})] * 25
    history = await members.member.done("GET", "/api/channels/general/messages")
    assert len(history["messages"]) == 15


async def test_waiting_exactly_as_long_as_reported_is_enough(hook: Hook, clock: list[int]) -> None:
    for _ in range(15):
        assert (await post(hook, {"text": "a"}))[0] == 200
    assert (await post(hook, {"text": "a"}))[0] == 429
    clock[0] += 1_500
    async with hook.chat.http.post(hook.path, data="{}") as response:
        left = await response.json()
        assert (response.status, response.headers["Retry-After"]) == (429, "59")
    assert left == {"error": "rate_limited", "retry_after_ms": 58_500}
    clock[0] += left["retry_after_ms"]
    for _ in range(15):
        assert (await post(hook, {"text": "a"}))[0] == 200


@pytest.mark.parametrize(
    ("body", "counted"),
    [
        ({"text": 1}, True),
        ({}, True),
        ([], True),
        ({"text": "a" * 4001}, True),
        (b"{", False),
        (b"\xff", False),
        (b" " * 262_145, False),
    ],
)
async def test_only_authenticated_posts_count_towards_the_limit(
    hook: Hook, clock: list[int], body: object, counted: bool
) -> None:
    for _ in range(15):
        assert (await post(hook, body))[0] in (400, 413)
    assert (await post(hook, {"text": "a"}))[0] == (429 if counted else 200)


async def test_a_wrong_token_does_not_count_against_the_right_one(hook: Hook, clock: list[int]) -> None:
    for _ in range(40):
        assert (await post(hook, {"text": "a"}, hook.path + "x"))[0] == 404
    for _ in range(15):
        assert (await post(hook, {"text": "a"}))[0] == 200
    # A wrong token gets the same response, even when the limit has been reached.
    assert (await post(hook, {"text": "a"}, hook.path + "x"))[0] == 404


async def test_posts_to_a_webhook_without_a_channel_count_towards_the_limit(
    hook: Hook, clock: list[int], members: MembersByRole
) -> None:
    await members.owner.done("PATCH", hook.path.rpartition("/")[0], {"channel_id": None})
    answers = [(await post(hook, {"text": "a"}))[0] for _ in range(16)]
    assert answers == [400] * 15 + [429]


async def test_a_restart_resets_the_rate_limit(variables: dict[str, str], clock: list[int]) -> None:
    async with chat_server(variables) as chat:
        owner = await newcomer(chat, "Owner")
        made = await owner.done("POST", "/api/webhooks", {"name": "Hook", "channel_id": "general"})
        path = f"/api/webhooks/{made['id']}/{made['token']}"
        for _ in range(16):
            async with chat.http.post(path, data="{}") as response:
                status = response.status
        assert status == 429
    async with chat_server(variables) as chat, chat.http.post(path, data="{}") as response:
        assert response.status == 400


# Names, mentions and blocked words


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("CI", "CI"),
        ("x" * 65, "x" * 64),
        ("\U0001f600" * 100, "\U0001f600" * 64),
        ("  CI \n bot\t", "CI bot"),
        ("\u202eIC", "IC"),
        ("", "Hook"),
        (" \u3000", "Hook"),
        ("\u200b", "Hook"),
        ("\u3164\u2800\u200d", "Hook"),
        ("\u202e" * 900 + "CI" + "x" * 200_000, "CI" + "x" * 62),
        (None, "Hook"),
    ],
)
async def test_a_long_display_name_is_truncated_instead_of_rejected(
    hook: Hook, sent: str | None, shown: str
) -> None:
    assert (await post(hook, {"text": "a", "display_name": sent}))[1]["warnings"] == []
    assert (await hook.arrived())["author"]["display_name"] == shown


async def test_mentions_notify_members_in_a_posts_text_but_not_in_its_cards(
    hook: Hook, members: MembersByRole
) -> None:
    mention = f"[you](mention:{members.member.id})"
    everywhere = {
        "title": mention,
        "description": mention,
        "author": {"name": mention},
        "fields": [{"name": mention, "value": mention}],
        "footer": {"text": mention},
    }
    await post(hook, {"cards": [everywhere], "display_name": mention})
    assert (await hook.arrived())["mentions"] == []
    await post(hook, {"text": f"Well, {mention}"})
    assert (await hook.arrived())["mentions"] == [members.member.id]
    async with members.live("member") as [member]:
        [general] = [count for count in member.welcome["unread"] if count["channel_id"] == "general"]
    assert (general["unread"], general["mentions"]) == (2, 1)


WORD = "bullshit"


@pytest.mark.parametrize(
    "payload",
    [
        {"text": WORD},
        {"text": "a", "display_name": WORD},
        {"cards": [{"title": WORD}]},
        {"cards": [{"description": f"such {WORD} again"}]},
        {"cards": [{"author": {"name": WORD}}]},
        {"cards": [{"fields": [{"name": WORD, "value": "a"}]}]},
        {"cards": [{"fields": [{"name": "a", "value": WORD}]}]},
        {"cards": [{"title": "a", "footer": {"text": WORD}}]},
    ],
)
async def test_blocked_words_are_found_in_every_part_of_a_post(
    hook: Hook, members: MembersByRole, payload: dict[str, object]
) -> None:
    await members.owner.done("PATCH", "/api/settings", {"profanityMode": "block"})
    assert await post(hook, payload) == (
        400,
        {"error": "profanity_refused", "message": "This text contains words that the server does not allow"},
    )
    await members.owner.done("PATCH", "/api/settings", {"profanityMode": "censor"})
    await post(hook, payload)
    message = await hook.arrived()
    assert message["flagged"]
    assert WORD not in json.dumps(message)
    assert "*" * len(WORD) in json.dumps(message)
    await members.owner.done("PATCH", "/api/settings", {"profanityMode": "flag"})
    await post(hook, payload)
    message = await hook.arrived()
    assert message["flagged"]
    assert WORD in json.dumps(message)


async def test_moderators_can_delete_messages_from_webhooks(hook: Hook, members: MembersByRole) -> None:
    message_id = (await post(hook, {"text": "a"}))[1]["message_id"]
    path = f"/api/channels/general/messages/{message_id}"
    assert await members.member.refused("DELETE", path) == "forbidden"
    await members.moderator.done("DELETE", path)
    assert await members.member.refused("GET", path) == "unknown_message"


async def test_members_who_may_not_view_the_channel_are_not_notified_of_a_post(
    hook: Hook, members: MembersByRole
) -> None:
    outsider = await newcomer(members.chat, "Outsider")
    override = f"/api/channels/general/overrides/member/{outsider.id}"
    await members.owner.done("PUT", override, {"deny": ["view_channel"]})
    async with members.chat.member("", outsider.token) as outside:
        await post(hook, {"text": f"[psst](mention:{outsider.id})"})
        assert (await hook.arrived())["mentions"] == []
        await outside.ask("ping")
        assert "message_posted" not in outside.kept_events()
