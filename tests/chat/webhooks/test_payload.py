"""Tests the payload parser with tables of valid payloads and of all documented problems and limits.

See docs/webhooks.md.
"""

from collections.abc import Sequence
from typing import Any

import pytest

from svc.chat.webhooks.json_reader import PROBLEM_CODES, Problem, decode
from svc.chat.webhooks.limits import MAX_SHOWN_KEY, MAX_UNKNOWN_KEYS
from svc.chat.webhooks.payload import InvalidPayload, Payload, parse
from svc.chat.webhooks.publisher import refusal

CARD = {"title": "A title"}
NESTED: list[object] = []
for _ in range(32):
    NESTED = [NESTED]


def url(characters: int) -> str:
    start = "https://example.com/"
    return start + "a" * (characters - len(start))


def card(**parts: object) -> dict[str, object]:
    return {"cards": [CARD | parts]}


def problems(value: object) -> list[tuple[str, str, int | None]]:
    """Return the path, code and limit of each problem in a payload."""
    parsed = parse(value)
    if isinstance(parsed, Payload):
        return []
    return [(problem.path, problem.code, problem.limit) for problem in parsed.problems]


def accepted(value: object) -> Payload:
    parsed = parse(value)
    assert isinstance(parsed, Payload), parsed
    return parsed


BAD_COLORS: Sequence[object] = (
    *("", "red", "ff0000", "#ff000", "#ff00000", "#gg0000", "#ff0000\n", "0xff0000", "16711680"),
    *(-1, 16_777_216, 1.5, True, False, [], {}, 10**30),
)

