"""Cards as they are stored and shown: the texts that moderation has seen, and pictures of our own.

No address of a sender's picture is kept: readers load the stored copy. Pure.
docs/webhooks.md, "Cards".
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from svc.chat.webhooks.limits import MAX_ICON_BYTES, MAX_PICTURE_BYTES
from svc.chat.webhooks.payload import Card, CardAuthor, Field, Footer, Payload

AVATAR_PATH = "avatar_url"
# Instead of a card whose pictures were all that it had, and could not be had.
NO_PICTURE = "The picture of this card could not be loaded."
_SEEN = frozenset({"title", "description", "author", "fields", "image", "thumbnail", "footer"})


@dataclass(frozen=True, slots=True)
class WantedPicture:
    """A picture that a payload asks for; `path` points into the payload."""

    path: str
    url: str
    max_bytes: int
    avatar: bool = False


def wanted_pictures(payload: Payload) -> list[WantedPicture]:
    """In the order in which a payload has them."""
    wanted = []
    if payload.avatar_url:
        wanted.append(WantedPicture(AVATAR_PATH, payload.avatar_url, MAX_ICON_BYTES, avatar=True))
    for index, card in enumerate(payload.cards):
        for name, url, most in (
            ("author.icon_url", card.author and card.author.icon_url, MAX_ICON_BYTES),
            ("image_url", card.image_url, MAX_PICTURE_BYTES),
            ("thumbnail_url", card.thumbnail_url, MAX_PICTURE_BYTES),
            ("footer.icon_url", card.footer and card.footer.icon_url, MAX_ICON_BYTES),
        ):
            if url:
                wanted.append(WantedPicture(f"cards[{index}].{name}", url, most))
    return wanted


def with_texts(card: Card, judged: Callable[[str], str]) -> Card:
    """The card with every text of it judged."""

    def each(text: str | None) -> str | None:
        return None if text is None else judged(text)

    author = card.author and CardAuthor(judged(card.author.name), card.author.url, card.author.icon_url)
    footer = card.footer and Footer(judged(card.footer.text), card.footer.icon_url)
    fields = [Field(judged(field.name), judged(field.value), field.inline) for field in card.fields]
    return dataclasses.replace(
        card,
        title=each(card.title),
        description=each(card.description),
        author=author,
        fields=fields,
        footer=footer,
    )


def stored(cards: Sequence[Card], pictures: Mapping[str, Mapping[str, object]]) -> list[Mapping[str, object]]:
    """The cards, with the pictures that could be had, by their paths.

    A card of which nothing is left to be seen says so.
    """
    found = [_stored(card, f"cards[{index}]", pictures) for index, card in enumerate(cards)]
    return [card if card.keys() & _SEEN else {**card, "description": NO_PICTURE} for card in found]


def _stored(card: Card, path: str, pictures: Mapping[str, Mapping[str, object]]) -> Mapping[str, object]:
    author, footer = card.author, card.footer
    return _given(
        title=card.title,
        url=card.url,
        description=card.description,
        color=card.color,
        author=author
        and _given(name=author.name, url=author.url, icon=pictures.get(f"{path}.author.icon_url")),
        fields=[{"name": field.name, "value": field.value, "inline": field.inline} for field in card.fields]
        or None,
        image=pictures.get(f"{path}.image_url"),
        thumbnail=pictures.get(f"{path}.thumbnail_url"),
        footer=footer and _given(text=footer.text, icon=pictures.get(f"{path}.footer.icon_url")),
        timestamp=card.timestamp,
    )


def _given(**values: object) -> Mapping[str, object]:
    return {name: value for name, value in values.items() if value is not None}
