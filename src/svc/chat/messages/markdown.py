"""Finds mentions of members and groups, and URLs, in a message's text.

A mention is a link to `mention:<member_id>` or to a group: `mention:everyone`, `mention:here` or
`role:<role_id>`. This module parses only as much Markdown as it needs. Code, escaped characters and images
contain no mentions. A URL gets a preview unless it is in `<...>` or in a spoiler. The module does not check
whether members and groups exist, and fetches nothing. See docs/http.md, "Messages"; CommonMark 0.31 sections
2.4, 4.4, 4.5, 6.1, 6.3.
"""

import re
from dataclasses import dataclass

# Mentions beyond this number are ignored.
MAX_MENTIONS = 50
_MAX_LABEL_BRACKETS = 32
# EVERYONE means all members who can view the channel. HERE means only the members among them who are online.
EVERYONE, HERE = "everyone", "here"

_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<info>.*)")
_INDENTED = re.compile(r"(?: {4}| {0,3}\t)")
_TARGET = re.compile(
    r"\(\s*(?P<open><)?(?P<kind>mention|role):(?P<id>[A-Za-z0-9_-]{1,128})(?(open)>)"
    r"""(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)"""
)
_TICKS = re.compile(r"`+")


@dataclass(frozen=True, slots=True)
class Mentions:
    """The mentions in a message, in order of appearance, without repeats. At most MAX_MENTIONS in total."""

    members: tuple[str, ...] = ()
    # Contains EVERYONE, HERE, and ids of roles.
    groups: tuple[str, ...] = ()


_NOBODY = Mentions()


def mentions_in(text: str) -> Mentions:
    if "](" not in text or not ("mention:" in text or "role:" in text):
        return _NOBODY
    targets: dict[tuple[str, str], None] = {}
    for paragraph in paragraphs(text):
        for target in _mentions_in(paragraph):
            targets[target] = None
    first = list(targets)[:MAX_MENTIONS]
    return Mentions(
        members=tuple(name for kind, name in first if kind == "mention" and name not in (EVERYONE, HERE)),
        groups=tuple(name for kind, name in first if kind == "role" or name in (EVERYONE, HERE)),
    )


def mentioned_ids(text: str) -> tuple[str, ...]:
    """Return the ids of the members who are mentioned individually."""
    return mentions_in(text).members


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of the text without its code blocks. A link cannot span several paragraphs."""
    paragraphs: list[list[str]] = [[]]
    fence = ""
    for line in text.splitlines():
        opening = _FENCE.fullmatch(line)
        if fence:
            closes = opening and not opening["info"].strip() and opening["fence"].startswith(fence)
            if closes:
                fence = ""
        elif opening and not (opening["fence"][0] == "`" and "`" in opening["info"]):
            fence = opening["fence"]
            paragraphs.append([])
        elif not line.strip():
            paragraphs.append([])
        elif _INDENTED.match(line) and not paragraphs[-1]:
            continue  # Indented code. Within a paragraph, indentation has no meaning.
        else:
            paragraphs[-1].append(line)
    return ["\n".join(lines) for lines in paragraphs if lines]


def _mentions_in(text: str) -> list[tuple[str, str]]:
    targets: list[tuple[str, str]] = []
    # Whether each open bracket belongs to an image, outermost first.
    open_brackets: list[bool] = []
    position = 0
    while position < len(text):
        character = text[position]
        if character == "\\":
            position += 2
        elif character == "`":
            position = after_code(text, position)
        elif character == "[" or text.startswith("![", position):
            open_brackets.append(character == "!")
            del open_brackets[:-_MAX_LABEL_BRACKETS]
            position += len("![") if character == "!" else 1
        elif character == "]" and open_brackets:
            is_image = open_brackets.pop()
            target = _TARGET.match(text, position + 1)
            if target and not is_image:
                targets.append((target["kind"], target["id"]))
                # Links cannot be nested, so brackets that are still open around this link are plain text.
                open_brackets.clear()
            position = target.end() if target else position + 1
        else:
            position += 1
    return targets


def after_code(text: str, start: int) -> int:
    """Return the position after a code span, or after its opening backticks if it is not closed."""
    opening = _TICKS.match(text, start)
    assert opening is not None, "only called on a tick"
    for ticks in _TICKS.finditer(text, opening.end()):
        if len(ticks[0]) == len(opening[0]):
            return ticks.end()
    return opening.end()


MAX_LINKS = 3
MAX_LINK_CHARACTERS = 2_048

# A URL may follow any character except a Latin letter or a digit, as in 請看https://example.org. Chinese and
# Japanese punctuation ends it. The web client implements the same rules in web/views/markdown/links.js.
_LINK = re.compile(
    r"(?<![a-z\u00c0-\u024f\d])https?://[^\s<>\"\\`|\u3000-\u303f\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]+",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"<https?://[^<>\s]*>", re.IGNORECASE)
_SPOILER = re.compile(r"\|\|.+?\|\|", re.DOTALL)
# Characters that end a sentence or emphasis, but not a URL.
_AFTER = ".,:;!?'*_~"
_PAIRS = {")": "(", "]": "[", "}": "{"}


def has_link(text: str) -> bool:
    """Return whether the text contains a URL, even in code or a spoiler."""
    return _LINK.search(text) is not None


def links_of(text: str) -> tuple[str, ...]:
    """Return the first MAX_LINKS different URLs that get a preview."""
    if "://" not in text:
        return ()
    links: dict[str, None] = {}
    for paragraph in paragraphs(text):
        links |= dict.fromkeys(_links_in(_SPOILER.sub(" ", paragraph)))
    return tuple(link for link in links if len(link) <= MAX_LINK_CHARACTERS)[:MAX_LINKS]


def _links_in(text: str) -> list[str]:
    links: list[str] = []
    position = 0
    while position < len(text):
        if text[position] == "\\":
            position += 2
        elif text[position] == "`":
            position = after_code(text, position)
        elif bracketed := _BRACKETED.match(text, position):
            position = bracketed.end()
        elif link := _LINK.match(text, position):
            links.append(trim_address(link[0]))
            position = link.end()
        else:
            position += 1
    return links


def trim_address(link: str) -> str:
    """Remove trailing punctuation and unmatched closing brackets from a URL."""
    # In `[text](url)`, the closing bracket ends the URL, regardless of the next character.
    depth = 0
    for index, character in enumerate(link):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            link = link[:index]
            break
    # The number of closing brackets without an opening one. Counted once, because a URL can end in thousands
    # of closing brackets.
    unopened = {close: link.count(close) - link.count(opening) for close, opening in _PAIRS.items()}
    end = len(link)
    while end and ((last := link[end - 1]) in _AFTER or unopened.get(last, 0) > 0):
        if last in unopened:
            unopened[last] -= 1
        end -= 1
    return link[:end]
