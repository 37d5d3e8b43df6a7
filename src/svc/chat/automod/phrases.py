"""Words and patterns that an owner looks for, in texts that people disguise.

A pattern is not a regular expression. It has letters, which stand for themselves, and three signs: `*` for
up to MAX_GAP characters of the same word, `?` for one character, `#` for a digit. So every repetition has a
bound, and what one has matched is never tried in another way: the effort is at most the length of the text
times that of the pattern and its gaps, whatever either says. A word of letters alone is found by the matching
of `profanityMode`, through its disguises. Pure.
"""

import re
from collections.abc import Sequence

from svc.chat.messages.profanity import Folded, Span, WordList
from svc.chat.messages.words import has_unspaced

MAX_CHARACTERS = 64
# A URL, or a long word. More than two gaps in a word mean nothing that could be said in fewer.
MAX_GAP, MAX_GAPS = 30, 3
_SIGNS = {"?": r"\S", "#": "[0-9#]"}
# Between two words: a space, a comma and a space, a line.
_BETWEEN_WORDS = r"[\W_]{1,8}+"


class Phrases:
    """`entries` are as an owner writes them, each with something to look for."""

    def __init__(self, entries: Sequence[str]) -> None:
        words: list[str] = []
        self._patterns: list[tuple[str, re.Pattern[str]]] = []
        for entry in map(_folded, entries):
            if entry.strip("*").isalpha():
                words.append(entry)
            else:
                self._patterns.append((_longest_piece(entry), _compiled(entry)))
        self._words = WordList(words) if words else None

    def spans(self, text: Folded) -> list[Span]:
        found = self._words.spans(text) if self._words is not None else []
        for piece, pattern in self._patterns:
            # Nearly always this is all that is done.
            if piece in text.text:
                found += [text.span(*match.span()) for match in pattern.finditer(text.text)]
        return found


def problem_with(entry: str) -> str:
    """Why this cannot be looked for; empty where it can."""
    folded = _folded(entry)
    if len(folded) > 2 * MAX_CHARACTERS or len(entry) > MAX_CHARACTERS:
        return f"{entry[:32]!r} has more than {MAX_CHARACTERS} characters"
    if not _longest_piece(folded):
        return f"{entry!r} has nothing to look for: give it a letter"
    if folded.strip("*").count("*") > MAX_GAPS:
        return f"{entry!r} has more than {MAX_GAPS} stars inside"
    return ""


def _folded(entry: str) -> str:
    plain = re.sub(r"\*{2,}", "*", " ".join(Folded.of(entry.strip()).text.split()))
    # Without spaces nothing says where a word begins.
    return f"*{plain.strip('*')}*" if has_unspaced(plain) and plain.strip("*").isalpha() else plain


def _longest_piece(folded: str) -> str:
    """Letters that stand in every text which has the pattern."""
    return max(re.split(r"[*?#\s]+", folded), key=len)


def _compiled(folded: str) -> re.Pattern[str]:
    first, *others = folded.strip("*").split("*")
    start = r"(?<!\w)" if not folded.startswith("*") and _is_of_a_word(first[:1]) else ""
    last = others[-1] if others else first
    end = r"(?!\w)" if _is_of_a_word(last[-1:]) else ""
    if folded.endswith("*"):
        end = rf"\S{{0,{MAX_GAP}}}+"
    pieces = [_piece(piece) for piece in (first, *others)]
    pieces[-1] += end
    gaps = "".join(rf"(?>\S{{0,{MAX_GAP}}}?{piece})" for piece in pieces[1:])
    return re.compile(start + pieces[0] + gaps)


def _piece(text: str) -> str:
    return "".join(_BETWEEN_WORDS if c == " " else _SIGNS.get(c) or re.escape(c) for c in text)


def _is_of_a_word(character: str) -> bool:
    return character.isalnum() or character in "_#"
