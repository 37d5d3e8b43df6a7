"""Requests, declared once: path, permission, types, errors, and the method that runs.

A feature has a class of requests. `request` declares a method, and the types of its parameters and its result
complete the declaration. Routes, handlers of the live socket, catalogue entries, and the OpenAPI and AsyncAPI
documents are built from it:

    class DraftRequests(Requests):
        @request(MEMBER, "Replace a draft", http="PUT /api/…/{channel_id}/draft", live="draft_put")
        async def put(self, session: Session, channel_id: Id, asked: NewDraft) -> Draft: ...

Parameters are variables of the path, which on the live socket are further fields. `asked` is the body, or the
query of a GET or DELETE. A method that needs more of HTTP has a parameter `request` and may return a
response. If it `sends` a body that is not JSON, `asked` is the query. Below all features, next to `http`;
knows none of them.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cache, cached_property
from types import NoneType
from typing import Any, TypeVar, get_type_hints

import msgspec
from aiohttp import web
from msgspec import Struct

from svc.chat.access.catalogue import Needs, declare
from svc.chat.access.tokens import Session
from svc.chat.described import NOTHING, Endpoint, Event, Named, Pushed, Schema
from svc.chat.errors import ChatError
from svc.chat.http import content, nothing, session_of

Run = TypeVar("Run", bound=Callable[..., Awaitable[object]])
Handler = Callable[[Session, Mapping[str, object]], Awaitable[object]]
T = TypeVar("T")

NUL = "A text must not contain NUL"
# After an even number of backslashes, which stand for themselves.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")

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

_ROUTES = {"GET": web.get, "POST": web.post, "PUT": web.put, "PATCH": web.patch, "DELETE": web.delete}


class Asked(Struct):
    """Base class of request types. Unknown fields are ignored, and fields that may be None may be omitted."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A declared request with the types from its method's signature.

    `told` are the additional parameters that it gets: `session`, `request`. `path` has the variables of the
    path, `data` those and the body. `takes` and `answers` are types, or schemas where there is no type; None
    means nothing.
    """

    run: Callable[..., Awaitable[object]]
    said: "request"
    told: Collection[str]
    path: type[Struct]
    asked: Any
    data: Any
    takes: Any
    answers: Any

    @property
    def asks_by_query(self) -> bool:
        return self.said.sends is not None or self.said.http.startswith(("GET ", "DELETE "))


@dataclass(frozen=True, slots=True)
class request:
    """Declares a method of `Requests`. `refusals` are codes besides those of every request of its kind.

    `http` is as in the catalogue and `live` is the event; either may be empty. `takes` and `answers` describe
    types that the signature lacks: a mapping's schema, or a response's type. `otherwise` is another status of
    the same response, and its condition. `sends` is the type and the schema of a body that the method reads
    itself. `cost` and `most_bytes` override the catalogue's cost and the body limit.
    """

    needs: Needs
    summary: str
    _: KW_ONLY
    http: str = ""
    live: str = ""
    refusals: Sequence[str] = ()
    status: int = 200
    otherwise: tuple[int, str] | None = None
    media_type: str = "application/json"
    sends: tuple[str, Schema] | None = None
    takes: Schema | None = None
    answers: object = None
    cost: float | None = None
    most_bytes: int | None = None

    def __call__(self, run: Run) -> Run:
        types = get_type_hints(run, include_extras=True)
        returned, asked = types.pop("return"), types.pop("asked", None)
        told = {name for name in ("session", "request") if types.pop(name, None) is not None}
        path = msgspec.defstruct("Path", list(types.items()), kw_only=True)
        data = asked
        if self.takes is None:
            data = msgspec.defstruct("Data", list(types.items()), bases=(asked or Asked,), kw_only=True)
        answers = self.answers or (None if returned in (NoneType, web.StreamResponse) else returned)
        declared = Declared(run, self, told, path, asked, data, self.takes or asked, answers)
        run.declared = declared  # type: ignore[attr-defined]
        return run


class Requests:
    """A feature's requests. A subclass's declarations are added to the catalogue."""

    declared: Sequence[Declared] = ()

    def __init_subclass__(cls) -> None:
        cls.declared = [value.declared for value in vars(cls).values() if hasattr(value, "declared")]
        for one in cls.declared:
            declare(one.said.needs, endpoint=one.said.http, event=one.said.live, cost=one.said.cost)

    def table(self) -> list[web.RouteDef]:
        return [self._route(declared) for declared in self.declared if declared.said.http]

    def handlers(self) -> Mapping[str, Handler]:
        return {
            declared.said.live: self._handler(declared) for declared in self.declared if declared.said.live
        }

    def _route(self, declared: Declared) -> web.RouteDef:
        async def serve(request: web.Request) -> web.StreamResponse:
            path = converted(request.match_info, declared.path) if declared.path.__struct_fields__ else None
            asked: object = None
            if declared.asked is not None and declared.asks_by_query:
                asked = converted(request.query, declared.asked, strict=False)
            elif declared.asked is not None:
                asked = decoded(await content(request, declared.said.most_bytes), declared.asked)
            session = session_of(request) if "session" in declared.told else None
            found = await self._run(declared, path, asked, session, request)
            if isinstance(found, web.StreamResponse):
                return found
            return nothing() if declared.answers is None else answered(found, declared.said.status)

        method, _, address = declared.said.http.partition(" ")
        return _ROUTES[method](address, serve)

    def _handler(self, declared: Declared) -> Handler:
        async def handle(session: Session, data: Mapping[str, object]) -> object:
            taken = converted(data, declared.data)
            found = await self._run(declared, taken, taken, session)
            return {} if declared.answers is None else found

        return handle

    def _run(
        self,
        declared: Declared,
        path: object,
        asked: object,
        session: Session | None,
        request: web.Request | None = None,
    ) -> Awaitable[object]:
        named = {name: getattr(path, name) for name in declared.path.__struct_fields__}
        extra = {"session": session, "request": request}
        named |= {name: extra[name] for name in declared.told}
        if declared.asked is not None:
            named["asked"] = asked
        return declared.run(self, **named)


def answered(found: object, status: int = 200) -> web.Response:
    """Return a response with a record as JSON, omitting UNSET fields."""
    return web.Response(body=msgspec.json.encode(found), status=status, content_type="application/json")


def decoded(text: bytes, kind: type[T]) -> T:
    """Parse the JSON object of a request. Raises ChatError."""
    if rb"\u0000" in text and _NUL.search(text):
        raise ChatError("invalid_request", NUL)
    try:
        text.decode()  # msgspec does not validate text in skipped fields.
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError as error:
        raise _refusal(error, kind) from None
    # RecursionError: nested too deeply.
    except (ValueError, RecursionError):
        raise ChatError("invalid_json") from None


def converted(data: Mapping[str, object], kind: type[T], *, strict: bool = True) -> T:
    """Convert parsed data like `decoded`. Raises ChatError."""
    if any("\0" in text for text in _texts(data)):
        raise ChatError("invalid_request", NUL)
    try:
        return msgspec.convert(data, kind, strict=strict, from_attributes=False)
    except msgspec.ValidationError as error:
        raise _refusal(error, kind) from None


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inside in value.values():
            yield from _texts(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from _texts(inside)


def _refusal(error: msgspec.ValidationError, kind: type) -> ChatError:
    """Return the fault and its position in our words."""
    problem, _, place = str(error).partition(" - at `$")
    name = place.removesuffix("`").removeprefix(".")
    # A number out of range in an unknown field.
    endless = problem.endswith("out of range") and name in ("", "[...]")
    if endless or (not name and problem.startswith("Expected `object`")):
        return ChatError("invalid_json")
    for pattern, words in _PROBLEMS:
        if found := pattern.fullmatch(problem):
            what = words.format(*(_KINDS.get(group, group) for group in found.groups()))
            return ChatError("invalid_request", f"{name} {what}".strip())
    if problem.startswith("Invalid enum value"):
        return ChatError("invalid_request", f"{name} must be one of: {', '.join(_values_at(name, kind))}")
    return ChatError("invalid_request", f"{name} has a value that it may not have")


def _values_at(name: str, kind: type) -> list[str]:
    """Return the allowed values of a field such as `rules[...].kind`."""
    found: Any = schema_of(kind)
    for field, entry in re.findall(r"(\w+)|(\[[^\]]*\])", name):
        inside = found.get("items") or found["additionalProperties"] if entry else found["properties"][field]
        found = next(one for one in inside.get("anyOf", [inside]) if one != {"type": "null"})
    return [str(value) for value in found["enum"]]


@dataclass(frozen=True)
class Described:
    """A feature's complete description. `welcome` is its part of the reply to `authenticate`.

    Schemas of requests are built on first use, because a server starts without them.
    """

    declared: Sequence[Declared]
    pushes: Sequence[Pushed]
    welcome: Mapping[str, Schema]
    present: Mapping[str, Schema]

    @cached_property
    def endpoints(self) -> Sequence[Endpoint]:
        return [_endpoint(declared) for declared in self.declared if declared.said.http]

    @cached_property
    def events(self) -> Sequence[Event]:
        return [_event(declared) for declared in self.declared if declared.said.live]


def described_by(
    *requests: type[Requests],
    pushes: Sequence[Pushed] = (),
    welcome: Mapping[str, Schema] | None = None,
    present: Mapping[str, Schema] | None = None,
) -> Described:
    """Return a feature's description: its requests and events."""
    declared = [one for those in requests for one in those.declared]
    return Described(declared, pushes, welcome or {}, present or {})


