"""Payloads for Slack webhooks have the same meaning here as on Slack."""

import pytest

from svc.chat.webhooks.compatible import slack
from svc.chat.webhooks.compatible.payload_reader import MAX_READ_OBJECTS, InvalidValue, Node


def test_a_slack_payloads_text_name_and_icon_are_used_for_the_message() -> None:
    body = {
        "text": "*Hello* <https://a.test|there>",
        "username": "robot &amp; co",
        "icon_url": "https://pictures.test/robot.png",
        "icon_emoji": ":ghost:",
        "channel": "#ops",
        "unfurl_links": False,
    }
    assert _mapped(body) == {
        "text": "**Hello** [there](https://a.test)",
        "display_name": "robot & co",
        "avatar_url": "https://pictures.test/robot.png",
    }


def test_a_slack_attachment_becomes_a_card() -> None:
    attachment = {
        "fallback": "Disk full on web-1",
        "color": "danger",
        "pretext": "Look <!here>:",
        "author_name": "monitor",
        "author_link": "https://monitor.test",
        "author_icon": "https://monitor.test/icon.png",
        "title": "Disk &gt; 90%",
        "title_link": "https://monitor.test/12",
        "text": "On *web-1*",
        "fields": [
            {"title": "Host", "value": "<https://web-1.test|web-1>", "short": True},
            {"title": "Used", "value": 93, "short": False},
        ],
        "image_url": "https://monitor.test/graph.png",
        "thumb_url": "https://monitor.test/small.png",
        "footer": "monitor",
        "footer_icon": "https://monitor.test/icon.png",
        "ts": 1769860800,
    }
    assert _mapped({"attachments": [attachment]}) == {
        "cards": [
            {
                "title": "Disk > 90%",
                "url": "https://monitor.test/12",
                "description": "Look @here:\n\nOn **web-1**",
                "color": 0xE01E5A,
                "author": {
                    "name": "monitor",
                    "url": "https://monitor.test",
                    "icon_url": "https://monitor.test/icon.png",
                },
                "fields": [
                    {"name": "Host", "value": "[web-1](https://web-1.test)", "inline": True},
                    {"name": "Used", "value": "93", "inline": False},
                ],
                "image_url": "https://monitor.test/graph.png",
                "thumbnail_url": "https://monitor.test/small.png",
                "footer": {"text": "monitor", "icon_url": "https://monitor.test/icon.png"},
                "timestamp": "2026-01-31T12:00:00+00:00",
            }
        ]
    }


@pytest.mark.parametrize(
    ("name", "color"),
    [
        ("good", 0x2EB67D),
        ("warning", 0xECB22E),
        ("#36a64f", 0x36A64F),
        ("36a64f", 0x36A64F),
        ("#f00", 0xFF0000),
        ("mauve", None),
    ],
)
def test_colors_are_names_or_hexadecimal(name: str, color: int | None) -> None:
    [card] = _cards({"attachments": [{"title": "t", "color": name}]})
    assert card.get("color") == color


def test_the_fallback_is_used_if_there_is_nothing_else() -> None:
    attachments = [{"fallback": "Plain *summary*", "color": "good"}, {"title": "t", "fallback": "unseen"}]
    first, second = _cards({"attachments": attachments})
    assert first["description"] == "Plain **summary**"
    assert "description" not in second


def test_timestamps_may_be_strings_with_a_fraction() -> None:
    [card] = _cards({"attachments": [{"title": "t", "ts": "1769860800.25"}]})
    assert card["timestamp"] == "2026-01-31T12:00:00.250000+00:00"


def test_blocks_become_the_text_and_their_images_become_cards() -> None:
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": "Deploy *1*"}},
        {"type": "section", "text": {"type": "mrkdwn", "text": "to *prod*"}},
        {
            "type": "section",
            "fields": [{"type": "mrkdwn", "text": "*Who*\nci"}, {"type": "plain_text", "text": "a_*b*"}],
            "accessory": {"type": "image", "image_url": "https://ci.test/a.png", "alt_text": "a graph"},
        },
        {"type": "divider"},
        {
            "type": "context",
            "elements": [{"type": "mrkdwn", "text": "_by_"}, {"type": "image", "alt_text": "x"}],
        },
        {
            "type": "actions",
            "elements": [
                {"type": "button", "text": {"type": "plain_text", "text": "Open"}, "url": "https://ci.test"},
                {"type": "button", "text": {"type": "plain_text", "text": "Approve"}},
            ],
        },
        {"type": "image", "image_url": "https://ci.test/b.png", "title": {"type": "plain_text", "text": "B"}},
        {"type": "divider"},
    ]
    mapped = _mapped({"text": "for notifications only", "blocks": blocks})
    assert mapped["text"] == (
        "**Deploy \\*1\\***\n\nto **prod**\n\n**Who**\nci\na\\_\\*b\\*\n\n---\n\n_by_\n\n[Open](https://ci.test)"
    )
    assert mapped["cards"] == [
        {"title": "a graph", "image_url": "https://ci.test/a.png"},
        {"title": "B", "image_url": "https://ci.test/b.png"},
    ]


