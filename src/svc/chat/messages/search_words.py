"""Splits text into words for the search index, and a search phrase into words to look up.

The index uses SQLite's FTS5 and its unicode61 tokenizer, with folding turned off. It separates words at
spaces and punctuation, and keeps combining marks within words. Chinese, Japanese, Korean, Thai, Lao, Khmer
and Burmese are written without spaces or with attached endings. A run of such letters is indexed as
overlapping pairs, followed by its last character: 東京都 becomes 東京, 京都 and 都. Any part of a run can
then be found as a phrase. An emoji is a separate word. Text is folded before it is indexed (`text_folding`).
Changing how words are indexed requires a migration that rebuilds the index.
"""

import re
import unicodedata
from dataclasses import dataclass

from svc.chat.text_folding import fold

# Characters of scripts that are written without spaces. First, unified ideographs with the extensions A to I,
# compatibility ideographs, kana, bopomofo and Hangul syllables. Then Thai, Lao, Burmese and Khmer with their
# vowel signs, but without their digits and punctuation.
_RUN = re.compile(
    "[\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U000323af\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u109f"
    "\u1780-\u17d3\u17d7\u17dc\u17dd]+"
)
# Matches flags, keycaps, and symbols that are emoji by themselves or with the selector U+FE0F. A sequence
# with joiners or a skin tone becomes several words, so a search for its first symbol also finds it.
_EMOJI = re.compile(
    "[\U0001f1e6-\U0001f1ff]{2}|[0-9#*]\ufe0f?\u20e3|\U0001f3f4[\U000e0020-\U000e007f]+"
    "|[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u24c2\u3030\u303d\u3297\u3299](?=\ufe0f)"
    "|[\u2300-\u23ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\U0001f000-\U0001faff]"
)
# FTS5 does not index emoji, and SQLite's Unicode data lacks the newest ones. An emoji is therefore indexed as
# a word that nobody types: a private-use character, which FTS5 treats as a letter, and the emoji's code
# points in hexadecimal.
_EMOJI_MARK = "\uf8ff"
# The shortest prefix that is expanded to longer words. Too many words begin with the same single letter.
MIN_PREFIX_CHARACTERS = 2


@dataclass(frozen=True, slots=True)
class Phrase:
    """Consecutive words. The last one may also match longer words."""

    words: str
    # The prefix as it appears in the index. Empty if the last word is complete.
    beginning: str = ""


def indexed_words(text: str) -> str:
    """Return the text to index, with spaces wherever the index must separate words."""
    return text if text.isascii() else _separate_pairs(_fold_with_emoji(text))


def phrase(text: str, *, begun: bool = False) -> Phrase:
    """Return the phrase to look up for `text`. If `begun` is set, the last word also matches longer words."""
    prepared = _fold_with_emoji(text)
    *_, last = (None, *_RUN.finditer(prepared))
    if last is not None and not _tokens(prepared[last.end() :]):
        # In a message, the run may continue, so the last character here may not be indexed as a separate
        # word.
        words = f"{_separate_pairs(prepared[: last.start()])} {' '.join(_pairs(last[0])) or last[0]}"
        return Phrase(words, last[0] if len(last[0]) == 1 else "")
    words = _separate_pairs(prepared)
    tokens = _tokens(words)
    may_go_on = begun and tokens and prepared.endswith(tokens[-1]) and tokens[-1][0] != _EMOJI_MARK
    return Phrase(words, tokens[-1] if may_go_on and len(tokens[-1]) >= MIN_PREFIX_CHARACTERS else "")


def cost(text: str) -> int:
    """Count the words to look up for the text. A pair counts as half a word, because pairs are rarer."""
    tokens = _tokens(indexed_words(text))
    pairs = sum(_RUN.match(token) is not None for token in tokens)
    return len(tokens) - pairs // 2


def has_word(text: str) -> bool:
    """Return whether the text contains a word that can be indexed."""
    return bool(_tokens(indexed_words(text)))


def has_unspaced(text: str) -> bool:
    """Return whether the text contains characters of scripts that are written without spaces."""
    return _RUN.search(text) is not None


def _fold_with_emoji(text: str) -> str:
    """Fold text after replacing its emoji, because folding would remove their selectors and joiners."""
    return fold(text) if text.isascii() else fold(_EMOJI.sub(_emoji_word, text))


def _emoji_word(emoji: re.Match[str]) -> str:
    code_points = "x".join(f"{ord(character):x}" for character in emoji[0] if character != "\ufe0f")
    return f" {_EMOJI_MARK}{code_points} "


def _separate_pairs(prepared: str) -> str:
    return _RUN.sub(lambda run: f" {' '.join(_pairs(run[0]))} {run[0][-1]} ", prepared)


def _pairs(run: str) -> list[str]:
    return [run[start : start + 2] for start in range(len(run) - 1)]


def _tokens(prepared: str) -> list[str]:
    """Split prepared text as FTS5 does, keeping letters, numbers, marks and private-use characters."""
    return "".join(
        character if character.isalnum() or _is_part(character) else " " for character in prepared
    ).split()


def _is_part(character: str) -> bool:
    category = unicodedata.category(character)
    return category == "Co" or category[0] in "LMN"
