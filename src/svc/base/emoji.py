"""Provides the server's emoji catalogue: all emoji in the web client's picker, in every skin tone.

`ci/emoji_data.mjs` generates `emoji.tsv` and the picker's files from the same data. The catalogue does not
include a server's own emoji.
"""

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

# Variation selectors, which select the black-and-white or the coloured form of the preceding character.
VARIATION_SELECTORS = "\ufe0e\ufe0f"
TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
# Characters in emoji that are invisible by themselves: the joiner, and the letters in regional flags.
INVISIBLE_PARTS = frozenset("\u200d" + "".join(map(chr, range(0xE0020, 0xE0080))))
# The maximum length of a reaction in code points. The longest sequences in use (families, regional flags)
# have a dozen.
MAX_EMOJI_CHARACTERS = 32
_OWN_EMOJI = re.compile(r":[a-z0-9_]{2,30}:")
_WITHOUT_SELECTORS = str.maketrans("", "", VARIATION_SELECTORS)


@dataclass(frozen=True, slots=True)
class _Catalogue:
    # Maps each emoji without its selectors to its standard form in Unicode.
    canonical: dict[str, str]
    # Maps each name, as in `:name:`, to the emoji and its skin-tone variants.
    by_name: dict[str, tuple[str, ...]]
    longest: int


@cache
def _catalogue() -> _Catalogue:
    canonical: dict[str, str] = {}
    by_name: dict[str, tuple[str, ...]] = {}
    for line in files("svc.base").joinpath("emoji.tsv").read_text(encoding="utf-8").splitlines():
        emoji, names, tones = line.split("\t")
        family = (emoji, *tones.split())
        canonical.update((sign.translate(_WITHOUT_SELECTORS), sign) for sign in family)
        by_name.update(dict.fromkeys(names.split(), family))
    return _Catalogue(canonical, by_name, max(map(len, canonical)))


def canonical_emoji(text: str) -> str | None:
    """Return one or more emoji in Unicode's standard form, or None if `text` contains anything else."""
    catalogue = _catalogue()
    bare = text.translate(_WITHOUT_SELECTORS)
    signs: list[str] = []
    start = 0
    while start < len(bare):
        for end in range(min(len(bare), start + catalogue.longest), start, -1):
            if (sign := catalogue.canonical.get(bare[start:end])) is not None:
                signs.append(sign)
                start = end
                break
        else:
            return None
    return "".join(signs) or None


def reaction_form(text: str) -> str | None:
    """Return a reaction as it is stored, or None if the text is not a reaction.

    A reaction is one or more emoji from the catalogue, or the `:name:` of a server's own emoji. This function
    does not check whether the server has an emoji with that name. Clients do.
    """
    if _OWN_EMOJI.fullmatch(text):
        return text
    emoji = canonical_emoji(text) if len(text) <= 2 * MAX_EMOJI_CHARACTERS else None
    return emoji if emoji and len(emoji) <= MAX_EMOJI_CHARACTERS else None


def stored_emoji(text: str) -> str:
    """Return the current form of a stored reaction. Symbols outside the catalogue are returned unchanged."""
    return canonical_emoji(text) or text


def emoji_named(name: str, tone: int = 0) -> str | None:
    """Return the emoji that GitHub, Slack or Discord calls `:name:`.

    `tone` is a skin tone from 1 (light) to 5 (dark), or 0. Emoji without tones ignore it.
    """
    family = _catalogue().by_name.get(name, ())
    wanted = {TONES[tone - 1]} if tone else set()
    alike = (sign for sign in family if wanted == {character for character in sign if character in TONES})
    return next(alike, family[0] if family else None)
