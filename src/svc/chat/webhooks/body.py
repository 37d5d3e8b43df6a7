"""From the bytes of a request to a JSON value, or the finding that they are none.

Unlike the rest of the server's JSON, a lone surrogate gets through: it is the payload's reader who
says where it stands. Knows no payload. RFC 8259.
"""

import json
import re
from codecs import BOM_UTF8

from svc.chat.errors import ChatError
from svc.chat.webhooks.limits import MAX_NESTING

# What interpreters read as a number without a second thought; a longer one is no colour either way.
_MAX_DIGITS = 4_000
# The last may be unfinished: so that no text makes the search begin anew at each quotation mark.
_STRINGS = re.compile(r'"(?:[^"\\]|\\.?)*+(?:"|\Z)', re.DOTALL)


class TooDeep:
    """Stands for a value that is nested so deeply that it was not read."""


TOO_DEEP = TooDeep()


def decode(body: bytes) -> object:
    """The value, in plain Python types, or TOO_DEEP. Raises ChatError for what is not JSON."""
    try:
        # Some programs write a byte order mark, which RFC 8259 section 8.1 lets us ignore.
        text = body.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError:
        raise ChatError("invalid_json") from None
    try:
        value: object = _DECODER.decode(text)
    except RecursionError:
        if not _balanced(text):
            raise ChatError("invalid_json") from None
        return TOO_DEEP
    except ValueError:
        raise ChatError("invalid_json") from None
    # Whoever has fewer brackets than that has no such nesting.
    if text.count("[") + text.count("{") > MAX_NESTING and _is_deeper(value, MAX_NESTING):
        return TOO_DEEP
    return value


def _is_deeper(value: object, most: int) -> bool:
    """Has a value more than so many objects and lists within each other?"""
    level: list[object] = [value]
    for _ in range(most + 1):
        nested = [inner for inner in level if isinstance(inner, dict | list)]
        if not nested:
            return False
        level = [each for inner in nested for each in (inner.values() if isinstance(inner, dict) else inner)]
    return True


def _balanced(text: str) -> bool:
    """Do the brackets of a text close each other? The one fault that deep nesting usually has."""
    expected: list[str] = []
    for character in _STRINGS.sub("", text):
        if character in "[{":
            expected.append("]" if character == "[" else "}")
        elif character in "]}" and (not expected or expected.pop() != character):
            return False
    return not expected


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MAX_DIGITS else float("inf")


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_int=_whole)
