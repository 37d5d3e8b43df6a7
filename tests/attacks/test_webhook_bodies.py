"""Webhook bodies may be expensive, so they are not parsed if the webhook is unknown or rate limited."""

from collections.abc import AsyncIterator

import pytest

from svc.chat.errors import ChatError
from svc.chat.webhooks import endpoints, json_reader
from svc.chat.webhooks.compatible import endpoints as compatible
from svc.chat.webhooks.limits import BURST, MAX_BODY_BYTES
from svc.chat.webhooks.publisher import Limiter
from tests.chat.chat_server import chat_server
from tests.chat.http_member import newcomer
from tests.chat.webhooks.webhook_client import Hook, hook_of

WAYS = ["", "/discord", "/slack", "/github"]


@pytest.fixture
async def hook(variables: dict[str, str]) -> AsyncIterator[Hook]:
    async with chat_server(variables) as chat, hook_of(await newcomer(chat, "Owner")) as made:
        yield made


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Record the bodies that are parsed from now on. Reject each of them as invalid JSON."""
    seen: list[bytes] = []

    def decode(body: bytes, *_: object) -> object:
        seen.append(body)
        raise ChatError("invalid_json")

    monkeypatch.setattr(endpoints, "json_in", decode)
    monkeypatch.setattr(compatible, "payload_in", decode)
    monkeypatch.setattr(compatible, "discord_form", lambda kind, body: decode(body))
    return seen


async def status_of(hook: Hook, path: str) -> int:
    async with hook.chat.http.post(path, data=b"[[]]") as response:
        return response.status


@pytest.mark.parametrize("way", WAYS)
async def test_a_body_for_an_unknown_webhook_is_not_parsed(hook: Hook, read: list[bytes], way: str) -> None:
    """Send a list of 80,000 empty lists. Parsing it takes far longer than rejecting the request."""
    assert await status_of(hook, f"{hook.path[:-1]}{way}") == 404
    assert read == []


@pytest.mark.parametrize("body", [b'"\\ud800"', b"[" * 5_000 + b"]" * 5_000], ids=["half of a pair", "deep"])
async def test_a_body_for_an_unknown_webhook_is_not_validated(
    hook: Hook, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    # Otherwise, anyone could block the event loop for 10 ms with each request, even without a webhook's URL.
    for expensive in ("_without_halves", "_is_balanced"):
        monkeypatch.setattr(json_reader, expensive, None)
    async with hook.chat.http.post(hook.path[:-1], data=body) as response:
        assert response.status == 404


@pytest.mark.parametrize("way", WAYS)
async def test_no_body_is_parsed_while_the_webhook_is_rate_limited(
    hook: Hook, monkeypatch: pytest.MonkeyPatch, read: list[bytes], way: str
) -> None:
    monkeypatch.setattr(Limiter, "wait_ms", lambda *_: 1000)
    assert await status_of(hook, f"{hook.path}{way}") == 429
    assert read == []


async def test_additional_webhook_urls_do_not_raise_a_members_limit(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each URL has its own limit. Without a limit per member, more URLs would raise a member's limit. The
    # limiter's clock is stopped so that the limit does not refill during the test, even on a slow machine.
    monkeypatch.setattr(endpoints, "now_ms", lambda: 0)
    async with chat_server(variables) as chat:
        owner = await newcomer(chat, "Owner")
        padding = "x" * (MAX_BODY_BYTES - 100)
        statuses = []
        for _ in range(BURST + 1):
            made = await owner.done("POST", "/api/webhooks", {"name": "Hook", "channel_id": "general"})
            path = f"/api/webhooks/{made['id']}/{made['token']}"
            async with chat.http.post(path, json={"text": "a", "unknown": padding}) as response:
                statuses.append(response.status)
                answer = await response.json()
        assert statuses == [200] * BURST + [429]
        assert answer["error"] == "rate_limited"
        assert 0 < answer["retry_after_ms"] <= 2_000
