"""Folds text for search: removes case, accents and other distinctions that people omit in queries.

The same folding applies to messages and queries. Letters that are distinct in their language stay distinct,
such as и and й. Does not depend on members or messages. See Unicode 15.1 section 5.18 (case folding), UAX 15
(normalization), and UTS 10 (letters with a primary difference).
"""

import re
import unicodedata
from functools import lru_cache

# The maximum number of combining marks per letter. Normalising sorts them in quadratic time, and no real
# letter has more (UAX 15, "Stream-Safe Text").
_MAX_MARKS = 30
# Characters that decompose into combining marks, although their own combining class is 0.
_LIKE_MARKS = "\u0f73\u0f75\u0f81"
_NAMES_KEPT = 16_384  # The number of cached names, at about 200 bytes each.

# Matches invisible characters, and marks in decomposed text that do not form another letter. The breve of й
# and ў and the diaeresis of ї are kept, because these are separate letters. Vowel signs of Indic scripts are
# kept, because words are spelled with them.
_IGNORED = re.compile(
    "(?<![иу])\u0306|(?<!і)\u0308"
    "|[\u0300-\u0305\u0307\u0309-\u036f\u0483-\u0487\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
    # Hebrew points, Arabic and Syriac marks, and the Arabic tatweel.
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u08d3-\u08e1\u08e3-\u08ff"
    # Soft hyphens, joiners, direction controls and variation selectors. U+200B and U+200C separate words.
    "\u00ad\u061c\u180b-\u180f\u200d-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
)
# Letters that Unicode does not decompose, with the letters that people type for them. Keyboards for Persian
# and Urdu have a different yeh and kaf, and final Arabic forms are often written without dots. The web client
# has the same table in web/state/name_search.js.
_TYPED_AS = str.maketrans("øłđðħıىیکة", "olddhiييكه") | str.maketrans({"æ": "ae", "œ": "oe", "þ": "th"})


def fold(text: str) -> str:
    """Return the folded text, which can be longer: "ß" becomes "ss", and a ligature becomes its letters."""
    if text.isascii():
        return text.lower()
    text = _with_fewer_marks(text)
    # Fold the case first, because _IGNORED recognises the marks to keep only after lower-case letters. Before
    # that, remove U+0345, which case folding would turn into a letter.
    small = unicodedata.normalize("NFKD", text).replace("\u0345", "").casefold()
    decomposed = unicodedata.normalize("NFKD", small)
    return unicodedata.normalize("NFC", _IGNORED.sub("", decomposed)).translate(_TYPED_AS)


def _with_fewer_marks(text: str) -> str:
    """Return the text with at most _MAX_MARKS marks per letter."""
    kept: list[str] = []
    marks = 0
    for character in text:
        is_mark = unicodedata.combining(character) or character in _LIKE_MARKS
        marks = marks + 1 if is_mark else 0
        if marks <= _MAX_MARKS:
            kept.append(character)
    return text if len(kept) == len(text) else "".join(kept)


@lru_cache(_NAMES_KEPT)
def fold_name(name: str) -> str:
    """Fold a name. The result is cached, because some names take a hundred times longer to fold."""
    return fold(name)
