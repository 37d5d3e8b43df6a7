"""A message as another service means it, made to fit what a webhook of ours takes.

The tool that wrote it cannot know our limits, so nothing is refused for its length: what is too
long is cut and ends in an ellipsis; an address that is none, and cards and fields beyond the most,
are left out. The validator finds nothing wrong with what `payload` makes, unless it says nothing.
Reads no service's format, and does no I/O. docs/webhooks-compatible.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice

from svc.chat.webhooks import limits
from svc.chat.webhooks.pictures import PostedFile
from svc.chat.webhooks.values import is_blank, is_clean, is_url, moment_of

ELLIPSIS = "…"
# For a field whose name or value the other service lets be empty. Discord's tools send it as both: such a
# field is empty and keeps the next one in its place.
BLANK = "\u200b"


@dataclass(frozen=True, slots=True)
class FieldDraft:
    name: str
    value: str
    inline: bool = False


@dataclass(slots=True)
class CardDraft:
    """Texts of any length; an empty one is none."""

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
        """In the webhook's own format."""
        room = _Room(limits.MAX_CARD_TEXTS)
        cards = filter(None, (_card(draft, room) for draft in self.cards))
        return _given(
            text=cut(self.text, limits.MAX_TEXT),
            display_name=_clean(self.display_name),
            avatar_url=_address(self.avatar_url),
            cards=list(islice(cards, limits.MAX_CARDS)),
        )


class _Room:
    """What is left of the combined length of all cards. Whoever comes first takes what they need."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    def cut(self, text: str, most: int) -> str:
        fitting = cut(text, min(most, self._left))
        self._left -= len(fitting)
        return fitting


def cut(text: str, most: int) -> str:
    """So much of a text, with an ellipsis for the rest; nothing of one that is blank."""
    text = _clean(text)
    if len(text) > most:
        text = text[: max(most - len(ELLIPSIS), 0)].rstrip() + ELLIPSIS if most > 0 else ""
    return "" if is_blank(text) else text


def _clean(text: str) -> str:
    """Without what cannot be stored: NUL, and half of a surrogate pair."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _card(draft: CardDraft, room: _Room) -> dict[str, object] | None:
    """None for a card that would show nothing."""
    title = room.cut(draft.title, limits.MAX_TITLE)
    description = room.cut(draft.description, limits.MAX_DESCRIPTION)
    author = room.cut(draft.author, limits.MAX_TITLE)
    fields = _fields(draft.fields, room)
    image_url = _address(draft.image_url)
    if not (title or description or author or fields or image_url):
        return None
    footer = room.cut(draft.footer, limits.MAX_FOOTER)
    return _given(
        title=title,
        url=_address(draft.url),
        description=description,
        color=draft.color if draft.color is not None and 0 <= draft.color <= limits.MAX_COLOR else None,
        author=author
        and _given(name=author, url=_address(draft.author_url), icon_url=_address(draft.author_icon)),
        fields=fields,
        image_url=image_url,
        thumbnail_url=_address(draft.thumbnail_url),
        footer=footer and _given(text=footer, icon_url=_address(draft.footer_icon)),
        timestamp=draft.timestamp and draft.timestamp.isoformat(),
    )


def _fields(drafts: list[FieldDraft], room: _Room) -> list[dict[str, object]]:
    fields = []
    for draft in drafts[: limits.MAX_FIELDS]:
        name, value = room.cut(draft.name, limits.MAX_TITLE), room.cut(draft.value, limits.MAX_FIELD_VALUE)
        if not name and not value:
            continue
        name, value = name or room.cut(BLANK, 1), value or room.cut(BLANK, 1)
        if name and value:
            fields.append({"name": name, "value": value, "inline": draft.inline})
    return fields


def _given(**values: object) -> dict[str, object]:
    """Without what is empty; 0 is a color."""
    return {name: value for name, value in values.items() if value not in (None, "", [], {})}


def _address(url: str) -> str:
    """An address as the validator takes it; else nothing."""
    url = url.strip()
    return url if len(url) <= limits.MAX_URL and is_url(url) and is_clean(url) else ""


def moment(text: str) -> datetime | None:
    """A point in time as ISO 8601 writes it, in UTC where it names no zone."""
    try:
        # Ours reads a leap second too.
        found = datetime.fromisoformat(moment_of(text) or moment_of(f"{text}Z") or text)
        return found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def moment_of_seconds(seconds: float) -> datetime | None:
    """A point in time as Unix counts it."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
