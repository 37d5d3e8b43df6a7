"""Words in a text, found through the usual disguises: swear words for `profanityMode`, and the owner's own.

Whole words are compared, so that no word is refused for what stands inside it (Scunthorpe).
Case, width, accents, look-alike letters, digits and signs for letters, invisible characters,
repeated letters and spaces between single letters are seen through. English only; understands
no meaning. Pure. docs/http.md, "Settings".
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from svc.chat.errors import ChatError
from svc.chat.names import LOOK_ALIKES, plain_letters

OFF, FLAG, CENSOR, BLOCK = "off", "flag", "censor", "block"
_WORDS_FILE = Path(__file__).with_name("profanity.txt")

# Digits and signs that stand for letters. A mark at the end of a word is a mark: it is cut off first.
_SIGNS = str.maketrans("0134578@$!|+", "oieastbasiit")
_MARKS = "!|+.,;:?'\"*~_-()[]{}<>#&%=/\\`^"
_TOKEN = re.compile(r"[\w@$!|+*]+")
# `f u c k`, `f.u.c.k`: single letters, with the same between them, and at least three.
_SPACED = re.compile(r"(?<![\w@$])[\w@$]([\s._*\-]{1,3})[\w@$](?:\1[\w@$])+(?![\w@$])")
_BETWEEN = re.compile(r"[\s._\-]")
_RUN = re.compile(r"(.)\1*")
# No word has a letter three times in a row.
_LONG_RUN = re.compile(r"(.)\1{2,}")
# People write a ligature now and then. A text of nothing else would cost several times as much.
_MOST_GROWTH = 1.25


Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Folded:
    """Plain small letters, and where each stood in the text."""

    text: str
    places: Sequence[int]

    @classmethod
    def of(cls, text: str) -> "Folded":
        if text.isascii():
            return cls(text.lower(), range(len(text)))
        letters: list[str] = []
        places: list[int] = []
        most = _MOST_GROWTH * len(text)
        for place, character in enumerate(text):
            parts = plain_letters(character)
            if len(places) > most:
                parts = parts[:1]
            letters.append(parts)
            places.extend([place] * len(parts))
        return cls("".join(letters).translate(LOOK_ALIKES), places)

    def span(self, start: int, end: int) -> Span:
        """What stands here folded, in characters of the text."""
        return self.places[start], self.places[end - 1] + 1


@dataclass(frozen=True, slots=True)
class Moderated:
    text: str
    flagged: bool = False


# The longest text takes 8 ms, and the texts of webhooks are judged both when they are read and when they are
# stored.
@lru_cache(maxsize=8)
def moderated(text: str, mode: str) -> Moderated:
    """The text as it may be stored. In mode `block`, raises ChatError where there is a word.

    For messages, names and what webhooks post alike.
    """
    if mode == OFF:
        return Moderated(text)
    found = profane_spans(text)
    if not found:
        return Moderated(text)
    if mode == BLOCK:
        raise ChatError("profanity_refused")
    return Moderated(covered(text, found) if mode == CENSOR else text, flagged=True)


def covered(text: str, spans: Iterable[Span]) -> str:
    """The same with a star for each character of the spans."""
    characters = list(text)
    for start, end in spans:
        characters[start:end] = "*" * (end - start)
    return "".join(characters)


def profane_spans(text: str) -> list[Span]:
    """Where the words stand, in characters of `text`, in their order and apart from each other."""
    return merged(_profane().spans(Folded.of(text)))


def merged(spans: Iterable[Span]) -> list[Span]:
    """In their order and apart from each other."""
    apart: list[Span] = []
    for start, end in sorted(spans):
        if apart and start < apart[-1][1]:
            apart[-1] = apart[-1][0], max(end, apart[-1][1])
        else:
            apart.append((start, end))
    return apart


def _tokens(folded: str) -> Iterator[tuple[int, int]]:
    """Words, without the marks around them."""
    for match in _TOKEN.finditer(folded):
        word = match[0]
        start = match.start() + len(word) - len(word.lstrip(_MARKS))
        end = match.end() - (len(word) - len(word.rstrip(_MARKS)))
        if start < end:
            yield start, end
            # Parts of `snake_case` are words of their own.
            if "_" in folded[start:end]:
                for part in re.finditer(r"[^_]+", folded[start:end]):
                    yield start + part.start(), start + part.end()


class _Spelling(NamedTuple):
    """One way to read a token; `squeezed` is empty where stars hide letters of it."""

    word: str
    squeezed: str
    # With no letter more than twice in a row, for a search would start again from each of thousands.
    shortened: str


class _Written(NamedTuple):
    start: int
    end: int
    letters: int
    spellings: Sequence[_Spelling]


@lru_cache(2)  # Lists of several rules look through one text.
def _written(folded: str) -> Sequence[_Written]:
    """Return what may be a word in a folded text, with the ways to read it."""
    places = (*_tokens(folded), *(match.span() for match in _SPACED.finditer(folded)))
    return [_Written(start, end, *_readings(folded[start:end])) for start, end in places]


@lru_cache(4096)
def _readings(token: str) -> tuple[int, Sequence[_Spelling]]:
    """Return the number of letters of a token, and the words that it may stand for."""
    letters = token if token.isalpha() else _BETWEEN.sub("", token)
    if letters.isdigit():
        return 0, ()
    words = {letters} if letters.isalpha() else {letters.translate(_SIGNS), letters.replace("1", "l")}
    return len(letters), [
        _Spelling(word, "" if "*" in word else _squeezed(word), _LONG_RUN.sub(r"\1\1", word))
        for word in words
    ]


class WordList:
    """Words to look for, folded and made of letters. A star at an end of one stands for any letters."""

    def __init__(self, entries: Sequence[str]) -> None:
        stems = [entry.strip("*") for entry in entries]
        self._shortest = min(map(len, stems), default=0)
        # Whole words and their plurals, by what is left when repeated letters are taken out.
        self._words: dict[str, list[str]] = {}
        for entry in entries:
            if "*" not in entry:
                for word in (entry, entry + "s"):
                    self._words.setdefault(_squeezed(word), []).append(word)
        self._anywhere = _pattern([entry for entry in entries if "*" in entry])
        # Words that people write with stars for letters, by length. Compounds are rarely worth the trouble.
        # The words with a letter at a place are a set, kept as an integer with a bit for each word.
        self._short: dict[int, dict[tuple[int, str], int]] = {}
        for number, stem in enumerate(stems):
            if len(stem) <= 8:
                words = self._short.setdefault(len(stem), {})
                for at_letter in enumerate(stem):
                    words[at_letter] = words.get(at_letter, 0) | 1 << number

    def spans(self, text: Folded) -> list[Span]:
        return [
            text.span(token.start, token.end)
            for token in _written(text.text)
            if token.letters >= self._shortest and any(map(self._listed, token.spellings))
        ]

    def _listed(self, spelling: "_Spelling") -> bool:
        word = spelling.word
        if not spelling.squeezed:
            return self._hidden(word)
        candidates = self._words.get(spelling.squeezed, ())
        if word in candidates or any(_stretched(word, candidate) for candidate in candidates):
            return True
        return self._anywhere is not None and bool(self._anywhere.search(spelling.shortened))

    def _hidden(self, word: str) -> bool:
        """A word with stars for some of its letters, the first being shown."""
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


def _pattern(starred: Sequence[str]) -> re.Pattern[str] | None:
    """The entries with stars, each letter as often as somebody likes."""
    patterns = []
    for entry in starred:
        stem = "".join(f"{letter}+" for letter in entry.strip("*"))
        start, end = "" if entry.startswith("*") else r"\b", "" if entry.endswith("*") else r"\b"
        patterns.append(f"{start}{stem}{end}")
    return re.compile("|".join(patterns)) if patterns else None


def _squeezed(word: str) -> str:
    """Each letter once where it stood several times in a row."""
    return "".join(
        letter for letter, following in zip(word, f"{word[1:]}\0", strict=True) if letter != following
    )


def _stretched(word: str, listed: str) -> bool:
    """Is it the listed word with letters repeated? Twice is spelling, more is play."""
    for run, wanted in zip(_RUN.finditer(word), _RUN.finditer(listed), strict=True):
        here, there = len(run[0]), len(wanted[0])
        if here < there or (here > there and here == 2):
            return False
    return True
