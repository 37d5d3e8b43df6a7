"""Reads payloads from tools for other services: JSON in that service's format, possibly inside a form.

Harmless errors in such payloads are tolerated: a number in place of a string is read as its digits, and
`null` is treated as absent. An ambiguous value is rejected, and the error contains its path. A body that
looks like JSON is treated as JSON regardless of the Content-Type, because `curl -d` declares everything as a
form. This module does not depend on any particular service and performs no I/O. See RFC 7578 and 8187, and
application/x-www-form-urlencoded in the WHATWG URL standard.
"""

import codecs
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from yarl import URL

from svc.base.emoji import emoji_named
from svc.chat.errors import ChatError
from svc.chat.http import disposition, parameters
from svc.chat.webhooks.json_reader import json_in, value_of
from svc.chat.webhooks.limits import MAX_URL
from svc.chat.webhooks.pictures import PostedFile

# Characters that can begin markup: anywhere, before a tag's name, or at the edge of a word.
_SPECIAL = str.maketrans({mark: f"\\{mark}" for mark in "\\`*[]~"})
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_EDGE = re.compile(r"(?<!\w)_|_(?!\w)")
CODE = r"```(?:.+?)```|`[^`\n]+`"
_CODE = re.compile(f"({CODE})", re.DOTALL)
_IN_ADDRESS = str.maketrans({"(": "%28", ")": "%29", "<": "%3C", ">": "%3E", " ": "%20", "\\": "%5C"})


def escape(text: str) -> str:
    """Escape a string, so that it is shown literally and on one line."""
    line = " ".join(text.split())
    return line if line.isalnum() else _without_markup(line)


def escape_lines(text: str) -> str:
    """Escape a string like `escape`, but keep line breaks."""
    return _without_markup("\n".join(" ".join(line.split()) for line in text.splitlines()))


def _without_markup(text: str) -> str:
    plain = text.translate(_SPECIAL)
    # Check for the characters first, because most strings contain neither and a substitution is slow.
    plain = _TAG.sub(r"\\<", plain) if "<" in plain else plain
    return _EDGE.sub(r"\\_", plain) if "_" in plain else plain


def link(label: str, url: str) -> str:
    """Return a Markdown link with an escaped label, or only the label if the URL is not http or https."""
    if not url.startswith(("http://", "https://")):
        return escape(label)
    return f"[{escape(label) or 'link'}]({''.join(url.split()).translate(_IN_ADDRESS)})"


# Matches emoji names in the notation of Slack, Discord and GitHub. A skin tone follows the name in Slack and
# is part of it in Discord. A name inside a word or a URL does not match, as in `12:100:30` and
# `http://a/:b:`.
_SHORTCODE = re.compile(
    r"(?<![\w/]):(?P<name>[a-z0-9_+'-]{1,64}?)(?:_tone(?P<tone>[1-5]))?:(?::skin-tone-(?P<slack>[2-6]):)?(?!\w)"
)


def with_emoji(text: str) -> str:
    """Replace emoji names with emoji. Unknown names (`:name:`) stay unchanged."""
    return _SHORTCODE.sub(_emoji_of_shortcode, text) if ":" in text else text


