"""Builds the JSON Schema (2020-12) of webhook payloads from the limits and patterns that `payload` checks.

A schema cannot express the limit for the strings in all cards, so a description states it. `null` is treated
as absent. See docs/webhooks.md.
"""

from svc.chat.schemas import Named, Schema, integer, string
from svc.chat.webhooks import limits
from svc.chat.webhooks.payload import FILLING
from svc.chat.webhooks.value_formats import COLOR, NO_NUL, NOT_BLANK, TIMESTAMP, URL


def _text(maximum: int, words: str) -> Schema:
    """Return the schema for a string that must not be blank."""
    description = f"{words}; at most {maximum:,} characters, not only spaces"
    return {
        **string(maximum, 1),
        "pattern": NOT_BLANK,
        "allOf": [{"pattern": NO_NUL}],
        "description": description,
    }


def _nullable(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]} if "type" in schema else schema


def _object(needed: dict[str, Schema], optional: dict[str, Schema], words: str) -> dict[str, object]:
    """Return the schema for an object in a payload. Unknown keys are allowed, because they only trigger a
    warning.
    """
    properties = {**needed, **{name: _nullable(schema) for name, schema in optional.items()}}
    required = {"required": [*needed]} if needed else {}
    return {
        "type": "object",
        "properties": properties,
        **required,
        "additionalProperties": True,
        "description": words,
    }


def _array(of: Schema, maximum: int) -> Schema:
    return {"type": "array", "items": of, "maxItems": maximum}


_URL: Schema = {**string(limits.MAX_URL), "pattern": URL, "description": "An http or https URL"}
_PICTURE: Schema = {
    **_URL,
    "description": "An http or https URL of a PNG, JPEG, WebP or GIF; fetched once and stored",
}
_FLAG: Schema = {"type": "boolean", "default": False}
_COLOR: Schema = {
    "anyOf": [{"type": "string", "pattern": COLOR}, integer(0, limits.MAX_COLOR), {"type": "null"}],
    "description": "#rrggbb, or a whole number",
}
_TIMESTAMP: Schema = {
    **string(),
    "pattern": TIMESTAMP,
    "description": "ISO 8601 with a time zone: a calendar date and a time, in extended or basic format",
}

_AUTHOR = _object(
    {"name": _text(limits.MAX_TITLE, "Plain text")}, {"url": _URL, "icon_url": _PICTURE}, "Who it is by"
)
_FIELD = Named(
    "Field",
    _object(
        {
            "name": _text(limits.MAX_TITLE, "Plain text"),
            "value": _text(limits.MAX_FIELD_VALUE, "Markdown"),
        },
        {"inline": _FLAG},
        "Inline fields share a row while there is room",
    ),
)
_FOOTER = _object({"text": _text(limits.MAX_FOOTER, "Plain text")}, {"icon_url": _PICTURE}, "Below the card")


def _holding(name: str) -> Schema:
    """Return the schema for a card that has a value for the given key."""
    holding: Schema = {"minItems": 1} if name == "fields" else {}
    return {"required": [name], "properties": {name: {"not": {"type": "null"}, **holding}}}


CARD = Named(
    "Card",
    {
        **_object(
            {},
            {
                "title": _text(limits.MAX_TITLE, "Plain text"),
                "url": {**_URL, "description": "Makes the title a link"},
                "description": _text(limits.MAX_DESCRIPTION, "Markdown; mentions do not notify"),
                "color": _COLOR,
                "author": _AUTHOR,
                "fields": _array(_FIELD, limits.MAX_FIELDS),
                "image_url": _PICTURE,
                "thumbnail_url": _PICTURE,
                "footer": _FOOTER,
                "timestamp": _TIMESTAMP,
            },
            f"At least one of {', '.join(FILLING)}. Title, description, author name, footer text, field "
            f"names and values of all cards have at most {limits.MAX_CARD_TEXTS:,} characters together",
        ),
        "anyOf": [_holding(name) for name in FILLING],
    },
)

PAYLOAD = Named(
    "Message",
    {
        **_object(
            {},
            {
                "text": {
                    **string(limits.MAX_TEXT),
                    "pattern": NO_NUL,
                    "description": f"Markdown, at most {limits.MAX_TEXT:,} characters; its mentions notify",
                },
                "display_name": {
                    **string(),
                    "pattern": NO_NUL,
                    "description": f"The poster's name, for this message; cut to {limits.MAX_DISPLAY_NAME}",
                },
                "avatar_url": _PICTURE,
                "cards": _array(CARD, limits.MAX_CARDS),
            },
            "Text, or at least one card, or both",
        ),
        "anyOf": [
            {"required": ["text"], "properties": {"text": {"type": "string", "pattern": NOT_BLANK}}},
            {"required": ["cards"], "properties": {"cards": {"type": "array", "minItems": 1}}},
        ],
    },
)
