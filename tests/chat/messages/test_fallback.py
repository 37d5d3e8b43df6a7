"""The fallback text of a message without text is never empty and contains no link."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from svc.chat.messages.markdown import has_link, mentioned_ids
from svc.chat.messages.message import MAX_FALLBACK_CHARACTERS, PICTURE, fallback
from tests.kit.time_complexity import grows_with_its_size


@pytest.mark.parametrize(
    ("cards", "line"),
    [
        ([], None),
        ([{"title": "Build 512", "description": "It failed"}], "Build 512"),
        ([{"description": "It\n  failed\n"}], "It failed"),
        ([{"author": {"name": "ci"}}], "ci"),
        ([{"fields": [{"name": "Branch", "value": "main"}]}], "Branch: main"),
        ([{"image": {"key": "uploads/a.webp"}}], PICTURE),
        ([{"image": {}}, {"title": "Second"}], "Second"),
        ([{"title": "a" * 201}], "a" * 199 + "…"),
        ([{"description": "See [the log](https://ci.example/1) now"}], "See the log now"),
        ([{"description": "[@you](mention:0123) look"}], "@\u200byou look"),
        ([{"description": "![a chart](https://ci.example/a.png)"}], "a chart"),
        ([{"title": "https://ci.example/512 failed"}], "ci.example/512 failed"),
        ([{"title": "@everyone"}], "@\u200beveryone"),
        ([{"title": "[[a](b)](mention:0123)"}], "[a]\u200b(0123)"),
    ],
)
def test_the_fallback_is_the_first_content_of_a_card_on_a_single_line(
    cards: list[object], line: str | None
) -> None:
    assert fallback(cards) == line


@given(
    st.lists(st.sampled_from(["[", "]", "(", ")", "!", "<", ">", "mention:", "01", "http", "://", "a", "\n"]))
)
@example(["[", "a", "]", "(", "<", "mention:", "01", ">", ")"])
def test_the_fallback_contains_no_link_or_mention(parts: list[str]) -> None:
    line = fallback([{"description": "".join(parts)}])
    assert line is not None
    assert not has_link(line)
    assert mentioned_ids(line) == ()
    assert len(line) <= MAX_FALLBACK_CHARACTERS
    assert "\n" not in line


@pytest.mark.parametrize("piece", ["a.", "a+", "[a](", "![", "mention:", " ", "]("])
def test_the_cost_of_a_fallback_is_linear_in_the_length_of_the_cards_text(piece: str) -> None:
    # A page of history may contain a hundred cards. The event loop is blocked while they are processed.
    assert grows_with_its_size(lambda size: fallback([{"description": (piece * size)[:size]}]), 4_000)
