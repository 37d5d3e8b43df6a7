"""A grant admits one user to one room for a short time and can be signed only with the registered secret."""

import hashlib
import hmac
import math
from collections.abc import Mapping

import jwt
import pytest

from svc.base.grants import (
    CAPS,
    GrantError,
    UserToken,
    client_credential,
    issue_user_token,
    same_secret,
    verify_user_token,
)

PASSWORD = "a password of the control connection"
NOW = 1_800_000_000.5


def issue(**changes: object) -> str:
    terms: dict[str, object] = {
        "user_id": "u1",
        "room_id": "lobby",
        "caps": CAPS,
        "now": NOW,
        "jti": "j1",
    }
    return issue_user_token(PASSWORD, "s1", **(terms | changes))  # type: ignore[arg-type]


def sign(claims: Mapping[str, object], key: bytes | None = None) -> str:
    usual = {"iss": "s1", "sub": "u1", "room": "lobby", "exp": int(NOW) + 60, "jti": "j", "caps": ["speak"]}
    own_key = hmac.digest(PASSWORD.encode(), b"token:s1", hashlib.sha256)
    merged = {name: value for name, value in (usual | dict(claims)).items() if value is not None}
    return jwt.encode(merged, key or own_key, algorithm="HS256")


def verify(token: str, *, server_id: str = "s1", user_id: str = "u1", now: float = NOW) -> UserToken:
    return verify_user_token(token, PASSWORD, server_id, user_id=user_id, room_id="lobby", now=now)


def test_an_issued_grant_is_parsed_back_unchanged() -> None:
    token = verify(issue(caps={"speak"}, lifetime_s=120))
    assert token == UserToken("u1", "lobby", frozenset({"speak"}), "j1", int(NOW) + 120)


def test_the_client_credential_is_derived_as_documented() -> None:
    expected = hmac.new(PASSWORD.encode(), b"client:s1", hashlib.sha256).hexdigest()
    assert client_credential(PASSWORD, "s1") == expected


def test_the_signing_key_is_derived_as_documented() -> None:
    assert verify(sign({})).caps == {"speak"}


def test_a_grant_may_have_no_capabilities() -> None:
    assert verify(sign({"caps": []})).caps == frozenset()


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"sub": "u2"}, "another user"),
        ({"room": "other"}, "or another room"),
        ({"iss": "s2"}, "another user or another room"),
        ({"exp": int(NOW)}, "expired"),
        ({"exp": NOW + 301}, "valid for more than five minutes"),
        ({"exp": 10**400}, "valid for more than five minutes"),
        ({"exp": math.nan}, "expired"),
        ({"exp": "soon"}, "usable expiry"),
        ({"exp": True}, "usable expiry"),
        ({"jti": ""}, "usable id"),
        ({"jti": "j" * 129}, "usable id"),
        ({"caps": "speak"}, "unknown capability"),
        ({"caps": ["administer"]}, "unknown capability"),
        ({"caps": [["speak"]]}, "unknown capability"),
        ({"caps": None}, "lacks caps"),
        ({"exp": None, "jti": None}, "lacks exp, jti"),
    ],
)
def test_a_signed_token_with_other_claims_is_rejected(claims: dict[str, object], reason: str) -> None:
    with pytest.raises(GrantError, match=reason):
        verify(sign(claims))


@pytest.mark.parametrize(
    "token",
    ["", "a.b.c", "x" * 3000, sign({}, key=b"k" * 32), jwt.encode({"sub": "u1"}, "", algorithm="none")],
)
def test_a_token_with_an_unknown_signature_is_rejected(token: str) -> None:
    with pytest.raises(GrantError):
        verify(token)


def test_a_grant_from_one_server_is_rejected_by_another() -> None:
    with pytest.raises(GrantError):
        verify(issue(), server_id="s2")


def test_a_grant_expires() -> None:
    assert verify(issue(), now=NOW + 299)
    with pytest.raises(GrantError, match="expired"):
        verify(issue(), now=NOW + 300)


def test_secrets_in_any_script_can_be_compared() -> None:
    assert same_secret("schlüssel", "schlüssel")
    assert not same_secret("schlüssel", "schlussel")
