"""Parses untrusted JSON strictly, and serialises our values quickly.

Parsing returns one value or raises ValueError, never another exception. It rejects values that the standard
library accepts but that cause failures later: NaN, infinities, lone surrogates (which cannot be encoded
again) and deep nesting. The caller must limit the size.
"""

import json

import orjson


def loads(text: str) -> object:
    """Return the value, in plain Python types. Raises ValueError."""
    try:
        value: object = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if "\\ud" in text or "\\uD" in text:
        json.dumps(value, ensure_ascii=False).encode()
    return value


def loads_object(text: str) -> dict[str, object]:
    """Return a JSON object. Raises ValueError as `loads` does, or if the value is not an object."""
    value = loads(text)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def dumps(value: object) -> bytes:
    """Return compact UTF-8. Raises TypeError for unsupported values, which only a bug can pass."""
    return orjson.dumps(value)


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
