"""The links of a text that may be shown in short below it: web addresses, as they stand in the markdown.

None in code, none that somebody has put into `<...>`, which is how one asks for no preview, and none
behind a spoiler. Reads only as much markdown as that takes. Fetches nothing.
Spec: CommonMark 0.31 sections 2.4, 4.4, 4.5, 6.1.
"""

import re

from svc.chat.messages.mentions import after_code, paragraphs

MAX_LINKS = 3
MAX_CHARACTERS = 2_048

_LINK = re.compile(r"https?://[^\s<>\"\\`|]+", re.IGNORECASE)
_BRACKETED = re.compile(r"<https?://[^<>\s]*>", re.IGNORECASE)
_SPOILER = re.compile(r"\|\|.+?\|\|", re.DOTALL)
# What ends a sentence, or emphasis, and no address.
_AFTER = ".,:;!?'*_~"
_PAIRS = {")": "(", "]": "[", "}": "{"}


def links_of(text: str) -> tuple[str, ...]:
    """The first MAX_LINKS, each once."""
    if "://" not in text:
        return ()
    found: dict[str, None] = {}
    for paragraph in paragraphs(text):
        found |= dict.fromkeys(_in_paragraph(_SPOILER.sub(" ", paragraph)))
    return tuple(link for link in found if len(link) <= MAX_CHARACTERS)[:MAX_LINKS]


def _in_paragraph(text: str) -> list[str]:
    found: list[str] = []
    position = 0
    while position < len(text):
        if text[position] == "\\":
            position += 2
        elif text[position] == "`":
            position = after_code(text, position)
        elif bracketed := _BRACKETED.match(text, position):
            position = bracketed.end()
        elif (link := _LINK.match(text, position)) and not text[position - 1 : position].isalnum():
            found.append(trimmed(link[0]))
            position = link.end()
        else:
            position += 1
    return found


def trimmed(link: str) -> str:
    """Without what follows the address: punctuation, and brackets that it does not open."""
    # In `[text](address)` the address ends where the brackets do, whatever follows them.
    depth = 0
    for place, character in enumerate(link):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            link = link[:place]
            break
    while link and (link[-1] in _AFTER or link[-1] in _PAIRS):
        if link[-1] in _PAIRS and link.count(_PAIRS[link[-1]]) >= link.count(link[-1]):
            break
        link = link[:-1]
    return link
