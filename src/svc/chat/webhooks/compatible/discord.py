"""Converts a Discord webhook payload ("Execute Webhook" in Discord's documentation) to a message.

`content` becomes the text, because both are Markdown. Embeds become cards, and emoji names become emoji.
Discord's mentions become plain text, because they do not refer to members of this server. A link to
`mention:<member_id>` mentions that member. Parts without a counterpart (tts, flags, polls, components,
allowed_mentions) are ignored. This module performs no I/O.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime

from svc.chat.messages.message import Message
from svc.chat.webhooks.compatible.draft import CardDraft, FieldDraft, MessageDraft, moment, moment_of_seconds
from svc.chat.webhooks.compatible.payload_reader import Node, escape, outside_code, with_emoji
from svc.chat.webhooks.json_reader import PayloadWarning
from svc.chat.webhooks.pictures import PostedFile

# The maximum number of embeds to read. It exceeds the ten cards of a message, because some embeds may be
# empty.
MAX_EMBEDS = 25
MAX_FIELDS = 25
# In the list of omitted files: the maximum number of characters per name, and the maximum number of names.
MAX_FILE_NAME = 100
MAX_NAMED = 10
# Matches references to members, roles, channels, custom emoji, commands and timestamps.
_REFERENCE = re.compile(
    r"<(?:@[!&]?(?P<member>\d{1,20})|#(?P<channel>\d{1,20})|a?:(?P<emoji>\w{1,64}):\d{1,20}"
    r"|/(?P<command>[^:<>\n]{1,100}):\d{1,20}|t:(?P<moment>-?\d{1,13})(?::[tTdDfFR])?)>"
)


def message(body: Node, files: Sequence[PostedFile] = ()) -> MessageDraft:
    """Convert a payload and its `files` to a message. Raises InvalidValue."""
    # Read the name first, because other strings may use up the budget.
    name = body.text("username")
    return MessageDraft(
        text=_text(body.text("content")),
        display_name=name,
        avatar_url=body.address("avatar_url"),
        cards=[_card(embed) for embed in body.children("embeds", MAX_EMBEDS)],
        files=files,
    )


def without(draft: MessageDraft, names: Sequence[str]) -> MessageDraft:
    """Return the message with a list of omitted files appended to its text."""
    if not names:
        return draft
    shown = ", ".join(escape(name[:MAX_FILE_NAME]) for name in names[:MAX_NAMED])
    return replace(draft, text="\n".join(filter(None, [draft.text, f"(left out: {shown})"])))


def _card(embed: Node) -> CardDraft:
    author, footer = embed.child("author"), embed.child("footer")
    color = embed.number("color")
    return CardDraft(
        title=with_emoji(embed.text("title")),
        url=embed.address("url"),
        description=_text(embed.text("description")),
        color=None if color is None else int(color),
        author=author.text("name"),
        author_url=author.address("url"),
        author_icon=author.address("icon_url"),
        fields=[
            FieldDraft(with_emoji(field.text("name")), _text(field.text("value")), field.flag("inline"))
            for field in embed.children("fields", MAX_FIELDS)
        ],
        image_url=embed.child("image").address("url"),
        thumbnail_url=embed.child("thumbnail").address("url"),
        footer=footer.text("text"),
        footer_icon=footer.address("icon_url"),
        timestamp=moment(embed.text("timestamp")),
    )


def _text(text: str) -> str:
    return outside_code(text, lambda piece: _REFERENCE.sub(_visible_text, with_emoji(piece)))


def _visible_text(reference: re.Match[str]) -> str:
    kind, reference_id = reference.lastgroup, reference[reference.lastgroup or 0]
    match kind:
        case "member":
            return f"@{reference_id}"
        case "channel":
            return f"#{reference_id}"
        case "emoji":
            return f":{reference_id}:"
        case "command":
            return f"/{reference_id}"
    at = moment_of_seconds(int(reference_id))
    return f"{at:%Y-%m-%d %H:%M} UTC" if at else reference_id


def response(message: Message, warnings: Sequence[PayloadWarning]) -> dict[str, object]:
    """Return a posted message in the format of Discord's response to `?wait=true`. `warnings` lists the
    omitted parts.
    """
    author = {
        "id": message.author.id,
        "username": message.author.display_name,
        "avatar": None,
        "bot": True,
        "discriminator": "0000",
    }
    return {
        "id": message.id,
        "type": 0,
        "channel_id": message.channel_id,
        "webhook_id": message.author.id,
        "author": author,
        "content": message.text,
        "embeds": [{"type": "rich", **_texts(card)} for card in message.cards if isinstance(card, Mapping)],
        "attachments": [_file(file) for file in message.attachments if isinstance(file, Mapping)],
        "components": [],
        "mentions": [],
        "mention_roles": [],
        "mention_everyone": False,
        "pinned": False,
        "tts": False,
        "flags": 0,
        "timestamp": datetime.fromtimestamp(message.posted_at_ms / 1000, UTC).isoformat(),
        "edited_timestamp": None,
        "warnings": list(map(asdict, warnings)),
    }


def _file(file: Mapping[str, object]) -> dict[str, object]:
    response = {"id": file["id"], "filename": file["name"], "size": file["bytes"]}
    shown = ("content_type", "width", "height")
    return response | {name: file[name] for name in shown if file[name] is not None}


def _texts(card: Mapping[str, object]) -> dict[str, object]:
    """Return a card without its images, because their URLs are internal."""
    shown = ("title", "description", "url", "color", "timestamp", "fields")
    texts = {name: card[name] for name in shown if name in card}
    for name, keys in (("author", ("name", "url")), ("footer", ("text",))):
        part = card.get(name)
        if isinstance(part, Mapping):
            texts[name] = {key: part[key] for key in keys if key in part}
    return texts
