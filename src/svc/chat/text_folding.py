"""Folds text for search: removes case, accents and other differences that a reader does not type.

The same folding is applied to a text and to a query. It keeps letters that their readers distinguish, such as
и and й. Knows no members and no messages. See Unicode 15.1 section 5.18 (case folding), UAX 15
(normalization), and UTS 10 (letters with a primary difference).
"""

import re
import unicodedata
from functools import lru_cache

# Normalising sorts the combining marks of a letter in quadratic time. No real letter has more marks than this
# (UAX 15, "Stream-Safe Text").
_MOST_MARKS = 30
# Characters that decompose to marks, although their combining class is 0.
_LIKE_MARKS = "\u0f73\u0f75\u0f81"
_NAMES_KEPT = 16_384  # Names of members and channels, which take about 200 bytes each.

# Marks and invisible characters that do not form another letter, in decomposed text. The breve of й and ў and
# the diaeresis of ї stay, because these are separate letters. Vowel signs of Indic scripts stay, because they
# spell the word.
_IGNORED = re.compile(
    "(?<![иу])\u0306|(?<!і)\u0308"
    "|[\u0300-\u0305\u0307\u0309-\u036f\u0483-\u0487\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
    # Points of Hebrew, marks of Arabic and Syriac, and the stretching line of Arabic.
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u08d3-\u08e1\u08e3-\u08ff"
    # Soft hyphens, joiners, direction controls and variation selectors. U+200B and U+200C separate words.
    "\u00ad\u061c\u180b-\u180f\u200d-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
)
# Letters that Unicode does not decompose, with the letters that readers type for them. Keyboards for Persian
# and Urdu have another yeh and kaf, and final Arabic forms are often written without dots. The page has the
# same table in web/state/name_search.js.
_TYPED_AS = str.maketrans("øłđðħıىیکة", "olddhiييكه") | str.maketrans({"æ": "ae", "œ": "oe", "þ": "th"})


def fold(text: str) -> str:
    """Return the text as search compares it. It may be longer: "ß" becomes "ss", a ligature its letters."""
    if text.isascii():
        return text.lower()
    text = _with_fewer_marks(text)
    # Case is folded first, because the marks that stay belong to small letters. U+0345 would become a letter.
    small = unicodedata.normalize("NFKD", text).replace("\u0345", "").casefold()
    decomposed = unicodedata.normalize("NFKD", small)
    return unicodedata.normalize("NFC", _IGNORED.sub("", decomposed)).translate(_TYPED_AS)


def _with_fewer_marks(text: str) -> str:
    """Return the text without the marks of a letter that exceed _MOST_MARKS."""
    kept: list[str] = []
    marks = 0
    for character in text:
        is_mark = unicodedata.combining(character) or character in _LIKE_MARKS
        marks = marks + 1 if is_mark else 0
        if marks <= _MOST_MARKS:
            kept.append(character)
    return text if len(kept) == len(text) else "".join(kept)


@lru_cache(_NAMES_KEPT)
def fold_name(name: str) -> str:
    """Fold a name and remember the result: a name can take a hundred times as long as usual to fold."""
    return fold(name)
