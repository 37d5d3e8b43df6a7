"""What a name may be, of a member, a channel or a role: short, and something that can be seen; and which
names look alike.

The floor of chat. Judges characters, not words.
"""

import unicodedata
from collections.abc import Collection
from functools import lru_cache

from svc.base.emoji import canonical_emoji
from svc.chat.errors import ChatError

MAX_NICKNAME_CHARACTERS = 32
# Letters, numbers, punctuation and symbols; a name of spaces, joiners and
# combining marks alone would show nothing.
_VISIBLE = frozenset("LNPS")
# Letters and symbols that are drawn as nothing: the fillers of Hangul and the empty pattern of Braille.
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
# Controls, lone surrogates, line and paragraph separators. Format characters are
# needed by some scripts and emoji, except those that turn the text around them.
_REFUSED = frozenset({"Cc", "Cs", "Zl", "Zp"})
_DIRECTION_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

# Cyrillic, Greek and a few other letters, by the Latin ones that they are drawn like.
LOOK_ALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0455\u04bb\u043a\u043c\u0442\u0432\u043d\u0433"
    "\u03b1\u03b5\u03bf\u03c1\u03c5\u03c7\u03b9\u03ba\u03bd\u03c4\u0131\u0142\u00f8\u0111",
    "aeopcyxishkmtbhraeopuxikvtilod",
)
# What names confuse besides: a large I, a small L and a one; an O and a zero.
_ALIKE_IN_NAMES = str.maketrans("i1|0", "lllo")
_MOST_PARTS = 4  # of one character: U+FDFA alone stands for 18 letters
_LETTERS_KEPT = 4096
_NAMES_KEPT = 16384


def readable_nickname(text: str) -> str:
    """The name as it will be shown, or ChatError."""
    if (name := _readable(text, MAX_NICKNAME_CHARACTERS)) is None:
        raise ChatError("invalid_nickname")
    return name


def readable_name(text: str, most: int) -> str:
    """The name of a thing as it will be shown, or ChatError."""
    if (name := _readable(text, most)) is None:
        raise ChatError("invalid_request", f"A name must have 1 to {most} visible characters")
    return name


def _readable(text: str, most: int) -> str | None:
    # The bound comes first: normalising may not be asked to chew a megabyte.
    if len(text) > 4 * most:
        return None
    name = unicodedata.normalize("NFC", text.strip())
    categories = [unicodedata.category(character) for character in name]
    if not 1 <= len(name) <= most:
        return None
    if _REFUSED.intersection(categories) or _DIRECTION_CONTROLS.intersection(name):
        return None
    return name if shows_something(name) else None


def shows_something(text: str) -> bool:
    """Is there anything to see in it?"""
    # Mostly the first character decides, sooner than a generator is made.
    for character in text:
        category = unicodedata.category(character)
        if category[0] in _VISIBLE and character not in _BLANK:
            return True
        # Python's Unicode may be older than the catalogue.
        if category == "Cn" and canonical_emoji(character):
            return True
    return False


@lru_cache(maxsize=_LETTERS_KEPT)
def plain_letters(character: str) -> str:
    """What a character says: not what is invisible, and not what sits on another letter."""
    parts = unicodedata.normalize("NFKD", character.casefold())
    return "".join(part for part in parts if unicodedata.category(part) not in ("Mn", "Me", "Cf"))[
        :_MOST_PARTS
    ]


@lru_cache(maxsize=_NAMES_KEPT)
def likeness(name: str) -> str:
    """The same for names that people take for each other."""
    letters = "".join(map(plain_letters, name)).translate(LOOK_ALIKES).translate(_ALIKE_IN_NAMES)
    return "".join(letters.split())


def free_nickname(wanted: str, taken: Collection[str]) -> str:
    """The name, with the first number from 2 on that makes it unlike all `taken` likenesses."""
    name, number = wanted, 1
    while likeness(name) in taken:
        number += 1
        name = f"{wanted[: MAX_NICKNAME_CHARACTERS - len(str(number)) - 1]} {number}"
    return name
