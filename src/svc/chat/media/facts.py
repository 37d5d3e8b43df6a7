"""What is known of a stored object. Records only."""

from dataclasses import dataclass

from svc.base.pictures import Picture


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


def facts_of(picture: Picture) -> Facts:
    """Its size is counted when it is kept."""
    return Facts(
        content_type=picture.content_type,
        width=picture.width,
        height=picture.height,
        duration_ms=picture.duration_ms or None,
        placeholder=picture.placeholder,
        colour=picture.colour,
    )
