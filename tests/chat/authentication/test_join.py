"""A person becomes a member with a proof of identity, a name and an invite.

The server rejects all other attempts and gives the reason in its response.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import jwt
import pytest

from svc.chat.access.directory import Directory, Member
from svc.chat.access.tokens import LIFETIME_S, AccessTokens, Session
from svc.chat.authentication.one_time_codes import Challenges
from svc.chat.authentication.sessions import Throttle
from svc.chat.errors import ChatError
from svc.chat.names import readable_nickname
from tests.chat.chat_server import ChatServer, chat_server
from tests.kit.device import Device

SECRET = "a secret of at least thirty-two bytes"
ADA = Member("m1", "Ada")
NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ada", "Ada"),
        ("  Ada Lovelace ", "Ada Lovelace"),
        ("x" * 32, "x" * 32),
        ("e\u0301", "é"),
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f468\u200d\U0001f469\u200d\U0001f467"),
        ("李", "李"),
    ],
)
def test_a_name_is_trimmed(text: str, name: str) -> None:
    assert readable_nickname(text) == name


@pytest.mark.parametrize(
    "text",
    [
        *("", "   ", "x" * 33, "x" * 1_000_000, "A\nda", "A\x00da", "A\x9bda", "\u202eadA"),
        *("A\u2066da", "A\u2028da", "\ud800", "\u200b\u200d", "\u0301"),
    ],
)
def test_an_invisible_or_too_long_name_is_rejected(text: str) -> None:
    with pytest.raises(ChatError) as refusal:
        readable_nickname(text)
    assert refusal.value.code == "invalid_nickname"


def tokens(secret: str = SECRET, member: Member = ADA) -> AccessTokens:
    directory = Directory(lambda: NOW)
    directory.put_member(member)
    directory.sessions[member.id] = frozenset({"s1"})
    return AccessTokens(secret, directory)


def test_an_access_token_identifies_its_member_until_it_expires() -> None:
    token = tokens().issue(ADA, "s1", NOW)
    assert tokens().verify(token, NOW + LIFETIME_S - 1) == Session("m1", "s1", NOW + LIFETIME_S)
    with pytest.raises(ChatError):
        tokens().verify(token, NOW + LIFETIME_S)


def test_an_access_token_is_invalid_once_the_members_epoch_is_incremented() -> None:
    token = tokens().issue(ADA, "s1", NOW)
    with pytest.raises(ChatError):
        tokens(member=replace(ADA, epoch=1)).verify(token, NOW)


@pytest.mark.parametrize(
    "token", ["", "a.b.c", "\ud800", "x" * 5000, tokens("another" + SECRET).issue(ADA, "s1", NOW)]
)
def test_a_token_from_another_server_is_rejected(token: str) -> None:
    with pytest.raises(ChatError) as refusal:
        tokens().verify(token, NOW)
    assert refusal.value.code == "token_invalid"


@pytest.mark.parametrize(
    "header",
    [
        *("Authorization: Bearer {}", "authorization:\tbearer  {} "),
        "Sec-WebSocket-Protocol: svc.live, svc.token.{}",
    ],
)
def test_a_valid_token_is_found_at_the_start_of_a_request(header: str) -> None:
    head = f"GET / HTTP/1.1\r\nHost: a\r\n{header}\r\n\r\n".format(tokens().issue(ADA, "s1", NOW)).encode()
    assert tokens().member_in(head, NOW) == ADA.id
    assert not tokens().member_in(head, NOW + LIFETIME_S)
    assert not tokens("another" + SECRET).member_in(head, NOW)
    assert not any(tokens().member_in(head[:length], NOW) for length in range(len(head) - 4))


@pytest.mark.parametrize(
    "head", [b"", b"\x16\x03\x01", b"\r\nAuthorization: Bearer \xff\r\n", b"\r\n" * 1000]
)
def test_nothing_else_at_the_start_of_a_connection_counts_as_a_token(head: bytes) -> None:
    assert not tokens().member_in(head, NOW)


@pytest.mark.parametrize("made_up", ["x" * 1500, "a." * 700, "e30.e30.", "\ud800.a"])
def test_a_forged_token_is_rejected_cheaply(monkeypatch: pytest.MonkeyPatch, made_up: str) -> None:
    # The server checks the first bytes of every connection for a token before it schedules the connection, so
    # the check must be cheap.
    def read(*_: object, **__: object) -> None:
        raise AssertionError("it is read")

    monkeypatch.setattr(jwt, "decode", read)
    with pytest.raises(ChatError):
        tokens().verify(made_up, NOW)


def test_a_nonce_is_valid_once_and_for_a_limited_time() -> None:
    numbers = iter(range(10))
    challenges = Challenges(lambda: str(next(numbers)))
    (first, ends), (second, _) = challenges.issue("a", 0.0), challenges.issue("a", 1.0)
    assert (first, ends) == ("0", 300.0)
    assert challenges.take(first, 299.9)
    assert not challenges.take(first, 299.9)
    assert not challenges.take(second, 301.0)
    assert not challenges.take("made up", 0.0)


def test_a_new_nonce_replaces_the_oldest_one_when_the_table_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("svc.chat.authentication.one_time_codes.MAX_PENDING", 2)
    numbers = iter(range(10))
    challenges = Challenges(lambda: str(next(numbers)))
    nonces = [challenges.issue("a", 0.0)[0] for _ in range(3)]
    assert [challenges.take(nonce, 1.0) for nonce in nonces] == [False, True, True]


def test_throttling_one_address_is_temporary_and_does_not_affect_others() -> None:
    throttle = Throttle(burst=2, per_s=1.0)

    def passes(address: str, now: float) -> bool:
        try:
            throttle.take(address, now)
        except ChatError as refusal:
            assert refusal.code == "too_many_requests"
            return False
        return True

    assert [passes("a", 0.0) for _ in range(4)] == [True, True, False, False]
    assert passes("b", 0.0)
    assert [passes("a", 1.0), passes("a", 1.0), passes("a", 0.5)] == [True, False, False]


async def joined(chat: ChatServer, **fields: object) -> tuple[int, dict[str, Any]]:
    """Join with a valid proof. Return the status and the response."""
    body = await Device().proof(chat.http, chat.address) | fields
    async with chat.http.post("/api/auth/join", json=body) as response:
        return response.status, await response.json()


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({"nickname": "", "invite_code": "right"}, 400, "invalid_nickname"),
        ({"nickname": " ", "invite_code": "right"}, 400, "invalid_nickname"),
        ({"invite_code": "right"}, 400, "invalid_nickname"),
        ({"nickname": 7, "invite_code": "right"}, 400, "invalid_nickname"),
        ({"nickname": "Ada"}, 403, "invite_required"),
        ({"nickname": "Ada", "invite_code": " "}, 403, "invite_required"),
        ({"nickname": "Ada", "invite_code": "wrong"}, 403, "invite_invalid"),
        ({"nickname": "Ada", "invite_code": 7}, 400, "invalid_request"),
        ({"nickname": "Ada", "link_code": "wrong"}, 403, "code_invalid"),
        ({"nickname": "Ada", "recovery_code": "wrong"}, 403, "code_invalid"),
        ({"assertion": "x"}, 401, "proof_invalid"),
        ({"certificate": "x"}, 401, "proof_invalid"),
        ({"certificate": "x" * 20_000}, 400, "invalid_request"),
        ({"certificate": None}, 400, "invalid_request"),
        ({"assertion": None}, 400, "invalid_request"),
        ({"id_token": "x"}, 400, "invalid_request"),
        ({"certificate": None, "id_token": "x"}, 401, "proof_invalid"),
        ({"device_name": "x" * 65}, 400, "invalid_request"),
    ],
)
async def test_a_rejected_join_gets_a_response_with_the_reason(
    chat: ChatServer, fields: dict[str, object], status: int, code: str
) -> None:
    if fields.get("invite_code") == "right":
        fields = fields | {"invite_code": chat.invite}
    assert (await joined(chat, **fields))[0] == status
    answer = (await joined(chat, **fields))[1]
    assert answer["error"] == code
    assert answer.keys() == {"error", "message"}


async def test_a_challenge_names_its_audience(chat: ChatServer) -> None:
    async with chat.http.post("/api/auth/challenge") as response:
        answer = await response.json()
    assert answer.keys() == {"nonce", "audience", "identityTiers", "expiresAt"}
    assert (answer["audience"], answer["identityTiers"]) == ("s1", ["account", "local"])


async def test_joining_returns_tokens_and_the_member(chat: ChatServer) -> None:
    status, answer = await joined(chat, nickname=" Ada ", invite_code=f" {chat.invite} ")
    assert status == 200
    assert answer.keys() == {"access_token", "refresh_token", "expires_in_ms", "member", "channel_id"}
    assert answer["member"]["nickname"] == "Ada"
    assert answer["expires_in_ms"] == LIFETIME_S * 1000


async def test_two_members_may_have_the_same_name(chat: ChatServer) -> None:
    async with chat.member("Ada") as first, chat.member("Ada") as second:
        assert first.id != second.id


async def test_a_member_signs_in_again_without_an_invite(chat: ChatServer) -> None:
    device = Device()
    first = await chat.sign_in(device, nickname="Ada", invite_code=chat.invite)
    again = await chat.sign_in(device)
    assert again["member"] == first["member"]
    renamed = await chat.sign_in(device, nickname="Somebody else")
    assert renamed["member"]["nickname"] == "Ada"


async def test_only_the_first_member_is_the_owner(chat: ChatServer) -> None:
    first = await chat.sign_in(Device(), nickname="Ada", invite_code=chat.invite)
    second = await chat.sign_in(Device(), nickname="Bob", invite_code=chat.invite)
    assert set(first["member"]["roles"]) == {"owner", "member"}
    assert second["member"]["roles"] == ["member"]


async def test_exactly_one_of_many_concurrent_first_members_is_the_owner(chat: ChatServer) -> None:
    joins = (chat.sign_in(Device(), nickname="Ada", invite_code=chat.invite) for _ in range(20))
    answers = await asyncio.gather(*joins)
    assert sum("owner" in answer["member"]["roles"] for answer in answers) == 1
    assert len({answer["member"]["id"] for answer in answers}) == 20


async def test_concurrent_joins_with_the_same_key_create_one_member(chat: ChatServer) -> None:
    device = Device()
    joins = (chat.sign_in(device, nickname="Ada", invite_code=chat.invite) for _ in range(10))
    assert len({answer["member"]["id"] for answer in await asyncio.gather(*joins)}) == 1


async def test_a_full_server_admits_no_new_members_but_its_members_can_sign_in(
    variables: dict[str, str],
) -> None:
    async with chat_server({**variables, "MAX_MEMBERS": "1"}) as chat:
        device = Device()
        await chat.sign_in(device, nickname="Ada", invite_code=chat.invite)
        status, answer = await joined(chat, nickname="Bob", invite_code=chat.invite)
        assert (status, answer["error"]) == (403, "server_full")
        await chat.sign_in(device)


async def test_a_nonce_can_be_used_to_sign_in_only_once(chat: ChatServer) -> None:
    body = await Device().proof(chat.http, chat.address)
    body |= {"nickname": "Ada", "invite_code": chat.invite}
    statuses = []
    for _ in range(2):
        async with chat.http.post("/api/auth/join", json=body) as response:
            statuses.append((response.status, (await response.json()).get("error")))
    assert statuses == [(200, None), (401, "challenge_invalid")]


@pytest.mark.parametrize(
    "origin", ["http://127.0.0.1:1", "https://evil.example", "http://127.0.0.1", "nonsense", 7, None]
)
async def test_a_proof_for_another_address_is_rejected(chat: ChatServer, origin: object) -> None:
    device = Device()
    async with chat.http.post("/api/auth/challenge") as response:
        challenge = await response.json()
    body = {"certificate": device.certificate(), "assertion": device.assertion(challenge, origin)}
    async with chat.http.post("/api/auth/join", json=body) as response:
        assert (response.status, (await response.json())["error"]) == (401, "proof_invalid")


async def test_a_malicious_server_cannot_replay_a_proof_created_for_it(
    variables: dict[str, str],
) -> None:
    # The other server controls the Host header, so only the configured name counts.
    device = Device()
    async with chat_server({**variables, "EXTERNAL_HOST": "chat.example"}) as chat:
        for requested_addresses, status in [("https://evil.example", 401), ("https://chat.example", 200)]:
            async with chat.http.post("/api/auth/challenge") as response:
                challenge = await response.json()
            body = {
                "certificate": device.certificate(),
                "assertion": device.assertion(challenge, requested_addresses),
                "nickname": "Ada",
                "invite_code": chat.invite,
            }
            headers = {"Host": requested_addresses.removeprefix("https://")}
            async with chat.http.post("/api/auth/join", json=body, headers=headers) as response:
                assert response.status == status, await response.text()


async def test_a_join_request_that_is_not_json_is_rejected(chat: ChatServer) -> None:
    async with chat.http.post("/api/auth/join", data=b"\xff{") as response:
        assert (response.status, (await response.json())["error"]) == (400, "invalid_json")


async def test_an_oversized_join_request_is_rejected(chat: ChatServer) -> None:
    async with chat.http.post("/api/auth/join", data=b"x" * 70_000) as response:
        assert (response.status, (await response.json())["error"]) == (413, "body_too_large")


@pytest.fixture
async def local_refused(variables: dict[str, str]) -> AsyncIterator[ChatServer]:
    async with chat_server({**variables, "SVC_IDENTITY_TIERS": "account"}) as running:
        yield running


async def test_device_keys_are_rejected_if_only_accounts_may_join(local_refused: ChatServer) -> None:
    status, answer = await joined(local_refused, nickname="Ada", invite_code=local_refused.invite)
    assert (status, answer["error"]) == (403, "identity_tier_refused")


async def test_a_closed_server_admits_no_new_members_but_its_members_can_sign_in(
    variables: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    device = Device()
    async with chat_server(variables) as chat:
        before = await chat.sign_in(device, nickname="Ada", invite_code=chat.invite)
    async with chat_server({**variables, "SVC_SERVER_ENABLED": "perhaps"}) as chat:
        assert "every join is refused" in caplog.text
        for body in ({}, await device.proof(chat.http, chat.address)):
            async with chat.http.post("/api/auth/join", json=body) as response:
                assert (response.status, (await response.json())["error"]) == (403, "joins_disabled")
        refreshing = {"refresh_token": before["refresh_token"]}
        async with chat.http.post("/api/auth/refresh", json=refreshing) as response:
            assert response.status == 200