def _endpoint(declared: Declared) -> Endpoint:
    takes = None if declared.takes is None else schema_of(declared.takes)
    body_type, body = declared.said.sends or ("application/json", None if declared.asks_by_query else takes)
    return Endpoint(
        declared.said.http,
        declared.said.summary,
        None if declared.answers is None else schema_of(declared.answers),
        declared.said.status,
        query=fields_of(takes) if takes and declared.asks_by_query else {},
        body=body,
        body_type=body_type,
        refusals=declared.said.refusals,
        media_type=declared.said.media_type,
        otherwise=declared.said.otherwise,
    )


def _event(declared: Declared) -> Event:
    data = declared.takes if declared.data is declared.asked else declared.data
    reply = NOTHING if declared.answers is None else schema_of(declared.answers)
    return Event(declared.said.live, declared.said.summary, schema_of(data), reply, declared.said.refusals)


def fields_of(schema: Schema) -> Mapping[str, Schema]:
    """Return a query's fields. Null is left out, because a query cannot contain it."""
    found = schema["properties"]
    assert isinstance(found, Mapping)
    return {name: _without_null(field_schema) for name, field_schema in found.items()}


def _without_null(schema: Schema) -> Schema:
    kinds = schema.get("anyOf")
    return kinds[0] if isinstance(kinds, list) and kinds[1:] == [{"type": "null"}] else schema


