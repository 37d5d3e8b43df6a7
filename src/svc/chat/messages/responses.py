"""The schema of a message as clients see it."""

from svc.chat.messages.markdown import MAX_LINK_CHARACTERS, MAX_LINKS, MAX_MENTIONS
from svc.chat.messages.message import (
    MAX_EMOJI_CHARACTERS,
    MAX_FALLBACK_CHARACTERS,
    MAX_TEXT_CHARACTERS,
    MEMBER,
    WEBHOOK,
)
from svc.chat.schemas import (
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
from svc.chat.uploads.limits import MAX_ATTACHMENTS
from svc.chat.uploads.requests import ATTACHED

_TEXT = string(MAX_TEXT_CHARACTERS)
# A stored picture, with a URL that is valid for some hours.
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
    # One more than a text can mention, because a reply also mentions the author of the answered message.
    "mentions": array(ID, MAX_MENTIONS + 1),
    "mention_groups": array(ID, MAX_MENTIONS),
    "cards": array(_CARD),
    # One line for notifications, if there are cards and no text.
    "fallback": nullable(string(MAX_FALLBACK_CHARACTERS)),
    "attachments": array(ATTACHED, MAX_ATTACHMENTS),
    "flagged": BOOLEAN,
    "posted_at_ms": TIME_MS,
    "edited_at_ms": nullable(TIME_MS),
    "reactions": array(obj({"emoji": EMOJI, "member_ids": array(ID)})),
    "pinned": BOOLEAN,
    # Previews of its links.
    "previews": array(PREVIEW, MAX_LINKS),
    # The id of the thread's root message. Null for a message of the channel itself.
    "thread": nullable(ID),
    # The thread whose root is this message.
    "answers": nullable(ANSWERS),
}
# The number of attachments whose retention time has ended. Left out if it is 0.
EXPIRED = {"expired_attachments": integer(1)}
MESSAGE = Named("Message", obj(FIELDS, EXPIRED))
