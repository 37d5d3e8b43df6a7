"""A refresh token works only once. Reusing an old token ends the session.

See docs/configuration.md, "Chat server", REFRESH_TOKEN_TTL_DAYS.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import WSMsgType

from svc.chat.access.tokens import LIFETIME_S
from svc.chat.authentication.refresh import GRACE_MS, RefreshTokens, StoredSession, Verdict, read
from svc.chat.authentication.sessions import DAY_MS, MAX_PER_DEVICE
from tests.chat.chat_server import ChatServer
from tests.kit.device import Device

NOW_MS = 1_800_000_000_000
SESSION = StoredSession("s1", "m1", "d1", b"salt", 5, NOW_MS, NOW_MS + DAY_MS)
TOKENS = RefreshTokens("a secret of at least thirty-two bytes")


def verdict(generation: int, after_ms: int, **changes: Any) -> Verdict:
    """Return the verdict on a token of this generation `after_ms` after generation 5 was issued."""
    shown = read(TOKENS.token(replace(SESSION, generation=generation)))
    assert shown is not None
    return TOKENS.judge(shown, replace(SESSION, **changes), NOW_MS + after_ms)


@pytest.mark.parametrize(
    ("generation", "after_ms", "expected"),
    [
        (5, 0, Verdict.ROTATE),
        (5, DAY_MS - 1, Verdict.ROTATE),
        (5, DAY_MS, Verdict.REFUSE),
        (4, 0, Verdict.REPEAT),
        (4, GRACE_MS, Verdict.REPEAT),
        (4, GRACE_MS + 1, Verdict.STOLEN),
        (3, 0, Verdict.STOLEN),
        (0, 0, Verdict.STOLEN),
        # A server restored from a backup does not know the latest generation.
        (6, 0, Verdict.REFUSE),
        (0, DAY_MS, Verdict.REFUSE),
    ],
)
def test_the_generation_of_a_token_determines_its_validity(
    generation: int, after_ms: int, expected: Verdict
) -> None:
    assert verdict(generation, after_ms) is expected


def test_a_token_is_derived_from_the_row_and_the_secret() -> None:
    assert verdict(5, 0, salt=b"another") is Verdict.REFUSE
    shown = read(RefreshTokens("another secret").token(SESSION))
    assert shown is not None
    assert TOKENS.judge(shown, SESSION, NOW_MS) is Verdict.REFUSE
    assert TOKENS.judge(shown, None, NOW_MS) is Verdict.REFUSE


@pytest.mark.parametrize(
    "token",
    [None, 7, "", "x", "s1.x.y", "s1.-1.y", "s1.٣.y", "s1." + "9" * 13 + ".y", "x" * 257, "\ud800.1.y"],
)
def test_malformed_tokens_are_not_parsed(token: object) -> None:
    assert read(token) is None


async def refreshed(chat: ChatServer, token: object) -> tuple[int, dict[str, Any]]:
    async with chat.http.post("/api/auth/refresh", json={"refresh_token": token}) as response:
        return response.status, await response.json()


async def knows(chat: ChatServer, access_token: str) -> bool:
    headers = {"Authorization": f"Bearer {access_token}"}
    async with chat.http.get("/api/me/devices", headers=headers) as response:
        return response.status == 200


@pytest.fixture
async def ada(chat: ChatServer) -> dict[str, Any]:
    """Sign in a new member."""
    return await chat.sign_in(Device(), nickname="Ada", invite_code=chat.invite)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return a function that moves the clock of the authentication endpoints forward."""

    def move(seconds: float) -> None:
        clock = SimpleNamespace(time=lambda: time.time() + seconds, monotonic=time.monotonic)
        monkeypatch.setattr("svc.chat.authentication.endpoints.time", clock)

    return move


async def test_a_refresh_returns_new_tokens(chat: ChatServer, ada: dict[str, Any]) -> None:
    status, answer = await refreshed(chat, ada["refresh_token"])
    assert status == 200
    assert answer.keys() == {"access_token", "refresh_token", "expires_in_ms"}
    assert answer["expires_in_ms"] == LIFETIME_S * 1000
    assert answer["refresh_token"] != ada["refresh_token"]
    assert await knows(chat, answer["access_token"])


