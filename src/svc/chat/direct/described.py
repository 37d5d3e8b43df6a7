"""What private conversations say of themselves, for people and for programs."""

from svc.chat.described import (
    BOOLEAN,
    ID,
    TIME_MS,
    Described,
    Endpoint,
    Event,
    Named,
    Pushed,
    array,
    asked,
    choice,
    integer,
    nullable,
    obj,
    string,
)
from svc.chat.direct.devices import MAX_KEY_PACKAGE_BYTES, MAX_KEY_PACKAGES
from svc.chat.direct.framing import MAX_RECIPIENTS
from svc.chat.direct.franking import COMMITMENT_BYTES, KEY_BYTES, TAG_BYTES
from svc.chat.direct.routes import (
    FILE_TYPE,
    MAX_REPORT_CHARACTERS,
    MAX_SAID_CHARACTERS,
    MAX_STATEMENT_CHARACTERS,
    MAX_WELCOMES,
    encoded_size,
)
from svc.chat.direct.rules import (
    MAX_COMMIT_BYTES,
    MAX_CONVERSATIONS,
    MAX_MESSAGE_BYTES,
    MAX_MISSED,
    MAX_PEOPLE,
    MAX_WELCOME_BYTES,
)

_NUMBER = integer(0)


def _base64(most_bytes: int) -> dict[str, object]:
    return dict(string(encoded_size(most_bytes), contentEncoding="base64"))


_PACKAGE, _WELCOME = _base64(MAX_KEY_PACKAGE_BYTES), _base64(MAX_WELCOME_BYTES)
_COMMIT, _MESSAGE = _base64(MAX_COMMIT_BYTES), _base64(MAX_MESSAGE_BYTES)
_DEVICE_FIELDS = {"id": ID, "member_id": ID, "thumbprint": string(43)}
_DEVICE = Named("PrivateDevice", obj(_DEVICE_FIELDS))
_LEAF = Named("PrivateLeaf", obj({**_DEVICE_FIELDS, "gone": BOOLEAN}))
_CONVERSATION = Named(
    "PrivateConversation",
    obj(
        {
            "id": ID,
            "between_two": BOOLEAN,
            "members": array(ID, MAX_PEOPLE),
            "epoch": _NUMBER,
            "seq": _NUMBER,
            "first_seq": _NUMBER,
            "created_at_ms": TIME_MS,
            "devices": array(_LEAF),
            "lacking": array(_DEVICE),
        }
    ),
)
_ENTRY = Named(
    "PrivateEntry",
    obj(
        {
            "seq": _NUMBER,
            "epoch": _NUMBER,
            "kind": choice("commit", "message"),
            "sent_at_ms": TIME_MS,
            "body": _base64(MAX_COMMIT_BYTES),
            # Of a message: what a report of it needs.
            "tag": nullable(_base64(TAG_BYTES)),
        }
    ),
)
_LOG = obj(
    {
        "entries": array(_ENTRY, MAX_MISSED),
        "epoch": _NUMBER,
        "seq": _NUMBER,
        "first_seq": _NUMBER,
        "since": _NUMBER,
    },
)
_SENT = obj({"seq": _NUMBER, "epoch": _NUMBER})
_ONE = "/api/private/conversations/{conversation_id}"
_UNKNOWN = ("unknown_conversation",)
_OPEN = ("private_refused", "too_many", "unknown_member")
_SEND = ("unknown_conversation", "private_refused", "no_device", "epoch_passed", "devices_changed")
_SENDING = {"message": _MESSAGE, "commitment": _base64(COMMITMENT_BYTES)}
_AFTER = {"after": _NUMBER}
# `ring`: members who are away are rung for it, unless it is false.
_SENT_WITH = {**_AFTER, "ring": BOOLEAN}

