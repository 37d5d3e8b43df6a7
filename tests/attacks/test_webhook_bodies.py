"""Bodies that take long to read, sent to addresses that somebody has made up, or while nothing is taken."""

from collections.abc import AsyncIterator

import pytest

from svc.chat.errors import ChatError
from svc.chat.webhooks import requests
from svc.chat.webhooks.compatible import requests as compatible
from svc.chat.webhooks.posting import Limiter
from tests.chat.member import chat_server
from tests.chat.people import newcomer
from tests.chat.webhooks.hook import Hook, hook_of

WAYS = ["", "/discord", "/slack", "/github"]


@pytest.fixture
async def hook(variables: dict[str, str]) -> AsyncIterator[Hook]:
    async with chat_server(variables) as chat, hook_of(await newcomer(chat, "Owner")) as made:
        yield made


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What is read of bodies from now on; none of it is JSON."""
    seen: list[bytes] = []

    def decode(body: bytes, *_: object) -> object:
        seen.append(body)
        raise ChatError("invalid_json")

    monkeypatch.setattr(requests, "decode", decode)
    monkeypatch.setattr(compatible, "value_in", decode)
    monkeypatch.setattr(compatible, "discord_value", lambda kind, body: decode(body))
    return seen


async def status_of(hook: Hook, path: str) -> int:
    async with hook.chat.http.post(path, data=b"[[]]") as response:
        return response.status


@pytest.mark.parametrize("way", WAYS)
async def test_a_body_that_leads_nowhere_is_not_read(hook: Hook, read: list[bytes], way: str) -> None:
    """A list of 80,000 empty ones takes the event loop many times as long as an answer."""
    assert await status_of(hook, f"{hook.path[:-1]}{way}") == 404
    assert read == []


@pytest.mark.parametrize("way", WAYS)
async def test_no_body_is_read_while_everything_is_refused(
    hook: Hook, monkeypatch: pytest.MonkeyPatch, read: list[bytes], way: str
) -> None:
    monkeypatch.setattr(Limiter, "wait_ms", lambda *_: 1000)
    assert await status_of(hook, f"{hook.path}{way}") == 429
    assert read == []
