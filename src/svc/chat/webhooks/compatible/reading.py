"""Reading what another service's tools write: JSON whose shape we know and do not own, also in a form.

Tools are sloppy in ways that cannot be misunderstood: a number where a text belongs is that number, `null` is
nothing. What could mean anything is refused with its path. What looks like JSON is JSON, whatever the
Content-Type says: `curl -d` calls everything a form. Knows no service; does no I/O. RFC 7578 and 8187; WHATWG
URL standard, application/x-www-form-urlencoded.
"""

import codecs
import math
import re
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import parse_qsl

from svc.chat.errors import ChatError
from svc.chat.http import disposition, parameters
from svc.chat.webhooks.pictures import PostedFile
from svc.chat.webhooks.reader import decode

# What could begin something; an underscore within a word begins nothing.
_SPECIAL = re.compile(r"[\\`*\[\]~]|<(?=[A-Za-z/!?])|(?<!\w)_|_(?!\w)")
CODE = r"```(?:.+?)```|`[^`\n]+`"
_CODE = re.compile(f"({CODE})", re.DOTALL)
_IN_ADDRESS = str.maketrans({"(": "%28", ")": "%29", "<": "%3C", ">": "%3E", " ": "%20", "\\": "%5C"})


def escaped(text: str) -> str:
    """One line that is shown as it is written."""
    return _SPECIAL.sub(r"\\\g<0>", " ".join(text.split()))


def link(label: str, url: str) -> str:
    """A link with a plain label; the label alone where there is no address."""
    if not url.startswith(("http://", "https://")):
        return escaped(label)
    return f"[{escaped(label) or 'link'}]({''.join(url.split()).translate(_IN_ADDRESS)})"


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text with what is no code in it changed."""
    pieces = _CODE.split(text)
    return "".join(piece if index % 2 else change(piece) for index, piece in enumerate(pieces))


Data = Mapping[str, object]


class Unreadable(Exception):
    """Something has a shape that the format does not have; `path` leads to it."""

    def __init__(self, path: Sequence[str | int], message: str) -> None:
        self.path = tuple(path)
        self.message = message
        super().__init__(message)


class Node:
    """An object of the payload, and the way to it."""

    def __init__(self, data: Data, path: tuple[str | int, ...] = ()) -> None:
        self._data = data
        self._path = path

    @classmethod
    def of(cls, value: object, path: tuple[str | int, ...] = ()) -> "Node":
        if not isinstance(value, dict):
            raise Unreadable(path, "must be an object")
        return cls(value, path)

    def text(self, name: str) -> str:
        """Empty where there is none."""
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
        raise Unreadable((*self._path, name), "must be a string")

    def number(self, name: str) -> float | None:
        """A number, also one that is written as a text; None for anything else."""
        value = self._data.get(name)
        try:
            # A text of a million digits would take long to read.
            number = float(value) if isinstance(value, int | float | str) and len(str(value)) < 40 else None
        except (ValueError, OverflowError):
            return None
        return number if number is not None and math.isfinite(number) else None

    def flag(self, name: str, default: bool = False) -> bool:
        value = self._data.get(name)
        return value if isinstance(value, bool) else default

    def child(self, name: str) -> "Node":
        """An empty one where there is none."""
        value = self._data.get(name)
        return Node({}, (*self._path, name)) if value is None else Node.of(value, (*self._path, name))

    def children(self, name: str, most: int) -> "list[Node]":
        """The first of a list; what is beyond them is not looked at."""
        value = self._data.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise Unreadable((*self._path, name), "must be a list")
        found = enumerate(value[:most])
        return [Node.of(item, (*self._path, name, n)) for n, item in found if item is not None]

    def __contains__(self, name: str) -> bool:
        return self._data.get(name) is not None


def _digits(number: float) -> str:
    try:
        return str(number)
    except ValueError:  # Python writes no integers of more than some thousand digits.
        return ""


# Discord's form has a dozen, and ten files.
MAX_PARTS = 64
# Of a part: its name, a file's name and its type.
MAX_HEAD_BYTES = 4 * 1024


def value_in(body: bytes, name: str) -> object:
    """The JSON value that a body is, or that the field `name` of a form holds. Raises ChatError."""
    if _is_json(body):
        return decode(body)
    fields = _urlencoded(body)
    if name not in fields:
        raise ChatError("invalid_json")
    return decode(fields[name].encode())


def discord_value(content_type: str, body: bytes) -> tuple[object, Sequence[PostedFile]]:
    """What was posted to Discord, in JSON or in a form of either kind, and the files beside it."""
    if content_type.lower().startswith("multipart/form-data"):
        fields, files = _multipart(content_type, body)
    elif _is_json(body):
        return decode(body), ()
    else:
        fields, files = _urlencoded(body), []
    if "payload_json" in fields:
        return decode(fields["payload_json"].encode()), files
    if not fields and not files:
        raise ChatError("invalid_json")
    return fields, files


def _is_json(body: bytes) -> bool:
    """Form fields begin with a letter; so do three words that are no payload either way."""
    return body.removeprefix(codecs.BOM_UTF8).lstrip()[:1] in (b"{", b"[", b'"', b"")


def _urlencoded(body: bytes) -> dict[str, str]:
    try:
        return dict(parse_qsl(body.decode(), errors="strict", max_num_fields=MAX_PARTS))
    except ValueError:
        raise ChatError("invalid_json") from None


def _multipart(content_type: str, body: bytes) -> tuple[dict[str, str], list[PostedFile]]:
    """Cut at the boundary and no further: for the worst of bodies the library takes half a second."""
    boundary = parameters(content_type).get("boundary", "").encode("utf-8", "replace")
    if not boundary:
        raise ChatError("invalid_json")
    pieces = (b"\r\n" + body).split(b"\r\n--" + boundary, MAX_PARTS + 2)
    # What stands before the first part, the parts, and the end of the last.
    if not 3 <= len(pieces) <= MAX_PARTS + 2 or not pieces[-1].startswith(b"--"):
        raise ChatError("invalid_json")
    fields: dict[str, str] = {}
    files: list[PostedFile] = []
    for part in pieces[1:-1]:
        head, _, data = part.partition(b"\r\n\r\n")
        if len(head) > MAX_HEAD_BYTES:
            raise ChatError("invalid_json")
        said = disposition(head)
        if "filename" in said:
            files.append(PostedFile(said["filename"], data))
        elif "name" in said:
            fields[said["name"]] = _decoded(data)
    return fields, files


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ChatError("invalid_json") from None