DESCRIBED = Described(
    endpoints=[
        Endpoint(
            "GET /api/private/device",
            "Whether this device takes part, and how many of its key packages are left",
            obj({"device": nullable(_DEVICE), "left": _NUMBER, "low_below": _NUMBER}),
        ),
        Endpoint(
            "PUT /api/private/device",
            "Take part with this device, whose key states which MLS signature key is its own",
            obj({"device_id": ID}),
            body=asked({"statement": string(MAX_STATEMENT_CHARACTERS, 1)}),
            refusals=["proof_invalid"],
        ),
        Endpoint(
            "POST /api/private/key-packages",
            "Publish key packages, each of which is handed out once, and the one of last resort",
            obj({"left": _NUMBER}),
            body=asked({}, {"key_packages": array(_PACKAGE, MAX_KEY_PACKAGES), "last_resort": _PACKAGE}),
            refusals=["no_device", "proof_invalid", "too_many"],
        ),
        Endpoint(
            "GET /api/private/welcomes",
            "The Welcomes that wait for this device; no other device is shown them",
            obj(
                {
                    "welcomes": array(
                        obj({"id": ID, "conversation_id": ID, "seq": _NUMBER, "welcome": _WELCOME}),
                        MAX_WELCOMES,
                    )
                }
            ),
        ),
        Endpoint(
            "DELETE /api/private/welcomes/{welcome_id}",
            "This device has joined by a Welcome",
            refusals=["no_device"],
        ),
        Endpoint(
            "GET /api/private/conversations",
            "One's own conversations, with the devices in each group and those that it lacks",
            obj({"conversations": array(_CONVERSATION, MAX_CONVERSATIONS)}),
        ),
        Endpoint(
            "POST /api/private/conversations",
            "The conversation with these people; between two there is only one",
            _CONVERSATION,
            body=asked({"members": array(ID, MAX_PEOPLE)}),
            refusals=[*_OPEN, "unknown_conversation"],
        ),
        Endpoint(f"GET {_ONE}", "One conversation", _CONVERSATION, refusals=_UNKNOWN),
        Endpoint(
            f"PUT {_ONE}/members/{{member_id}}",
            "Let another person into a group",
            refusals=[*_OPEN, "unknown_conversation"],
        ),
        Endpoint(
            f"DELETE {_ONE}/members/{{member_id}}",
            "Remove a person from a group",
            refusals=["unknown_conversation", "unknown_member"],
        ),
        Endpoint(f"POST {_ONE}/leave", "Leave a group", refusals=_UNKNOWN),
        Endpoint(
            f"POST {_ONE}/lost",
            "This device has lost the keys of the group; others let it in again",
            refusals=["unknown_conversation", "no_device"],
        ),
        Endpoint(
            f"POST {_ONE}/key-packages",
            "Take a key package of each of these devices that the group lacks",
            obj(
                {"key_packages": array(obj({"device_id": ID, "key_package": _PACKAGE}), MAX_RECIPIENTS)},
            ),
            body=asked({"devices": array(ID, MAX_RECIPIENTS)}),
            refusals=["unknown_conversation", "private_refused", "no_device", "unknown_member"],
        ),
        Endpoint(
            f"POST {_ONE}/commits",
            "End the epoch of the group; the first commit of an epoch wins",
            _SENT,
            body=asked(
                {"commit": _COMMIT},
                {"welcome": _WELCOME, "removed": array(ID, MAX_RECIPIENTS), **_AFTER},
            ),
            refusals=["unknown_conversation", "no_device", "epoch_passed", "body_too_large"],
        ),
        Endpoint(
            f"POST {_ONE}/messages",
            "Send an encrypted message; the same bytes again change nothing",
            _SENT,
            body=asked(_SENDING, _SENT_WITH),
            refusals=[*_SEND, "body_too_large", "unknown_member"],
        ),
        Endpoint(
            f"GET {_ONE}/log",
            "What was sent after an entry, for a device of the group",
            _LOG,
            query={"after": _NUMBER, "limit": integer(1, MAX_MISSED)},
            refusals=["unknown_conversation", "no_device"],
        ),
        Endpoint(
            f"POST {_ONE}/reports",
            "Tell those who moderate about a message, and reveal it with the proof that it was sent",
            obj({"id": ID}),
            201,
            body=asked(
                {
                    "text": string(MAX_REPORT_CHARACTERS, 1),
                    "member_id": ID,
                    "sent_at_ms": TIME_MS,
                    "said": string(MAX_SAID_CHARACTERS, 1),
                    "key": _base64(KEY_BYTES),
                    "tag": _base64(TAG_BYTES),
                }
            ),
            refusals=["unknown_conversation", "not_proved", "too_many", "body_too_large"],
        ),
        Endpoint(
            f"POST {_ONE}/files",
            "Store a file that was sealed before, for the devices of the group",
            obj({"file_id": ID}),
            201,
            body=string(contentMediaType=FILE_TYPE),
            body_type=FILE_TYPE,
            refusals=[
                *("unknown_conversation", "private_refused", "unknown_member", "no_device"),
                *("wrong_content_type", "upload_too_large", "upload_cut_short", "too_many_connections"),
                *("uploads_disabled", "quota_exceeded", "storage_full", "storage_unavailable"),
            ],
        ),
        Endpoint(
            f"GET {_ONE}/files/{{file_id}}",
            "A sealed file, whole or in parts, for a device of the group",
            string(),
            media_type=FILE_TYPE,
            refusals=[
                *("unknown_conversation", "no_device", "unknown_file", "not_found", "range_not_satisfiable"),
                *("too_many_connections", "storage_unavailable", "uploads_disabled"),
            ],
        ),
        Endpoint(
            f"DELETE {_ONE}/files/{{file_id}}",
            "Delete a sealed file that one has sent",
            refusals=["unknown_conversation", "unknown_file"],
        ),
    ],
    events=[
        Event(
            "private_send",
            "Send an encrypted message; the same bytes again change nothing",
            asked({"conversation_id": ID, **_SENDING}, _SENT_WITH),
            _SENT,
            refusals=[*_SEND, "body_too_large", "unknown_member"],
        ),
        Event(
            "private_log",
            "What was sent after an entry, for a device of the group",
            asked({"conversation_id": ID}, {**_AFTER, "limit": integer(1, MAX_MISSED)}),
            _LOG,
            refusals=["unknown_conversation", "no_device"],
        ),
    ],
    pushes=[
        Pushed(
            "private_sent",
            "Something was sent; what it is, a device of the group asks for",
            obj(
                {"conversation_id": ID, "seq": _NUMBER, "epoch": _NUMBER, "kind": choice("commit", "message")}
            ),
            to="who is in the conversation",
        ),
        Pushed(
            "private_changed",
            "Somebody is in or out of a conversation, or another device is",
            obj({"conversation_id": ID}),
            to="who is in the conversation",
        ),
        Pushed(
            "private_keys_low",
            "A device is running out of key packages",
            obj({"device_id": ID, "left": _NUMBER}),
            to="whose device it is",
            kept=False,
        ),
    ],
)
