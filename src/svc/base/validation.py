"""Translates msgspec's validation errors into the terms used in our responses. Does not perform any
validation.
"""

import re
from typing import Any

from msgspec import ValidationError, inspect

# Map msgspec's messages to ours, with our names for types.
_PROBLEMS = [
    (re.compile(pattern), words)
    for pattern, words in (
        ("Object missing required field `(.+)`", "{} is missing"),
        ("Expected `(?:str|array|bytes)` of length >= 1", "must not be empty"),
        ("Expected `str` of length >= (.+)", "must have at least {} characters"),
        ("Expected `str` of length <= (.+)", "must have at most {} characters"),
        ("Expected `(?:array|object)` of length <= (.+)", "must have at most {} entries"),
        ("Expected `array` of length >= (.+)", "must have at least {} entries"),
        ("Expected `(?:int|float)` >= (.+)", "must be at least {}"),
        ("Expected `(?:int|float)` <= (.+)", "must be at most {}"),
        ("(?:Integer value|Number) out of range", "is out of range"),
        ("Expected `[^|`]+`, got `null`", "is missing"),
        (r"Expected `([^|`]+)(?: \| null)?`, got `.+`", "must be {}"),
        ("Expected `str` matching regex .+", "has characters that it may not have"),
        ("Expected `bytes` of length >= (.+)", "must have at least {} bytes"),
        ("Expected `bytes` of length <= (.+)", "must have at most {} bytes"),
        ("Invalid base64 encoded string", "must be in base64"),
    )
]
_KINDS = {
    "str": "a string",
    "bytes": "a string in base64",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}


def problem_of(error: ValidationError, kind: type) -> str:
    """Return the field and its problem, as one string. It is empty if the value is not an object."""
    problem, _, location = str(error).partition(" - at `$")
    name = location.removesuffix("`").removeprefix(".")
    # If a number is out of range, msgspec's error does not name the field.
    endless = problem.endswith("out of range") and name in ("", "[...]")
    if endless or (not name and problem.startswith("Expected `object`")):
        return ""
    for pattern, words in _PROBLEMS:
        if match := pattern.fullmatch(problem):
            what = words.format(*(_KINDS.get(group, group) for group in match.groups()))
            return f"{name} {what}".strip()
    if problem.startswith("Invalid enum value"):
        return f"{name} must be one of: {', '.join(_values_at(name, kind))}"
    return f"{name} has a value that it may not have".strip()


def _values_at(name: str, of: type) -> list[str]:
    """Return the allowed values of a field such as `rules[...].kind`."""
    kind: Any = _not_null(inspect.type_info(of))
    for field in re.findall(r"\w+|\[[^\]]*\]", name):
        if field[0] != "[":
            kind = next(part.type for part in kind.fields if part.encode_name == field)
        else:
            kind = kind.value_type if isinstance(kind, inspect.DictType) else kind.item_type
        kind = _not_null(kind)
    if isinstance(kind, inspect.LiteralType):
        return [str(value) for value in kind.values]
    return sorted(str(member.value) for member in kind.cls)


def _not_null(kind: inspect.Type) -> inspect.Type:
    if isinstance(kind, inspect.UnionType):
        return next(part for part in kind.types if not isinstance(part, inspect.NoneType))
    return _not_null(kind.type) if isinstance(kind, inspect.Metadata) else kind
