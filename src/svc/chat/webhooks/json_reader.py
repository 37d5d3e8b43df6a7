"""Decodes a JSON request body, reads its objects key by key, and collects all problems.

Reading continues after a problem, so all problems are found in one pass. A problem or a warning has a `code`,
which identifies its kind for senders, and a `path` into the JSON that was sent. `null` is treated as absent,
and keys that are never read are reported as unknown. Unlike elsewhere in the server, a string with a lone
surrogate is accepted, so the response can include its path. This module is independent of any specific keys.
See RFC 8259.
"""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec
import orjson

from svc.chat.errors import ChatError
from svc.chat.webhooks.limits import MAX_PROBLEMS, MAX_SHOWN_KEY, MAX_UNKNOWN_KEYS, MAX_URL
from svc.chat.webhooks.value_formats import color_of, is_blank, is_clean, is_url, moment_of

T = TypeVar("T")

# Matches strings, including an unterminated string at the end. Otherwise, the search could restart at each
# quotation mark.
_STRINGS = re.compile(r'"(?:[^"\\]|\\.?)*+(?:"|\Z)', re.DOTALL)
# Match the escapes of lone surrogates.
_FIRST_HALF_ALONE = re.compile(rb"\\u[dD][89abAB][0-9A-Fa-f]{2}(?!\\u[dD][c-fC-F])")
_SECOND_HALF_ALONE = re.compile(rb"(?<!\\u[dD][89abAB][0-9A-Fa-f]{2})\\u[dD][c-fC-F][0-9A-Fa-f]{2}")
_BACKSLASH, _ASIDE = rb"\\", b"\0\0"
# The maximum size of a body for Python's parser. The parser takes five times as long as orjson. It is used if
# orjson rejects a body, for example because a number is too large for a double.
_MAX_SLOW_BYTES = 16 * 1024
_MAX_DIGITS = 4_000


class TooDeep:
    """The type of TOO_DEEP, which stands for JSON with excessive nesting or excessively large numbers."""


TOO_DEEP = TooDeep()


def is_json(body: bytes) -> bool:
    """Return whether the body of a rejected request is JSON. Takes at most a millisecond.

    Returns True for bodies that would need an expensive check.
    """
    bare = body.removeprefix(BOM_UTF8)
    try:
        bare.decode()
        _SKIMMER.decode(bare)
    except RecursionError:
        return True
    except UnicodeDecodeError:
        return False
    except msgspec.DecodeError:
        return rb"\ud" in bare.lower()
    return True


def json_in(body: bytes) -> bytes:
    """Check that the body is JSON, without building values. Return the JSON for `value_of`. Raises ChatError.

    Lone surrogates are replaced with NUL, which is also invalid in a payload's strings.
    """
    # Some programs send a byte order mark, which RFC 8259 section 8.1 allows receivers to ignore.
    bare = body.removeprefix(BOM_UTF8)
    try:
        text = bare.decode()
        try:
            _SKIMMER.decode(bare)
        except msgspec.DecodeError:
            if rb"\ud" not in bare.lower() or b"\0" in bare:
                raise
            bare = _without_halves(bare)
            _SKIMMER.decode(bare)
    except RecursionError:
        if not _is_balanced(text):
            raise ChatError("invalid_json") from None
    except (UnicodeDecodeError, msgspec.DecodeError):
        raise ChatError("invalid_json") from None
    return bare


def value_of(text: bytes) -> object:
    """Return the value of JSON that `json_in` has checked, in plain Python types, or TOO_DEEP."""
    try:
        value: object = orjson.loads(text)
    except (ValueError, RecursionError):
        if len(text) > _MAX_SLOW_BYTES:
            return TOO_DEEP
        try:
            return _DECODER.decode(text.decode())
        except (ValueError, RecursionError):
            return TOO_DEEP
    return value


def decode(body: bytes) -> object:
    """Return the value of a JSON body. Raises ChatError if the body is not JSON."""
    return value_of(json_in(body))


def _without_halves(text: bytes) -> bytes:
    # An escaped backslash before "ud800" must not look like the start of an escape.
    apart = text.replace(_BACKSLASH, _ASIDE)
    apart = _SECOND_HALF_ALONE.sub(rb"\\u0000", _FIRST_HALF_ALONE.sub(rb"\\u0000", apart))
    return apart.replace(_ASIDE, _BACKSLASH)


def _is_balanced(text: str) -> bool:
    """Return whether the brackets are balanced. If they are, text that is nested too deeply to parse is most
    likely valid JSON.
    """
    bare = _STRINGS.sub("", text)
    return bare.count("[") == bare.count("]") and bare.count("{") == bare.count("}")


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MAX_DIGITS else float("inf")


_DECODER = json.JSONDecoder(parse_int=_whole)
_SKIMMER = msgspec.json.Decoder(msgspec.Raw)


# The message for each problem code. `{limit}` is the exceeded limit.
PROBLEM_CODES: Mapping[str, str] = {
    "required": "This is needed, and must hold more than spaces",
    "wrong_type": "This is the wrong kind of value",
    "too_long": "At most {limit} characters",
    "too_many": "At most {limit}",
    "invalid_url": "Must be an http or https URL",
    "invalid_color": "Must be #rrggbb or a whole number from 0 to 16777215",
    "invalid_timestamp": "Must be ISO 8601 with a time zone, such as 2026-01-31T12:00:00Z",
    "empty_card": "A card has at least one of title, description, fields, image_url and author",
    "total_too_long": "The texts of all cards have at most {limit} characters together",
    "invalid_format": "A string must hold no NUL and no half of a surrogate pair",
    "invalid": "This cannot be taken",
}
UNKNOWN_KEY = "unknown_key"