def _emoji_of_shortcode(code: re.Match[str]) -> str:
    tone = int(code["slack"]) - 1 if code["slack"] else int(code["tone"] or 0)
    return emoji_named(code["name"], tone) or code[0]


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Apply `change` to the parts of a string that are not code."""
    pieces = _CODE.split(text)
    return "".join(piece if index % 2 else change(piece) for index, piece in enumerate(pieces))


Data = Mapping[str, object]
# The maximum number of characters to read from all strings in a message, and from one string. A message shows
# up to 4,000 characters, and its cards show up to 6,000, but links and escapes are longer in the source.
# Converting a character to Markdown takes up to a microsecond.
MAX_READ_CHARACTERS = 12_000
MAX_TEXT_CHARACTERS = 8_000
# The number of extra characters charged for a link, mention or tag. Converting it takes up to 4 µs.
_ANGLE_CHARACTERS = 3
# The maximum number of objects to read. Ten cards with all fields have 310. Reading an object takes up to 10
# µs.
MAX_READ_OBJECTS = 800


class InvalidValue(Exception):
    """A value is not allowed by the format. `path` is its path in the payload."""

    def __init__(self, path: Sequence[str | int], message: str) -> None:
        self.path = tuple(path)
        self.message = message
        super().__init__(message)


@dataclass(slots=True)
class Budget:
    """The number of characters and objects that may still be read from a payload. It limits the time spent on
    the payload.
    """

    characters: int = MAX_READ_CHARACTERS
    objects: int = MAX_READ_OBJECTS

    def read(self, text: str, maximum: int) -> str:
        """Return as much of a string's beginning as the budget allows, and charge the budget for it."""
        beginning = text[: max(0, min(maximum, self.characters))]
        self.characters -= len(beginning) + _ANGLE_CHARACTERS * beginning.count("<")
        return beginning

    def open(self) -> bool:
        """Count an object. Return False if the budget is used up."""
        self.objects -= 1
        return self.objects >= 0


class Node:
    """An object in the payload, with its path."""

    def __init__(self, data: Data, path: tuple[str | int, ...] = (), budget: Budget | None = None) -> None:
        self._data = data
        self._path = path
        self._budget = budget or Budget()

    @classmethod
    def of(cls, value: object, path: tuple[str | int, ...] = (), budget: Budget | None = None) -> "Node":
        if not isinstance(value, dict):
            raise InvalidValue(path, "must be an object")
        return cls(value, path, budget)

    def text(self, name: str, maximum: int = MAX_TEXT_CHARACTERS) -> str:
        """Return the beginning of the string `name`, or "" if it is absent or the budget is used up."""
        return self._budget.read(self._text(name), maximum)

    def lines(self, name: str) -> list[str]:
        """Return the lines in the string `name`.

        Each line counts as an object. Lines beyond the budget are joined into one.
        """
        lines = self.text(name).split("\n", max(self._budget.objects, 0))
        self._budget.objects -= len(lines) - 1
        return lines

    def address(self, name: str) -> str:
        """Return the URL `name`. The budget is not charged, because a URL cannot be truncated."""
        text = self._text(name)
        return text if len(text) <= MAX_URL else ""

    def _text(self, name: str) -> str:
        value = self._data.get(name)
        match value:
            case None:
                return ""
            case str():
                return value
            case bool():
                return "true" if value else "false"
            case int() | float():
                return _digits(value)
        raise InvalidValue((*self._path, name), "must be a string")

    def number(self, name: str) -> float | None:
        """Return the number in the field `name`, which may be a numeric string, or None for other values."""
        value = self._data.get(name)
        try:
            # Parsing a string of a million digits would be slow.
            number = float(value) if isinstance(value, int | float | str) and len(str(value)) < 40 else None
        except (ValueError, OverflowError):
            return None
        return number if number is not None and math.isfinite(number) else None

    def flag(self, name: str, default: bool = False) -> bool:
        value = self._data.get(name)
        return value if isinstance(value, bool) else default

    def child(self, name: str) -> "Node":
        """Return the object `name`, or an empty object if it is absent."""
        value, path = self._data.get(name), (*self._path, name)
        return Node.of({} if value is None else value, path, self._budget)

    def children(self, name: str, maximum: int) -> "list[Node]":
        """Return the first `maximum` objects in the list `name`, without reading the others."""
        items = enumerate(self._list(name)[:maximum])
        return [
            Node.of(item, (*self._path, name, n), self._budget)
            for n, item in items
            if item is not None and self._budget.open()
        ]

    def count(self, name: str, maximum: int) -> int:
        """Return the length of the list `name`, at most `maximum`, without reading the items."""
        return min(len(self._list(name)), maximum)

    def _list(self, name: str) -> list[object]:
        value = self._data.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise InvalidValue((*self._path, name), "must be a list")
        return value

    def __contains__(self, name: str) -> bool:
        return self._data.get(name) is not None


