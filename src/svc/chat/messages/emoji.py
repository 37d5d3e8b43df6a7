"""What may stand as a reaction: one emoji or several in a row, or the `:name:` of one of the server's own.

Bounds and shape only; whether an emoji of that name exists is for the page to show.
"""

import re
import unicodedata

from svc.chat.errors import ChatError

# The longest sequences in use (families, flags of regions) have a dozen code points.
MAX_CHARACTERS = 32
_OWN = re.compile(r":[a-z0-9_]{2,30}:")
_KEYCAP = "\u20e3"
_JOINER = "\u200d"
# Letters of flags, which have no look of their own.
_TAGS = range(0xE0020, 0xE0080)


def checked_emoji(text: str) -> str:
    """The reaction as it is kept. Raises ChatError."""
    emoji = unicodedata.normalize("NFC", text)
    if _OWN.fullmatch(emoji) or _is_emoji(emoji):
        return emoji
    raise ChatError("invalid_emoji")


def _is_emoji(text: str) -> bool:
    if not 1 <= len(text) <= MAX_CHARACTERS:
        return False
    if _KEYCAP in text:
        return re.fullmatch("[0-9#*]\ufe0f?\u20e3", text) is not None
    shown = [c for c in text if c != _JOINER and ord(c) not in _TAGS]
    categories = {unicodedata.category(character) for character in shown}
    # Symbols, with what changes their look: variation selectors and skin tones.
    return (
        bool(categories & {"So", "Sm", "Po"})
        and categories <= {"So", "Sk", "Sm", "Po", "Mn", "Pd"}
        and ("So" in categories or any(ord(c) > 0x2000 for c in shown))
    )
