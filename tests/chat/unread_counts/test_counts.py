"""A counts token lets a page of any origin read a member's unread counts and do nothing else."""

import re
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from svc.chat.access.endpoint_permissions import ENDPOINTS, Audience
from svc.chat.community import Community
from svc.chat.linked_accounts import endpoints as account_endpoints
from svc.chat.unread_counts import endpoints
from svc.chat.unread_counts.counts_tokens import INVALID_BURST
from tests.chat.chat_server import ChatServer
from tests.chat.http_member import HttpMember
from tests.chat.internal_server import server_with_insight
from tests.chat.members_by_role import MembersByRole, members_by_role
from tests.kit.device import Device

OWN, GENERAL = "/api/me/counts-token", "/api/channels/general"
# A sandboxed frame in another server's web client sends this origin.
FROM_A_FRAME = {"Origin": "null", "Content-Type": "text/plain;charset=UTF-8"}
World = tuple[ChatServer, Community, MembersByRole]


@pytest.fixture
async def world(variables: dict[str, str]) -> AsyncIterator[World]:
    async with server_with_insight(variables) as (chat, community):
        yield chat, community, await members_by_role(chat)


async def token_of(person: HttpMember) -> str:
    return str((await person.done("POST", OWN))["token"])


async def counts(chat: ChatServer, token: str) -> tuple[int, Any, str | None]:
    """Request the unread counts. Return the status, the body and the allowed origin."""
    body = {"token": token, "picture": True}
    async with chat.http.post("/api/counts", json=body, headers=FROM_A_FRAME) as response:
        return response.status, await response.json(), response.headers.get("Access-Control-Allow-Origin")


async def status_of(chat: ChatServer, path: str, body: dict[str, str]) -> int:
    async with chat.http.post(path, json=body, headers=FROM_A_FRAME) as response:
        return response.status


async def test_a_page_without_an_origin_can_read_the_counts_of_unmuted_channels(world: World) -> None:
    chat, _, members = world
    token = await token_of(members.member)
    assert (await members.member.done("GET", OWN))["token"] == token
    await members.owner.done("POST", f"{GENERAL}/messages", {"text": "hello"})
    await members.owner.done("POST", f"{GENERAL}/messages", {"text": f"[You](mention:{members.member.id})"})
    name = (await members.owner.done("GET", "/api/settings"))["name"]
    seen = {"name": name, "unread": 2, "mentions": 1, "picture": None}
    assert await counts(chat, token) == (200, seen, "*")
    await members.member.done("PUT", f"{GENERAL}/notifications", {"muted": True})
    assert await counts(chat, token) == (200, {**seen, "unread": 0, "mentions": 0}, "*")


async def test_no_other_request_accepts_a_counts_token(world: World) -> None:
    chat, _, members = world
    bearer = {"Authorization": f"Bearer {await token_of(members.owner)}"}
    closed = [endpoint for endpoint, needs in ENDPOINTS.items() if needs.who is not Audience.ANYONE]
    for endpoint in closed:
        method, _, path = re.sub(r"{\w+}", "1", endpoint).partition(" ")
        async with chat.http.request(method, path, headers=bearer) as response:
            assert (response.status, (await response.json())["error"]) == (401, "token_invalid"), endpoint
    assert len(closed) > 100


@pytest.mark.parametrize("end", ["revoked", "replaced", "kicked", "device unlinked"])
async def test_a_counts_token_expires(world: World, end: str) -> None:
    chat, _, members = world
    member = members.member
    token = await token_of(member)
    if end == "revoked":
        await member.done("DELETE", OWN)
        assert (await member.done("GET", OWN))["token"] is None
    elif end == "replaced":
        assert await token_of(member) != token
    elif end == "kicked":
        await members.owner.done("POST", f"/api/members/{member.id}/kick")
    else:
        await link_and_unlink(chat, member)
    status, refusal, readable = await counts(chat, token)
    assert (status, refusal["error"], readable) == (401, "token_invalid", None)


async def link_and_unlink(chat: ChatServer, member: HttpMember) -> None:
    """Link a second device, which could copy the token. Then unlink it."""
    code = (await member.done("POST", "/api/me/devices/link"))["code"]
    await chat.sign_in(Device(), link_code=code)
    devices = (await member.done("GET", "/api/me/devices"))["devices"]
    other = next(device["id"] for device in devices if not device["current"])
    await member.done("DELETE", f"/api/me/devices/{other}")


async def test_a_counts_token_survives_a_restart(variables: dict[str, str]) -> None:
    async with server_with_insight(variables) as (chat, _):
        token = await token_of((await members_by_role(chat)).owner)
    async with server_with_insight(variables) as (chat, _):
        assert (await counts(chat, token))[0] == 200


@pytest.mark.parametrize("token", ["", "svcrail.", "svcrail.x.y", "é" * 20, "svcrail.\ud800", "x" * 257])
async def test_a_malformed_counts_token_is_rejected(world: World, token: str) -> None:
    assert (await counts(world[0], token))[0] in (400, 401)


async def test_wrong_tokens_are_limited_without_affecting_a_valid_token_from_the_same_address(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The limiter's clock is stopped so that the limit does not refill while a slow machine sends guesses.
    for module in (endpoints, account_endpoints):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: 0.0))
    chat, _, members = world
    token = await token_of(members.member)
    wrong = {"token": f"{token[:-1]}!", "digest": "A" * 43}
    # The endpoints that accept counts tokens share the limit.
    assert [await status_of(chat, "/api/account-confirmations", wrong) for _ in range(2)] == [401, 401]
    statuses = [(await counts(chat, wrong["token"]))[0] for _ in range(INVALID_BURST - 1)]
    assert statuses[-1] == 429 and set(statuses[:-1]) == {401}
    assert await status_of(chat, "/api/account-confirmations", wrong) == 429
    assert (await counts(chat, token))[0] == 200
