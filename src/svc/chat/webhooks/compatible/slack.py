"""Converts a Slack incoming webhook payload to a message.

Blocks become the text. Without blocks, or if they contain no text, `text` is used. Attachments and image
blocks become cards. Parts without a counterpart (the channel, threads, an emoji as avatar, menus) are
ignored. This module performs no I/O.

Bold, strikethrough, links and quotes in mrkdwn become Markdown, and emoji names become emoji. Code stays
unchanged, and characters that are markup only in Markdown are escaped. Slack's mentions become plain text,
because they do not refer to members of this server. A link in Slack's syntax to `mention:<member_id>`
mentions that member. Tools escape `&`, `<` and `>` in untrusted strings, so these can contain neither links
nor mentions. See Slack's documentation: "Sending messages using incoming webhooks", "Legacy: secondary
attachments", "Formatting text for app surfaces", "Reference: Block Kit blocks".
"""

import re
from collections.abc import Sequence
from itertools import count

from svc.base.emoji import TONES, emoji_named
from svc.chat.webhooks.compatible.draft import CardDraft, FieldDraft, MessageDraft, moment_of_seconds
from svc.chat.webhooks.compatible.payload_reader import Node, escape, escape_lines, link, with_emoji
from svc.chat.webhooks.limits import MAX_URL

# The maximum number of parts in rich text, and of pieces in a part. Slack has no such limits.
MAX_PARTS = 100
MAX_PIECES = 200
MAX_INDENT = 8
_INDENT = "    "
_MARKS = (("strike", "~~"), ("italic", "*"), ("bold", "**"))


def _convert_rich_text(block: Node) -> str:
    """Convert `rich_text`, the format of Slack's composer and current bot libraries, to Markdown. Raises
    InvalidValue.
    """
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
    """Convert a list to Markdown. In Slack, each level is a separate list with its own indent and offset."""
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
            return _apply_style(piece.lines("text"), style)
        case "link":
            url = piece.text("url", MAX_URL)
            return link(piece.text("text") or url, url)
        case "emoji":
            name, tone = piece.text("name"), int(piece.number("skin_tone") or 1) - 1
            emoji = emoji_named(name, tone if 0 <= tone <= len(TONES) else 0)
            return _emoji(piece.text("unicode")) or emoji or f":{escape(name)}:"
        case "user" | "channel" | "usergroup" | "team" as kind:
            return f"{'#' if kind == 'channel' else '@'}{escape(piece.text(f'{kind}_id'))}"
        case "broadcast":
            return f"@{escape(piece.text('range'))}"
        case "date":
            at = moment_of_seconds(piece.number("timestamp") or 0)
            return escape(piece.text("fallback")) or (f"{at:%Y-%m-%d %H:%M} UTC" if at else "")
        case "color":
            return escape(piece.text("value"))
    return ""


def _apply_style(lines: Sequence[str], style: Node) -> str:
    """Apply a style to lines of text.

    Markdown does not recognise marks with a space on the inner side, so they are placed directly around the
    words.
    """
    if style.flag("code"):
        text = "\n".join(lines)
        ticks = "`" * (_longest_run_of_ticks(text, but_at_least=0) + 1)
        return f"{ticks}{text}{ticks}" if text.strip() else text
    marks = [mark for name, mark in _MARKS if style.flag(name)]
    inner, outer = "".join(reversed(marks)), "".join(marks)
    styled = []
    for line in lines:
        words = escape(line)
        if words:
            words = f"{inner}{words}{outer}"
        before = line[: len(line) - len(line.lstrip())]
        after = line[len(line.rstrip()) :] if line.strip() else ""
        styled.append(f"{before}{words}{after}")
    return "\n".join(styled)


def _emoji(codes: str) -> str:
    """Return the emoji with the given code points, in hexadecimal and joined by hyphens."""
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


