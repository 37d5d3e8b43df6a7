"""What may stand as a reaction."""

import pytest

from svc.chat.errors import ChatError
from svc.chat.messages.message import checked_emoji


@pytest.mark.parametrize(
    "emoji",
    [
        *("👍", "👍🏽", "❤️", "❤", "☺️", "✔️", "➕", "‼️", "⁉️", "™️", "©️", "1️⃣", "#️⃣", "*⃣"),
        *(
            "🇳🇱",
            "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
            "👨‍👩‍👧‍👦",
            "🏳️‍🌈",
            "🐻‍❄️",
            "🫱🏼‍🫲🏿",
        ),
        *(":party:", ":blob_42:"),
    ],
)
def test_emoji_are(emoji: str) -> None:
    assert checked_emoji(emoji)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "a",
            "yes",
            "1",
            "12",
            "#",
            "!",
            "?!",
            "...",
            "-",
            " ",
            "👍 ",
            "👍a",
            "\u200d",
            "\ufe0f",
            "\n",
            "👍\n",
        ),
        *("👍" * 33, ":a:", ":Party:", ":two words:", "::", ":x", "\u202e👍", "\ud83d", "<b>", "漢"),
    ],
)
def test_other_things_are_not(text: str) -> None:
    with pytest.raises(ChatError, match="invalid_emoji"):
        checked_emoji(text)
