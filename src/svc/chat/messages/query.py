"""What somebody types into the search box, read: words, "phrases", and filters.

    from:NAME  in:CHANNEL  before:DAY  after:DAY  has:link|image|video|file|card|pin|reaction

A word that looks like a filter and is none is a word. Everything said must hold; filters of
one kind are alternatives, except `has`. Nothing that is typed reaches the search engine as
syntax. Knows no member and no channel.
"""

import datetime
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from svc.chat.errors import ChatError

MAX_CHARACTERS = 256
# Each is looked up on its own.
MAX_TERMS = 16

HAS = ("link", "image", "video", "file", "card", "pin", "reaction")
_FILTERS = ("from", "in", "before", "after", "has")
# `from:"Two Words"`, `"a phrase"`, a word; a quotation mark that nothing closes is dropped.
_TERM = re.compile(r'(?:(?P<filter>[A-Za-z]+):)?(?:"(?P<quoted>[^"]*)"|(?P<bare>[^\s"]+))')
_LINK = re.compile(r"\bhttps?://[^\s<>]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Query:
    """Names are as they were typed; days are the ms of their beginning, UTC."""

    phrases: tuple[str, ...] = ()
    from_names: tuple[str, ...] = ()
    in_names: tuple[str, ...] = ()
    before_ms: int | None = None
    after_ms: int | None = None
    has: frozenset[str] = frozenset()


def parse(text: str) -> Query:
    """Raises ChatError for a query that is too long, says nothing, or names what does not exist."""
    if len(text) > MAX_CHARACTERS:
        raise ChatError("invalid_query", f"A query has at most {MAX_CHARACTERS} characters")
    said: dict[str, list[str]] = {name: [] for name in (*_FILTERS, "")}
    for term in _TERM.finditer(text):
        name = (term["filter"] or "").lower()
        value = term["bare"] if term["quoted"] is None else term["quoted"]
        if name in _FILTERS:
            said[name].append(value.strip())
        else:
            said[""].append(f"{term['filter']} {value}" if term["filter"] else value)
    if sum(map(len, said.values())) > MAX_TERMS:
        raise ChatError("invalid_query", f"A query has at most {MAX_TERMS} terms")
    query = Query(
        phrases=tuple(phrase for phrase in said[""] if _has_word(phrase)),
        from_names=tuple(said["from"]),
        in_names=tuple(said["in"]),
        # The narrowest of several.
        before_ms=min(map(_day_ms, said["before"]), default=None),
        after_ms=max((_day_ms(day) + _DAY_MS for day in said["after"]), default=None),
        has=frozenset(_known(value) for value in said["has"]),
    )
    if query == Query():
        raise ChatError("invalid_query", "There is nothing to search for")
    return query


def engine_query(phrases: Iterable[str], required: Iterable[Iterable[str]]) -> str:
    """FTS5's syntax for: all phrases, and of each group of tags at least one."""
    parts = [f"text : {_quoted(phrase)}" for phrase in phrases]
    parts += ["tags : (" + " OR ".join(_quoted(tag) for tag in sorted(tags)) + ")" for tags in required]
    return " AND ".join(parts)


def has_link(text: str) -> bool:
    return _LINK.search(text) is not None


_DAY_MS = 86_400_000


def _quoted(text: str) -> str:
    # A string of the engine ends at a quotation mark that is not doubled, and at NUL.
    return '"' + text.replace('"', '""').replace("\0", " ") + '"'


def _has_word(text: str) -> bool:
    """Would anything of it be indexed? FTS5 takes letters and numbers."""
    return any(unicodedata.category(character)[0] in "LN" for character in text)


def _day_ms(text: str) -> int:
    try:
        day = datetime.datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=datetime.UTC)
    except ValueError:
        raise ChatError("invalid_query", f"{text[:32]!r} is not a day such as 2026-01-31") from None
    return max(0, int(day.timestamp() * 1000))


def _known(value: str) -> str:
    if value.lower() not in HAS:
        raise ChatError("invalid_query", f"has: takes {', '.join(HAS)}")
    return value.lower()
