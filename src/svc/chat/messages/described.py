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
    either,
    integer,
    nullable,
    obj,
    string,
)
from svc.chat.messages.emoji import MAX_CHARACTERS as MAX_EMOJI_CHARACTERS
from svc.chat.messages.fallback import MAX_CHARACTERS as MAX_FALLBACK_CHARACTERS
from svc.chat.messages.following import MAX_FOLLOWED
from svc.chat.messages.inbox import MAX_PAGE as MAX_INBOX
from svc.chat.messages.links import MAX_CHARACTERS as MAX_LINK_CHARACTERS
from svc.chat.messages.links import MAX_LINKS
from svc.chat.messages.marks import MOST_UNREAD
from svc.chat.messages.mentions import MAX_MENTIONS
from svc.chat.messages.message import LAST_MS, MAX_TEXT_CHARACTERS, MEMBER, WEBHOOK
from svc.chat.messages.query import MAX_CHARACTERS as MAX_QUERY_CHARACTERS
from svc.chat.messages.reading import MAX_PAGE
from svc.chat.messages.rules import MAX_EDITS_KEPT, MAX_NONCE_CHARACTERS
from svc.chat.messages.searching import MAX_FOUND
from svc.chat.messages.threads import MAX_PAGE as MAX_THREADS
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
PREVIEW = Named(
    "Preview",
    obj(
        {"url": string(MAX_LINK_CHARACTERS)},
        {"title": string(), "description": string(), "site": string(), "image": _PICTURE},
    ),
)
_EMOJI = string(MAX_EMOJI_CHARACTERS, 1)
_AUTHOR = obj(
    {
        "kind": choice(MEMBER, WEBHOOK),
        "id": ID,
        "display_name": string(),
        "avatar": nullable(string()),
        "bot": BOOLEAN,
    }
)
_ANSWERS = obj({"count": integer(1), "last_id": ID, "last_at_ms": TIME_MS})
_FIELDS: dict[str, Schema] = {
    "id": ID,
    "channel_id": ID,
    "author": _AUTHOR,
    "text": _TEXT,
    "reply_to": nullable(ID),
    # One more than a text names: a reply mentions the author of what it answers.
    "mentions": array(ID, MAX_MENTIONS + 1),
    "mention_groups": array(ID, MAX_MENTIONS),
    "cards": array(CARD),
    # One line for notifications, where there are cards and no text.
    "fallback": nullable(string(MAX_FALLBACK_CHARACTERS)),
    "attachments": array(ATTACHED, MAX_ATTACHMENTS),
    "flagged": BOOLEAN,
    "posted_at_ms": TIME_MS,
    "edited_at_ms": nullable(TIME_MS),
    "reactions": array(obj({"emoji": _EMOJI, "member_ids": array(ID)})),
    "pinned": BOOLEAN,
    # What its links lead to, in short.
    "previews": array(PREVIEW, MAX_LINKS),
    # The message that its thread hangs on; null for a message of the channel itself.
    "thread": nullable(ID),
    # The thread that hangs on it.
    "answers": nullable(_ANSWERS),
}
# Files that were kept long enough; left out where there are none.
_EXPIRED = {"expired_attachments": integer(1)}
MESSAGE = Named("Message", obj(_FIELDS, _EXPIRED))
_MESSAGES = obj({"messages": array(MESSAGE)})
# What a thread is to one member.
_THREAD: dict[str, Schema] = {
    "channel_id": ID,
    "thread": ID,
    "following": BOOLEAN,
    "read_up_to": nullable(ID),
    "last": nullable(ID),
    "unread": integer(0, MOST_UNREAD),
    "mentions": integer(0, MOST_UNREAD),
}
_THREAD_STATE = Named("ThreadState", obj(_THREAD))
_THREADS = obj({"threads": array(obj({**_THREAD, "root": nullable(MESSAGE)}), MAX_THREADS), "more": BOOLEAN})
_PAGE = Named(
    "MessagePage",
    obj(
        {"messages": array(MESSAGE, MAX_PAGE), "more_before": BOOLEAN, "more_after": BOOLEAN},
        {"thread": _THREAD_STATE},
    ),
)
_FOUND = obj({"messages": array(MESSAGE, MAX_FOUND), "more": BOOLEAN})
_INBOX = obj({"messages": array(MESSAGE, MAX_INBOX), "more": BOOLEAN})
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
# Of a channel, or of a thread.
_READ: Schema = either(_UNREAD, _THREAD_STATE)