# All problem codes, wherever they can occur.
REFUSED: Sequence[tuple[object, Sequence[tuple[str, str, int | None]]]] = [
    # required: missing, or empty after trimming spaces
    ({}, [("text", "required", None)]),
    ({"text": ""}, [("text", "required", None)]),
    ({"text": " \t\n\u00a0\u2003"}, [("text", "required", None)]),
    ({"text": None, "cards": None}, [("text", "required", None)]),
    ({"cards": []}, [("text", "required", None)]),
    ({"cards": [{"title": ""}]}, [("cards[0].title", "required", None)]),
    ({"cards": [{"description": "  "}]}, [("cards[0].description", "required", None)]),
    (card(author={}), [("cards[0].author.name", "required", None)]),
    (card(author={"name": " "}), [("cards[0].author.name", "required", None)]),
    (card(footer={"text": None}), [("cards[0].footer.text", "required", None)]),
    (
        card(fields=[{"name": "a", "value": "b"}, {}]),
        [("cards[0].fields[1].name", "required", None), ("cards[0].fields[1].value", "required", None)],
    ),
    (
        card(fields=[{"name": " ", "value": "\n"}]),
        [("cards[0].fields[0].name", "required", None), ("cards[0].fields[0].value", "required", None)],
    ),
    # wrong_type
    ([], [("", "wrong_type", None)]),
    ("text", [("", "wrong_type", None)]),
    (None, [("", "wrong_type", None)]),
    (1, [("", "wrong_type", None)]),
    ({"text": 1}, [("text", "wrong_type", None)]),
    ({"text": "a", "display_name": ["a"]}, [("display_name", "wrong_type", None)]),
    ({"text": "a", "avatar_url": 1}, [("avatar_url", "wrong_type", None)]),
    ({"cards": {}}, [("cards", "wrong_type", None)]),
    ({"cards": "a"}, [("cards", "wrong_type", None)]),
    ({"cards": [None]}, [("cards[0]", "wrong_type", None)]),
    ({"cards": [CARD, "a"]}, [("cards[1]", "wrong_type", None)]),
    (card(title=1), [("cards[0].title", "wrong_type", None)]),
    (card(author="a"), [("cards[0].author", "wrong_type", None)]),
    (card(footer=[]), [("cards[0].footer", "wrong_type", None)]),
    (card(fields={}), [("cards[0].fields", "wrong_type", None)]),
    (card(fields=[1]), [("cards[0].fields[0]", "wrong_type", None)]),
    (
        card(fields=[{"name": "a", "value": "b", "inline": "yes"}]),
        [("cards[0].fields[0].inline", "wrong_type", None)],
    ),
    (card(timestamp=1_700_000_000), [("cards[0].timestamp", "wrong_type", None)]),
    # too_long
    ({"text": "a" * 4001}, [("text", "too_long", 4000)]),
    (card(title="a" * 257), [("cards[0].title", "too_long", 256)]),
    (card(description="a" * 4001), [("cards[0].description", "too_long", 4000)]),
    (card(author={"name": "a" * 257}), [("cards[0].author.name", "too_long", 256)]),
    (
        card(fields=[{"name": "a" * 257, "value": "b" * 1025}]),
        [("cards[0].fields[0].name", "too_long", 256), ("cards[0].fields[0].value", "too_long", 1024)],
    ),
    (card(footer={"text": "a" * 2049}), [("cards[0].footer.text", "too_long", 2048)]),
    ({"text": "a", "avatar_url": url(2049)}, [("avatar_url", "too_long", 2048)]),
    *(
        (card(**{name: url(2049)}), [(f"cards[0].{name}", "too_long", 2048)])
        for name in ("url", "image_url", "thumbnail_url")
    ),
    (
        card(author={"name": "a", "url": url(2049), "icon_url": url(2049)}),
        [("cards[0].author.url", "too_long", 2048), ("cards[0].author.icon_url", "too_long", 2048)],
    ),
    (card(footer={"text": "a", "icon_url": url(2049)}), [("cards[0].footer.icon_url", "too_long", 2048)]),
    # too_many
    ({"cards": [CARD] * 11}, [("cards", "too_many", 10)]),
    (card(fields=[{"name": "a", "value": "b"}] * 26), [("cards[0].fields", "too_many", 25)]),
    # invalid_url
    *(
        ({"text": "a", "avatar_url": bad}, [("avatar_url", "invalid_url", None)])
        for bad in (
            *("", " ", "example.com", "ftp://example.com", "javascript:alert(1)", "http:", "http://"),
            *("https:///path", "http://a b", "http://example.com/a b", "http://example.com:70000", "//a"),
            *("http://exa\\mple", "http://a@b@c/", " http://a", "http://a\n", "data:image/png;base64,AA=="),
        )
    ),
    (card(url="x"), [("cards[0].url", "invalid_url", None)]),
    (card(author={"name": "a", "url": "mailto:a@b"}), [("cards[0].author.url", "invalid_url", None)]),
    # invalid_color
    *((card(color=bad), [("cards[0].color", "invalid_color", None)]) for bad in BAD_COLORS),
    # invalid_timestamp
    *(
        (card(timestamp=bad), [("cards[0].timestamp", "invalid_timestamp", None)])
        for bad in (
            *("", "now", "2026-01-31", "20260131", "2026-01-31T12:00:00", "2026-01-31 12:00", "12:00:00Z"),
            *("2026-02-30T12:00:00Z", "2026-13-01T00:00:00Z", "2026-01-31T24:30:00Z", "2026-01-31T12:60Z"),
            *("0000-01-01T00:00Z", "2026-01-31T12:00:00+25:00", "2026-01-31T12Z", "31.01.2026T12:00Z"),
            *("٢٠٢٦-01-31T12:00Z", "2026-01-31T12:00:00Z\n", "2026-0131T12:00Z", "2026-01-31T1200:00Z"),
            *("2026-01-31T12:00:60Z", "2026-01-31T23:59:61Z"),
        )
    ),
    # empty_card
    ({"cards": [{}]}, [("cards[0]", "empty_card", None)]),
    ({"text": "a", "cards": [{}]}, [("cards[0]", "empty_card", None)]),
    ({"cards": [{"title": None, "fields": None}]}, [("cards[0]", "empty_card", None)]),
    ({"cards": [{"fields": []}]}, [("cards[0]", "empty_card", None)]),
    (
        {
            "cards": [
                {
                    "url": url(30),
                    "color": 1,
                    "thumbnail_url": url(30),
                    "footer": {"text": "a"},
                    "timestamp": "2026-01-31T12:00:00Z",
                }
            ]
        },
        [("cards[0]", "empty_card", None)],
    ),
    # total_too_long: all kinds of text in all cards count
    (
        {"cards": [{"description": "a" * 4000}, {"description": "a" * 2001}]},
        [("cards", "total_too_long", 6000)],
    ),
    (
        {
            "cards": [
                {"description": "a" * 4000, "title": "a" * 256, "author": {"name": "a" * 256}},
                {"fields": [{"name": "a" * 256, "value": "a" * 1024}], "footer": {"text": "a" * 209}},
            ]
        },
        [("cards", "total_too_long", 6000)],
    ),
    # invalid_format
    ({"text": "a\0"}, [("text", "invalid_format", None)]),
    ({"text": "\ud800"}, [("text", "invalid_format", None)]),
    ({"text": "a", "display_name": "\udfff"}, [("display_name", "invalid_format", None)]),
    (card(title="a\0"), [("cards[0].title", "invalid_format", None)]),
    (card(url="http://a/\0"), [("cards[0].url", "invalid_format", None)]),
    # Several problems are reported together, in payload order.
    (
        {"text": 1, "avatar_url": "x", "cards": [{"color": "red"}, {"title": "a", "timestamp": "x"}]},
        [
            ("text", "wrong_type", None),
            ("avatar_url", "invalid_url", None),
            ("cards[0].color", "invalid_color", None),
            ("cards[0]", "empty_card", None),
            ("cards[1].timestamp", "invalid_timestamp", None),
        ],
    ),
]


