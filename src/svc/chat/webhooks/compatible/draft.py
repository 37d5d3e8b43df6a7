"""Builds messages from other services' payloads and shortens them to a webhook's limits.

The sending tool does not know our limits, so nothing is rejected because of its length. An overlong string is
truncated and ends with an ellipsis. Invalid URLs, and cards and fields beyond the limit, are omitted. The
result of `payload` is valid unless empty. This module does not depend on any service's format, and performs
no I/O. See docs/webhooks-compatible.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice

from svc.chat.webhooks import limits
from svc.chat.webhooks.pictures import PostedFile
from svc.chat.webhooks.value_formats import is_blank, is_clean, is_url, moment_of

ELLIPSIS = "…"
# Replaces an empty name or value of a field. Tools for Discord send this character for both, to use an empty
# field as a spacer.
BLANK = "\u200b"


@dataclass(frozen=True, slots=True)
class FieldDraft:
    name: str
    value: str
    inline: bool = False


@dataclass(slots=True)
class CardDraft:
    """A card with strings of any length. An empty string counts as absent."""

    title: str = ""
    url: str = ""
    description: str = ""
    color: int | None = None
    author: str = ""
    author_url: str = ""
    author_icon: str = ""
    fields: list[FieldDraft] = field(default_factory=list)
    image_url: str = ""
    thumbnail_url: str = ""
    footer: str = ""
    footer_icon: str = ""
    timestamp: datetime | None = None


@dataclass(slots=True)
class MessageDraft:
    text: str = ""
    display_name: str = ""
    avatar_url: str = ""
    cards: list[CardDraft] = field(default_factory=list)
    files: Sequence[PostedFile] = ()

    def payload(self) -> dict[str, object]:
        room = _TextBudget(limits.MAX_CARD_TEXTS)
        cards = filter(None, (_card(draft, room) for draft in self.cards))
        return _non_empty(
            text=cut(self.text, limits.MAX_TEXT),
            display_name=_clean(self.display_name),
            avatar_url=_address(self.avatar_url),
            cards=list(islice(cards, limits.MAX_CARDS)),
        )


class _TextBudget:
    """The number of characters left for the strings in all cards. Each card uses up part of it."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    def cut(self, text: str, maximum: int) -> str:
        fitting = cut(text, min(maximum, self._left))
        self._left -= len(fitting)
        return fitting


def cut(text: str, maximum: int) -> str:
    """Truncate an overlong string and end it with an ellipsis. Return an empty string if it is blank."""
    text = _clean(text)
    if len(text) > maximum:
        text = text[: max(maximum - len(ELLIPSIS), 0)].rstrip() + ELLIPSIS if maximum > 0 else ""
    return "" if is_blank(text) else text


def _clean(text: str) -> str:
    """Remove NUL and replace lone surrogates, because neither can be stored."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _card(draft: CardDraft, room: _TextBudget) -> dict[str, object] | None:
    """Shorten a card to the limits. Return None if nothing would be visible."""
    title = room.cut(draft.title, limits.MAX_TITLE)
    description = room.cut(draft.description, limits.MAX_DESCRIPTION)
    author = room.cut(draft.author, limits.MAX_TITLE)
    fields = _fields(draft.fields, room)
    image_url = _address(draft.image_url)
    if not (title or description or author or fields or image_url):
        return None
    footer = room.cut(draft.footer, limits.MAX_FOOTER)
    return _non_empty(
        title=title,
        url=_address(draft.url),
        description=description,
        color=draft.color if draft.color is not None and 0 <= draft.color <= limits.MAX_COLOR else None,
        author=author
        and _non_empty(name=author, url=_address(draft.author_url), icon_url=_address(draft.author_icon)),
        fields=fields,
        image_url=image_url,
        thumbnail_url=_address(draft.thumbnail_url),
        footer=footer and _non_empty(text=footer, icon_url=_address(draft.footer_icon)),
        timestamp=draft.timestamp and draft.timestamp.isoformat(),
    )


def _fields(drafts: list[FieldDraft], room: _TextBudget) -> list[dict[str, object]]:
    fields = []
    for draft in drafts[: limits.MAX_FIELDS]:
        name, value = room.cut(draft.name, limits.MAX_TITLE), room.cut(draft.value, limits.MAX_FIELD_VALUE)
        if not name and not value:
            continue
        name, value = name or room.cut(BLANK, 1), value or room.cut(BLANK, 1)
        if name and value:
            fields.append({"name": name, "value": value, "inline": draft.inline})
    return fields


def _non_empty(**values: object) -> dict[str, object]:
    """Return the values that are not empty. 0 is kept, because it is a valid colour."""
    return {name: value for name, value in values.items() if value not in (None, "", [], {})}


def _address(url: str) -> str:
    """Return the URL if it passes validation, otherwise an empty string."""
    url = url.strip()
    return url if len(url) <= limits.MAX_URL and is_url(url) and is_clean(url) else ""


def moment(text: str) -> datetime | None:
    """Parse an ISO 8601 timestamp. A timestamp without a zone is in UTC."""
    try:
        # `moment_of` also accepts a leap second.
        parsed = datetime.fromisoformat(moment_of(text) or moment_of(f"{text}Z") or text)
        return parsed.replace(tzinfo=parsed.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def moment_of_seconds(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
