"""One line that stands for a message without a text, where its cards cannot be shown: a notification.

Plain words: nothing in it is a link and nobody is mentioned by it, whatever the card says. Pure.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

# What the systems of phones show of a notification.
MAX_CHARACTERS = 200
# What is behind is not shown, however much of it is the addresses of links.
_MOST_READ = 1_000
PICTURE = "A picture"
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_SCHEME = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{0,31}:(?://|(?=mention))|\bmention:", re.IGNORECASE)
# An invisible character, behind which a name is not one.
_APART = "\u200b"


def fallback(cards: Sequence[object]) -> str | None:
    """The first thing that the cards say; None where there are none."""
    for card in cards:
        if isinstance(card, dict):
            for text in _said(card):
                if line := _plain(text):
                    return line
    return PICTURE if cards else None


def _said(card: Mapping[str, object]) -> Iterator[str]:
    yield from (str(card[name]) for name in ("title", "description") if card.get(name))
    author, fields = card.get("author"), card.get("fields")
    if isinstance(author, Mapping):
        yield str(author.get("name", ""))
    if isinstance(fields, Sequence):
        yield from (f"{f.get('name')}: {f.get('value')}" for f in fields if isinstance(f, Mapping))


def _plain(text: str) -> str:
    text = _LINK.sub(r"\1", text.lstrip()[:_MOST_READ])
    # What brackets are left make no link, and no address is one without its scheme.
    text = text.replace("](", f"]{_APART}(").replace("@", f"@{_APART}")
    line = " ".join(_SCHEME.sub("", text).split())
    return line if len(line) <= MAX_CHARACTERS else line[: MAX_CHARACTERS - 1].rstrip() + "…"
