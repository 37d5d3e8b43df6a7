"""JSON from strangers: one value, or a ValueError, never another exception.

Refuses what the standard library lets through and what would fail later on: NaN and
infinities, lone surrogates (they cannot be encoded again) and bottomless nesting.
Bounds no size; whoever receives the text does. And JSON of our own, quickly.
"""

import json

import orjson


def loads(text: str) -> object:
    """The value, in plain Python types. Raises ValueError."""
    try:
        value: object = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if "\\ud" in text or "\\uD" in text:
        json.dumps(value, ensure_ascii=False).encode()
    return value


def loads_object(text: str) -> dict[str, object]:
    """As `loads`, for text that must hold an object."""
    value = loads(text)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def dumps(value: object) -> bytes:
    """Compact UTF-8. What cannot be written is a mistake of ours: TypeError."""
    return orjson.dumps(value)


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
