"""Each setting accepts its documented values and rejects all others."""

from dataclasses import asdict

import pytest

from svc.chat.settings.setting_types import MAX_PROBLEMS, Values, read


def test_the_defaults_keep_a_server_private() -> None:
    assert asdict(Values()) == {
        "joinPolicy": "invite",
        "discoverable": False,
        "lanOpen": False,
        "profanityMode": "off",
        "name": "",
        "description": "",
        "rules": "",
        "welcomeChannelId": None,
        "retentionDays": 0,
        "linkPreviews": True,
    }


@pytest.mark.parametrize(
    ("name", "given", "meant"),
    [
        *[("joinPolicy", policy, policy) for policy in ("invite", "open")],
        *[("profanityMode", mode, mode) for mode in ("off", "flag", "censor", "block")],
        *[
            (name, given, meant)
            for name in ("discoverable", "lanOpen", "linkPreviews")
            for given, meant in ((True, True), (False, False), ("on", True), ("off", False))
        ],
        ("name", " Chess ", "Chess"),
        ("name", None, None),
        ("rules", "Be kind.\nNo spam.", "Be kind.\nNo spam."),
        ("description", "", ""),
        ("retentionDays", 0, 0),
        ("retentionDays", "30", 30),
    ],
)
def test_the_documented_values_are_accepted(name: str, given: object, meant: object) -> None:
    assert read({name: given}) == ({name: meant}, [])


@pytest.mark.parametrize(
    ("name", "given", "code"),
    [
        ("joinPolicy", "closed", "invalid"),
        ("joinPolicy", "Invite", "invalid"),
        ("joinPolicy", True, "wrong_type"),
        ("joinPolicy", None, "wrong_type"),
        ("discoverable", "yes", "invalid"),
        ("discoverable", 1, "wrong_type"),
        ("lanOpen", 0, "wrong_type"),
        ("lanOpen", [True], "wrong_type"),
        ("lanOpen", {"on": 1}, "wrong_type"),
        ("profanityMode", False, "wrong_type"),
        ("profanityMode", "on", "invalid"),
        ("name", "", "invalid"),
        ("name", "\u200b", "invalid"),
        ("name", "x" * 65, "invalid"),
        ("name", 5, "wrong_type"),
        ("rules", "x" * 4001, "invalid"),
        ("rules", "\0", "invalid"),
        ("retentionDays", -1, "invalid"),
        ("retentionDays", 3651, "invalid"),
        ("retentionDays", None, "wrong_type"),
        ("retentionDays", True, "wrong_type"),
        ("retentionDays", "many", "wrong_type"),
        ("joinpolicy", "open", "unknown_key"),
        ("", "open", "unknown_key"),
    ],
)
def test_every_other_value_is_reported_as_a_problem(name: str, given: object, code: str) -> None:
    values, problems = read({name: given})
    assert values == {}
    assert [(problem.path, problem.code) for problem in problems] == [(name, code)]


def test_the_list_of_problems_is_limited() -> None:
    _, problems = read({f"{number:0100}": 1 for number in range(1000)})
    assert len(problems) == MAX_PROBLEMS
    assert all(len(problem.path) <= 64 for problem in problems)