@dataclass(frozen=True, slots=True)
class Problem:
    path: str
    code: str
    limit: int | None = None
    # Replaces the code's usual message.
    words: str = ""


@dataclass(frozen=True, slots=True)
class PayloadWarning:
    """A warning about an omitted part of a payload that was otherwise posted."""

    path: str
    code: str
    message: str


@dataclass(slots=True)
class Findings:
    """The problems and warnings found in a payload so far, up to a limit for each."""

    problems: list[Problem] = field(default_factory=list)
    warnings: list[PayloadWarning] = field(default_factory=list)
    # The total length of the strings that count toward the limit for all cards.
    characters: int = 0

    def problem(self, path: str, code: str, limit: int | None = None, words: str = "") -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(path, code, limit, words))

    def unknown_key(self, path: str, key: str) -> None:
        if len(self.warnings) < MAX_UNKNOWN_KEYS:
            where = inside(path, _showable(key))
            self.warnings.append(PayloadWarning(where, UNKNOWN_KEY, "This key is not known and was ignored"))


def inside(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _showable(key: str) -> str:
    """Return a received key, truncated and safe to quote in an error message."""
    return key[:MAX_SHOWN_KEY].encode("utf-8", "replace").decode()


_NOTHING: Mapping[str, object] = {}


class Reader:
    """An object in the payload. Each of its keys is read once."""

    __slots__ = ("_given", "_read_keys", "findings", "is_object", "path")

    def __init__(self, findings: Findings, path: str, value: object) -> None:
        self.findings = findings
        self.path = path
        self.is_object = isinstance(value, dict)
        self._given: Mapping[str, object] = value if isinstance(value, dict) else _NOTHING
        self._read_keys: set[str] = set()
        if not self.is_object:
            findings.problem(path, "wrong_type", words="Must be an object")

    def read(self, read: Callable[["Reader"], T]) -> T:
        """Call `read` with this object and return its result. Add a warning for each key that it did not
        read.
        """
        result = read(self)
        if len(self._read_keys) < len(self._given):
            for key in self._given:
                if key not in self._read_keys:
                    self.findings.unknown_key(self.path, key)
        return result

    def has(self, name: str) -> bool:
        return self._given.get(name) is not None

    def holds(self, name: str) -> bool:
        """Return whether a key has a value other than null and the empty list."""
        return self._given.get(name) not in (None, [])

    def at(self, name: str) -> str:
        return inside(self.path, name)

    def text(self, name: str, maximum: int, *, needed: bool = False) -> str | None:
        """Return a non-blank string of at most `maximum` characters, and count its characters."""
        text = self.any_text(name)
        if text is None:
            if needed and self.is_object and not self.has(name):
                self._problem(name, "required")
            return None
        self.findings.characters += len(text)
        if len(text) > maximum:
            self._problem(name, "too_long", maximum)
        elif is_blank(text):
            self._problem(name, "required")
        else:
            return text
        return None

    def any_text(self, name: str) -> str | None:
        """Return a string of any length, which may be empty."""
        value = self._value(name)
        if value is None:
            return None
        if not isinstance(value, str):
            self._problem(name, "wrong_type", words="Must be a string")
            return None
        if not is_clean(value):
            self._problem(name, "invalid_format")
            return None
        return value

    def url(self, name: str) -> str | None:
        url = self.any_text(name)
        if url is None:
            return None
        if len(url) > MAX_URL:
            self._problem(name, "too_long", MAX_URL)
        elif not is_url(url):
            self._problem(name, "invalid_url")
        else:
            return url
        return None

    def moment(self, name: str) -> str | None:
        text = self.any_text(name)
        moment = None if text is None else moment_of(text)
        if text is not None and moment is None:
            self._problem(name, "invalid_timestamp")
        return moment

    def color(self, name: str) -> int | None:
        value = self._value(name)
        color = None if value is None else color_of(value)
        if value is not None and color is None:
            self._problem(name, "invalid_color")
        return color

    def flag(self, name: str) -> bool:
        value = self._value(name)
        if value is not None and not isinstance(value, bool):
            self._problem(name, "wrong_type", words="Must be true or false")
        return value is True

    def inner(self, name: str, read: Callable[["Reader"], T]) -> T | None:
        value = self._value(name)
        return None if value is None else Reader(self.findings, self.at(name), value).read(read)

    def objects(self, name: str, maximum: int, read: Callable[["Reader"], T]) -> list[T]:
        """Read the objects in a list, up to the limit."""
        value = self._value(name)
        if value is None:
            return []
        if not isinstance(value, list):
            self._problem(name, "wrong_type", words="Must be a list")
            return []
        if len(value) > maximum:
            self._problem(name, "too_many", maximum)
        items = enumerate(value[:maximum])
        return [Reader(self.findings, f"{self.at(name)}[{index}]", item).read(read) for index, item in items]

    def _value(self, name: str) -> object:
        if name not in self._given:
            return None
        self._read_keys.add(name)
        return self._given[name]

    def _problem(self, name: str, code: str, limit: int | None = None, words: str = "") -> None:
        self.findings.problem(self.at(name), code, limit, words)
