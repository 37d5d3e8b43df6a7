"""What is known of a stored object. Records only."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of an object's content."""

    content_type: str
    bytes: int = 0
    width: int | None = None
    height: int | None = None
    duration_ms: int | None = None
    placeholder: str = ""
    colour: str = ""


@dataclass(frozen=True, slots=True)
class StoredObject:
    key: str
    state: str
    facts: Facts
    created_at_ms: int
