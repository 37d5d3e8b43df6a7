"""The compatible endpoints post as the webhook and respond like the original services."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from aiohttp import FormData

from svc.chat.webhooks import endpoints
from svc.chat.webhooks.compatible import endpoints as compatible
from tests.chat.http_member import HttpMember
from tests.chat.webhooks.compatible.github_payloads import ISSUE, event, push
from tests.chat.webhooks.webhook_client import Hook


@dataclass
class RawResponse:
    status: int
    content_type: str
    text: str
    headers: Mapping[str, str]

    def json(self) -> Any:
        return json.loads(self.text)


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


async def test_a_discord_post_gets_204_and_appears_in_the_channel(hook: Hook) -> None:
    body = {"content": "Hello", "username": "Robot", "embeds": [{"title": "Card", "color": 255}]}
    response = await _post(hook, "discord", json=body)
    assert (response.status, response.text) == (204, "")
    message = await hook.arrived()
    assert message["text"] == "Hello"
    assert message["author"]["display_name"] == "Robot"
    assert message["cards"] == [{"title": "Card", "color": 255}]


async def test_a_discord_post_with_wait_gets_a_message_object(hook: Hook) -> None:
    response = await _post(
        hook, "discord?wait=true", json={"content": "Hello", "embeds": [{"title": "Card"}]}
    )
    body = response.json()
    arrived = await hook.arrived()
    assert response.status == 200
    assert (body["id"], body["channel_id"]) == (arrived["id"], "general")
    assert body["content"] == "Hello" and body["author"]["username"] == "Hook"
    assert body["embeds"] == [{"type": "rich", "title": "Card"}]
    assert body["timestamp"].endswith("+00:00") and body["warnings"] == []


async def test_a_discord_post_gets_warnings_about_omissions(hook: Hook) -> None:
    embed = {"title": "Card", "image": {"url": "http://127.0.0.1/graph.png"}}
    body = (await _post(hook, "discord?wait=true", json={"embeds": [embed]})).json()
    assert [(w["path"], w["code"]) for w in body["warnings"]] == [("cards[0].image_url", "blocked")]
    assert (await hook.arrived())["cards"] == [{"title": "Card"}]


async def test_discord_endpoints_accept_forms(hook: Hook) -> None:
    await _post(hook, "discord", data={"content": "by form", "username": "Form"})
    assert (await hook.arrived())["author"]["display_name"] == "Form"
    await _post(hook, "discord", data={"payload_json": json.dumps({"content": "in a form"})})
    assert (await hook.arrived())["text"] == "in a form"


async def test_discord_endpoints_accept_the_fields_of_a_multipart_form(hook: Hook) -> None:
    form = FormData(default_to_multipart=True)
    form.add_field("content", "Grüße")
    form.add_field("tts", "false")
    await _post(hook, "discord", data=form)
    assert (await hook.arrived())["text"] == "Grüße"


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        (b"{", {}, 400, 50109),
        (b"", {}, 400, 50109),
        (b"--x", {"Content-Type": "multipart/form-data; boundary=x"}, 400, 50109),
        (b"--x", {"Content-Type": "multipart/form-data"}, 400, 50109),
        (b"{}", {}, 400, 50006),
        (b"[]", {}, 400, 50035),
        (b'{"content": " ", "embeds": [{"color": 1}]}', {}, 400, 50006),
        (b'{"content": {}}', {}, 400, 50035),
        (b"[" * 100_000 + b"]" * 100_000, {}, 400, 50035),
        (b'{"content": "' + b"x" * 262_144 + b'"}', {}, 413, 40005),
    ],
)
async def test_errors_have_the_discord_format(
    hook: Hook, body: bytes, headers: dict[str, str], status: int, code: int
) -> None:
    response = await _post(hook, "discord", data=body, headers=headers)
    response_body = response.json()
    assert (response.status, response_body["code"]) == (status, code)
    assert isinstance(response_body["message"], str) and "error" not in response_body


async def test_errors_in_the_discord_format_name_the_invalid_value(hook: Hook) -> None:
    response = await _post(hook, "discord", json={"embeds": [{"title": "t"}, {"title": []}]})
    body = response.json()
    assert body["message"] == "Invalid Form Body"
    assert body["errors"]["embeds"]["1"]["title"]["_errors"][0]["message"] == "must be a string"


async def test_a_slack_post_gets_ok(hook: Hook) -> None:
    body = {"text": "*Hello* <https://a.test|there>", "attachments": [{"title": "Card", "color": "good"}]}
    response = await _post(hook, "slack", json=body)
    assert (response.status, response.content_type, response.text) == (200, "text/plain", "ok")
    message = await hook.arrived()
    assert message["text"] == "**Hello** [there](https://a.test)"
    assert message["cards"] == [{"title": "Card", "color": 0x2EB67D}]


@pytest.mark.parametrize("headers", [FORM, {"Content-Type": "text/plain"}, {}])
async def test_slack_endpoints_accept_forms_and_json_with_any_content_type(
    hook: Hook, headers: dict[str, str]
) -> None:
    await _post(hook, "slack", data=b'\n{"text": "json"}', headers=headers)
    assert (await hook.arrived())["text"] == "json"
    await _post(hook, "slack", data=b"payload=%7B%22text%22%3A%22a+form%22%7D", headers=headers)
    assert (await hook.arrived())["text"] == "a form"


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        (b"{", 400, "invalid_payload"),
        (b"text=hello", 400, "invalid_payload"),
        (b"payload=%7B", 400, "invalid_payload"),
        (b"payload=%FF", 400, "invalid_payload"),
        (b"{}", 400, "no_text"),
        (b'{"text": "", "attachments": [{}]}', 400, "no_text"),
        (b'{"text": []}', 400, "invalid_payload"),
        (b'{"blocks": ["x"]}', 400, "invalid_blocks"),
        (b'{"text": "' + b"x" * 262_144 + b'"}', 413, "invalid_payload"),
    ],
)
async def test_errors_have_the_slack_format(hook: Hook, body: bytes, status: int, word: str) -> None:
    response = await _post(hook, "slack", data=body)
    assert (response.status, response.content_type, response.text) == (status, "text/plain", word)


async def test_github_events_become_cards(hook: Hook) -> None:
    response = await _github(hook, "push", push("Mend it"))
    message = await hook.arrived()
    assert response.status == 200
    body = response.json()
    assert (body["message_id"], body["conversation_id"]) == (message["id"], "general")
    assert [(w["path"], w["code"]) for w in body["warnings"]] == [("cards[0].author.icon_url", "blocked")]
    assert message["cards"][0]["title"] == "[example-org/tool] 1 new commit on main"
    assert message["cards"][0]["author"]["name"] == "example-user"
    assert message["text"] == "" and message["author"]["display_name"] == "Hook"


async def test_github_events_may_be_sent_as_a_form(hook: Hook) -> None:
    body = {"payload": json.dumps(event("opened", issue=ISSUE))}
    await _post(hook, "github", data=body, headers={"X-GitHub-Event": "issues"})
    assert (await hook.arrived())["cards"][0]["title"].startswith("[example-org/tool] Issue opened")


async def test_an_event_that_posts_no_message_gets_204(hook: Hook) -> None:
    response = await _github(hook, "watch", event("started"))
    assert (response.status, response.text) == (204, "")
    await _post(hook, "slack", json={"text": "next"})
    assert (await hook.arrived())["text"] == "next"


async def test_github_gets_the_webhooks_own_errors(hook: Hook) -> None:
    response = await _post(hook, "github", json={})
    assert (response.status, response.json()["error"]) == (400, "invalid_request")
    response = await _github(hook, "push", {"ref": "refs/heads/x", "commits": [{"id": {}}]})
    body = response.json()
    assert (response.status, body["error"]) == (400, "invalid_payload")
    assert body["problems"] == [
        {"path": "commits[0].id", "code": "wrong_type", "message": "must be a string"}
    ]


@pytest.mark.parametrize("service", ["discord", "slack", "github"])
async def test_an_unknown_token_is_rejected_before_the_body_is_read(hook: Hook, service: str) -> None:
    wrong = Hook(hook.chat, hook.path + "x", hook.reader)
    headers = {"X-GitHub-Event": "ping"}
    assert (await _post(wrong, service, data=b"{", headers=headers)).status == 404
    response = await _post(wrong, service, json={"text": "x", "content": "x"}, headers=headers)
    assert response.status == 404
    assert response.text in (
        "no_service",
        '{"code":10015,"message":"Unknown Webhook"}',
        '{"error":"not_found","message":"There is nothing here"}',
    )


async def test_all_endpoints_share_the_rate_limit(hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    # The limiter's clock is stopped so that the limit does not refill while a slow machine posts.
    for module in (endpoints, compatible):
        monkeypatch.setattr(module, "now_ms", lambda: 0)
    for _ in range(5):
        assert (await _post(hook, "discord", json={"content": "x"})).status == 204
        assert (await _post(hook, "slack", json={"text": "x"})).status == 200
        assert (await _github(hook, "watch", event("started"))).status == 204
    response = await _post(hook, "discord", json={"content": "x"})
    body = response.json()
    assert response.status == 429 and body["code"] == 0 and body["global"] is False
    assert 0 < body["retry_after"] <= 60 and response.headers["Retry-After"] == "60"
    response = await _post(hook, "slack", json={"text": "x"})
    assert (response.status, response.text) == (429, "rate_limited")
    assert 0 < int(response.headers["Retry-After"]) <= 60
    response = await _github(hook, "watch", event("started"))
    assert (response.status, response.json()["error"]) == (429, "rate_limited")
    assert (await _post(hook, "", json={"text": "x"})).status == 429


async def test_a_post_to_a_webhook_without_a_channel_gets_the_error_no_channel(
    hook: Hook, owner: HttpMember
) -> None:
    await owner.done("PATCH", hook.path.rpartition("/")[0], {"channel_id": None})
    response = await _post(hook, "discord", json={"content": "x"})
    assert (response.status, response.json()["code"]) == (404, 10003)
    response = await _post(hook, "slack", json={"text": "x"})
    assert (response.status, response.text) == (404, "channel_not_found")
    response = await _github(hook, "ping", event())
    assert (response.status, response.json()["error"]) == (400, "no_channel")


async def _post(hook: Hook, service: str, **more: Any) -> RawResponse:
    async with hook.chat.http.post(f"{hook.path}/{service}".rstrip("/"), **more) as response:
        return RawResponse(response.status, response.content_type, await response.text(), response.headers)


async def _github(hook: Hook, name: str, body: object) -> RawResponse:
    return await _post(hook, "github", json=body, headers={"X-GitHub-Event": name})
