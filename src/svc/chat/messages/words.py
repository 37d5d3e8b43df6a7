"""What the index takes in of a text, and what is looked up in it for a phrase.

The index (SQLite's FTS5, tokenizer unicode61) knows words that spaces and punctuation separate. Han, kana
and Hangul are written without spaces or with endings attached, so that a run of them is indexed
by overlapping pairs and its last character: 東京都 as 東京, 京都, 都. Any part of a run is then a
phrase of the index. Compatibility forms, such as full-width letters, are made plain (NFKC).
Changing what is taken in needs a migration that builds the index again.
"""

import re
import unicodedata
from dataclasses import dataclass

# Unified ideographs with extensions A to I and compatibility ideographs, kana, bopomofo, Hangul syllables.
_RUN = re.compile(
    "[\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U000323af]+"
)
_WORD = re.compile(r"[^\W_]+")
_LAST_WORD = re.compile(r"[^\W_]+\Z")
# One letter begins too many words to mean one of them.
LEAST_BEGINNING = 2


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that follow each other; the last may be the beginning of a longer one."""

    words: str
    # That beginning as the index has it; empty where the last word is whole.
    beginning: str = ""


def taken_in(text: str) -> str:
    """The text with spaces between what the index is to tell apart."""
    if text.isascii():
        return text
    return _RUN.sub(lambda run: f" {' '.join(_pairs(run[0]))} {run[0][-1]} ", _plain(text))


def phrase(text: str, *, begun: bool = False) -> Phrase:
    """What finds the text; if it is `begun`, with longer words that begin like its last one too."""
    plain = _plain(text)
    runs = list(_RUN.finditer(plain))
    last = runs[-1] if runs else None
    if last is not None and not has_word(plain[last.end() :]):
        # What follows in the message may continue the run, so that its last character is no word.
        words = f"{taken_in(plain[: last.start()])} {' '.join(_pairs(last[0])) or last[0]}"
        return Phrase(words, last[0] if len(last[0]) == 1 else "")
    word = _LAST_WORD.search(plain)
    if begun and word is not None and len(word[0]) >= LEAST_BEGINNING:
        return Phrase(taken_in(plain), _folded(taken_in(word[0]).split()[-1]))
    return Phrase(taken_in(plain))


def cost(text: str) -> int:
    """How many words of the index are looked up for it; pairs are rarer than words, and count half."""
    words = _WORD.findall(taken_in(text))
    pairs = sum(_RUN.match(word) is not None for word in words)
    return len(words) - pairs // 2


def has_word(text: str) -> bool:
    """Would anything of it be indexed? FTS5 takes letters and numbers."""
    return any(unicodedata.category(character)[0] in "LN" for character in text)


def has_unspaced(text: str) -> bool:
    """Is some of it written without spaces between words?"""
    return _RUN.search(text) is not None


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _pairs(run: str) -> list[str]:
    return [run[place : place + 2] for place in range(len(run) - 1)]


def _folded(word: str) -> str:
    """Nearly as the tokenizer does it: good enough to count the words that begin so."""
    parts = unicodedata.normalize("NFD", word.lower())
    return "".join(character for character in parts if not unicodedata.combining(character))
