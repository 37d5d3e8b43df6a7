"""Slack's `rich_text` blocks as Markdown: sections, lists, quotes and code, each of small styled pieces.

What Slack's own composer and the libraries of bots write today. Does no I/O.
Slack's documentation: "Reference: Block Kit blocks", rich text block.
"""

from itertools import count

from svc.chat.webhooks.compatible.draft import moment_of_seconds
from svc.chat.webhooks.compatible.markup import escaped, link
from svc.chat.webhooks.compatible.reading import Node

# Slack has no limit of its own for these; a message of ours shows no more.
MAX_PARTS = 100
MAX_PIECES = 200
MAX_INDENT = 8
_INDENT = "    "
_MARKS = (("strike", "~~"), ("italic", "*"), ("bold", "**"))


def markdown(block: Node) -> str:
    """Raises Unreadable."""
    parts = (_part(part) for part in block.children("elements", MAX_PARTS))
    return "\n".join(filter(None, parts))


def _part(part: Node) -> str:
    match part.text("type"):
        case "rich_text_section":
            return _line(part)
        case "rich_text_list":
            return _list(part)
        case "rich_text_quote":
            return "\n".join(f"> {line}" for line in _line(part).split("\n"))
        case "rich_text_preformatted":
            pieces = part.children("elements", MAX_PIECES)
            code = "".join(piece.text("text") or piece.text("url") for piece in pieces)
            fence = "`" * (_longest_run_of_ticks(code) + 1)
            return f"{fence}\n{code.strip(chr(10))}\n{fence}"
    return ""


def _list(part: Node) -> str:
    """Each level of Slack's is a list of its own, which says how deep it stands and where it begins."""
    indent = _INDENT * min(max(int(part.number("indent") or 0), 0), MAX_INDENT)
    ordered = part.text("style") == "ordered"
    numbers = count(max(int(part.number("offset") or 0), 0) + 1)
    items = (_line(item) for item in part.children("elements", MAX_PARTS))
    return "\n".join(
        f"{indent}{f'{next(numbers)}.' if ordered else '-'} {item.replace(chr(10), ' ')}" for item in items
    )


def _line(part: Node) -> str:
    return "".join(map(_piece, part.children("elements", MAX_PIECES)))


def _piece(piece: Node) -> str:
    style = piece.child("style")
    match piece.text("type"):
        case "text":
            return _styled(piece.text("text"), style)
        case "link":
            return link(piece.text("text") or piece.text("url"), piece.text("url"))
        case "emoji":
            return _emoji(piece.text("unicode")) or f":{escaped(piece.text('name'))}:"
        case "user" | "channel" | "usergroup" | "team" as kind:
            return f"{'#' if kind == 'channel' else '@'}{escaped(piece.text(f'{kind}_id'))}"
        case "broadcast":
            return f"@{escaped(piece.text('range'))}"
        case "date":
            at = moment_of_seconds(piece.number("timestamp") or 0)
            return escaped(piece.text("fallback")) or (f"{at:%Y-%m-%d %H:%M} UTC" if at else "")
        case "color":
            return escaped(piece.text("value"))
    return ""


def _styled(text: str, style: Node) -> str:
    """The marks stand at the words: Markdown reads none that have a space inside."""
    if style.flag("code"):
        ticks = "`" * (_longest_run_of_ticks(text, but_at_least=0) + 1)
        return f"{ticks}{text}{ticks}" if text.strip() else text
    lines = []
    for line in text.split("\n"):
        words = escaped(line)
        for name, mark in _MARKS:
            if words and style.flag(name):
                words = f"{mark}{words}{mark}"
        before = line[: len(line) - len(line.lstrip())]
        after = line[len(line.rstrip()) :] if line.strip() else ""
        lines.append(f"{before}{words}{after}")
    return "\n".join(lines)


def _emoji(codes: str) -> str:
    """The character that code points in hexadecimal, joined by hyphens, stand for."""
    try:
        return "".join(chr(int(code, 16)) for code in codes.split("-")[:MAX_INDENT])
    except ValueError:
        return ""


def _longest_run_of_ticks(text: str, but_at_least: int = 2) -> int:
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return max(longest, but_at_least)
