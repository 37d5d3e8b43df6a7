"""What the server's own emoji say of themselves, for people and for programs."""

from svc.chat.described import (
    BOOLEAN,
    ID,
    TIME_MS,
    Described,
    Endpoint,
    Named,
    Pushed,
    array,
    asked,
    nullable,
    obj,
    string,
)
from svc.chat.emoji.rules import MAX_EMOJI, MAX_NAME_CHARACTERS
from svc.chat.uploads.described import BEGINNING, FILE, UPLOAD

_NAME = string(MAX_NAME_CHARACTERS, 2, pattern="^[a-z0-9_]*$")
_EMOJI = Named(
    "Emoji",
    obj(
        {
            "id": ID,
            "name": _NAME,
            "url": string(),
            "animated": BOOLEAN,
            "created_by": nullable(ID),
            "created_at_ms": TIME_MS,
        }
    ),
)

DESCRIBED = Described(
    endpoints=[
        Endpoint("GET /api/emoji", "The server's own emoji", obj({"emoji": array(_EMOJI, MAX_EMOJI)})),
        Endpoint(
            "POST /api/emoji",
            "Upload a picture that is to be an emoji: multipart, or tus; `emoji_created` follows",
            UPLOAD,
            201,
            query={"name": _NAME},
            body=FILE,
            body_type="multipart/form-data",
            refusals=[*BEGINNING, "emoji_name_taken", "invalid_emoji_name"],
        ),
        Endpoint(
            "PATCH /api/emoji/{emoji_id}",
            "Give an emoji another name",
            _EMOJI,
            body=asked({"name": string()}),
            refusals=["emoji_name_taken", "invalid_emoji_name", "unknown_emoji"],
        ),
        Endpoint(
            "DELETE /api/emoji/{emoji_id}",
            "Take an emoji away; messages show its name instead",
            refusals=["unknown_emoji"],
        ),
    ],
    pushes=[
        Pushed("emoji_created", "There is a new emoji", _EMOJI, to="everybody"),
        Pushed("emoji_updated", "An emoji has another name", _EMOJI, to="everybody"),
        Pushed("emoji_deleted", "An emoji is gone", obj({"emoji_id": ID}), to="everybody"),
    ],
    welcome={"emoji": array(_EMOJI, MAX_EMOJI)},
)
