"""Finds swear words and words listed by the owner, even in common disguises.

The setting `profanityMode` determines what happens to swear words. Only whole words are compared, so a
harmless word that contains a swear word does not match (the Scunthorpe problem). This module ignores case,
width and accents. It recognises look-alike letters, digits and symbols that replace letters, invisible
characters, repeated letters, and spaces between single letters. It supports only English and does not
consider context. It performs no I/O. Long texts are searched in time slices (`time_slices`), because anyone
can send them. See docs/http.md, "Settings".
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

from msgspec import Struct

from svc.base.time_slices import Work, run_to_end
from svc.chat.errors import ChatError
from svc.chat.names import LOOK_ALIKES, plain_letters

OFF, FLAG, CENSOR, BLOCK = "off", "flag", "censor", "block"
_WORDS_FILE = Path(__file__).with_name("profanity.txt")

# Digits and symbols that can replace letters. Punctuation around a word is removed first, so a final "!" does
# not count as a letter.
_SIGNS = str.maketrans("0134578@$!|+", "oieastbasiit")
_MARKS = "!|+.,;:?'\"*~_-()[]{}<>#&%=/\\`^"
_TOKEN = re.compile(r"[\w@$!|+*]+")
# Matches at least three single letters with the same separator, such as `f u c k` and `f.u.c.k`.
_SPACED = re.compile(r"(?<![\w@$])[\w@$]([\s._*\-]{1,3})[\w@$](?:\1[\w@$])++")
_LETTER = re.compile(r"[\w@$]")
_BETWEEN = re.compile(r"[\s._\-]")
_RUN = re.compile(r"(.)\1*")
# Longer runs of a letter are treated as runs of this length, because no word has the same letter four times
# in a row.
_MAX_RUN = 3
_LONG_RUN = re.compile(r"(.)\1{3,}", re.DOTALL)
# How much folding may lengthen the text. Real messages contain few ligatures, and one that contains only
# ligatures would take several times as long to search.
_MAX_GROWTH = 1.25
# The numbers of characters and words processed in one time slice. A slice takes up to 0.5 ms.
_CHARACTERS_AT_ONCE, _WORDS_AT_ONCE = 256, 32


Span = tuple[int, int]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FoldedText:
    """Text reduced to plain lowercase letters, with each letter's position in the original text."""

    text: str
    positions: Sequence[int]

    @classmethod
    def of(cls, text: str) -> "FoldedText":
        return run_to_end(cls.folding(text))

    @classmethod
    def folding(cls, text: str) -> "Work[FoldedText]":
        if text.isascii():
            return cls(text.lower(), range(len(text)))
        letters: list[str] = []
        positions: list[int] = []
        maximum = _MAX_GROWTH * len(text)
        for index, character in enumerate(text):
            if not index % _CHARACTERS_AT_ONCE:
                yield
            parts = plain_letters(character)
            if len(positions) > maximum:
                parts = parts[:1]
            letters.append(parts)
            positions.extend([index] * len(parts))
        return cls("".join(letters).translate(LOOK_ALIKES), positions)

    def span(self, start: int, end: int) -> Span:
        """Return the span in the original text that corresponds to a span in the folded text."""
        return self.positions[start], self.positions[end - 1] + 1


class ScannedText:
    """Text with its cached search results."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._found: dict[object, object] = {}

    def cached(self, key: object, work: Callable[[], Work[T]]) -> Work[T]:
        """Return the cached result for a key. If there is none, compute it with `work` and cache it."""
        if key not in self._found:
            self._found[key] = yield from work()
        return cast(T, self._found[key])

    def has(self, key: object) -> bool:
        return key in self._found

    def folded(self) -> Work[FoldedText]:
        return self.cached("folded", lambda: FoldedText.folding(self.text))

    def written(self) -> "Work[Sequence[_Word]]":
        """Return the words of the text, each with its possible readings."""
        return self.cached("written", lambda: _written(self))

    def profane(self) -> Work[Sequence[Span]]:
        """Return the spans of swear words, sorted and without overlaps."""
        return self.cached("profane", lambda: _profane_in(self))


class ModeratedText(Struct, frozen=True):
    """A moderated text. `matches` are the spans of the words that were replaced with stars or flagged."""

    text: str
    flagged: bool = False
    matches: Sequence[Span] = ()


# Cached, because names and other short strings are checked when parsed and again when stored.
@lru_cache(maxsize=8)
def moderated(text: str, mode: str) -> ModeratedText:
    """Return the moderated form of a short string.

    In mode `block`, raise ChatError if it contains a listed word.
    """
    return run_to_end(moderating(ScannedText(text), mode))


def moderating(read: ScannedText, mode: str) -> Work[ModeratedText]:
    """Return the moderated form of the text. In mode `block`, raise ChatError if it contains a listed word.

    Used for messages, names and webhook posts.
    """
    text = read.text
    if mode == OFF:
        return ModeratedText(text)
    spans = yield from read.profane()
    if not spans:
        return ModeratedText(text)
    if mode == BLOCK:
        raise ChatError("profanity_refused")
    return ModeratedText(mask(text, spans) if mode == CENSOR else text, flagged=True, matches=spans)


def mask(text: str, spans: Iterable[Span]) -> str:
    """Replace each character in the spans with a star."""
    characters = list(text)
    for start, end in spans:
        characters[start:end] = "*" * (end - start)
    return "".join(characters)


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Return the spans sorted, with overlapping ones merged."""
    apart: list[Span] = []
    for start, end in sorted(spans):
        if apart and start < apart[-1][1]:
            apart[-1] = apart[-1][0], max(end, apart[-1][1])
        else:
            apart.append((start, end))
    return apart


