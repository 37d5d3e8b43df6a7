"""What a feature says of its endpoints and live events, for people and for programs that read
OpenAPI and AsyncAPI: the words for it, the types of fields, and the schemas.

Descriptions are data; `openapi` makes documents of them. Who may ask what is not said here but in
the catalogue. The floor of chat; knows no feature.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta, Struct

Data = Mapping[str, object]
MAX_ID_CHARACTERS = 128
Id = Annotated[str, Meta(min_length=1, max_length=MAX_ID_CHARACTERS)]
Natural = Annotated[int, Meta(ge=0)]
TimeMs = Natural

Schema = Mapping[str, object]


class Told(Struct):
    """What clients are told, in an answer or unasked: `requests.Asked` is what they ask."""


class Named(dict[str, object]):
    """A schema that several places use: written once, under its name."""

    def __init__(self, name: str, schema: Schema) -> None:
        super().__init__(schema)
        self.name = name


def string(most: int | None = None, least: int = 0, **more: object) -> Schema:
    bounds: dict[str, object] = {"minLength": least} if least else {}
    return {"type": "string", **bounds, **({} if most is None else {"maxLength": most}), **more}


def integer(least: int | None = None, most: int | None = None) -> Schema:
    bounds = {"minimum": least, "maximum": most}
    return {"type": "integer", **{name: bound for name, bound in bounds.items() if bound is not None}}


def choice(*values: str) -> Schema:
    return {"type": "string", "enum": list(values)}


def array(of: Schema, most: int | None = None) -> Schema:
    return {"type": "array", "items": of, **({} if most is None else {"maxItems": most})}


def mapping(of: Schema) -> Schema:
    """An object whose keys are ids."""
    return {"type": "object", "additionalProperties": of}


def nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def either(*schemas: Schema) -> Schema:
    return {"anyOf": list(schemas)}


def obj(needed: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """An object of ours: these keys, and in an answer no others."""
    properties = {**needed, **(optional or {})}
    required = {"required": list(needed)} if needed else {}
    return {"type": "object", "properties": properties, **required, "additionalProperties": False}


BOOLEAN: Schema = {"type": "boolean"}
ID = string(MAX_ID_CHARACTERS, 1)
TIME_MS = integer(0)
NOTHING = obj({})


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`route` as in the catalogue; without an `answer` it is 204 and empty."""

    route: str
    summary: str
    answer: Schema | None = None
    status: int = 200
    query: Mapping[str, Schema] = field(default_factory=dict)
    body: Schema | None = None
    body_type: str = "application/json"
    # Codes of `errors` beyond those that everything of its kind may answer.
    refusals: Sequence[str] = ()
    media_type: str = "application/json"
    # Another status with which the same answer may come, and when.
    otherwise: tuple[int, str] | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """A request on the live socket, by its name in the catalogue, and its reply."""

    name: str
    summary: str
    data: Schema
    reply: Schema
    refusals: Sequence[str]


@dataclass(frozen=True, slots=True)
class Pushed:
    """What the server says unasked. `to`, in words, is who hears it."""

    name: str
    summary: str
    data: Schema
    to: str
    kept: bool = True
