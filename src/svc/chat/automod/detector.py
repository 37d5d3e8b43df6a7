"""Matches messages against a rule and finds the matching parts.

Stores each author's recent messages to detect repeats. Does not check permissions or read the clock.
"""

import re
import sys
from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlsplit

from svc.base.time_slices import Work, run_to_end
from svc.chat.automod.pattern_matcher import MAX_MATCHES
from svc.chat.automod.rule_definition import MAX_LABELS, MAX_REPEATS, WITHIN_S, Phrases, Rule
from svc.chat.messages.markdown import mentions_in, trim_address
from svc.chat.messages.profanity import ScannedText, Span, mask

# The number of links checked in one time slice. A slice takes up to 0.5 ms.
_LINKS_AT_ONCE = 64
# The maximum number of stored authors. Beyond that, the author who has been inactive longest is forgotten.
MAX_AUTHORS = 10_000
_ADDRESS = r"[^\s<>\"|`\\]"
_LINK = re.compile(
    rf"https?://{_ADDRESS}++|(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{{1,20}}+://{_ADDRESS}++|(?<![\w.@-])www\.{_ADDRESS}++"
    # Matches URLs without a scheme: `example.org/there`.
    rf"|(?<![\w.@/:-])(?:[\w-]{{1,63}}+\.){{1,8}}+[a-z]{{2,24}}+(?::\d{{1,5}}+)?+/{_ADDRESS}*+",
    re.IGNORECASE,
)
# CommonMark (2.4, 2.5) decodes these escapes and references in a link's URL, `b` in `[a](b)`.
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])|&#(?:[xX]([0-9a-fA-F]{1,6})|([0-9]{1,7}));")
# The maximum length of the part before the path: a user name, a host and a port. A host has at most 253
# characters.
_MAX_AUTHORITY = 512
_AUTHORITY_END = re.compile("[/?#]|\\Z")
_MENTION = re.compile(r"\[[^\[\]]{0,200}\]\(\s{0,8}<?(?:mention|role):[^\s()]{1,140}\s{0,8}\)")


@dataclass(frozen=True)
class CheckedText:
    """A message that is about to be posted, or the new text of an edited message."""

    author_id: str
    channel_id: str
    read: ScannedText
    # False for an edited message, which would otherwise count as a repeat of itself.
    new: bool = True

    @property
    def text(self) -> str:
        return self.read.text

    @cached_property
    def essence(self) -> int:
        """A hash that ignores spaces, case and letter substitutions."""
        folded = run_to_end(self.read.folded()).text
        return hash("".join(filter(str.isalnum, folded)) or self.text.strip())

    @property
    def whole(self) -> Sequence[Span]:
        return _words_of(self.text)


class RecentMessages:
    """The hashes of each member's recent messages."""

    def __init__(self) -> None:
        self._by_author: OrderedDict[str, deque[tuple[float, int]]] = OrderedDict()

    def posted(self, checked: CheckedText, now: float) -> None:
        texts = self._by_author.setdefault(checked.author_id, deque(maxlen=4 * MAX_REPEATS))
        texts.append((now, checked.essence))
        self._by_author.move_to_end(checked.author_id)
        while len(self._by_author) > MAX_AUTHORS:
            self._by_author.popitem(last=False)

    def times(self, checked: CheckedText, within_s: int, now: float) -> int:
        """Return how many times the author has posted the same text in the last `within_s` seconds."""
        texts = self._by_author.get(checked.author_id, ())
        return sum(essence == checked.essence and now - at < within_s for at, essence in texts)

    def prune(self, now: float) -> None:
        """Forget authors whose messages are all too old for any rule."""
        while self._by_author:
            author_id, texts = next(iter(self._by_author.items()))
            if now - texts[-1][0] < WITHIN_S:
                return
            del self._by_author[author_id]