@pytest.mark.parametrize(("value", "wrong"), REFUSED)
def test_problems_are_reported_with_their_path_and_limit(
    value: object, wrong: list[tuple[str, str, int | None]]
) -> None:
    assert problems(value) == wrong


def test_every_problem_code_is_covered() -> None:
    reached = {code for _, wrong in REFUSED for _, code, _ in wrong}
    deep = parse(decode(b"[" * 2_000 + b"]" * 2_000))
    assert isinstance(deep, InvalidPayload)
    assert reached | {problem.code for problem in deep.problems} == set(PROBLEM_CODES)


ACCEPTED: list[object] = [
    {"text": "a" * 4000},
    {"text": "\U0001f600" * 4000},
    {"cards": [CARD] * 10},
    {"text": " ", "cards": [CARD]},
    {"text": None, "display_name": None, "avatar_url": None, "cards": [CARD]},
    card(title="a" * 256),
    card(title=None, description="a" * 4000),
    card(title=None, author={"name": "a" * 256, "url": None}),
    card(title=None, image_url=url(2048)),
    card(title=None, fields=[{"name": "a", "value": "b" * 100}] * 25),
    card(fields=[]),
    card(fields=[{"name": "a" * 256, "value": "b" * 1024, "inline": True}]),
    card(footer={"text": "a" * 2048, "icon_url": "http://[::1]:80/"}),
    {"cards": [{"description": "a" * 4000}, {"description": "a" * 2000}]},
    *(
        {"text": "a", "avatar_url": good}
        for good in ("HTTPS://EXAMPLE.COM", "http://a", "http://ü.example/ü?ü")
    ),
    *(card(url=good) for good in ("http://user:word@h:1/x#y", "http://10.0.0.1", "https://a?b", url(2048))),
]


@pytest.mark.parametrize("value", ACCEPTED)
def test_values_within_every_limit_are_accepted(value: object) -> None:
    assert accepted(value).warnings == []