def schema_of(kind: Any) -> Schema:
    """Return the schema of a type. Types in responses become named schemas; request types are inlined."""
    return kind if isinstance(kind, Mapping) else _schema_of(kind)


@cache
def _schema_of(kind: Any) -> Schema:
    [schema], named = msgspec.json.schema_components([kind], ref_template="{name}")
    is_asked = isinstance(kind, type) and issubclass(kind, Asked)

    def written(part: object) -> Any:
        if isinstance(part, list):
            return [written(item) for item in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            found = written(named[part["$ref"]])
            return found if is_asked else Named(part["$ref"], found)
        apart = ("title", "properties", "required")
        kept = {key: written(value) for key, value in part.items() if key not in apart}
        if kept.get("default", "") is None:
            del kept["default"]
        if "properties" in part:
            return kept | of_object(part)
        return Named(part["title"], kept) if "title" in part and not is_asked else kept

    def of_object(part: Mapping[str, Any]) -> dict[str, object]:
        """Return an object's schema. A response has every field that cannot be UNSET, even one with a
        default.
        """
        properties = part["properties"]
        needed = part["required"]
        if not is_asked:
            needed = [name for name, one in properties.items() if name in needed or "default" in one]
            properties = {
                name: {key: one[key] for key in one if key != "default"} for name, one in properties.items()
            }
        return {
            "properties": {name: written(one) for name, one in properties.items()},
            **({"required": needed} if needed else {}),
            "additionalProperties": is_asked,
        }

    whole: dict[str, object] = written(schema)
    return whole
