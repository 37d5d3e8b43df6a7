"""Parses a webhook payload into a message or a list of all its problems, and builds cards in their stored
form.

`parse` does not change the given JSON value. It reads every part, so senders learn about all problems in one
response. `null` is treated as absent. Other modules decide whether images can be fetched. Image URLs are not
stored, because clients load the stored copies. This module performs no I/O. See docs/webhooks.md.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from svc.base.time_slices import Work
from svc.chat.webhooks import limits
from svc.chat.webhooks.json_reader import TOO_DEEP, Findings, PayloadWarning, Problem, Reader
from svc.chat.webhooks.value_formats import is_blank

# A card must have at least one of these keys.
FILLING = ("title", "description", "fields", "image_url", "author")


@dataclass(frozen=True, slots=True)
class CardAuthor:
    name: str
    url: str | None = None
    icon_url: str | None = None


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    value: str
    inline: bool = False


@dataclass(frozen=True, slots=True)
class Footer:
    text: str
    icon_url: str | None = None


@dataclass(frozen=True, slots=True)
class Card:
    title: str | None = None
    url: str | None = None
    description: str | None = None
    color: int | None = None
    author: CardAuthor | None = None
    fields: Sequence[Field] = ()
    image_url: str | None = None
    thumbnail_url: str | None = None
    footer: Footer | None = None
    timestamp: str | None = None  # RFC 3339, in the sender's time zone


@dataclass(frozen=True, slots=True)
class Payload:
    """A valid payload, and the warnings about ignored parts."""

    text: str
    display_name: str | None
    avatar_url: str | None
    cards: Sequence[Card]
    warnings: Sequence[PayloadWarning] = ()


@dataclass(frozen=True, slots=True)
class InvalidPayload:
    """An invalid payload, with at least one problem."""

    problems: Sequence[Problem]


def parse(value: object, *, filled: bool = False) -> Payload | InvalidPayload:
    """Parse a payload.

    `filled` means that the message has attachments, so it needs neither text nor a card.
    """
    findings = Findings()
    if value is TOO_DEEP:
        words = "Objects and lists are nested too deeply, or a number is too large"
        findings.problem("", "invalid", words=words)
        return InvalidPayload(findings.problems)
    payload = Reader(findings, "", value).read(lambda whole: _payload(whole, filled))
    return InvalidPayload(findings.problems) if findings.problems else payload


def _payload(whole: Reader, filled: bool) -> Payload:
    findings = whole.findings
    text = whole.any_text("text")
    if text is not None and len(text) > limits.MAX_TEXT:
        findings.problem(whole.at("text"), "too_long", limits.MAX_TEXT)
    blank = text is not None and is_blank(text)
    display_name = whole.any_text("display_name")
    avatar_url = whole.url("avatar_url")
    cards = whole.objects("cards", limits.MAX_CARDS, _card)
    if findings.characters > limits.MAX_CARD_TEXTS:
        findings.problem(whole.at("cards"), "total_too_long", limits.MAX_CARD_TEXTS)
    # Text that is present but invalid has already been reported.
    if not filled and (blank or not whole.has("text")) and not whole.holds("cards") and whole.is_object:
        findings.problem(whole.at("text"), "required")
    return Payload("" if blank else text or "", display_name, avatar_url, cards, findings.warnings)


def _card(card: Reader) -> Card:
    read = Card(
        title=card.text("title", limits.MAX_TITLE),
        url=card.url("url"),
        description=card.text("description", limits.MAX_DESCRIPTION),
        color=card.color("color"),
        author=card.inner("author", _author),
        fields=card.objects("fields", limits.MAX_FIELDS, _field),
        image_url=card.url("image_url"),
        thumbnail_url=card.url("thumbnail_url"),
        footer=card.inner("footer", _footer),
        timestamp=card.moment("timestamp"),
    )
    if card.is_object and not any(card.holds(name) for name in FILLING):
        card.findings.problem(card.path, "empty_card")
    return read


def _author(author: Reader) -> CardAuthor:
    name = author.text("name", limits.MAX_TITLE, needed=True)
    return CardAuthor(name or "", author.url("url"), author.url("icon_url"))


def _field(field: Reader) -> Field:
    name = field.text("name", limits.MAX_TITLE, needed=True)
    value = field.text("value", limits.MAX_FIELD_VALUE, needed=True)
    return Field(name or "", value or "", field.flag("inline"))


def _footer(footer: Reader) -> Footer:
    text = footer.text("text", limits.MAX_FOOTER, needed=True)
    return Footer(text or "", footer.url("icon_url"))


# Functions that convert cards to their stored form.

AVATAR_PATH = "avatar_url"
# The description of a card whose only content was images that could not be loaded.
NO_PICTURE = "The picture of this card could not be loaded."
_SEEN = frozenset({"title", "description", "author", "fields", "image", "thumbnail", "footer"})


@dataclass(frozen=True, slots=True)
class WantedPicture:
    """An image in a payload. `path` is the path to its URL in the payload."""

    path: str
    url: str
    max_bytes: int
    avatar: bool = False


def wanted_pictures(payload: Payload) -> list[WantedPicture]:
    """Return the images in a payload, in order."""
    wanted = []
    if payload.avatar_url:
        wanted.append(WantedPicture(AVATAR_PATH, payload.avatar_url, limits.MAX_ICON_BYTES, avatar=True))
    for index, card in enumerate(payload.cards):
        for name, url, maximum in (
            ("author.icon_url", card.author and card.author.icon_url, limits.MAX_ICON_BYTES),
            ("image_url", card.image_url, limits.MAX_PICTURE_BYTES),
            ("thumbnail_url", card.thumbnail_url, limits.MAX_PICTURE_BYTES),
            ("footer.icon_url", card.footer and card.footer.icon_url, limits.MAX_ICON_BYTES),
        ):
            if url:
                wanted.append(WantedPicture(f"cards[{index}].{name}", url, maximum))
    return wanted


def with_texts(card: Card, moderate: Callable[[str], Work[str]]) -> Work[Card]:
    """Return the card with all strings moderated."""

    def moderated(text: str | None) -> Work[str | None]:
        return None if text is None else (yield from moderate(text))

    author, footer, fields = card.author, card.footer, []
    if author:
        author = CardAuthor((yield from moderate(author.name)), author.url, author.icon_url)
    if footer:
        footer = Footer((yield from moderate(footer.text)), footer.icon_url)
    for field in card.fields:
        name, value = (yield from moderate(field.name)), (yield from moderate(field.value))
        fields.append(Field(name, value, field.inline))
    return dataclasses.replace(
        card,
        title=(yield from moderated(card.title)),
        description=(yield from moderated(card.description)),
        author=author,
        fields=fields,
        footer=footer,
    )


def stored_cards(
    cards: Sequence[Card], pictures: Mapping[str, Mapping[str, object]]
) -> list[Mapping[str, object]]:
    """Return the cards in their stored form, with the loaded images. `pictures` contains the images by path.

    A card without any visible content gets the description NO_PICTURE.
    """
    records = [_card_record(card, f"cards[{index}]", pictures) for index, card in enumerate(cards)]
    return [card if card.keys() & _SEEN else {**card, "description": NO_PICTURE} for card in records]


def _card_record(card: Card, path: str, pictures: Mapping[str, Mapping[str, object]]) -> Mapping[str, object]:
    author, footer = card.author, card.footer
    return _without_none(
        title=card.title,
        url=card.url,
        description=card.description,
        color=card.color,
        author=author
        and _without_none(name=author.name, url=author.url, icon=pictures.get(f"{path}.author.icon_url")),
        fields=[{"name": field.name, "value": field.value, "inline": field.inline} for field in card.fields]
        or None,
        image=pictures.get(f"{path}.image_url"),
        thumbnail=pictures.get(f"{path}.thumbnail_url"),
        footer=footer and _without_none(text=footer.text, icon=pictures.get(f"{path}.footer.icon_url")),
        timestamp=card.timestamp,
    )


def _without_none(**values: object) -> Mapping[str, object]:
    return {name: value for name, value in values.items() if value is not None}
