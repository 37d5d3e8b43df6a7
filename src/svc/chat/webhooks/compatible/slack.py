"""What a program posts to a Slack incoming webhook, as a message of ours.

`text` is the text; where there are blocks they are, and `text` is what stands in for them where
they say nothing. Attachments are cards, and pictures among the blocks are too. What has no
counterpart (the channel, threads, emoji as a face, menus) is ignored. Does no I/O.
Slack's documentation: "Sending messages using incoming webhooks", "Legacy: secondary attachments".
"""

import re

from svc.chat.webhooks.compatible import rich_text
from svc.chat.webhooks.compatible.draft import CardDraft, FieldDraft, MessageDraft, moment_of_seconds
from svc.chat.webhooks.compatible.markup import escaped, link
from svc.chat.webhooks.compatible.mrkdwn import MAX_READ_CHARACTERS, markdown, plain
from svc.chat.webhooks.compatible.reading import Node

_COLORS = {"good": 0x2EB67D, "warning": 0xECB22E, "danger": 0xE01E5A}
_HEX = re.compile(r"#?([0-9A-Fa-f]{6}|[0-9A-Fa-f]{3})")
# Slack's own limits; what is beyond them is not read.
MAX_ATTACHMENTS = 100
MAX_BLOCKS = 50
# Of a section, or of a context; and of a row of actions.
MAX_TEXTS = 10
MAX_BUTTONS = 25
# Slack has none for these: a card shows no more.
MAX_FIELDS = 25
DIVIDER = "---"


def message(body: Node) -> MessageDraft:
    """Raises Unreadable."""
    texts, pictures = _blocks(body)
    text = body.text("text")
    return MessageDraft(
        text=texts or (markdown(text) if body.flag("mrkdwn", default=True) else _as_it_stands(text)),
        display_name=plain(body.text("username")),
        avatar_url=body.text("icon_url"),
        cards=pictures + [_card(attachment) for attachment in body.children("attachments", MAX_ATTACHMENTS)],
    )


def _card(attachment: Node) -> CardDraft:
    seconds = attachment.number("ts")
    texts, pictures = _blocks(attachment)
    parts = [markdown(attachment.text("pretext")), markdown(attachment.text("text")), texts]
    card = CardDraft(
        title=plain(attachment.text("title")),
        url=attachment.text("title_link"),
        description="\n\n".join(filter(None, parts)),
        color=_color(attachment.text("color")),
        author=plain(attachment.text("author_name")),
        author_url=attachment.text("author_link"),
        author_icon=attachment.text("author_icon"),
        fields=[
            FieldDraft(plain(field.text("title")), markdown(field.text("value")), field.flag("short"))
            for field in attachment.children("fields", MAX_FIELDS)
        ],
        image_url=attachment.text("image_url") or (pictures[0].image_url if pictures else ""),
        thumbnail_url=attachment.text("thumb_url"),
        footer=plain(attachment.text("footer")),
        footer_icon=attachment.text("footer_icon"),
        timestamp=None if seconds is None else moment_of_seconds(seconds),
    )
    if not (card.title or card.description or card.fields or card.author or card.image_url):
        card.description = markdown(attachment.text("fallback"))
    return card


def _color(named: str) -> int | None:
    found = _HEX.fullmatch(named)
    if found is None:
        return _COLORS.get(named)
    digits = found[1] if len(found[1]) == 6 else "".join(digit * 2 for digit in found[1])
    return int(digits, 16)


def _blocks(body: Node) -> tuple[str, list[CardDraft]]:
    """The text of the blocks and the pictures among them."""
    texts: list[str] = []
    pictures: list[CardDraft] = []
    for block in body.children("blocks", MAX_BLOCKS):
        texts.append(_text_of(block))
        for picture in (block, block.child("accessory")):
            if picture.text("type") == "image":
                caption = picture.child("title").text("text") or picture.text("alt_text")
                pictures.append(CardDraft(title=caption, image_url=picture.text("image_url")))
    while texts and texts[-1] in ("", DIVIDER):
        texts.pop()
    return "\n\n".join(filter(None, texts)), pictures


def _text_of(block: Node) -> str:
    match block.text("type"):
        case "header":
            heading = block.child("text").text("text")
            return f"**{escaped(plain(heading))}**" if heading.strip() else ""
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
            return rich_text.markdown(block)
        case "divider":
            return DIVIDER
    return ""


def _object(element: Node) -> str:
    """A text object, or a button that leads somewhere."""
    match element.text("type"):
        case "mrkdwn":
            return markdown(element.text("text"))
        case "plain_text":
            return _as_it_stands(element.text("text"))
        case "button" if element.text("url"):
            return link(plain(element.child("text").text("text")), element.text("url"))
    return ""


def _as_it_stands(text: str) -> str:
    return "\n".join(escaped(line) for line in plain(text[:MAX_READ_CHARACTERS]).splitlines())