@pytest.mark.parametrize(
    ("given", "number"),
    [
        ("#2dA44e", 0x2DA44E),
        ("#000000", 0),
        (0, 0),
        (16_777_215, 0xFFFFFF),
        (255.0, 255),
        (None, None),
    ],
)
def test_every_color_format_becomes_a_number(given: object, number: int | None) -> None:
    assert accepted(card(color=given)).cards[0].color == number


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"),
        ("2026-01-31t12:00:00z", "2026-01-31T12:00:00Z"),
        ("2026-01-31 12:00:00+02:00", "2026-01-31T12:00:00+02:00"),
        ("2026-01-31T12:00-0930", "2026-01-31T12:00:00-09:30"),
        ("2024-02-29T23:59:59.123456789+02", "2024-02-29T23:59:59.123456789+02:00"),
        ("20260131T120000,5Z", "2026-01-31T12:00:00.5Z"),
        ("0001-01-01T00:00+23:59", "0001-01-01T00:00:00+23:59"),
        # Date libraries have no leap seconds, so a leap second becomes the following second.
        ("1990-12-31T23:59:60Z", "1991-01-01T00:00:00Z"),
        ("1990-12-31T15:59:60-08:00", "1990-12-31T16:00:00-08:00"),
        ("20161231T235960.5Z", "2017-01-01T00:00:00.5Z"),
        ("9999-12-31T23:59:60Z", "9999-12-31T23:59:59Z"),
    ],
)
def test_a_timestamp_is_normalised_and_keeps_its_time_zone(given: str, kept: str) -> None:
    assert accepted(card(timestamp=given)).cards[0].timestamp == kept


def test_at_most_twenty_problems_are_reported() -> None:
    fields = [{"name": 1, "value": 2}] * 25
    assert len(problems({"cards": [{"fields": fields}]})) == 20


def test_unknown_keys_cause_warnings_at_every_nesting_level() -> None:
    value = {
        "text": "a",
        "tts": True,
        "cards": [
            {
                "title": "a",
                "video": {},
                "author": {"name": "a", "proxy": 1},
                "fields": [{"name": "a", "value": "b", "short": True}],
                "footer": {"text": "a", "x": None},
            }
        ],
    }
    warnings = accepted(value).warnings
    assert [(warning.path, warning.code) for warning in warnings] == [
        ("cards[0].author.proxy", "unknown_key"),
        ("cards[0].fields[0].short", "unknown_key"),
        ("cards[0].footer.x", "unknown_key"),
        ("cards[0].video", "unknown_key"),
        ("tts", "unknown_key"),
    ]


def test_warnings_about_unknown_keys_are_bounded_and_safe_to_return() -> None:
    value: dict[str, Any] = {"text": "a", "\ud800" + "k" * 500: 1} | {f"key{n}": n for n in range(1000)}
    warnings = accepted(value).warnings
    assert len(warnings) == MAX_UNKNOWN_KEYS
    assert warnings[0].path == "?" + "k" * (MAX_SHOWN_KEY - 1)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({}, "empty_message"),
        ({"text": "  ", "cards": []}, "empty_message"),
        ({"text": "a" * 4001}, "message_too_long"),
        ({"text": "a" * 4001, "avatar_url": "x"}, "invalid_payload"),
        ({"avatar_url": "x"}, "invalid_payload"),
        ({"text": 1}, "invalid_payload"),
    ],
)
def test_the_two_simplest_errors_have_their_own_codes(value: object, code: str) -> None:
    parsed = parse(value)
    assert isinstance(parsed, InvalidPayload)
    assert refusal(parsed.problems).code == code


def test_an_error_lists_its_problems() -> None:
    body = refusal([Problem("cards", "too_many", 10), Problem("text", "wrong_type")]).body()
    assert body == {
        "error": "invalid_payload",
        "message": "cards: At most 10 (and 1 more)",
        "problems": [
            {"path": "cards", "code": "too_many", "message": "At most 10", "limit": 10},
            {"path": "text", "code": "wrong_type", "message": "This is the wrong kind of value"},
        ],
    }
