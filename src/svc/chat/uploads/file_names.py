"""Makes file names safe to show and save.

This module removes paths, invisible characters, and characters that change the text direction. It keeps
invisible characters that words or emoji need. It does not filter offensive words or restrict extensions.
"""

import re
import unicodedata

MAX_NAME_CHARACTERS = 100
DEFAULT_NAME = "file"
_JOINERS = "\u200c\u200d"
# Format characters with a visible glyph. They precede Arabic, Syriac and Kaithi numbers and words.
_DRAWN_FORMATS = frozenset("\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd") | frozenset(
    map(chr, range(0x0600, 0x0606))
)
# Letters and symbols that are displayed as a space or are invisible: Hangul fillers, Khmer inherent vowels,
# and the blank Braille pattern.
_BLANKS = dict.fromkeys(map(ord, "\u2800\u3164\uffa0"), " ") | dict.fromkeys(
    map(ord, "\u034f\u115f\u1160\u17b4\u17b5")
)
_NEVER_SHOWN = frozenset(
    (*range(0xFDD0, 0xFDF0), *range(0xE0000, 0xE1000), *range(0x2065, 0x2066), *range(0xFFF0, 0xFFF9))
)
# Matches the flags of England, Scotland, Wales and other regions: a black flag, followed by the region in tag
# characters (UTS 51).
_FLAG = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{2,6}\U000e007f"
_TAGS = re.compile(f"({_FLAG})|[\U000e0000-\U000e007f]")
_JOINED = re.compile(f"[{_JOINERS}]+")
# Variation selectors, which select a variant of the preceding character. The last range is only for
# ideographs.
_SELECTORS = re.compile("[\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
_KEYCAPS = frozenset("0123456789#*")
# The ranges of scripts whose letters join or combine, from Arabic to the Vedic signs, with additional blocks
# of these scripts.
_JOINING_SCRIPTS = (
    (0x0600, 0x1CFF),
    (0xA800, 0xABFF),
    (0xFB50, 0xFDFF),
    (0xFE70, 0xFEFE),
    (0x10A00, 0x11FFF),
    (0x1E900, 0x1E95F),
)


def readable_file_name(text: str) -> str:
    """Return a name that is safe to show: the last part of the path, without control and hidden
    characters.
    """
    last = text.replace("\\", "/").rpartition("/")[2].translate(_BLANKS)
    seen = _TAGS.sub(lambda tags: tags[1] or "", "".join(map(_visible_form, last)))
    seen = _SELECTORS.sub(_selector, _JOINED.sub(_joiner, seen))
    cut = " ".join(seen.split())[-MAX_NAME_CHARACTERS:]
    # Truncation can split a flag or another emoji sequence.
    return _TAGS.sub(lambda tags: tags[1] or "", cut).strip(f". {_JOINERS}\ufe0f") or DEFAULT_NAME


def _visible_form(character: str) -> str:
    """Return a character in its visible form, or "" if it is invisible. Tags and joiners are checked later,
    in context.
    """
    category = unicodedata.category(character)
    if category == "Zs":
        return " "
    if category == "Cf":
        kept = character in _DRAWN_FORMATS or character in _JOINERS or _TAGS.match(character)
        return character if kept else ""
    if category == "Cn":
        # Python's Unicode data may be older than an emoji or a script, so unassigned characters are kept,
        # except code points that will never be assigned or visible.
        return "" if ord(character) & 0xFFFE == 0xFFFE or ord(character) in _NEVER_SHOWN else character
    return "" if category in ("Cc", "Cs", "Co", "Zl", "Zp") else character


def _joiner(joiners: re.Match[str]) -> str:
    """Keep a joiner only next to a letter of a script that needs it, or between the parts of an emoji."""
    before, after = _neighbours(joiners)
    needed = _joins(before) or _joins(after) or (_is_symbol(before) and _is_symbol(after))
    return joiners[0][0] if needed else ""


def _selector(selectors: re.Match[str]) -> str:
    """Keep a selector only after an ideograph, a letter of a joining script, a symbol or a keycap's digit."""
    before, _ = _neighbours(selectors)
    is_base = unicodedata.category(before) == "Lo" or _joins(before) or _is_symbol(before)
    return selectors[0][0] if is_base or before in _KEYCAPS else ""


def _neighbours(part: re.Match[str]) -> tuple[str, str]:
    text = part.string
    return text[part.start() - 1] if part.start() else " ", text[part.end() : part.end() + 1] or " "


def _joins(character: str) -> bool:
    return unicodedata.category(character)[0] in "LM" and any(
        first <= ord(character) <= last for first, last in _JOINING_SCRIPTS
    )


def _is_symbol(character: str) -> bool:
    """Return whether a character can be part of an emoji: a symbol, punctuation such as ‼, a skin tone or a
    selector.
    """
    return character > "\u00a8" and (unicodedata.category(character)[0] in "SPC" or character == "\ufe0f")
