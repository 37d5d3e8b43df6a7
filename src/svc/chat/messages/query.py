"""Parses search queries: words, "phrases", and filters.

    from:NAME  in:CHANNEL  before:DAY  after:DAY  has:link|image|video|audio|file|card|pin|reaction
    -word  -"phrase"  -from:NAME  -in:CHANNEL  -has:KIND

An unknown filter is searched as a word. The last word also matches longer words that begin with it. All terms
must match, and no term after a `-` may match. Several filters of one kind are alternatives, except `has`. A
DAY is a day in UTC. To use days in another time zone, give a time with its offset, such as
2026-01-31T00:00+01:00. Nothing in a query reaches the search engine as syntax. This module does not resolve
the names of members and channels.
"""

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from svc.chat.errors import ChatError
from svc.chat.messages.search_words import Phrase, cost, has_word

MAX_CHARACTERS = 256
# The limit for words, names, days and kinds together, because each is looked up separately. A phrase costs as
# much as its words.
MAX_TERMS = 16

HAS = ("link", "image", "video", "audio", "file", "card", "pin", "reaction")
_FILTERS = ("from", "in", "before", "after", "has")
# Matches `from:"Two Words"`, `"a phrase"`, or a word. An unclosed quotation mark is dropped. A `-` excludes
# the word or phrase directly after it, so `--verbose` is a word.
_TERM = re.compile(
    r'(?P<minus>(?<!\S)-(?=[\w"]))?(?:(?P<filter>[A-Za-z]+):)?(?:"(?P<quoted>[^"]*)"|(?P<bare>[^\s"]+))'
)


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. Names are stored as typed.

    Times are in ms since 1970. `after_ms` is inclusive, and `before_ms` is exclusive.
    """

    phrases: tuple[str, ...] = ()
    # The phrase whose last word also matches longer words that begin with it.
    begun: str | None = None
    from_names: tuple[str, ...] = ()
    in_names: tuple[str, ...] = ()
    before_ms: int | None = None
    after_ms: int | None = None
    has: frozenset[str] = frozenset()
    # Excluded phrases, authors, channels and kinds.
    no_phrases: tuple[str, ...] = ()
    not_from: tuple[str, ...] = ()
    not_in: tuple[str, ...] = ()
    has_no: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class EngineQuery:
    """A query in the form required by the search index.

    A message matches if it contains all phrases, a tag from each group, and no excluded phrase or tag.
    """

    phrases: Sequence[Phrase]
    groups: Sequence[Iterable[str]]
    no_phrases: Sequence[Phrase] = ()
    no_tags: Sequence[str] = ()

    def beginnings(self) -> set[str]:
        return {phrase.beginning for phrase in (*self.phrases, *self.no_phrases)} - {""}

    def to_fts5(self, expandable: Iterable[str]) -> str:
        """Return the query in FTS5 syntax. Only the prefixes in `expandable` match longer words."""
        parts = [_match_expression(phrase, expandable) for phrase in self.phrases]
        parts += [f"tags : ({' OR '.join(map(_quote, sorted(tags)))})" for tags in self.groups]
        excluded = [_match_expression(phrase, expandable) for phrase in self.no_phrases]
        excluded += [f"tags : {_quote(tag)}" for tag in self.no_tags]
        wanted = " AND ".join(parts)
        return f"({wanted}) NOT ({' OR '.join(excluded)})" if excluded else wanted


def parse(text: str) -> Query:
    """Parse a query. Raises ChatError if it is empty or too long, or if a value is invalid."""
    if len(text) > MAX_CHARACTERS:
        raise ChatError("invalid_query", f"A query has at most {MAX_CHARACTERS} characters")
    values_by_name: dict[str, list[str]] = {sign + name: [] for sign in ("", "-") for name in (*_FILTERS, "")}
    begun = None
    for term in _TERM.finditer(text):
        name, sign = (term["filter"] or "").lower(), term["minus"] or ""
        value = term["bare"] if term["quoted"] is None else term["quoted"]
        if name in _FILTERS:
            values_by_name[sign + name].append(value.strip())
            continue
        value = f"{term['filter']} {value}" if term["filter"] else value
        values_by_name[sign].append(value)
        if not sign:
            begun = value if term["quoted"] is None else None
    # Look up repeated terms only once.
    values_by_name = {
        name: list({value.casefold(): value for value in values}.values())
        for name, values in values_by_name.items()
    }
    words = sum(cost(phrase) for phrase in (*values_by_name[""], *values_by_name["-"]))
    filters = sum(len(values_by_name[sign + name]) for sign in ("", "-") for name in _FILTERS)
    if words + filters > MAX_TERMS:
        raise ChatError("invalid_query", f"A query has at most {MAX_TERMS} words and filters: use fewer")
    if values_by_name["-before"] or values_by_name["-after"]:
        raise ChatError("invalid_query", "before: and after: cannot be excluded: use the opposite filter")
    return _query(values_by_name, begun)


def _query(values_by_name: dict[str, list[str]], begun: str | None) -> Query:
    query = Query(
        phrases=tuple(phrase for phrase in values_by_name[""] if has_word(phrase)),
        from_names=tuple(values_by_name["from"]),
        in_names=tuple(values_by_name["in"]),
        # If several days are given, the narrowest bound applies.
        before_ms=min((_time_ms(text) for text in values_by_name["before"]), default=None),
        after_ms=max((_time_ms(text, end=True) for text in values_by_name["after"]), default=None),
        has=frozenset(_require_known(value) for value in values_by_name["has"]),
        no_phrases=tuple(phrase for phrase in values_by_name["-"] if has_word(phrase)),
        not_from=tuple(values_by_name["-from"]),
        not_in=tuple(values_by_name["-in"]),
        has_no=frozenset(_require_known(value) for value in values_by_name["-has"]),
    )
    if query == Query():
        raise ChatError("invalid_query", "There is nothing to search for")
    return replace(query, begun=begun) if begun in query.phrases else query


_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DAY_MS = 86_400_000


def _match_expression(phrase: Phrase, expandable: Iterable[str]) -> str:
    return f"text : {_quote(phrase.words)}" + ("*" if phrase.beginning in expandable else "")


def _quote(text: str) -> str:
    # In FTS5 syntax, a NUL or an undoubled quotation mark would end the string.
    return '"' + text.replace('"', '""').replace("\0", " ") + '"'


def _time_ms(text: str, *, end: bool = False) -> int:
    """Return the start or end of a day in ms, or a given time unchanged."""
    is_day = _DAY.fullmatch(text) is not None
    try:
        time = datetime.datetime.fromisoformat(f"{text}T00:00Z" if is_day else text)
        if time.tzinfo is None:
            raise ValueError
    except ValueError:
        words = f"{text[:32]!r} is neither a day such as 2026-01-31 nor a time such as 2026-01-31T00:00Z"
        raise ChatError("invalid_query", words) from None
    return max(0, int(time.timestamp() * 1000)) + (_DAY_MS if is_day and end else 0)


def _require_known(value: str) -> str:
    if value.lower() not in HAS:
        raise ChatError("invalid_query", f"has: takes {', '.join(HAS)}")
    return value.lower()