class RuleMatcher:
    """A matcher that checks messages against one rule."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self._phrases = Phrases(rule.words)
        self._allowed = frozenset(rule.allowed)

    @property
    def steps(self) -> int:
        return self._phrases.steps

    def search(self, read: ScannedText) -> Work[Sequence[Span] | None]:
        """Return the parts of the text that match the rule, regardless of who wrote it.

        Returns None if no part matches, and for rules that do not depend only on the text.
        """
        return read.cached(self, lambda: self._search(read))

    def find(self, checked: CheckedText, recent: RecentMessages, now: float) -> Sequence[Span] | None:
        """Return the parts of the message that match the rule, or None if it does not match. A match in a
        message without text has no parts.

        Fast if the text has been searched before.
        """
        rule = self.rule
        if rule.kind == "repeats":
            again = (
                checked.new
                and checked.text.strip()
                and recent.times(checked, rule.within_s, now) >= rule.most
            )
            return checked.whole if again else None
        # `Automod` has already decided that the rule applies to this author.
        return checked.whole if rule.kind == "newcomers" else run_to_end(self.search(checked.read))

    def _search(self, read: ScannedText) -> Work[Sequence[Span] | None]:
        match self.rule.kind:
            case "words":
                spans: Sequence[Span] = yield from self._phrases.search(read)
            case "links":
                leading = yield from read.cached("links", lambda: _leading(read.text))
                spans = [span for ends, span in leading if self._allowed.isdisjoint(ends)]
            case "mentions":
                spans = yield from self._mentions(read)
            case _:
                spans = []
        # The number of matches is limited, because each match is censored and quoted.
        return _few(spans, read.text) or None

    def _mentions(self, read: ScannedText) -> Work[Sequence[Span]]:
        text, most = read.text, self.rule.most
        yield
        if _mention_count(text) <= most:
            return []
        beyond = [match.span() for match in _MENTION.finditer(text)][most:]
        yield
        if beyond and _mention_count(mask(text, beyond)) <= most:
            return beyond
        return _words_of(text)


def _words_of(text: str) -> Sequence[Span]:
    return _few([match.span() for match in re.finditer(r"\S+", text)], text)


def _few(spans: Sequence[Span], text: str) -> Sequence[Span]:
    return spans if len(spans) <= MAX_MATCHES else [(0, len(text))]


def links(text: str) -> list[tuple[str, Span]]:
    """Return the links in text, including links in code, and links without a scheme if they have a path."""
    found_links = []
    for match in _LINK.finditer(text):
        link = trim_address(match[0])
        found_links.append((link, (match.start(), match.start() + len(link))))
    return found_links


def _leading(text: str) -> Work[Sequence[tuple[Sequence[str], Span]]]:
    """Return the domains and the span of each link in the text. A rule permits a link if it allows any of the
    link's domains.
    """
    leading: list[tuple[Sequence[str], Span]] = []
    yield
    for link, span in links(text):
        if not len(leading) % _LINKS_AT_ONCE:
            yield
        leading.append((_domains_of(link), span))
    plain, positions = _unescape(text)
    if plain == text:
        return leading
    yield
    for link, (start, end) in links(plain):
        if not len(leading) % _LINKS_AT_ONCE:
            yield
        leading.append((_domains_of(link), (positions[start], positions[end - 1] + 1)))
    return leading


def _unescape(text: str) -> tuple[str, Sequence[int]]:
    """Return the text with its escapes decoded and, for each character, its end position in the original
    text.
    """
    pieces, positions, at = list[str](), list[int](), 0
    for escape in _ESCAPED.finditer(text):
        plain, hexadecimal, decimal = escape.groups()
        code = int(hexadecimal, 16) if hexadecimal else int(decimal or 0)
        pieces += [text[at : escape.start()], plain or (chr(code) if code < sys.maxunicode else "\ufffd")]
        positions += [*range(at, escape.start()), escape.end() - 1]
        at = escape.end()
    return "".join((*pieces, text[at:])), [*positions, *range(at, len(text))]


def _domains_of(link: str) -> Sequence[str]:
    """Return a link's host and its parent domains, as a browser interprets them, or nothing in ambiguous
    cases.
    """
    address = link if "://" in link else f"https://{link}"
    begin = address.index("://") + len("://")
    # `urlsplit` normalises the host, which is slow for thousands of combining marks.
    if (end := _AUTHORITY_END.search(address, begin)) and end.start() - begin > _MAX_AUTHORITY:
        return ()
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return ()
    labels = host.rstrip(".").rsplit(".", MAX_LABELS)
    return [".".join(labels[start:]) for start in range(len(labels))]


def _mention_count(text: str) -> int:
    mentions = mentions_in(text)
    return len(mentions.members) + len(mentions.groups)