_WHICH: dict[str, Schema] = {"channel_id": ID, "message_id": ID}
_NEW: dict[str, Schema] = {
    "text": nullable(_TEXT),
    "nonce": nullable(string(MAX_NONCE_CHARACTERS, 1)),
    "reply_to": nullable(ID),
    "ping": nullable(BOOLEAN),
    "attachments": array(ID, MAX_ATTACHMENTS),
    "thread": nullable(ID),
    "previews": nullable(BOOLEAN),
}
_CURSORS: dict[str, Schema] = {
    "before": ID,
    "after": ID,
    "around": ID,
    "at_ms": integer(0, LAST_MS),
    "thread": ID,
    "limit": integer(1, MAX_PAGE),
}
_SEARCH_MORE: dict[str, Schema] = {"before": ID, "limit": integer(1, MAX_FOUND)}
_MORE_THREADS: dict[str, Schema] = {"before": ID, "limit": integer(1, MAX_THREADS)}
_MORE_MENTIONS: dict[str, Schema] = {"before": ID, "limit": integer(1, MAX_INBOX)}
_QUERY = string(MAX_QUERY_CHARACTERS, 1)

_SENDING = (
    *("empty_message", "message_too_long", "profanity_refused", "rule_refused"),
    *("unknown_channel", "unknown_message"),
)
_SEND = (*_SENDING, "forbidden", "media_gone", "slow_mode", "unknown_upload", "upload_not_done")
_HERE = ("unknown_channel", "unknown_message")
_REACT = (*_HERE, "invalid_emoji")
_CHANNEL = "/api/channels/{channel_id}"
_MESSAGE = _CHANNEL + "/messages/{message_id}"
_REACTION = _MESSAGE + "/reactions/{emoji}"
_PIN = _CHANNEL + "/pins/{message_id}"

# Who is there, and who of them in which way.
_PRESENT: dict[str, Schema] = dict.fromkeys(("online", "idle", "do_not_disturb"), array(ID))

