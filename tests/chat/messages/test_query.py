"""What is typed into the search box is understood or refused, and never reaches the engine as syntax."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.chat.errors import ChatError
from svc.chat.messages.query import Query, engine_query, parse

DAY_MS = 86_400_000


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("hello", Query(phrases=("hello",))),
        ("hello world", Query(phrases=("hello", "world"))),
        ('"hello world" x', Query(phrases=("hello world", "x"))),
        ("from:ada hi", Query(phrases=("hi",), from_names=("ada",))),
        ('FROM:"Ada Lovelace"', Query(from_names=("Ada Lovelace",))),
        ("in:general in:news", Query(in_names=("general", "news"))),
        ("before:1970-01-03", Query(before_ms=2 * DAY_MS)),
        ("after:1970-01-03", Query(after_ms=3 * DAY_MS)),
        ("before:1970-01-03 before:1970-01-02", Query(before_ms=DAY_MS)),
        ("has:link has:PIN", Query(has=frozenset({"link", "pin"}))),
        ("http://example.org", Query(phrases=("http //example.org",))),
        ('a " b', Query(phrases=("a", "b"))),
        ("x ++ !!", Query(phrases=("x",))),
        ("NEAR(a b) AND NOT c*", Query(phrases=("NEAR(a", "b)", "AND", "NOT", "c*"))),
    ],
)
def test_what_is_understood(text: str, query: Query) -> None:
    assert parse(text) == query


@pytest.mark.parametrize(
    "text",
    [
        *("", "   ", "!!! ??", "has:nothing", "before:yesterday", "after:2024-13-01", "x" * 257),
        " ".join("abcdefghijklmnopq"),
    ],
)
def test_what_is_refused(text: str) -> None:
    with pytest.raises(ChatError, match="invalid_query"):
        parse(text)


@given(st.text(max_size=100))
def test_whatever_is_typed_the_engine_understands(text: str) -> None:
    try:
        query = parse(text)
    except ChatError:
        return
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5 (text, tags, content = '')")
    sought = engine_query(query.phrases, [["ca", "cb"]])
    assert connection.execute("SELECT rowid FROM words WHERE words MATCH ?", (sought,)).fetchall() == []
    connection.close()
