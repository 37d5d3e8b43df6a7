"""Messages in responses and events match their descriptions."""

from typing import Any

import jsonschema_rs
import pytest
from msgspec import json, structs

from svc.chat.access.media_urls import MediaUrls
from svc.chat.endpoints import schema_of
from svc.chat.messages import responses
from svc.chat.messages.message import MEMBER, Author, Message, ThreadSummary

URLS = MediaUrls("secret", lambda: 0.0)
ID = "0190a5b4-0001-7abc-8def-0123456789ab"
PLAIN = Message(1, ID, "lobby", Author(MEMBER, "ada", "Ada"), "Hello")
FILE: dict[str, object] = {
    "key": "uploads/a.webp",
    "content_type": "image/webp",
    "bytes": 1,
    "width": 2,
    "height": 3,
}
# Earlier versions did not store the kind of a file.
OLD_FILE = FILE | {
    "id": "f",
    "name": "a.webp",
    "frames": 1,
    "duration_ms": None,
    "placeholder": "",
    "colour": "",
    "thumbnail": FILE,
    "poster": None,
    "alt": "",
}
FULL = structs.replace(
    PLAIN,
    reply_to=ID,
    mentions=("ada",),
    attachments=(OLD_FILE,),
    reactions={"👍": ["ada"]},
    previews=({"url": "https://example.org/", "title": "Example"},),
    answers=ThreadSummary(1, 2, ID, 3),
    expired_attachments=2,
)


def sent(value: object) -> dict[str, Any]:
    read: dict[str, Any] = json.decode(json.encode(value))
    return read


def test_empty_fields_for_expired_attachments_and_the_nonce_are_omitted() -> None:
    posted = sent(responses.message_posted(PLAIN, URLS, None))
    assert not {"expired_attachments", "nonce"} & posted.keys()
    assert sent(responses.message_posted(FULL, URLS, "n"))["nonce"] == "n"
    assert sent(responses.message(FULL, URLS))["expired_attachments"] == 2


def test_an_attachment_stored_by_an_earlier_version_gets_its_kind() -> None:
    changed = sent(responses.attachments_changed(FULL, URLS))
    assert changed["attachments"][0]["kind"] == "picture"
    assert changed["attachments"][0]["thumbnail"]["url"].startswith("/media/a.webp?")


@pytest.mark.parametrize("message", [PLAIN, FULL])
def test_a_message_matches_its_description(message: Message) -> None:
    assert jsonschema_rs.is_valid(dict(schema_of(responses.Message)), sent(responses.message(message, URLS)))
    changed = responses.attachments_changed(message, URLS)
    assert jsonschema_rs.is_valid(dict(schema_of(responses.AttachmentsChanged)), sent(changed))
