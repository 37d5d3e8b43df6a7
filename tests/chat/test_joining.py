"""A name and an invite code make a member; everything else is refused with a code and words."""

from dataclasses import replace
from pathlib import Path

import pytest

from svc.chat.access.directory import Directory, Member
from svc.chat.access.tokens import LIFETIME_S, AccessTokens, Asker
from svc.chat.errors import ChatError
from svc.chat.joining.invite import invite_code
from svc.chat.names import readable_nickname
from tests.chat.member import ChatServer

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
def test_a_name_is_trimmed_and_kept(text: str, name: str) -> None:
    assert readable_nickname(text) == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "x" * 33,
        "x" * 1_000_000,
        "A\nda",
        "A\x00da",
        "A\x9bda",
        "\u202eadA",
        "A\u2066da",
        "A\u2028da",
        "\ud800",
        "\u200b\u200d",
        "\u0301",
    ],
)
def test_a_name_that_cannot_be_seen_or_is_too_long_is_refused(text: str) -> None:
    with pytest.raises(ChatError) as refusal:
        readable_nickname(text)
    assert refusal.value.code == "invalid_nickname"


def tokens(secret: str = SECRET, member: Member = ADA) -> AccessTokens:
    directory = Directory(lambda: NOW)
    directory.put_member(member)
    return AccessTokens(secret, directory)


def test_an_access_token_says_who_it_is_until_it_expires() -> None:
    token = tokens().issue(ADA, "s1", NOW)
    assert tokens().verify(token, NOW + LIFETIME_S - 1) == Asker("m1", "s1", NOW + LIFETIME_S)
    with pytest.raises(ChatError):
        tokens().verify(token, NOW + LIFETIME_S)


def test_an_access_token_ends_when_the_members_epoch_rises() -> None:
    token = tokens().issue(ADA, "s1", NOW)
    with pytest.raises(ChatError):
        tokens(member=replace(ADA, epoch=1)).verify(token, NOW)


@pytest.mark.parametrize(
    "token", ["", "a.b.c", "\ud800", "x" * 5000, tokens("another" + SECRET).issue(ADA, "s1", NOW)]
)
def test_a_token_of_somebody_else_is_refused(token: str) -> None:
    with pytest.raises(ChatError) as refusal:
        tokens().verify(token, NOW)
    assert refusal.value.code == "token_invalid"


def test_the_invite_code_is_made_once(tmp_path: Path) -> None:
    code = invite_code(tmp_path)
    assert len(code) == 16
    assert invite_code(tmp_path) == code


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"nickname": "", "invite_code": "right"}, 400, "invalid_nickname"),
        ({"invite_code": "right"}, 400, "invalid_nickname"),
        ({"nickname": 7, "invite_code": "right"}, 400, "invalid_nickname"),
        ({"nickname": "Ada"}, 403, "invite_required"),
        ({"nickname": "Ada", "invite_code": " "}, 403, "invite_required"),
        ({"nickname": "Ada", "invite_code": "wrong"}, 403, "invite_invalid"),
        ({"nickname": "Ada", "invite_code": 7}, 403, "invite_invalid"),
        ([], 400, "invalid_json"),
    ],
)
async def test_a_refused_join_says_why(chat: ChatServer, body: object, status: int, code: str) -> None:
    if isinstance(body, dict) and body.get("invite_code") == "right":
        body = body | {"invite_code": chat.invite}
    async with chat.http.post("/api/auth/join", json=body) as response:
        answer = await response.json()
        assert (response.status, answer["error"]) == (status, code)
        assert answer.keys() == {"error", "message"}


async def test_joining_answers_with_a_token_and_the_member(chat: ChatServer) -> None:
    body = {"nickname": " Ada ", "invite_code": f" {chat.invite} "}
    async with chat.http.post("/api/auth/join", json=body) as response:
        answer = await response.json()
        assert response.status == 200
        assert answer.keys() == {"access_token", "member"}
        assert answer["member"]["nickname"] == "Ada"


async def test_two_members_of_one_name_are_two_members(chat: ChatServer) -> None:
    async with chat.member("Ada") as first, chat.member("Ada") as second:
        assert first.id != second.id


async def test_a_body_that_is_no_json_is_refused(chat: ChatServer) -> None:
    async with chat.http.post("/api/auth/join", data=b"\xff{") as response:
        assert (response.status, (await response.json())["error"]) == (400, "invalid_json")
    headers = {"Content-Type": "application/json; charset=nonsense"}
    async with chat.http.post("/api/auth/join", data=b"{}", headers=headers) as response:
        assert (response.status, (await response.json())["error"]) == (400, "invalid_json")


async def test_a_body_that_is_too_large_is_refused(chat: ChatServer) -> None:
    async with chat.http.post("/api/auth/join", data=b"x" * 70_000) as response:
        assert (response.status, (await response.json())["error"]) == (413, "body_too_large")
