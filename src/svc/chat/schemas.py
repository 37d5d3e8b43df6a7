"""Defines the data types for API descriptions: endpoints, events and JSON schemas.

`openapi` builds documents from them. `endpoint_permissions` contains the permissions. This module does not
import any features.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from msgspec import Meta, Struct

Data = Mapping[str, object]
MAX_ID_CHARACTERS = 128
Id = Annotated[str, Meta(min_length=1, max_length=MAX_ID_CHARACTERS)]
Natural = Annotated[int, Meta(ge=0)]
TimeMs = Natural

Schema = Mapping[str, object]


class Response(Struct, gc=False):
    """The base class of responses and events. `endpoints.Request` is the base class of requests."""


class Named(dict[str, object]):
    """A schema with a name. A document contains it once and refers to it."""

    def __init__(self, name: str, schema: Schema) -> None:
        super().__init__(schema)
        self.name = name


def string(maximum: int | None = None, minimum: int = 0, **more: object) -> Schema:
    bounds: dict[str, object] = {"minLength": minimum} if minimum else {}
    return {"type": "string", **bounds, **({} if maximum is None else {"maxLength": maximum}), **more}


def integer(minimum: int | None = None, maximum: int | None = None) -> Schema:
    bounds = {"minimum": minimum, "maximum": maximum}
    return {"type": "integer", **{name: bound for name, bound in bounds.items() if bound is not None}}


ID = string(MAX_ID_CHARACTERS, 1)
NOTHING: Schema = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An HTTP endpoint. `route` is the method and path as in `endpoint_permissions`. An `answer` of None
    means an empty 204 response.
    """

    route: str
    summary: str
    answer: Schema | None = None
    status: int = 200
    query: Mapping[str, Schema] = field(default_factory=dict)
    body: Schema | None = None
    body_type: str = "application/json"
    # The error codes that the endpoint can return in addition to those of all endpoints with its
    # requirements.
    refusals: Sequence[str] = ()
    media_type: str = "application/json"
    # Another possible response status, and its condition.
    otherwise: tuple[int, str] | None = None


@dataclass(frozen=True, slots=True)
class LiveRequest:
    """A request on the live socket and its reply. `name` is as in `endpoint_permissions`."""

    name: str
    summary: str
    data: Schema
    reply: Schema
    refusals: Sequence[str]


@dataclass(frozen=True, slots=True)
class Event:
    """An event that the server pushes, with the type of its data. `to` describes the audience."""

    name: str
    summary: str
    data: Any
    to: str
    kept: bool = True
