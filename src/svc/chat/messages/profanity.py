"""Finds words in a text through the usual disguises: swear words, and words that the owner lists.

The swear words are for `profanityMode`. Compares whole words, so that no word is refused because of its
middle (Scunthorpe). Sees through case, width, accents, look-alike letters, digits and signs for letters,
invisible characters, repeated letters, and spaces between single letters. English only; understands no
meaning. Pure. Long texts are searched in pieces (`time_slices`), because strangers write them. docs/http.md,
"Settings".
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

from svc.base.time_slices import Work, finished
from svc.chat.errors import ChatError
from svc.chat.names import LOOK_ALIKES, plain_letters

OFF, FLAG, CENSOR, BLOCK = "off", "flag", "censor", "block"
_WORDS_FILE = Path(__file__).with_name("profanity.txt")

# Digits and signs that stand for letters. A mark at the end of a word is cut off first.
_SIGNS = str.maketrans("0134578@$!|+", "oieastbasiit")
_MARKS = "!|+.,;:?'\"*~_-()[]{}<>#&%=/\\`^"
_TOKEN = re.compile(r"[\w@$!|+*]+")
# `f u c k`, `f.u.c.k`: at least three single letters with the same separator.
_SPACED = re.compile(r"(?<![\w@$])[\w@$]([\s._*\-]{1,3})[\w@$](?:\1[\w@$])+(?![\w@$])")
_BETWEEN = re.compile(r"[\s._\-]")
_RUN = re.compile(r"(.)\1*")
# No word has a letter four times in a row, so longer runs count as three.
_LONGEST_RUN = 3
# Texts contain few ligatures. A text of nothing but ligatures would cost several times as much.
_MOST_GROWTH = 1.25
# Characters and words in one piece of work, which takes up to 0.5 ms.
_CHARACTERS_AT_ONCE, _WORDS_AT_ONCE = 256, 32


Span = tuple[int, int]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Folded:
    """Plain lowercase letters, and the place of each in the text."""

    text: str
    places: Sequence[int]

    @classmethod
    def of(cls, text: str) -> "Folded":
        return finished(cls.folding(text))

    @classmethod
    def folding(cls, text: str) -> "Work[Folded]":
        if text.isascii():
            return cls(text.lower(), range(len(text)))
        letters: list[str] = []
        places: list[int] = []
        most = _MOST_GROWTH * len(text)
        for place, character in enumerate(text):
            if not place % _CHARACTERS_AT_ONCE:
                yield
            parts = plain_letters(character)
            if len(places) > most:
                parts = parts[:1]
            letters.append(parts)
            places.extend([place] * len(parts))
        return cls("".join(letters).translate(LOOK_ALIKES), places)

    def span(self, start: int, end: int) -> Span:
        """Return the span in the original text."""
        return self.places[start], self.places[end - 1] + 1


class ReadText:
    """A text with its cached search results."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._found: dict[object, object] = {}

    def once(self, key: object, work: Callable[[], Work[T]]) -> Work[T]:
        """Return the cached result for a key, doing the work if there is none."""
        if key not in self._found:
            self._found[key] = yield from work()
        return cast(T, self._found[key])

    def folded(self) -> Work[Folded]:
        return self.once("folded", lambda: Folded.folding(self.text))

    def written(self) -> "Work[Sequence[_Written]]":
        """Return the words of the text, each with the ways to read it."""
        return self.once("written", lambda: _written(self))

    def profane(self) -> Work[Sequence[Span]]:
        """Return the spans of swear words, sorted and without overlaps."""
        return self.once("profane", lambda: _profane_in(self))


@dataclass(frozen=True, slots=True)
class Moderated:
    """A moderated text. `found` are the spans of the words that were covered or flagged."""

    text: str
    flagged: bool = False
    found: Sequence[Span] = ()


# Names and similar texts are checked both when they are parsed and when they are stored.
@lru_cache(maxsize=8)
def moderated(text: str, mode: str) -> Moderated:
    """Return a short text as it may be stored. In mode `block`, raise ChatError if it has a listed word."""
    return finished(moderating(ReadText(text), mode))


def moderating(read: ReadText, mode: str) -> Work[Moderated]:
    """Return a text as it may be stored. In mode `block`, raise ChatError if it has a listed word.

    Used for messages, names and webhook posts.
    """
    text = read.text
    if mode == OFF:
        return Moderated(text)
    found = yield from read.profane()
    if not found:
        return Moderated(text)
    if mode == BLOCK:
        raise ChatError("profanity_refused")
    return Moderated(covered(text, found) if mode == CENSOR else text, flagged=True, found=found)


def covered(text: str, spans: Iterable[Span]) -> str:
    """Replace each character of the spans by a star."""
    characters = list(text)
    for start, end in spans:
        characters[start:end] = "*" * (end - start)
    return "".join(characters)


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return the spans sorted, with overlapping ones merged."""
    apart: list[Span] = []
    for start, end in sorted(spans):
        if apart and start < apart[-1][1]:
            apart[-1] = apart[-1][0], max(end, apart[-1][1])
        else:
            apart.append((start, end))
    return apart


def _tokens(folded: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of words, without the marks around them."""
    for match in _TOKEN.finditer(folded):
        word = match[0]
        start = match.start() + len(word) - len(word.lstrip(_MARKS))
        end = match.end() - (len(word) - len(word.rstrip(_MARKS)))
        if start < end:
            yield start, end
            # The parts of `snake_case` are words of their own.
            if "_" in folded[start:end]:
                for part in re.finditer(r"[^_]+", folded[start:end]):
                    yield start + part.start(), start + part.end()


