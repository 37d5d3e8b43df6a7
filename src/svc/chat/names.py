"""What a name may be, of a member, a channel or a role: short, and something that can be seen.

The floor of chat. Judges characters, not words.
"""

import unicodedata

from svc.chat.errors import ChatError

MAX_NICKNAME_CHARACTERS = 32
# Letters, numbers, punctuation and symbols; a name of spaces, joiners and
# combining marks alone would show nothing.
_VISIBLE = frozenset("LNPS")
# Controls, lone surrogates, line and paragraph separators. Format characters are
# needed by some scripts and emoji, except those that turn the text around them.
_REFUSED = frozenset({"Cc", "Cs", "Zl", "Zp"})
_DIRECTION_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def readable_nickname(text: str) -> str:
    """The name as it will be shown, or ChatError."""
    if (name := _readable(text, MAX_NICKNAME_CHARACTERS)) is None:
        raise ChatError("invalid_nickname")
    return name


def readable_name(text: str, most: int) -> str:
    """The name of a thing as it will be shown, or ChatError."""
    if (name := _readable(text, most)) is None:
        raise ChatError("invalid_request", f"A name has 1 to {most} characters that can be seen")
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
    return name if any(category[0] in _VISIBLE for category in categories) else None
