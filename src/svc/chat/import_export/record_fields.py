"""Defines the types of JSON fields in an export's records.

An export is untrusted input, and the code that shows its content relies on these types. Media files are
handled elsewhere.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

# The maximum number of mentions. No message on this server contains as many.
_MAX_MENTIONS = 1_000
_MAX_ATTACHMENTS = 100
_MAX_CARDS = 10
_MAX_PREVIEWS = 10
_MAX_FIELDS = 25
_MAX_CHARACTERS = 8 * 1024
# SQLite cannot store larger integers.
MAX_WHOLE = 2**63 - 1
NO_NUL = r"\A[^\0]*\Z"

Whole = Annotated[int, Meta(ge=0, le=MAX_WHOLE)]
PartText = Annotated[str, Meta(max_length=_MAX_CHARACTERS, pattern=NO_NUL)]
_Text = PartText | UnsetType
_Number = Whole | UnsetType | None


class _File(Struct, forbid_unknown_fields=True, kw_only=True):
    key: PartText
    content_type: _Text = UNSET
    placeholder: _Text = UNSET
    colour: _Text = UNSET
    bytes: _Number = UNSET
    width: _Number = UNSET
    height: _Number = UNSET
    frames: _Number = UNSET
    duration_ms: _Number = UNSET


_Picture = _File | UnsetType


class Attachment(_File, forbid_unknown_fields=True, kw_only=True):
    id: PartText
    name: PartText
    content_type: PartText
    kind: _Text = UNSET
    alt: _Text = UNSET
    thumbnail: _File | UnsetType | None = UNSET
    poster: _File | UnsetType | None = UNSET


class _Field(Struct, forbid_unknown_fields=True):
    name: PartText
    value: PartText
    inline: bool | UnsetType = UNSET


class _Author(Struct, forbid_unknown_fields=True):
    name: PartText
    url: _Text = UNSET
    icon: _Picture = UNSET


class _Footer(Struct, forbid_unknown_fields=True):
    text: PartText
    icon: _Picture = UNSET


class Card(Struct, forbid_unknown_fields=True):
    title: _Text = UNSET
    url: _Text = UNSET
    description: _Text = UNSET
    timestamp: _Text = UNSET
    color: PartText | Whole | UnsetType = UNSET
    author: _Author | UnsetType = UNSET
    fields: Annotated[list[_Field], Meta(max_length=_MAX_FIELDS)] | UnsetType = UNSET
    image: _Picture = UNSET
    thumbnail: _Picture = UNSET
    footer: _Footer | UnsetType = UNSET


class Preview(Struct, forbid_unknown_fields=True):
    url: PartText
    title: _Text = UNSET
    description: _Text = UNSET
    site: _Text = UNSET
    image: _Picture = UNSET


Mentions = Annotated[list[PartText], Meta(max_length=_MAX_MENTIONS)] | None
Attachments = Annotated[list[Attachment], Meta(max_length=_MAX_ATTACHMENTS)] | None
Cards = Annotated[list[Card], Meta(max_length=_MAX_CARDS)] | None
# False marks a message without previews.
Previews = Annotated[list[Preview], Meta(max_length=_MAX_PREVIEWS)] | bool | None


def remap(value: object, files: Mapping[str, Mapping[str, object]]) -> object:
    """Return a copy of a value with the properties of the new files. `files` maps keys in the export to these
    properties.
    """
    match value:
        case list():
            return [remap(part, files) for part in value]
        case dict():
            fields = {name: remap(part, files) for name, part in value.items()}
            facts = files.get(str(fields.get("key")), {})
            return {**fields, **{name: fact for name, fact in facts.items() if name in fields}}
    return value