_PIECES = re.compile(r"\n?```(?P<block>.+?)```\n?|`(?P<code>[^`\n]+)`|<(?P<control>[^<>\n]+)>", re.DOTALL)
_CONTROL = re.compile(r"<(?P<control>[^<>\n]+)>")
_PLACEHOLDER = re.compile("\0(\\d+)\0")
_ENTITY = re.compile("&(amp|lt|gt);")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">"}
_ADDRESSES = ("http://", "https://", "mention:")
_MENTION = re.compile(r"mention:[A-Za-z0-9_-]{1,128}")

_BOLD = re.compile(r"(?<![\w*])\*(?![\s*])([^*\n]*?[^\s*])\*(?![\w*])")
_STRUCK = re.compile(r"(?<![\w~])~(?![\s~])([^~\n]*?[^\s~])~(?![\w~])")
# Match Markdown that Slack shows literally: a backslash before punctuation, a heading, the middle of a link
# (where NUL marks a removed piece), a tag, and a single asterisk.
_ONLY_MARKDOWN = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])|^#(?=#{0,5}\s)|\](?=[(\0])|<(?=[A-Za-z/!?])", re.MULTILINE
)
_LONE_ASTERISK = re.compile(r"(?<!\*)\*(?!\*)(?:(?=\S)|(?<=\S\*))")


def markdown(text: str) -> str:
    """Convert Slack's mrkdwn to Markdown."""
    kept: list[str] = []

    def keep(piece: re.Match[str]) -> str:
        kept.append(_render(piece))
        return f"\0{len(kept) - 1}\0"

    text = with_emoji(_unescape(_PIECES.sub(keep, text.replace("\0", ""))))
    text = _ONLY_MARKDOWN.sub(r"\\\g<0>", text)
    text = _STRUCK.sub(r"~~\1~~", _BOLD.sub(r"**\1**", text))
    text = _LONE_ASTERISK.sub(r"\\*", text)
    return _PLACEHOLDER.sub(lambda match: kept[int(match[1])], text).strip("\n")


def plain(text: str) -> str:
    """Convert mrkdwn to plain text, for titles and names without markup."""
    return with_emoji(_unescape(_CONTROL.sub(lambda match: _visible_text(match["control"]), text)))


def _render(piece: re.Match[str]) -> str:
    kind = piece.lastgroup or ""
    text = piece[kind]
    if kind == "block":
        return f"\n```\n{_unescape(text).strip(chr(10))}\n```\n"
    if kind == "code":
        return f"`{_unescape(text)}`"
    if text.startswith(_ADDRESSES):
        target, _, label = text.partition("|")
        target, label = _unescape(target), with_emoji(_unescape(label))
        if not target.startswith("mention:"):
            return link(label or target, target)
        if _MENTION.fullmatch(target):
            return f"[{escape(label) or 'member'}]({target})"
    return escape(_unescape(_visible_text(text)))


def _visible_text(control: str) -> str:
    """Return the visible part of the text in angle brackets, still escaped."""
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
    # This is not a Slack control sequence, so the tool has not escaped its text.
    return target if "://" in target or target.startswith("mention:") else f"<{control}>"


def _unescape(text: str) -> str:
    return _ENTITY.sub(lambda entity: _ENTITIES[entity[1]], text) if "&" in text else text


_COLORS = {"good": 0x2EB67D, "warning": 0xECB22E, "danger": 0xE01E5A}
_HEX = re.compile(r"#?([0-9A-Fa-f]{6}|[0-9A-Fa-f]{3})")
# Slack's limits. Items beyond them are not read.
MAX_ATTACHMENTS = 100
MAX_BLOCKS = 50
# The maximum number of texts in a section or a context, and of buttons in a row of actions.
MAX_TEXTS = 10
MAX_BUTTONS = 25
# The maximum number of fields on a card. Slack has no such limit.
MAX_FIELDS = 25
DIVIDER = "---"


