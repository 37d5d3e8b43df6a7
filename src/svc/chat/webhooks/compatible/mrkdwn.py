"""Slack's mrkdwn as Markdown, and as plain text.

Bold, struck, links and quotes become Markdown's; code stays; what only Markdown would take for
markup is escaped. Slack's mentions become plain text, for they name nobody here; a link to
`mention:<member_id>`, written as Slack writes links, mentions that member. Tools escape `&`, `<`
and `>` in what comes from strangers, so that strangers can neither link nor mention.
Slack's documentation: "Formatting text for app surfaces".
"""

import re

from svc.chat.webhooks.compatible.markup import escaped, link

# Nothing shows more than 4,000; links and escapes take more to write than to show.
MAX_READ_CHARACTERS = 16_000

_PIECES = re.compile(r"\n?```(?P<block>.+?)```\n?|`(?P<code>[^`\n]+)`|<(?P<control>[^<>\n]+)>", re.DOTALL)
_CONTROL = re.compile(r"<(?P<control>[^<>\n]+)>")
_KEPT = re.compile("\0(\\d+)\0")
_ENTITY = re.compile("&(amp|lt|gt);")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">"}
_MENTION = re.compile(r"mention:[A-Za-z0-9_-]{1,128}")

_BOLD = re.compile(r"(?<![\w*])\*(?![\s*])([^*\n]*?[^\s*])\*(?![\w*])")
_STRUCK = re.compile(r"(?<![\w~])~(?![\s~])([^~\n]*?[^\s~])~(?![\w~])")
# What Slack shows as it stands and Markdown would not: a backslash before punctuation, a heading,
# the middle of a link (NUL is where a piece was taken out), a tag, an asterisk that is not one of two.
_ONLY_MARKDOWN = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])|^#(?=#{0,5}\s)|\](?=[(\0])|<(?=[A-Za-z/!?])", re.MULTILINE
)
_LONE_ASTERISK = re.compile(r"(?<!\*)\*(?!\*)(?:(?=\S)|(?<=\S\*))")


def markdown(text: str) -> str:
    """For a text, and for what is Markdown in a card."""
    kept: list[str] = []

    def keep(piece: re.Match[str]) -> str:
        kept.append(_rendered(piece))
        return f"\0{len(kept) - 1}\0"

    text = _unescaped(_PIECES.sub(keep, text[:MAX_READ_CHARACTERS].replace("\0", "")))
    text = _ONLY_MARKDOWN.sub(r"\\\g<0>", text)
    text = _STRUCK.sub(r"~~\1~~", _BOLD.sub(r"**\1**", text))
    text = _LONE_ASTERISK.sub(r"\\*", text)
    return _KEPT.sub(lambda place: kept[int(place[1])], text).strip("\n")


def plain(text: str) -> str:
    """For titles and names, where no markup is read."""
    return _unescaped(_CONTROL.sub(lambda found: _shown(found["control"]), text))


def _rendered(piece: re.Match[str]) -> str:
    if (block := piece["block"]) is not None:
        return f"\n```\n{_unescaped(block).strip(chr(10))}\n```\n"
    if (code := piece["code"]) is not None:
        return f"`{_unescaped(code)}`"
    control = piece["control"]
    target, _, label = control.partition("|")
    target, label = _unescaped(target), _unescaped(label)
    if _MENTION.fullmatch(target):
        return f"[{escaped(label) or 'member'}]({target})"
    if target.startswith(("http://", "https://")):
        return link(label or target, target)
    return escaped(_unescaped(_shown(control)))


def _shown(control: str) -> str:
    """The words between the brackets that a reader is meant to see, still escaped."""
    target, _, label = control.partition("|")
    kind = target[:1]
    if kind in ("@", "#"):
        return kind + (label or target[1:]).removeprefix(kind)
    if kind == "!":
        return label if "^" in target and label else "@" + target[1:].split("^")[0]
    if label:
        return label
    for scheme in ("mailto:", "tel:"):
        if target.startswith(scheme):
            return target.removeprefix(scheme)
    # No control of Slack's: a tool has not escaped what it wrote.
    return target if "://" in target or target.startswith("mention:") else f"<{control}>"


def _unescaped(text: str) -> str:
    return _ENTITY.sub(lambda entity: _ENTITIES[entity[1]], text)