def _digits(number: float) -> str:
    try:
        return str(number)
    except ValueError:  # Python refuses to convert integers with more than a few thousand digits.
        return ""


# The maximum number of parts in a form. Discord's form has a dozen fields and ten files.
MAX_PARTS = 64
# The maximum size of one part's headers and of all headers. A part's headers contain its name, file name and
# type. Reading a byte takes up to 0.25 µs.
MAX_HEAD_BYTES = 4 * 1024
MAX_HEADS_BYTES = 16 * 1024


def payload_in(body: bytes, name: str) -> bytes:
    """Return the JSON in a body or, if the body is a form, in its field `name`. Raises ChatError."""
    if _is_json(body):
        return json_in(body)
    fields = _parse_urlencoded(body)
    if name not in fields:
        raise ChatError("invalid_json")
    return json_in(fields[name].encode())


@dataclass(frozen=True, slots=True)
class DiscordForm:
    """A form with files, and with either checked JSON or plain fields."""

    text: bytes | None
    fields: Mapping[str, str]
    files: Sequence[PostedFile] = ()

    def value(self) -> object:
        return self.fields if self.text is None else value_of(self.text)


def discord_form(content_type: str, body: bytes) -> DiscordForm:
    """Parse a post to the Discord endpoint: JSON, a multipart form or a URL-encoded form. Raises
    ChatError.
    """
    if content_type.lower().startswith("multipart/form-data"):
        fields, files = _multipart(content_type, body)
    elif _is_json(body):
        return DiscordForm(json_in(body), {})
    else:
        fields, files = _parse_urlencoded(body), []
    if "payload_json" in fields:
        return DiscordForm(json_in(fields["payload_json"].encode()), {}, files)
    if not fields and not files:
        raise ChatError("invalid_json")
    return DiscordForm(None, fields, files)


def _is_json(body: bytes) -> bool:
    """Return whether a body looks like JSON rather than a form. A form begins with a field's name. The JSON
    values `true`, `false` and `null` look like such names, but are not valid payloads.
    """
    return body.removeprefix(codecs.BOM_UTF8).lstrip()[:1] in (b"{", b"[", b'"', b"")


def _parse_urlencoded(body: bytes) -> dict[str, str]:
    try:
        pairs = body.decode().split("&", MAX_PARTS)
    except UnicodeDecodeError:
        raise ChatError("invalid_json") from None
    if len(pairs) > MAX_PARTS:
        raise ChatError("invalid_json")
    return {
        _unquote(name): _unquote(value) for name, _, value in (pair.partition("=") for pair in pairs) if value
    }


def _unquote(text: str) -> str:
    """Decode percent-encoding with native code. For a string of percent signs, `urllib` takes 30 times as
    long.
    """
    return URL.build(fragment=text.replace("+", " "), encoded=True).fragment


def _multipart(content_type: str, body: bytes) -> tuple[dict[str, str], list[PostedFile]]:
    """Split a multipart body by searching only for its boundary. The library takes half a second for the
    worst bodies.
    """
    boundary = parameters(content_type).get("boundary", "").encode("utf-8", "replace")
    if not boundary:
        raise ChatError("invalid_json")
    pieces = (b"\r\n" + body).split(b"\r\n--" + boundary, MAX_PARTS + 2)
    # The pieces are the text before the first part, the parts, and the end marker.
    if not 3 <= len(pieces) <= MAX_PARTS + 2 or not pieces[-1].startswith(b"--"):
        raise ChatError("invalid_json")
    fields: dict[str, str] = {}
    files: list[PostedFile] = []
    heads_bytes = 0
    for part in pieces[1:-1]:
        head, _, data = part.partition(b"\r\n\r\n")
        heads_bytes += len(head)
        if len(head) > MAX_HEAD_BYTES or heads_bytes > MAX_HEADS_BYTES:
            raise ChatError("invalid_json")
        field = disposition(head)
        if "filename" in field:
            files.append(PostedFile(field["filename"], data))
        elif "name" in field:
            fields[field["name"]] = _decode(data)
    return fields, files


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ChatError("invalid_json") from None