def message(body: Node) -> MessageDraft:
    """Convert a payload to a message. Raises InvalidValue."""
    # Read the name first, because other strings may use up the budget.
    name = plain(body.text("username"))
    texts, pictures = _blocks(body)
    text = "" if texts else body.text("text")
    return MessageDraft(
        text=texts or (markdown(text) if body.flag("mrkdwn", default=True) else _as_it_stands(text)),
        display_name=name,
        avatar_url=body.address("icon_url"),
        cards=pictures + [_card(attachment) for attachment in body.children("attachments", MAX_ATTACHMENTS)],
    )


def _card(attachment: Node) -> CardDraft:
    seconds = attachment.number("ts")
    texts, pictures = _blocks(attachment)
    parts = [markdown(attachment.text("pretext")), markdown(attachment.text("text")), texts]
    card = CardDraft(
        title=plain(attachment.text("title")),
        url=attachment.address("title_link"),
        description="\n\n".join(filter(None, parts)),
        color=_color(attachment.text("color")),
        author=plain(attachment.text("author_name")),
        author_url=attachment.address("author_link"),
        author_icon=attachment.address("author_icon"),
        fields=[
            FieldDraft(plain(field.text("title")), markdown(field.text("value")), field.flag("short"))
            for field in attachment.children("fields", MAX_FIELDS)
        ],
        image_url=attachment.address("image_url") or (pictures[0].image_url if pictures else ""),
        thumbnail_url=attachment.address("thumb_url"),
        footer=plain(attachment.text("footer")),
        footer_icon=attachment.address("footer_icon"),
        timestamp=None if seconds is None else moment_of_seconds(seconds),
    )
    if not (card.title or card.description or card.fields or card.author or card.image_url):
        card.description = markdown(attachment.text("fallback"))
    return card


def _color(name: str) -> int | None:
    match = _HEX.fullmatch(name)
    if match is None:
        return _COLORS.get(name)
    digits = match[1] if len(match[1]) == 6 else "".join(digit * 2 for digit in match[1])
    return int(digits, 16)


def _blocks(body: Node) -> tuple[str, list[CardDraft]]:
    """Return the text of the blocks, and their images as cards."""
    texts: list[str] = []
    pictures: list[CardDraft] = []
    for block in body.children("blocks", MAX_BLOCKS):
        texts.append(_text_of(block))
        for picture in (block, block.child("accessory")):
            if picture.text("type") == "image":
                caption = picture.child("title").text("text") or picture.text("alt_text")
                pictures.append(CardDraft(title=caption, image_url=picture.address("image_url")))
    while texts and texts[-1] in ("", DIVIDER):
        texts.pop()
    return "\n\n".join(filter(None, texts)), pictures


def _text_of(block: Node) -> str:
    match block.text("type"):
        case "header":
            heading = block.child("text").text("text")
            return f"**{escape(plain(heading))}**" if heading.strip() else ""
        case "section":
            texts = [block.child("text"), *block.children("fields", MAX_TEXTS)]
            return "\n".join(filter(None, map(_object, [*texts, block.child("accessory")])))
        case "context":
            return " ".join(filter(None, map(_object, block.children("elements", MAX_TEXTS))))
        case "actions":
            return " · ".join(filter(None, map(_object, block.children("elements", MAX_BUTTONS))))
        case "markdown":
            return block.text("text")
        case "rich_text":
            return _convert_rich_text(block)
        case "divider":
            return DIVIDER
    return ""


def _object(element: Node) -> str:
    """Convert a text object, or a button with a link, to Markdown."""
    match element.text("type"):
        case "mrkdwn":
            return markdown(element.text("text"))
        case "plain_text":
            return _as_it_stands(element.text("text"))
        case "button" if url := element.text("url", MAX_URL):
            return link(plain(element.child("text").text("text")), url)
    return ""


def _as_it_stands(text: str) -> str:
    return escape_lines(plain(text))
