"""A message as clients see it, in words for programs."""

from svc.chat.described import (
    BOOLEAN,
    ID,
    TIME_MS,
    Named,
    Schema,
    array,
    choice,
    integer,
    nullable,
    obj,
    string,
)
from svc.chat.messages.markdown import MAX_LINK_CHARACTERS, MAX_LINKS, MAX_MENTIONS
from svc.chat.messages.message import (
    MAX_EMOJI_CHARACTERS,
    MAX_FALLBACK_CHARACTERS,
    MAX_TEXT_CHARACTERS,
    MEMBER,
    WEBHOOK,
)
from svc.chat.uploads.limits import MAX_ATTACHMENTS
from svc.chat.uploads.requests import ATTACHED

_TEXT = string(MAX_TEXT_CHARACTERS)
# A stored picture, with the address at which it is for some hours.
_PICTURE = Named(
    "StoredPicture",
    obj(
        {
            "key": string(),
            "url": string(),
            "content_type": string(),
            "width": integer(1),
            "height": integer(1),
            "placeholder": string(),
        }
    ),
)
_CARD = Named(
    "ShownCard",
    obj(
        {},
        {
            "title": string(),
            "url": string(),
            "description": string(),
            "color": integer(0, 0xFFFFFF),
            "author": obj({"name": string()}, {"url": string(), "icon": _PICTURE}),
            "fields": array(obj({"name": string(), "value": string(), "inline": BOOLEAN})),
            "image": _PICTURE,
            "thumbnail": _PICTURE,
            "footer": obj({"text": string()}, {"icon": _PICTURE}),
            "timestamp": string(),
        },
    ),
)
PREVIEW = Named(
    "Preview",
    obj(
        {"url": string(MAX_LINK_CHARACTERS)},
        {"title": string(), "description": string(), "site": string(), "image": _PICTURE},
    ),
)
EMOJI = string(MAX_EMOJI_CHARACTERS, 1)
_AUTHOR = obj(
    {
        "kind": choice(MEMBER, WEBHOOK),
        "id": ID,
        "display_name": string(),
        "avatar": nullable(string()),
        "bot": BOOLEAN,
    }
)
ANSWERS = obj({"count": integer(1), "last_id": ID, "last_at_ms": TIME_MS})
FIELDS: dict[str, Schema] = {
    "id": ID,
    "channel_id": ID,
    "author": _AUTHOR,
    "text": _TEXT,
    "reply_to": nullable(ID),
    # One more than a text names: a reply mentions the author of what it answers.
    "mentions": array(ID, MAX_MENTIONS + 1),
    "mention_groups": array(ID, MAX_MENTIONS),
    "cards": array(_CARD),
    # One line for notifications, where there are cards and no text.
    "fallback": nullable(string(MAX_FALLBACK_CHARACTERS)),
    "attachments": array(ATTACHED, MAX_ATTACHMENTS),
    "flagged": BOOLEAN,
    "posted_at_ms": TIME_MS,
    "edited_at_ms": nullable(TIME_MS),
    "reactions": array(obj({"emoji": EMOJI, "member_ids": array(ID)})),
    "pinned": BOOLEAN,
    # What its links lead to, in short.
    "previews": array(PREVIEW, MAX_LINKS),
    # The message that its thread hangs on; null for a message of the channel itself.
    "thread": nullable(ID),
    # The thread that hangs on it.
    "answers": nullable(ANSWERS),
}
# Files that were kept long enough; left out where there are none.
EXPIRED = {"expired_attachments": integer(1)}
MESSAGE = Named("Message", obj(FIELDS, EXPIRED))
