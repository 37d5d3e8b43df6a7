"""Validates the JSON fields of an export's records, and replaces file keys in them.

An export is a stranger's file, and its content is shown to members by code that relies on these shapes. Makes
no decision about the files themselves.
"""

from collections.abc import Callable, Mapping

Check = Callable[[object], bool]

# More than in any message of ours.
_MAX_MENTIONS = 1_000
_MAX_ATTACHMENTS = 100
_MAX_CARDS = 10
_MAX_PREVIEWS = 10
_MAX_FIELDS = 25
_MAX_CHARACTERS = 8 * 1024
_LARGEST = 2**63 - 1


def _text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _MAX_CHARACTERS and "\0" not in value


def whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST


def _flag(value: object) -> bool:
    return isinstance(value, bool)


def or_null(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _list(check: Check, most: int) -> Check:
    return lambda value: isinstance(value, list) and len(value) <= most and all(map(check, value))


def _object(optional: Mapping[str, Check], needed: tuple[str, ...] = ()) -> Check:
    def check(value: object) -> bool:
        return (
            isinstance(value, dict)
            and value.keys() <= optional.keys()
            and all(name in value for name in needed)
            and all(optional[name](part) for name, part in value.items())
        )

    return check


_FILE: Mapping[str, Check] = {
    **dict.fromkeys(("key", "content_type", "placeholder", "colour"), _text),
    **dict.fromkeys(("bytes", "width", "height", "frames", "duration_ms"), or_null(whole)),
}
_PICTURE = _object(_FILE, ("key",))
_SMALLER = or_null(_PICTURE)
_ATTACHMENT = _object(
    {
        **_FILE,
        **dict.fromkeys(("id", "name", "kind", "alt"), _text),
        "thumbnail": _SMALLER,
        "poster": _SMALLER,
    },
    ("id", "name", "key", "content_type"),
)
_FIELD = _object({"name": _text, "value": _text, "inline": _flag}, ("name", "value"))
_CARD = _object(
    {
        **dict.fromkeys(("title", "url", "description", "timestamp"), _text),
        "color": lambda value: _text(value) or whole(value),
        "author": _object({"name": _text, "url": _text, "icon": _PICTURE}, ("name",)),
        "fields": _list(_FIELD, _MAX_FIELDS),
        "image": _PICTURE,
        "thumbnail": _PICTURE,
        "footer": _object({"text": _text, "icon": _PICTURE}, ("text",)),
    }
)

mentions: Check = or_null(_list(_text, _MAX_MENTIONS))
attachments: Check = or_null(_list(_ATTACHMENT, _MAX_ATTACHMENTS))
cards: Check = or_null(_list(_CARD, _MAX_CARDS))
_PREVIEW = _object(
    {**dict.fromkeys(("url", "title", "description", "site"), _text), "image": _PICTURE}, ("url",)
)
_PREVIEWS = or_null(_list(_PREVIEW, _MAX_PREVIEWS))


def previews(value: object) -> bool:
    """Check previews. False marks a message without previews."""
    return value is False or _PREVIEWS(value)


def setting(value: object) -> bool:
    return _flag(value) or _text(value) or whole(value)


def moved(value: object, files: Mapping[str, Mapping[str, object]]) -> object:
    """Return the value with the files' new facts; `files` maps the export's keys to them."""
    match value:
        case list():
            return [moved(part, files) for part in value]
        case dict():
            fields = {name: moved(part, files) for name, part in value.items()}
            facts = files.get(str(fields.get("key")), {})
            return {**fields, **{name: fact for name, fact in facts.items() if name in fields}}
    return value
