"""Cards are stored with copies of their images instead of the sender's URLs."""

from typing import Any

from svc.chat.webhooks.limits import MAX_ICON_BYTES, MAX_PICTURE_BYTES
from svc.chat.webhooks.payload import NO_PICTURE, Payload, WantedPicture, parse, stored_cards, wanted_pictures

FULL: dict[str, Any] = {
    "title": "Build",
    "url": "https://ci.example/1",
    "description": "It **failed**",
    "color": 0,
    "author": {"name": "ci", "url": "https://ci.example", "icon_url": "https://pictures.example/icon"},
    "fields": [{"name": "Branch", "value": "main", "inline": True}],
    "image_url": "https://pictures.example/image",
    "thumbnail_url": "https://pictures.example/thumbnail",
    "footer": {"text": "example", "icon_url": "https://pictures.example/icon"},
    "timestamp": "2026-01-31T12:00:00Z",
}


def read(**payload: object) -> Payload:
    parsed = parse(payload)
    assert isinstance(parsed, Payload)
    return parsed


def test_every_image_is_requested_with_its_path_and_limit() -> None:
    payload = read(avatar_url="https://pictures.example/avatar", cards=[{"title": "a"}, FULL])
    host = "https://pictures.example"
    assert wanted_pictures(payload) == [
        WantedPicture("avatar_url", f"{host}/avatar", MAX_ICON_BYTES, avatar=True),
        WantedPicture("cards[1].author.icon_url", f"{host}/icon", MAX_ICON_BYTES),
        WantedPicture("cards[1].image_url", f"{host}/image", MAX_PICTURE_BYTES),
        WantedPicture("cards[1].thumbnail_url", f"{host}/thumbnail", MAX_PICTURE_BYTES),
        WantedPicture("cards[1].footer.icon_url", f"{host}/icon", MAX_ICON_BYTES),
    ]


def test_a_warning_reports_the_failure_of_a_cards_only_image() -> None:
    cards = [
        {"image_url": "https://pictures.example/a"},
        {"title": "a", "image_url": "https://pictures.example/a"},
    ]
    bare = {"image_url": "https://pictures.example/a", "color": 1}
    records = stored_cards(read(cards=[*cards, bare]).cards, {})
    assert records == [{"description": NO_PICTURE}, {"title": "a"}, {"color": 1, "description": NO_PICTURE}]
    had = stored_cards(read(cards=cards[:1]).cards, {"cards[0].image_url": {"key": "k"}})
    assert had == [{"image": {"key": "k"}}]


def test_a_card_is_stored_with_the_images_that_were_fetched() -> None:
    pictures = {wanted.path: {"key": wanted.path} for wanted in wanted_pictures(read(cards=[FULL]))}
    [card] = stored_cards(read(cards=[FULL]).cards, pictures)
    assert card == {
        "title": "Build",
        "url": "https://ci.example/1",
        "description": "It **failed**",
        "color": 0,
        "author": {
            "name": "ci",
            "url": "https://ci.example",
            "icon": {"key": "cards[0].author.icon_url"},
        },
        "fields": [{"name": "Branch", "value": "main", "inline": True}],
        "image": {"key": "cards[0].image_url"},
        "thumbnail": {"key": "cards[0].thumbnail_url"},
        "footer": {"text": "example", "icon": {"key": "cards[0].footer.icon_url"}},
        "timestamp": "2026-01-31T12:00:00Z",
    }


def test_a_card_omits_images_that_were_not_fetched() -> None:
    [card] = stored_cards(read(cards=[FULL]).cards, {})
    assert "pictures.example" not in str(card)
    assert {"image", "thumbnail"}.isdisjoint(card)