class _Spelling(NamedTuple):
    """One reading of a token. `squeezed` is empty if stars hide some of its letters."""

    word: str
    squeezed: str
    # How often each letter of `squeezed` is repeated in the token, up to _LONGEST_RUN.
    runs: Sequence[int]


class _Written(NamedTuple):
    start: int
    end: int
    letters: int
    spellings: Sequence[_Spelling]


def _written(read: ReadText) -> Work[Sequence[_Written]]:
    folded = (yield from read.folded()).text
    written: list[_Written] = []
    for spans in (_tokens(folded), (match.span() for match in _SPACED.finditer(folded))):
        for start, end in spans:
            if not len(written) % _WORDS_AT_ONCE:
                yield
            written.append(_Written(start, end, *_readings(folded[start:end])))
    return written


@lru_cache(4096)
def _readings(token: str) -> tuple[int, Sequence[_Spelling]]:
    """Return the number of letters of a token, and the words that it may stand for."""
    letters = token if token.isalpha() else _BETWEEN.sub("", token)
    if letters.isdigit():
        return 0, ()
    words = {letters} if letters.isalpha() else {letters.translate(_SIGNS), letters.replace("1", "l")}
    return len(letters), [_Spelling(word, *(("", ()) if "*" in word else _squeezed(word))) for word in words]


class _Stem:
    """A list entry without its stars. It matches with any number of repeated letters."""

    def __init__(self, entry: str) -> None:
        self._begins, self._ends = not entry.startswith("*"), not entry.endswith("*")
        self._letters, runs = _squeezed(entry.strip("*"))
        self._repeated = [(at, run) for at, run in enumerate(runs) if run > 1]

    def stands_in(self, spelling: _Spelling) -> bool:
        text, at = spelling.squeezed, spelling.squeezed.find(self._letters)
        while at >= 0:
            end = at + len(self._letters)
            if (
                (not self._begins or at == 0 or not _is_of_a_word(text[at - 1]))
                and (not self._ends or end == len(text) or not _is_of_a_word(text[end]))
                and all(spelling.runs[at + place] >= run for place, run in self._repeated)
            ):
                return True
            at = text.find(self._letters, at + 1)
        return False


class WordList:
    """Words to search for, folded and made of letters. A star at either end stands for any letters."""

    def __init__(self, entries: Sequence[str]) -> None:
        stems = [entry.strip("*") for entry in entries]
        self._shortest = min(map(len, stems), default=0)
        # Whole words and their plurals, by their letters without repetitions. The inner key is a place and
        # the number of letters there. Its value is the set of matching words, an integer with a bit for each
        # word.
        self._words: dict[str, dict[tuple[int, int], int]] = {}
        for number, entry in enumerate(entries):
            if "*" not in entry:
                for word in (entry, entry + "s"):
                    self._add(word, 1 << number)
        self._starred = [_Stem(entry) for entry in entries if "*" in entry]
        # Words that people write with stars for letters, by length. Compounds are rarely worth the effort.
        # The words with a letter at a place are a bit set too.
        self._short: dict[int, dict[tuple[int, str], int]] = {}
        for number, stem in enumerate(stems):
            if len(stem) <= 8:
                words = self._short.setdefault(len(stem), {})
                for at_letter in enumerate(stem):
                    words[at_letter] = words.get(at_letter, 0) | 1 << number

    def _add(self, word: str, bit: int) -> None:
        squeezed, runs = _squeezed(word)
        words = self._words.setdefault(squeezed, {})
        for at_run in ((-1, 0), *enumerate(runs)):
            words[at_run] = words.get(at_run, 0) | bit

    def search(self, read: ReadText) -> Work[list[Span]]:
        """Return the spans of listed words."""
        folded = yield from read.folded()
        found = []
        for number, token in enumerate((yield from read.written())):
            if not number % _WORDS_AT_ONCE:
                yield
            if token.letters >= self._shortest and (yield from self._lists(token)):
                found.append(folded.span(token.start, token.end))
        return found

    def _lists(self, token: _Written) -> Work[bool]:
        for spelling in token.spellings:
            if not spelling.squeezed:
                if self._hidden(spelling.word):
                    return True
                continue
            if self._spelt(spelling):
                return True
            for stem in self._starred:
                if stem.stands_in(spelling):
                    return True
                # In a text that is a single word, each search takes about 0.2 ms.
                if len(spelling.squeezed) > _CHARACTERS_AT_ONCE:
                    yield
        return False

    def _spelt(self, spelling: _Spelling) -> bool:
        """Return whether it is a listed word. Single and double letters must match, longer runs need not."""
        words = self._words.get(spelling.squeezed)
        if words is None:
            return False
        fitting = words[(-1, 0)]
        for at_run in enumerate(spelling.runs):
            if at_run[1] < _LONGEST_RUN:
                fitting &= words.get(at_run, 0)
        return fitting != 0

    def _hidden(self, word: str) -> bool:
        """Return whether it is a listed word with stars for letters other than the first and last."""
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


def _profane_in(read: ReadText) -> Work[Sequence[Span]]:
    return merged((yield from _profane().search(read)))


def _squeezed(word: str) -> tuple[str, Sequence[int]]:
    """Return each run of a letter once, and the lengths of the runs, up to _LONGEST_RUN."""
    runs = [match[0] for match in _RUN.finditer(word)]
    return "".join(run[0] for run in runs), [min(len(run), _LONGEST_RUN) for run in runs]


def _is_of_a_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"
