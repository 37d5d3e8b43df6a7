"""Messages converted from other services are within a webhook's limits, whatever their content."""

import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.chat.webhooks import limits
from svc.chat.webhooks.compatible import discord, github, slack
from svc.chat.webhooks.compatible.draft import BLANK, CardDraft, FieldDraft, MessageDraft, cut, moment
from svc.chat.webhooks.compatible.payload_reader import InvalidValue, Node
from svc.chat.webhooks.payload import InvalidPayload, Payload, parse


@pytest.mark.parametrize(
    ("text", "maximum", "kept"),
    [
        ("short", 5, "short"),
        ("longer", 5, "long…"),
        ("the end", 5, "the…"),
        ("  ", 5, ""),
        ("any", 0, ""),
        ("any", 1, "…"),
        ("a\0b", 5, "ab"),
        ("a\ud800b", 5, "a?b"),
    ],
)
def test_truncated_text_ends_with_an_ellipsis(text: str, maximum: int, kept: str) -> None:
    assert cut(text, maximum) == kept


def test_each_field_is_truncated_to_its_own_limit() -> None:
    long = "x" * 10_000
    card = CardDraft(title=long, author=long, fields=[FieldDraft(long, long)])
    [mapped] = _accepted(MessageDraft(long, long, cards=[card])).cards
    assert len(mapped.title or "") == limits.MAX_TITLE
    assert mapped.author is not None and len(mapped.author.name) == limits.MAX_TITLE
    assert [(len(field.name), len(field.value)) for field in mapped.fields] == [(256, 1024)]


def test_all_cards_share_one_limit_and_the_first_cards_take_precedence() -> None:
    cards = [CardDraft(title=str(number), description="x" * 3_999) for number in range(3)]
    mapped = _accepted(MessageDraft(cards=cards)).cards
    assert [len(card.description or "") for card in mapped] == [3_999, 1_999]
    assert [card.title for card in mapped] == ["0", "1"]


def test_cards_and_fields_beyond_the_limit_are_left_out() -> None:
    fields = [FieldDraft(str(number), "value") for number in range(30)]
    cards = [CardDraft(title=str(number), fields=fields if number == 0 else []) for number in range(12)]
    mapped = _accepted(MessageDraft(cards=cards)).cards
    assert [card.title for card in mapped] == [str(number) for number in range(10)]
    assert len(mapped[0].fields) == limits.MAX_FIELDS


def test_empty_cards_do_not_count_towards_the_limit() -> None:
    cards = [CardDraft(color=1, footer="alone")] * 10 + [CardDraft(title="said")]
    assert [card.title for card in _accepted(MessageDraft(cards=cards)).cards] == ["said"]


def test_a_field_may_lack_its_name_or_its_value() -> None:
    fields = [FieldDraft("", "value"), FieldDraft("name", " "), FieldDraft("", "")]
    [card] = _accepted(MessageDraft(cards=[CardDraft(title="t", fields=fields)])).cards
    assert [(field.name, field.value) for field in card.fields] == [(BLANK, "value"), ("name", BLANK)]


@pytest.mark.parametrize(
    "url", ["ftp://files.test", "attachment://chart.png", "/here", "http://", "x" * 9_000]
)
def test_an_invalid_url_is_left_out(url: str) -> None:
    card = CardDraft(title="t", url=url, author="a", author_url=url, footer="f", footer_icon=url)
    card.image_url = card.thumbnail_url = card.author_icon = url
    mapped = MessageDraft(avatar_url=url, cards=[card]).payload()
    assert url not in json.dumps(mapped)


@pytest.mark.parametrize("color", [-1, 0x1000000, 10**30])
def test_an_invalid_color_is_left_out(color: int) -> None:
    assert _accepted(MessageDraft(cards=[CardDraft(title="t", color=color)])).cards[0].color is None


def test_black_is_a_color() -> None:
    assert _accepted(MessageDraft(cards=[CardDraft(title="t", color=0)])).cards[0].color == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-31T12:00:00.000Z", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ("2026-01-31T12:00:00+02:00", datetime(2026, 1, 31, 10, tzinfo=UTC)),
        ("2026-01-31T12:00:00", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=UTC)),
        ("0001-01-01T00:00:00+02:00", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_a_timestamp_without_a_time_zone_is_interpreted_as_utc(text: str, expected: datetime | None) -> None:
    assert moment(text) == expected


# Payloads in the formats of the three services, occasionally with invalid values.
_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
_TEXTS = st.text(max_size=30) | st.builds("x".__mul__, st.integers(0, 7_000)) | _SCALARS
_KEYS = (
    *("content", "username", "avatar_url", "embeds", "title", "url", "description", "color", "timestamp"),
    *("footer", "icon_url", "image", "thumbnail", "author", "name", "fields", "value", "inline", "text"),
    *("attachments", "blocks", "type", "pretext", "fallback", "ts", "title_link", "image_url", "accessory"),
    *("repository", "sender", "login", "action", "issue", "pull_request", "body", "commits", "review", "ref"),
)
_WORDS = st.sampled_from(
    ("opened", "created", "section", "image", "mrkdwn", "refs/heads/x", "http://a.test/x", "approved")
)
_ANY = st.recursive(
    _TEXTS | _WORDS,
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=8),
    max_leaves=20,
)
_BODIES = st.dictionaries(st.sampled_from(_KEYS), _ANY, max_size=10)


@given(_BODIES)
def test_any_discord_payload_is_accepted_or_rejected_cleanly(body: dict[str, object]) -> None:
    _accepted_unless_unreadable(lambda: discord.message(Node(body)))


@given(_BODIES)
def test_any_slack_payload_is_accepted_or_rejected_cleanly(body: dict[str, object]) -> None:
    _accepted_unless_unreadable(lambda: slack.message(Node(body)))


@given(st.sampled_from(sorted(github.EVENTS)), _BODIES)
def test_any_github_payload_is_accepted_or_rejected_cleanly(event: str, body: dict[str, object]) -> None:
    _accepted_unless_unreadable(lambda: github.message(event, Node(body)))


def _accepted_unless_unreadable(make: Callable[[], MessageDraft | None]) -> None:
    try:
        draft = make()
    except InvalidValue:
        return
    if draft is not None and (draft.payload().keys() & {"text", "cards"}):
        _accepted(draft)


def _accepted(draft: MessageDraft) -> Payload:
    """Validate a message, which must have no problems and no unknown keys. Return the result."""
    parsed = parse(draft.payload())
    assert not isinstance(parsed, InvalidPayload), parsed.problems
    assert list(parsed.warnings) == []
    return parsed