async def test_two_tabs_that_refresh_at_the_same_time_get_the_same_new_token(
    chat: ChatServer, ada: dict[str, Any]
) -> None:
    answers = await asyncio.gather(*(refreshed(chat, ada["refresh_token"]) for _ in range(8)))
    assert {status for status, _ in answers} == {200}
    assert len({answer["refresh_token"] for _, answer in answers}) == 1
    assert (await refreshed(chat, answers[0][1]["refresh_token"]))[0] == 200


async def test_reusing_an_old_token_ends_the_session(
    chat: ChatServer, ada: dict[str, Any], later: Callable[[float], None]
) -> None:
    _, successor = await refreshed(chat, ada["refresh_token"])
    async with chat.member("Ada", successor["access_token"]) as page:
        later(GRACE_MS / 1000 + 1)
        assert await refreshed(chat, ada["refresh_token"]) == await refreshed(chat, "nonsense")
        # Neither the thief nor the member can use any token of this session.
        assert (await refreshed(chat, successor["refresh_token"]))[0] == 401
        assert not await knows(chat, successor["access_token"])
        async with asyncio.timeout(30):
            while (message := await page.ws.receive()).type is WSMsgType.TEXT:
                pass
        assert (message.type, message.data) == (WSMsgType.CLOSE, 4003)


async def test_a_forged_token_for_an_existing_session_does_not_end_it(
    chat: ChatServer, ada: dict[str, Any]
) -> None:
    session_id = ada["refresh_token"].split(".")[0]
    status, answer = await refreshed(chat, f"{session_id}.0.{'0' * 64}")
    assert (status, answer["error"]) == (401, "refresh_invalid")
    assert (await refreshed(chat, ada["refresh_token"]))[0] == 200


@pytest.mark.parametrize("token", [None, "", "nonsense", "a.1.b", "x" * 257, 7])
async def test_malformed_refresh_tokens_are_rejected(chat: ChatServer, token: object) -> None:
    status, answer = await refreshed(chat, token)
    assert (status, answer["error"]) in {(401, "refresh_invalid"), (400, "invalid_request")}


async def test_a_refresh_token_expires_and_each_refresh_restarts_its_lifetime(
    chat: ChatServer, ada: dict[str, Any], later: Callable[[float], None]
) -> None:
    week_s = 7 * DAY_MS / 1000
    later(week_s - 60)
    status, answer = await refreshed(chat, ada["refresh_token"])
    assert status == 200
    later(2 * week_s - 120)
    status, answer = await refreshed(chat, answer["refresh_token"])
    assert status == 200
    later(3 * week_s)
    assert (await refreshed(chat, answer["refresh_token"]))[0] == 401


async def test_signing_out_ends_the_session(chat: ChatServer, ada: dict[str, Any]) -> None:
    for token in (ada["refresh_token"], ada["refresh_token"], "nonsense", None):
        async with chat.http.post("/api/auth/logout", json={"refresh_token": token}) as response:
            assert response.status == 204
    assert (await refreshed(chat, ada["refresh_token"]))[0] == 401


async def test_only_a_devices_latest_sessions_are_kept(chat: ChatServer) -> None:
    device = Device()
    answers = [await chat.sign_in(device, nickname="Ada", invite_code=chat.invite)]
    answers += [await chat.sign_in(device) for _ in range(MAX_PER_DEVICE)]
    statuses = [(await refreshed(chat, answer["refresh_token"]))[0] for answer in answers]
    assert statuses == [401] + [200] * MAX_PER_DEVICE


async def test_a_removed_member_is_signed_out_everywhere(chat: ChatServer) -> None:
    owner = await chat.sign_in(Device(), nickname="Ada", invite_code=chat.invite)
    device = Device()
    bob = await chat.sign_in(device, nickname="Bob", invite_code=chat.invite)
    headers = {"Authorization": f"Bearer {owner['access_token']}"}
    path = f"/api/members/{bob['member']['id']}/kick"
    async with chat.http.post(path, json={}, headers=headers) as response:
        assert response.status in (200, 204), await response.text()
    assert not await knows(chat, bob["access_token"])
    assert (await refreshed(chat, bob["refresh_token"]))[0] == 401
    # The device key is no longer enough to sign in. The person needs an invite to become a member again.
    body = await device.proof(chat.http, chat.address) | {"nickname": "Bob"}
    async with chat.http.post("/api/auth/join", json=body) as response:
        assert (await response.json())["error"] == "invite_required"
    again = await chat.sign_in(device, nickname="Bob", invite_code=chat.invite)
    assert again["member"]["id"] != bob["member"]["id"]