DESCRIBED = Described(
    endpoints=[
        Endpoint(
            f"GET {_CHANNEL}/messages",
            "A page of history, the oldest first; one of before, after, around and at_ms at most",
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
        Endpoint(f"DELETE {_MESSAGE}/previews", "Take the previews of its links away", refusals=_HERE),
        Endpoint(
            f"GET {_CHANNEL}/pins", "Pinned messages, the last first", _MESSAGES, refusals=["unknown_channel"]
        ),
        Endpoint(f"PUT {_PIN}", "Pin a message", refusals=(*_HERE, "too_many")),
        Endpoint(f"DELETE {_PIN}", "Unpin a message", refusals=_HERE),
        Endpoint(f"POST {_CHANNEL}/typing", "Say that one is typing", refusals=["unknown_channel"]),
        Endpoint(
            f"POST {_CHANNEL}/read",
            "Everything up to a message of a channel or thread has been read; with back it is unread again",
            _READ,
            body=asked({"message_id": ID}, {"thread": ID, "back": BOOLEAN}),
            refusals=_HERE,
        ),
        Endpoint(
            "GET /api/search",
            "Messages by words and filters, the newest first",
            _FOUND,
            query={"query": _QUERY, **_SEARCH_MORE},
            refusals=("invalid_query", "search_busy", "search_running", "search_too_long", *_HERE),
        ),
        Endpoint(
            "GET /api/me/mentions",
            "The messages that mention one, the newest first",
            _INBOX,
            query=_MORE_MENTIONS,
            refusals=["unknown_message"],
        ),
        Endpoint(
            "GET /api/me/threads",
            "The threads that one follows, that with the newest message first",
            _THREADS,
            query=_MORE_THREADS,
            refusals=_HERE,
        ),
        Endpoint(f"PUT {_MESSAGE}/follow", "Be told of a thread's messages", _THREAD_STATE, refusals=_HERE),
        Endpoint(f"DELETE {_MESSAGE}/follow", "Be told of them no more", _THREAD_STATE, refusals=_HERE),
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
        Event("previews_remove", "Take the previews of links away", asked(_WHICH), NOTHING, _HERE),
        Event("pin_add", "Pin a message", asked(_WHICH), NOTHING, (*_HERE, "too_many")),
        Event("pin_remove", "Unpin a message", asked(_WHICH), NOTHING, _HERE),
        Event("pins", "Pinned messages", asked({"channel_id": ID}), _MESSAGES, ["unknown_channel"]),
        Event("typing", "Say that one is typing", asked({"channel_id": ID}, {"thread": ID}), NOTHING, _HERE),
        Event(
            "read",
            "Everything up to a message has been read; with back it is unread again",
            asked(_WHICH, {"thread": ID, "back": BOOLEAN}),
            _READ,
            _HERE,
        ),
        Event(
            "mentions",
            "The messages that mention one",
            asked({}, _MORE_MENTIONS),
            _INBOX,
            ["unknown_message"],
        ),
        Event("threads", "The threads that one follows", asked({}, _MORE_THREADS), _THREADS, _HERE),
        Event("thread_follow", "Be told of a thread's messages", asked(_WHICH), _THREAD_STATE, _HERE),
        Event("thread_unfollow", "Be told of them no more", asked(_WHICH), _THREAD_STATE, _HERE),
        Event("history", "A page of history", asked({"channel_id": ID}, _CURSORS), _PAGE, _HERE),
        Event(
            "search",
            "Messages by words and filters",
            asked({"query": _QUERY}, _SEARCH_MORE),
            _FOUND,
            ("invalid_query", "search_busy", "search_running", "search_too_long", *_HERE),
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
                    for name in (
                        *("channel_id", "id", "text", "mentions", "mention_groups", "flagged"),
                        "edited_at_ms",
                    )
                }
            ),
            to="who may view the channel",
        ),
        Pushed(
            "attachments_changed",
            "What a file of a message shows is said otherwise",
            obj(
                {"channel_id": ID, "id": ID, "attachments": array(ATTACHED, MAX_ATTACHMENTS)},
                _EXPIRED,
            ),
            to="who may view the channel",
        ),
        Pushed(
            "previews_changed",
            "What the links of a message lead to is known, or taken away",
            obj({"channel_id": ID, "id": ID, "previews": array(PREVIEW, MAX_LINKS)}),
            to="who may view the channel",
        ),
        Pushed(
            "message_deleted",
            "A message is gone",
            obj({"channel_id": ID, "id": ID, "thread": nullable(ID)}),
            to="who may view the channel",
        ),
        Pushed(
            "thread_changed",
            "What there is in the thread of a message; null where there is nothing any more",
            obj({"channel_id": ID, "id": ID, "answers": nullable(_ANSWERS)}),
            to="who may view the channel",
        ),
        Pushed(
            "thread_state", "What a thread is to the member, as it is now", _THREAD_STATE, to="the member"
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
            obj({"channel_id": ID, "member_id": ID, "thread": nullable(ID)}),
            to="others who may view the channel",
            kept=False,
        ),
        Pushed(
            "presence",
            "Somebody has come, has been gone for a while, or is there in another way",
            obj({"member_id": ID, "online": BOOLEAN, "idle": BOOLEAN, "do_not_disturb": BOOLEAN}),
            to="other members",
            kept=False,
        ),
    ],
    welcome={"unread": array(_UNREAD), **_PRESENT, "threads": array(_THREAD_STATE, MAX_FOLLOWED)},
    present=_PRESENT,
)
