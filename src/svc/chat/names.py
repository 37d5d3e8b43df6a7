"""Validates the names of members, channels and roles, which must be short, visible and not confusable.

Does not filter offensive words. Does not depend on any feature.
"""

import unicodedata
from collections.abc import Collection
from functools import lru_cache

from svc.base.emoji import canonical_emoji
from svc.chat.errors import ChatError

MAX_NICKNAME_CHARACTERS = 32
# Letters, numbers, punctuation and symbols. A name without any of these would be invisible.
_VISIBLE = frozenset("LNPS")
# Letters and symbols without a visible glyph: the Hangul fillers and the blank Braille pattern.
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
# Control characters, lone surrogates, and line and paragraph separators. Format characters, which some
# scripts and emoji need, are allowed unless they change the text direction.
_REFUSED = frozenset({"Cc", "Cs", "Zl", "Zp"})
_DIRECTION_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

# Cyrillic, Greek and a few other letters, with the Latin letters that they resemble.
LOOK_ALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0455\u04bb\u043a\u043c\u0442\u0432\u043d\u0433"
    "\u03b1\u03b5\u03bf\u03c1\u03c5\u03c7\u03b9\u03ba\u03bd\u03c4\u0131\u0142\u00f8\u0111",
    "aeopcyxishkmtbhraeopuxikvtilod",
)
# Two more groups of characters that are confusable in names: capital I, small L, 1 and the vertical bar, and
# O and 0.
_ALIKE_IN_NAMES = str.maketrans("i1|0", "lllo")
_MAX_PARTS = 4  # The maximum number of base letters kept per character. U+FDFA has 18.
_LETTERS_KEPT = 4096
_NAMES_KEPT = 16384


def readable_nickname(text: str) -> str:
    """Validate a member's name and return its display form. Raises ChatError."""
    if (name := _readable(text, MAX_NICKNAME_CHARACTERS)) is None:
        raise ChatError("invalid_nickname")
    return name


def readable_name(text: str, maximum: int) -> str:
    """Validate a channel's or role's name and return its display form. Raises ChatError."""
    if (name := _readable(text, maximum)) is None:
        raise ChatError("invalid_request", f"A name must have 1 to {maximum} visible characters")
    return name


def _readable(text: str, maximum: int) -> str | None:
    # Check the length first, because normalising a megabyte of text is slow.
    if len(text) > 4 * maximum:
        return None
    name = unicodedata.normalize("NFC", text.strip())
    categories = [unicodedata.category(character) for character in name]
    if not 1 <= len(name) <= maximum:
        return None
    if _REFUSED.intersection(categories) or _DIRECTION_CONTROLS.intersection(name):
        return None
    return name if has_visible_text(name) else None


def has_visible_text(text: str) -> bool:
    """Return whether a string has a visible character."""
    # The first character is usually visible, so a plain loop is faster than a generator expression.
    for character in text:
        category = unicodedata.category(character)
        if category[0] in _VISIBLE and character not in _BLANK:
            return True
        # Python's Unicode data may be older than our list of emoji.
        if category == "Cn" and canonical_emoji(character):
            return True
    return False


@lru_cache(maxsize=_LETTERS_KEPT)
def plain_letters(character: str) -> str:
    """Return a character's base letters, without combining marks and invisible characters."""
    parts = unicodedata.normalize("NFKD", character.casefold())
    return "".join(part for part in parts if unicodedata.category(part) not in ("Mn", "Me", "Cf"))[
        :_MAX_PARTS
    ]


@lru_cache(maxsize=_NAMES_KEPT)
def confusable_key(name: str) -> str:
    """Return a key that is the same for confusable names."""
    letters = "".join(map(plain_letters, name)).translate(LOOK_ALIKES).translate(_ALIKE_IN_NAMES)
    return "".join(letters.split())


def free_nickname(wanted: str, taken: Collection[str]) -> str:
    """Return the name. If its confusable key is in `taken`, append the lowest free number from 2 up."""
    name, number = wanted, 1
    while confusable_key(name) in taken:
        number += 1
        name = f"{wanted[: MAX_NICKNAME_CHARACTERS - len(str(number)) - 1]} {number}"
    return name
