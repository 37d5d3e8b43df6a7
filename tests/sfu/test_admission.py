"""A participant joins with the raw secret, or with the client credential and a token.

All other requests are rejected with the same message.
"""

import json

import pytest
from msgspec.structs import replace

from svc.base.grants import CAPS, client_credential, issue_user_token
from svc.base.signalling_codec import Envelope, EnvelopeError, read
from svc.sfu.admission import REFUSAL, JoinRefused, admit
from svc.sfu.client_events import ClientJoin
from svc.sfu.rooms import Rooms

SECRET, NOW = "a long secret", 1_000_000.0


def rooms() -> Rooms:
    made = Rooms(max_peers=9)
    made.register("home", SECRET, "lobby", 0.0)
    return made


def token(**changes: object) -> str:
    claims = {"user_id": "ann", "room_id": "lobby", "caps": ["speak"], "now": NOW, "jti": "one"} | changes
    return issue_user_token(SECRET, "home", **claims)  # type: ignore[arg-type]


def request(**changes: str) -> ClientJoin:
    member = ClientJoin(
        room_id="lobby",
        server_id="home",
        user_id="ann",
        server_password=client_credential(SECRET, "home"),
        user_token=token(),
    )
    return replace(member, **changes)


def test_the_raw_secret_admits_a_participant_with_all_caps_without_checking_a_token() -> None:
    admission = admit(rooms(), request(server_password=SECRET, user_token="whatever"), NOW)
    assert admission.room.room_id == "lobby" and admission.caps == CAPS


def test_the_client_credential_admits_a_participant_with_the_caps_in_the_token() -> None:
    assert admit(rooms(), request(), NOW).caps == {"speak"}


def test_a_token_can_be_used_only_once() -> None:
    made = rooms()
    admit(made, request(), NOW)
    with pytest.raises(JoinRefused):
        admit(made, request(), NOW)
    admit(made, request(user_token=token(jti="two")), NOW)


def test_a_refused_join_does_not_use_up_the_token() -> None:
    made = rooms()
    with pytest.raises(JoinRefused):
        admit(made, request(user_id="ben"), NOW)
    admit(made, request(), NOW)


@pytest.mark.parametrize(
    "wrong",
    [
        {"room_id": "attic"},
        {"room_id": "attic", "server_password": SECRET},
        {"server_id": "away"},
        {"server_password": "guess"},
        {"server_password": ""},
        {"server_password": client_credential(SECRET, "away")},
        {"user_token": ""},
        {"user_token": "x.y.z"},
        {"user_token": token(user_id="ben")},
        {"user_token": token(room_id="attic")},
        {"user_token": token(now=NOW - 301)},
        {"user_id": "ben"},
    ],
)
def test_a_nonexistent_room_and_wrong_credentials_get_the_same_refusal(
    wrong: dict[str, str],
) -> None:
    with pytest.raises(JoinRefused) as refused:
        admit(rooms(), request(**wrong), NOW)
    assert str(refused.value) == REFUSAL


def test_the_repr_of_a_request_contains_no_secret() -> None:
    assert "password" not in repr(request()) and "token" not in repr(request())


@pytest.mark.parametrize(
    ("payload", "error"),
    [
        ({}, "room_id is missing"),
        ({"room_id": 5}, "room_id must be a string"),
        ({"room_id": "x" * 257}, "room_id must have at most 256 characters"),
        ({"room_id": "r", "server_id": "s"}, "user_id is missing"),
        ({"room_id": "r", "server_id": "s", "user_id": "u"}, "server_password is missing"),
        (
            {"room_id": "r", "server_id": "s", "user_id": "u", "server_password": "p", "user_token": 1},
            "user_token must be a string",
        ),
    ],
)
def test_the_error_for_a_client_join_lists_the_missing_fields(payload: dict[str, object], error: str) -> None:
    with pytest.raises(EnvelopeError, match=f"^{error}$"):
        read(Envelope("client_join", json.dumps(payload)), ClientJoin)
