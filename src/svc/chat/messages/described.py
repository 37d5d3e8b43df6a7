"""What messages say of themselves, for people and for programs."""

from svc.chat.described import (
    BOOLEAN,
    ID,
    NOTHING,
    TIME_MS,
    Described,
    Endpoint,
    Event,
    Named,
    Pushed,
    Schema,
    array,
    asked,
    choice,
    integer,
    nullable,
    obj,
    string,
)
from svc.chat.messages.emoji import MAX_CHARACTERS as MAX_EMOJI_CHARACTERS
from svc.chat.messages.fallback import MAX_CHARACTERS as MAX_FALLBACK_CHARACTERS
from svc.chat.messages.marks import MOST_UNREAD
from svc.chat.messages.mentions import MAX_MENTIONS
from svc.chat.messages.message import MAX_TEXT_CHARACTERS, MEMBER, WEBHOOK
from svc.chat.messages.query import MAX_CHARACTERS as MAX_QUERY_CHARACTERS
from svc.chat.messages.reading import MAX_PAGE
from svc.chat.messages.rules import MAX_EDITS_KEPT, MAX_NONCE_CHARACTERS
from svc.chat.messages.searching import MAX_FOUND
from svc.chat.uploads.described import ATTACHED
from svc.chat.uploads.limits import MAX_ATTACHMENTS

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
CARD = Named(
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
_EMOJI = string(MAX_EMOJI_CHARACTERS, 1)
_AUTHOR = obj(
    {"kind": choice(MEMBER, WEBHOOK), "id": ID, "display_name": string(), "avatar": nullable(string())}
)
_FIELDS: dict[str, Schema] = {
    "id": ID,
    "channel_id": ID,
    "author": _AUTHOR,
    "text": _TEXT,
    "reply_to": nullable(ID),
    "mentions": array(ID, MAX_MENTIONS),
    "cards": array(CARD),
    # One line for notifications, where there are cards and no text.
    "fallback": nullable(string(MAX_FALLBACK_CHARACTERS)),
    "attachments": array(ATTACHED, MAX_ATTACHMENTS),
    "flagged": BOOLEAN,
    "posted_at_ms": TIME_MS,
    "edited_at_ms": nullable(TIME_MS),
    "reactions": array(obj({"emoji": _EMOJI, "member_ids": array(ID)})),
    "pinned": BOOLEAN,
}
MESSAGE = Named("Message", obj(_FIELDS))
_MESSAGES = obj({"messages": array(MESSAGE)})
_PAGE = Named(
    "MessagePage",
    obj({"messages": array(MESSAGE, MAX_PAGE), "more_before": BOOLEAN, "more_after": BOOLEAN}),
)
_FOUND = obj({"messages": array(MESSAGE, MAX_FOUND), "more": BOOLEAN})
_EDITS = obj({"edits": array(obj({"text": _TEXT, "replaced_at_ms": TIME_MS}), MAX_EDITS_KEPT)})
_UNREAD = Named(
    "Unread",
    obj(
        {
            "channel_id": ID,
            "read_up_to": ID,
            "last": nullable(ID),
            "unread": integer(0, MOST_UNREAD),
            "mentions": integer(0, MOST_UNREAD),
        }
    ),
)

_WHICH: dict[str, Schema] = {"channel_id": ID, "message_id": ID}
_NEW: dict[str, Schema] = {
    "text": nullable(_TEXT),
    "nonce": nullable(string(MAX_NONCE_CHARACTERS, 1)),
    "reply_to": nullable(ID),
    "attachments": array(ID, MAX_ATTACHMENTS),
}
_CURSORS: dict[str, Schema] = {"before": ID, "after": ID, "around": ID, "limit": integer(1, MAX_PAGE)}
_SEARCH_MORE: dict[str, Schema] = {"before": ID, "limit": integer(1, MAX_FOUND)}
_QUERY = string(MAX_QUERY_CHARACTERS, 1)

_SENDING = ("empty_message", "message_too_long", "profanity_refused", "unknown_channel", "unknown_message")
_SEND = (*_SENDING, "forbidden", "media_gone", "slow_mode", "unknown_upload", "upload_not_done")
_HERE = ("unknown_channel", "unknown_message")
_REACT = (*_HERE, "invalid_emoji")
_CHANNEL = "/api/channels/{channel_id}"
_MESSAGE = _CHANNEL + "/messages/{message_id}"
_REACTION = _MESSAGE + "/reactions/{emoji}"
_PIN = _CHANNEL + "/pins/{message_id}"

DESCRIBED = Described(
    endpoints=[
        Endpoint(
            f"GET {_CHANNEL}/messages",
            "A page of history, the oldest first; one of before, after and around at most",
            _PAGE,
            query=_CURSORS,
            refusals=_HERE,
        ),
        Endpoint(f"POST {_CHANNEL}/messages", "Post", MESSAGE, 201, body=asked({}, _NEW), refusals=_SEND),
        Endpoint(f"GET {_MESSAGE}", "One message", MESSAGE, refusals=_HERE),
        Endpoint(
            f"PATCH {_MESSAGE}",
            "Change one's own message",
            MESSAGE,
            body=asked({"text": _TEXT}),
            refusals=_SENDING,
        ),
        Endpoint(f"DELETE {_MESSAGE}", "Delete one's own message, or another's who manages", refusals=_HERE),
        Endpoint(
            f"GET {_MESSAGE}/edits",
            "What a message said before, for its author and who manages",
            _EDITS,
            refusals=_HERE,
        ),
        Endpoint(f"PUT {_REACTION}", "React with an emoji", refusals=(*_REACT, "too_many")),
        Endpoint(f"DELETE {_REACTION}", "Take back one's reaction", refusals=_REACT),
        Endpoint(
            f"GET {_CHANNEL}/pins", "Pinned messages, the last first", _MESSAGES, refusals=["unknown_channel"]
        ),
        Endpoint(f"PUT {_PIN}", "Pin a message", refusals=(*_HERE, "too_many")),
        Endpoint(f"DELETE {_PIN}", "Unpin a message", refusals=_HERE),
        Endpoint(f"POST {_CHANNEL}/typing", "Say that one is typing", refusals=["unknown_channel"]),
        Endpoint(
            f"POST {_CHANNEL}/read",
            "Everything up to a message has been read",
            _UNREAD,
            body=asked({"message_id": ID}),
            refusals=_HERE,
        ),
        Endpoint(
            "GET /api/search",
            "Messages by words and filters, the newest first",
            _FOUND,
            query={"query": _QUERY, **_SEARCH_MORE},
            refusals=("invalid_query", *_HERE),
        ),
    ],
    events=[
        Event("message_send", "Post", asked({"channel_id": ID}, _NEW), MESSAGE, _SEND),
        Event(
            "message_edit", "Change one's own message", asked({**_WHICH, "text": _TEXT}), MESSAGE, _SENDING
        ),
        Event(
            "message_delete",
            "Delete one's own message, or another's who manages",
            asked(_WHICH),
            NOTHING,
            _HERE,
        ),
        Event("message_edits", "What a message said before", asked(_WHICH), _EDITS, _HERE),
        Event("reaction_add", "React", asked({**_WHICH, "emoji": _EMOJI}), NOTHING, (*_REACT, "too_many")),
        Event(
            "reaction_remove", "Take back one's reaction", asked({**_WHICH, "emoji": _EMOJI}), NOTHING, _REACT
        ),
        Event("pin_add", "Pin a message", asked(_WHICH), NOTHING, (*_HERE, "too_many")),
        Event("pin_remove", "Unpin a message", asked(_WHICH), NOTHING, _HERE),
        Event("pins", "Pinned messages", asked({"channel_id": ID}), _MESSAGES, ["unknown_channel"]),
        Event("typing", "Say that one is typing", asked({"channel_id": ID}), NOTHING, ["unknown_channel"]),
        Event("read", "Everything up to a message has been read", asked(_WHICH), _UNREAD, _HERE),
        Event("history", "A page of history", asked({"channel_id": ID}, _CURSORS), _PAGE, _HERE),
        Event(
            "search",
            "Messages by words and filters",
            asked({"query": _QUERY}, _SEARCH_MORE),
            _FOUND,
            ("invalid_query", *_HERE),
        ),
    ],
    pushes=[
        Pushed(
            "message_posted",
            "A message, with the nonce that its client gave it",
            obj(_FIELDS, {"nonce": string(MAX_NONCE_CHARACTERS, 1)}),
            to="who may view the channel",
        ),
        Pushed(
            "message_edited",
            "What is different about a message",
            obj(
                {
                    name: _FIELDS[name]
                    for name in ("channel_id", "id", "text", "mentions", "flagged", "edited_at_ms")
                }
            ),
            to="who may view the channel",
        ),
        Pushed(
            "attachments_changed",
            "What a file of a message shows is said otherwise",
            obj({"channel_id": ID, "id": ID, "attachments": array(ATTACHED, MAX_ATTACHMENTS)}),
            to="who may view the channel",
        ),
        Pushed(
            "message_deleted",
            "A message is gone",
            obj({"channel_id": ID, "id": ID}),
            to="who may view the channel",
        ),
        Pushed(
            "reactions_changed",
            "One member's reaction came or went",
            obj({"channel_id": ID, "id": ID, "emoji": _EMOJI, "member_id": ID, "added": BOOLEAN}),
            to="who may view the channel",
        ),
        Pushed(
            "pins_changed",
            "A message was pinned or unpinned",
            obj({"channel_id": ID, "id": ID, "pinned": BOOLEAN}),
            to="who may view the channel",
        ),
        Pushed("unread", "The counts of a channel, as they are now", _UNREAD, to="the member"),
        Pushed(
            "typing",
            "Somebody is typing; good for six seconds",
            obj({"channel_id": ID, "member_id": ID}),
            to="others who may view the channel",
            kept=False,
        ),
        Pushed(
            "presence",
            "Somebody has come, or has been gone for a while",
            obj({"member_id": ID, "online": BOOLEAN}),
            to="other members",
            kept=False,
        ),
    ],
    welcome={"unread": array(_UNREAD), "online": array(ID)},
    present={"online": array(ID)},
)
