"""Mentions are Markdown links to members. Text that merely resembles a mention is ignored."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.chat.messages.markdown import MAX_MENTIONS, mentioned_ids, mentions_in


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("[Ada](mention:a1)", ["a1"]),
        ("Hello [Ada](mention:a1), meet [Ben](mention:b2)!", ["a1", "b2"]),
        ("[Ada](mention:a1) and again [Ada](mention:a1)", ["a1"]),
        ("[](mention:a1)", ["a1"]),
        ("[*Ada* `x`](mention:a1)", ["a1"]),
        ("[a [b] c](mention:a1)", ["a1"]),
        ("[Ada](<mention:a1>)", ["a1"]),
        ('[Ada]( mention:a1 "a title" )', ["a1"]),
        ("[two\nlines](mention:a1)", ["a1"]),
        ("[[Ada](mention:a1)](mention:b2)", ["a1"]),  # A link cannot contain a link.
        ("`[Ada](mention:a1)`", []),
        ("``a ` [Ada](mention:a1)``", []),
        ("`not code [Ada](mention:a1)", ["a1"]),
        ("[`](mention:a1)`", []),  # Code takes precedence.
        ("```\n[Ada](mention:a1)\n```", []),
        ("~~~ py\n[Ada](mention:a1)\n~~~", []),
        ("````\n```\n[Ada](mention:a1)\n````\n[Ben](mention:b2)", ["b2"]),
        ("```\n[Ada](mention:a1)", []),  # An unclosed code block extends to the end of the text.
        ("    [Ada](mention:a1)", []),
        ("text\n    [Ada](mention:a1)", ["a1"]),  # The indented line continues the paragraph.
        ("``` [Ada](mention:a1)```", []),
        (r"\[Ada](mention:a1)", []),
        (r"[Ada\](mention:a1)", []),
        (r"\![Ada](mention:a1)", ["a1"]),
        ("![Ada](mention:a1)", []),
        ("[Ada] (mention:a1)", []),
        ("[Ada](mention:)", []),
        ("[Ada](mention:a 1)", []),
        ("[Ada](mentions:a1)", []),
        ("[Ada](https://example.org/mention:a1)", []),
        ("[one\n\nparagraph](mention:a1)", []),
        ("mention:a1 @Ada", []),
    ],
)
def test_mentions_of_members_are_found(text: str, ids: list[str]) -> None:
    assert list(mentioned_ids(text)) == ids


def test_groups_are_distinguished_from_members() -> None:
    mentions = mentions_in(
        "[a](mention:everyone) [b](mention:here) [c](role:r1) [d](mention:a1) [e](role:r1)"
    )
    assert (mentions.members, mentions.groups) == (("a1",), ("everyone", "here", "r1"))
    assert mentions_in("`[a](mention:everyone)` ![b](role:r1)") == mentions_in("")


def test_mentions_beyond_the_limit_are_dropped() -> None:
    text = " ".join(f"[x](mention:m{number})" for number in range(100))
    assert mentioned_ids(text) == tuple(f"m{number}" for number in range(MAX_MENTIONS))


@given(st.text(alphabet="[]()`~\\!<>\n\t mention:a1\"'", max_size=200))
def test_any_text_can_be_searched_for_mentions(text: str) -> None:
    assert (
        set(mentioned_ids(text)) <= set(mentioned_ids(text + "")) and len(mentioned_ids(text)) <= MAX_MENTIONS
    )
