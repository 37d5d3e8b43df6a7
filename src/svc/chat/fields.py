"""Reading the fields of a request, of HTTP and of the live socket alike: the value, or a refusal
that names the field.

The floor of chat; knows no feature. `null` counts as absent.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from svc.chat.errors import ChatError

Data = Mapping[str, object]
MAX_ID_CHARACTERS = 128
# Types of fields.
Id = Annotated[str, Meta(min_length=1, max_length=MAX_ID_CHARACTERS)]
Natural = Annotated[int, Meta(ge=0)]
TimeMs = Natural


def text(data: Data, name: str, *, most: int, least: int = 0) -> str:
    """A string of so many characters; required."""
    value = optional_text(data, name, most=most, least=least)
    if value is None:
        raise ChatError("invalid_request", f"{name} is missing")
    return value


def optional_text(data: Data, name: str, *, most: int, least: int = 0) -> str | None:
    value = data.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise ChatError("invalid_request", f"{name} must be a string")
    if not least <= len(value) <= most:
        raise ChatError("invalid_request", f"{name} must have {least} to {most} characters")
    if "\0" in value:
        raise ChatError("invalid_request", f"{name} must not contain NUL")
    return value


def identifier(data: Data, name: str) -> str:
    """The id of something; whether it exists is for others to say."""
    return text(data, name, most=MAX_ID_CHARACTERS, least=1)


def optional_identifier(data: Data, name: str) -> str | None:
    return optional_text(data, name, most=MAX_ID_CHARACTERS, least=1)


def number(data: Data, name: str, *, least: int, most: int, default: int | None = None) -> int:
    """A whole number within the bounds, both included; required unless there is a default."""
    value = data.get(name)
    if value is None and default is not None:
        return default
    if isinstance(value, bool) or not isinstance(value, int):
        raise ChatError("invalid_request", f"{name} must be a whole number")
    if not least <= value <= most:
        raise ChatError("invalid_request", f"{name} must be from {least} to {most}")
    return value


def flag(data: Data, name: str, default: bool | None = None) -> bool:
    value = data.get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, bool):
        raise ChatError("invalid_request", f"{name} must be true or false")
    return value


def strings(data: Data, name: str, *, most: int, most_characters: int = MAX_ID_CHARACTERS) -> list[str]:
    """A list of strings; an absent one is empty."""
    value = data.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > most:
        raise ChatError("invalid_request", f"{name} must be a list of at most {most}")
    if not all(isinstance(item, str) and len(item) <= most_characters for item in value):
        raise ChatError("invalid_request", f"{name} must be a list of strings")
    return value
