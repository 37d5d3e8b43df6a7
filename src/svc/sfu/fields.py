"""Readers for the fields of an event's payload. Each returns a typed value or raises EnvelopeError.

The messages may be shown to the peer. Knows no event.
"""

from collections.abc import Mapping

from svc.base.envelope import EnvelopeError

# Ids are opaque to this service. A UUID has 36 characters.
MAX_ID_CHARACTERS = 256


def identifier(payload: Mapping[str, object], name: str) -> str:
    """Return a short text that is not empty."""
    value = payload.get(name)
    if not isinstance(value, str) or not value:
        raise EnvelopeError(f"{name} must be a text that is not empty")
    if len(value) > MAX_ID_CHARACTERS:
        raise EnvelopeError(f"{name} is longer than {MAX_ID_CHARACTERS} characters")
    return value


def text(payload: Mapping[str, object], name: str) -> str:
    """Return any text. Only the size of the frame limits it."""
    value = payload.get(name)
    if not isinstance(value, str):
        raise EnvelopeError(f"{name} must be a text")
    return value


def flag(payload: Mapping[str, object], name: str) -> bool:
    value = payload.get(name)
    if not isinstance(value, bool):
        raise EnvelopeError(f"{name} must be true or false")
    return value


def number(payload: Mapping[str, object], name: str, lowest: int, highest: int) -> int:
    """Return a whole number within the bounds, both included."""
    value = payload.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= highest:
        raise EnvelopeError(f"{name} must be a whole number from {lowest} to {highest}")
    return value


def texts(payload: Mapping[str, object], name: str) -> frozenset[str]:
    """Return a list of texts as a set."""
    value = payload.get(name)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise EnvelopeError(f"{name} must be a list of texts")
    return frozenset(value)