def test_the_text_is_used_if_the_blocks_have_no_content() -> None:
    assert _mapped({"text": "Summary", "blocks": [{"type": "video"}, {"type": "divider"}]}) == {
        "text": "Summary"
    }


def test_blocks_within_an_attachment_become_its_description() -> None:
    blocks = [
        {"type": "section", "text": {"type": "mrkdwn", "text": "*in*"}},
        {"type": "image", "image_url": "https://ci.test/b.png"},
    ]
    [card] = _cards({"attachments": [{"color": "#112233", "blocks": blocks}]})
    assert card == {"color": 0x112233, "description": "**in**", "image_url": "https://ci.test/b.png"}


def test_markup_can_be_turned_off() -> None:
    assert _mapped({"text": "*as* it <https://a.test|is>", "mrkdwn": False}) == {"text": r"\*as\* it is"}


def test_an_alertmanager_attachment_becomes_a_card() -> None:
    attachment = {
        "title": "[FIRING:1] DiskFull (web-1 critical)",
        "title_link": "http://monitor:9093/#/alerts?receiver=chat",
        "text": "",
        "fallback": "[FIRING:1] DiskFull (web-1 critical) | http://monitor:9093/#/alerts?receiver=chat",
        "callback_id": "",
        "footer": "",
        "color": "danger",
        "mrkdwn_in": ["fallback", "pretext", "text"],
    }
    [card] = _cards({"channel": "#ops", "username": "Alertmanager", "attachments": [attachment]})
    assert card == {
        "title": "[FIRING:1] DiskFull (web-1 critical)",
        "url": "http://monitor:9093/#/alerts?receiver=chat",
        "color": 0xE01E5A,
    }


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"text": {"type": "mrkdwn"}}, ("text",)),
        ({"attachments": "x"}, ("attachments",)),
        ({"blocks": [{"type": "section", "text": "x"}]}, ("blocks", 0, "text")),
    ],
)
def test_ambiguous_slack_payloads_are_rejected(body: dict[str, object], path: tuple[str | int, ...]) -> None:
    with pytest.raises(InvalidValue) as refused:
        slack.message(Node(body))
    assert refused.value.path == path


def test_rich_text_becomes_markdown() -> None:
    def section(*pieces: object, kind: str = "rich_text_section") -> dict[str, object]:
        return {"type": kind, "elements": list(pieces)}

    def words(text: str, **style: bool) -> dict[str, object]:
        return {"type": "text", "text": text} | ({"style": style} if style else {})

    def listed(style: str, *items: str, **more: int) -> dict[str, object]:
        return {
            "type": "rich_text_list",
            "style": style,
            "elements": [section(words(i)) for i in items],
            **more,
        }

    elements = [
        section(
            words("Hello "),
            words(" all of you ", bold=True, italic=True),
            words("*not bold*, "),
            words("x = `y`", code=True),
            {"type": "emoji", "name": "wave", "unicode": "1f44b"},
            {"type": "emoji", "name": "party_cat"},
            {"type": "emoji", "name": "+1", "skin_tone": 6},
            {"type": "user", "user_id": "U1"},
            {"type": "broadcast", "range": "here"},
            {"type": "link", "url": "https://a.test/(1)", "text": "there"},
            {"type": "link", "url": "javascript:alert(1)", "text": "nowhere"},
        ),
        listed("bullet", "one", "two"),
        listed("ordered", "first", "second", indent=1, offset=2),
        section(words("said\nthis"), kind="rich_text_quote"),
        section(words("print(1)\n```"), kind="rich_text_preformatted"),
        {"type": "rich_text_of_tomorrow"},
    ]
    assert _mapped({"blocks": [{"type": "rich_text", "elements": elements}]})["text"] == (
        r"Hello  ***all of you*** \*not bold\*, ``x = `y```👋:party_cat:👍🏿@U1@here"
        "[there](https://a.test/%281%29)nowhere\n"
        "- one\n- two\n    3. first\n    4. second\n> said\n> this\n````\nprint(1)\n```\n````"
    )


def _mapped(body: dict[str, object]) -> dict[str, object]:
    return slack.message(Node(body)).payload()


def _cards(body: dict[str, object]) -> list[dict[str, object]]:
    cards = _mapped(body)["cards"]
    assert isinstance(cards, list)
    return cards


def test_lines_beyond_a_limit_are_joined() -> None:
    """Check lines with separate formatting. Thousands of such lines once blocked the event loop for 20 ms."""
    text = {"type": "text", "text": "*\n" * 50, "style": {"bold": True, "strike": True}}
    section = {"type": "rich_text_section", "elements": [text] * 100}
    body = {"blocks": [{"type": "rich_text", "elements": [section]}]}
    assert slack.message(Node.of(body)).text.strip().count("\n") <= MAX_READ_OBJECTS