def _tokens(folded: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of words without the surrounding punctuation."""
    for match in _TOKEN.finditer(folded):
        word = match[0]
        start = match.start() + len(word) - len(word.lstrip(_MARKS))
        end = match.end() - (len(word) - len(word.rstrip(_MARKS)))
        if start < end:
            yield start, end
            # The parts of `snake_case` are separate words.
            if "_" in folded[start:end]:
                for part in re.finditer(r"[^_]+", folded[start:end]):
                    yield start + part.start(), start + part.end()


def _spaced_spans(folded: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of rows of at least three single letters with the same separator."""
    for match in _SPACED.finditer(folded):
        start, end = match.span()
        # Check the next letter here, because a lookahead in the regular expression would rescan a long row
        # for each letter.
        if _LETTER.match(folded, end):
            end -= len(match[1]) + 1
            if _LETTER.match(folded, end) or end - start < 3 + 2 * len(match[1]):
                continue  # The row is too short without its last letter, which begins a word.
        yield start, end


class _Spelling(NamedTuple):
    """One reading of a token. `squeezed` is empty if stars hide some of its letters."""

    word: str
    squeezed: str
    # For each letter in `squeezed`, the length of its run in the token, at most _MAX_RUN.
    runs: Sequence[int]


class _Word(NamedTuple):
    start: int
    end: int
    letters: int
    spellings: Sequence[_Spelling]


def _written(read: ScannedText) -> Work[Sequence[_Word]]:
    folded = (yield from read.folded()).text
    written: list[_Word] = []
    for spans in (_tokens(folded), _spaced_spans(folded)):
        for start, end in spans:
            if not len(written) % _WORDS_AT_ONCE:
                yield
            written.append(_Word(start, end, *_readings(folded[start:end])))
    return written


@lru_cache(4096)
def _readings(token: str) -> tuple[int, Sequence[_Spelling]]:
    """Return the number of letters in a token, and the words that it may stand for."""
    letters = token if token.isalpha() else _BETWEEN.sub("", token)
    if letters.isdigit():
        return 0, ()
    words = {letters} if letters.isalpha() else {letters.translate(_SIGNS), letters.replace("1", "l")}
    return len(letters), [_Spelling(word, *(("", ()) if "*" in word else _squeeze(word))) for word in words]


@cache
def _stem(entry: str) -> re.Pattern[str]:
    """Return a regular expression for an entry with stars, each of which stands for any letters.

    The expression also matches repeated letters. Longer runs in the searched words must have been shortened
    to _MAX_RUN letters.
    """
    letters, runs = _squeeze(entry.strip("*"))
    repeated = [f"{letter}{{{run},}}+" for letter, run in zip(letters, runs, strict=True)]
    if entry.startswith("*"):
        repeated[0] = letters[0] * runs[0]
    else:
        # The letter precedes the lookbehind assertion, because searching for a letter is fast.
        repeated[0] = rf"{letters[0]}(?<!\w{letters[0]}){letters[0]}{{{runs[0] - 1},}}+"
    return re.compile("".join(repeated) + ("" if entry.endswith("*") else r"(?!\w)"))


def _words_with(stem: re.Pattern[str], words: str) -> Iterator[int]:
    """Yield the position of the first match in each word. `words` has one word per line."""
    end = 0
    while end >= 0 and (match := stem.search(words, end)):
        yield match.start()
        end = words.find("\n", match.end())


class WordList:
    """Words to search for, folded to letters. A star at the beginning or end stands for any letters."""

    def __init__(self, entries: Sequence[str]) -> None:
        stems = [entry.strip("*") for entry in entries]
        self._shortest = min(map(len, stems), default=0)
        # Whole words and their plurals, keyed by their letters without repetitions. The inner key is a
        # letter's index and the length of its run. The value is the set of matching words, as an integer with
        # one bit per word.
        self._words: dict[str, dict[tuple[int, int], int]] = {}
        for number, entry in enumerate(entries):
            if "*" not in entry:
                for word in (entry, entry + "s"):
                    self._add(word, 1 << number)
        self._starred = list(dict.fromkeys(_stem(entry) for entry in entries if "*" in entry))
        # Words in which people may replace letters with stars, keyed by length. Longer compounds are not
        # worth the effort. The inner key is a position and its letter, and the value is again an integer with
        # one bit per word.
        self._short: dict[int, dict[tuple[int, str], int]] = {}
        for number, stem in enumerate(stems):
            if len(stem) <= 8:
                words = self._short.setdefault(len(stem), {})
                for at_letter in enumerate(stem):
                    words[at_letter] = words.get(at_letter, 0) | 1 << number

    def _add(self, word: str, bit: int) -> None:
        squeezed, runs = _squeeze(word)
        words = self._words.setdefault(squeezed, {})
        for at_run in ((-1, 0), *enumerate(runs)):
            words[at_run] = words.get(at_run, 0) | bit

    def search(self, read: ScannedText) -> Work[list[Span]]:
        """Return the spans of listed words."""
        folded = yield from read.folded()
        tokens = yield from read.written()
        matching, others = set[int](), list[tuple[int, str]]()
        for number, token in enumerate(tokens):
            if not number % _WORDS_AT_ONCE:
                yield
            if token.letters < self._shortest:
                continue
            if any(self._lists(spelling) for spelling in token.spellings):
                matching.add(number)
            elif self._starred:
                words = (spelling.word for spelling in token.spellings if spelling.squeezed)
                others += [(number, _LONG_RUN.sub(r"\1\1\1", word)) for word in words]
        matching |= yield from self._with_stars(others)
        return [folded.span(tokens[number].start, tokens[number].end) for number in sorted(matching)]

    def _with_stars(self, words: list[tuple[int, str]]) -> Work[set[int]]:
        """Return the indexes of the words that match any entry with stars.

        Each entry searches all words in one pass, so the overhead per entry does not depend on the number of
        words.
        """
        matching, unsearched = set[int](), len(self._starred) if words else 0
        while unsearched:
            text = "\n".join(word for _, word in words)
            starts = [0, *accumulate(len(word) + 1 for _, word in words)]
            earlier = len(matching)
            # Remove matched words from time to time, so that later entries do not search them again.
            while unsearched and len(matching) - earlier < _WORDS_AT_ONCE:
                unsearched -= 1
                for start in _words_with(self._starred[unsearched], text):
                    matching.add(words[bisect_right(starts, start) - 1][0])
                yield
            words = [word for word in words if word[0] not in matching]
            unsearched = unsearched if words else 0
        return matching

    def _lists(self, spelling: _Spelling) -> bool:
        return self._is_listed(spelling) if spelling.squeezed else self._hidden(spelling.word)

    def _is_listed(self, spelling: _Spelling) -> bool:
        """Return whether the reading is a listed word.

        Runs of one or two letters must match exactly. A longer run matches a run of any length.
        """
        words = self._words.get(spelling.squeezed)
        if words is None:
            return False
        fitting = words[(-1, 0)]
        for at_run in enumerate(spelling.runs):
            if at_run[1] < _MAX_RUN:
                fitting &= words.get(at_run, 0)
        return fitting != 0

    def _hidden(self, word: str) -> bool:
        """Return whether a word is a listed word with stars for some letters other than the first and
        last.
        """
        shown = word.replace("*", "")
        if len(shown) < 2 or word.startswith("*") or word.endswith("*"):
            return False
        words, fitting = self._short.get(len(word), {}), -1
        for at, letter in enumerate(word):
            if letter != "*":
                fitting &= words.get((at, letter), 0)
        return fitting != 0


@cache
def _profane() -> WordList:
    lines = _WORDS_FILE.read_text(encoding="utf-8").splitlines()
    return WordList([line for line in lines if line and not line.startswith("#")])


def _profane_in(read: ScannedText) -> Work[Sequence[Span]]:
    return merge_spans((yield from _profane().search(read)))


def _squeeze(word: str) -> tuple[str, Sequence[int]]:
    """Return the word with each run reduced to one letter, and the runs' lengths, capped at _MAX_RUN."""
    runs = [match[0] for match in _RUN.finditer(word)]
    return "".join(run[0] for run in runs), [min(len(run), _MAX_RUN) for run in runs]
