"""Lets features declare each endpoint in one place: its path, permission, types, errors and handler.

Each feature has a class for its endpoints. The `endpoint` decorator turns a method into an endpoint, and the
method's parameter and return types complete the declaration. Routes, live socket handlers, entries in
`endpoint_permissions`, and the OpenAPI and AsyncAPI documents are built from these declarations:

    class DraftEndpoints(Requests):
        @endpoint(MEMBER, "Replace a draft", http="PUT /api/…/{channel_id}/draft", live="draft_put")
        async def put(self, session: Session, channel_id: Id, body: NewDraft) -> Draft: ...

`body` is the JSON body. `query` holds the query parameters of a GET or DELETE request, or of a request with a
`raw_body`. A method that needs the HTTP request has a parameter `http_request`, and may return an HTTP
response. All other parameters are path variables or, on the live socket, fields of the data. Every feature
uses this module, which imports none of them.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cache, cached_property
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec
from aiohttp import web
from msgspec import Struct

from svc.base.validation import problem_of
from svc.chat.access.endpoint_permissions import Requirement, declare
from svc.chat.access.tokens import Session
from svc.chat.errors import ChatError
from svc.chat.http import answer, content, no_content, session_of
from svc.chat.schemas import NOTHING, Endpoint, Event, LiveRequest, Named, Schema

Run = TypeVar("Run", bound=Callable[..., Awaitable[object]])
Handler = Callable[[Session, Mapping[str, object]], Awaitable[object]]
T = TypeVar("T")

NUL = "A text must not contain NUL"
# `\u0000` is an escape only if an even number of backslashes precedes it.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")

_ROUTES = {"GET": web.get, "POST": web.post, "PUT": web.put, "PATCH": web.patch, "DELETE": web.delete}


class Request(Struct):
    """Base class of request types. Unknown fields are ignored, and fields that may be None may be omitted."""


@dataclass(frozen=True, slots=True)
class DeclaredEndpoint:
    """A declared endpoint with the types from its method's signature.

    `extras` are the method's additional parameters: `session` and `http_request`. `payload` is the type of
    the body or the query. `path` is a type whose fields are the variables in the path. `data` has these
    fields and those of the payload. `accepts` and `returns` are types, schemas if there is no type, or None
    if there is no body.
    """

    run: Callable[..., Awaitable[object]]
    spec: "endpoint"
    extras: Collection[str]
    path: type[Struct]
    payload_name: str
    payload: Any
    data: Any
    accepts: Any
    returns: Any

    @property
    def takes_query(self) -> bool:
        return self.spec.raw_body is not None or self.spec.http.startswith(("GET ", "DELETE "))


@dataclass(frozen=True, slots=True)
class endpoint:
    """A decorator that declares a method of `Requests` as an endpoint.

    `http` is the method and path as in `endpoint_permissions`, and `live` is the event on the live socket.
    One of them may be empty. `refusals` are the error codes that the endpoint can return in addition to the
    common ones. `accepts` and `returns` give types that the signature cannot express: the schema of a
    mapping, or the type of a response. `alternative` is another possible response status, and its condition.
    `raw_body` is the media type and schema of a body that the method reads itself. `cost` and `max_bytes`
    override the default rate-limit cost and the default size limit for the body.
    """

    needs: Requirement
    summary: str
    _: KW_ONLY
    http: str = ""
    live: str = ""
    refusals: Sequence[str] = ()
    status: int = 200
    alternative: tuple[int, str] | None = None
    media_type: str = "application/json"
    raw_body: tuple[str, object] | None = None
    accepts: object = None
    returns: object = None
    cost: float | None = None
    max_bytes: int | None = None

    def __call__(self, run: Run) -> Run:
        types = get_type_hints(run, include_extras=True)
        returned = types.pop("return")
        payload_name = next((name for name in ("body", "query") if name in types), "")
        payload = types.pop(payload_name, None)
        extras = {name for name in ("session", "http_request") if types.pop(name, None) is not None}
        path = msgspec.defstruct("Path", list(types.items()), kw_only=True)
        data = payload
        if self.accepts is None:
            data = msgspec.defstruct("Data", list(types.items()), bases=(payload or Request,), kw_only=True)
        run.declared = DeclaredEndpoint(  # type: ignore[attr-defined]
            run,
            self,
            extras,
            path,
            payload_name,
            payload,
            data,
            self.accepts or payload,
            self.returns or (None if returned in (NoneType, web.StreamResponse) else returned),
        )
        return run


class Endpoints:
    """A feature's requests. A subclass's endpoints are added to `endpoint_permissions`."""

    declared: Sequence[DeclaredEndpoint] = ()

    def __init_subclass__(cls) -> None:
        cls.declared = [value.declared for value in vars(cls).values() if hasattr(value, "declared")]
        for spec in (declared.spec for declared in cls.declared):
            declare(spec.needs, endpoint=spec.http, event=spec.live, cost=spec.cost)

    def table(self) -> list[web.RouteDef]:
        return [self._route(declared) for declared in self.declared if declared.spec.http]

    def handlers(self) -> Mapping[str, Handler]:
        return {
            declared.spec.live: self._handler(declared) for declared in self.declared if declared.spec.live
        }

    def _route(self, declared: DeclaredEndpoint) -> web.RouteDef:
        async def serve(request: web.Request) -> web.StreamResponse:
            path = convert(request.match_info, declared.path) if declared.path.__struct_fields__ else None
            payload: object = None
            if declared.payload is not None and declared.takes_query:
                payload = convert(request.query, declared.payload, strict=False)
            elif declared.payload is not None:
                payload = parse_json(await content(request, declared.spec.max_bytes), declared.payload)
            session = session_of(request) if "session" in declared.extras else None
            result = await self._run(declared, path, payload, session, request)
            if isinstance(result, web.StreamResponse):
                return result
            return no_content() if declared.returns is None else answer(result, declared.spec.status)

        method, _, address = declared.spec.http.partition(" ")
        return _ROUTES[method](address, serve)

    def _handler(self, declared: DeclaredEndpoint) -> Handler:
        async def handle(session: Session, data: Mapping[str, object]) -> object:
            converted = convert(data, declared.data)
            result = await self._run(declared, converted, converted, session)
            return {} if declared.returns is None else result

        return handle

    def _run(
        self,
        declared: DeclaredEndpoint,
        path: object,
        payload: object,
        session: Session | None,
        request: web.Request | None = None,
    ) -> Awaitable[object]:
        arguments = {name: getattr(path, name) for name in declared.path.__struct_fields__}
        extras = {"session": session, "http_request": request}
        arguments |= {name: extras[name] for name in declared.extras}
        if declared.payload is not None:
            arguments[declared.payload_name] = payload
        return declared.run(self, **arguments)


def parse_json(text: bytes, kind: type[T]) -> T:
    """Parse the JSON object in a request. Raises ChatError."""
    if rb"\u0000" in text and _NUL.search(text):
        raise ChatError("invalid_request", NUL)
    try:
        text.decode()  # msgspec does not validate text in skipped fields.
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError as error:
        raise _validation_error(error, kind) from None
    # RecursionError means that the JSON is too deeply nested.
    except (ValueError, RecursionError):
        raise ChatError("invalid_json") from None


def convert(data: Mapping[str, object], kind: type[T], *, strict: bool = True) -> T:
    """Convert parsed data to a type, with the same checks as `parse_json`. Raises ChatError."""
    if _has_nul(data):
        raise ChatError("invalid_request", NUL)
    try:
        return msgspec.convert(data, kind, strict=strict, from_attributes=False)
    except msgspec.ValidationError as error:
        raise _validation_error(error, kind) from None


def _has_nul(data: Mapping[str, object]) -> bool:
    """Return whether a string in JSON data contains NUL. Raises ChatError if the data cannot be encoded as
    JSON.
    """
    try:
        # Encoding the data and searching the result takes 0.1 ms for 60 KB. Traversing deeply nested data in
        # Python would take 400 ms.
        text = msgspec.json.encode(dict(data))
    # The data is too deeply nested (RecursionError) or contains a lone surrogate (ValueError).
    except (RecursionError, ValueError):
        raise ChatError("invalid_json") from None
    return rb"\u0000" in text and _NUL.search(text) is not None


def _validation_error(error: msgspec.ValidationError, kind: type) -> ChatError:
    problem = problem_of(error, kind)
    return ChatError("invalid_request", problem) if problem else ChatError("invalid_json")


@dataclass(frozen=True)
class FeatureDescription:
    """The complete description of a feature's requests and events.

    `welcome` describes the feature's part of the reply to `authenticate`. The schemas are built from the
    stored types on first use, because the server can start without them.
    """

    declared: Sequence[DeclaredEndpoint]
    pushes: Sequence[Event]
    welcome: Mapping[str, Any]
    present: Mapping[str, Any]

    @cached_property
    def endpoints(self) -> Sequence[Endpoint]:
        return [_endpoint(declared) for declared in self.declared if declared.spec.http]

    @cached_property
    def events(self) -> Sequence[LiveRequest]:
        return [_event(declared) for declared in self.declared if declared.spec.live]


def describe_feature(
    *requests: type[Endpoints],
    pushes: Sequence[Event] = (),
    welcome: Mapping[str, Any] | None = None,
    present: Mapping[str, Any] | None = None,
) -> FeatureDescription:
    """Return the description of a feature's requests and events."""
    declared = [endpoint for feature in requests for endpoint in feature.declared]
    return FeatureDescription(declared, pushes, welcome or {}, present or {})


def _endpoint(declared: DeclaredEndpoint) -> Endpoint:
    accepts = None if declared.accepts is None else schema_of(declared.accepts)
    body_type, body = "application/json", None if declared.takes_query else accepts
    if declared.spec.raw_body is not None:
        body_type, body = declared.spec.raw_body[0], schema_of(declared.spec.raw_body[1])
    return Endpoint(
        declared.spec.http,
        declared.spec.summary,
        None if declared.returns is None else schema_of(declared.returns),
        declared.spec.status,
        query=fields_of(accepts) if accepts and declared.takes_query else {},
        body=body,
        body_type=body_type,
        refusals=declared.spec.refusals,
        media_type=declared.spec.media_type,
        otherwise=declared.spec.alternative,
    )


def _event(declared: DeclaredEndpoint) -> LiveRequest:
    data = declared.accepts if declared.data is declared.payload else declared.data
    reply = NOTHING if declared.returns is None else schema_of(declared.returns)
    return LiveRequest(
        declared.spec.live, declared.spec.summary, schema_of(data), reply, declared.spec.refusals
    )


def fields_of(schema: Schema) -> Mapping[str, Schema]:
    """Return the schemas of a query's fields, excluding null, which a query cannot contain."""
    properties = schema["properties"]
    assert isinstance(properties, Mapping)
    return {name: _without_null(field_schema) for name, field_schema in properties.items()}


def _without_null(schema: Schema) -> Schema:
    kinds = schema.get("anyOf")
    return kinds[0] if isinstance(kinds, list) and kinds[1:] == [{"type": "null"}] else schema


def schema_of(kind: Any) -> Schema:
    """Return the schema for a type. Response types become named schemas, and request types are inlined."""
    if isinstance(kind, UnionType):  # msgspec does not support unions of untagged Structs.
        return {"anyOf": [schema_of(alternative) for alternative in get_args(kind)]}
    return kind if isinstance(kind, Mapping) else _schema_of(kind)


@cache
def _schema_of(kind: Any) -> Schema:
    [schema], components = msgspec.json.schema_components([kind], ref_template="{name}")
    is_request = isinstance(kind, type) and issubclass(kind, Request)

    def written(part: object) -> Any:
        if isinstance(part, list):
            return [written(item) for item in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            schema = written(components[part["$ref"]])
            return schema if is_request else Named(part["$ref"], schema)
        apart = ("title", "properties", "required")
        kept = {key: written(value) for key, value in part.items() if key not in apart}
        if kept.get("default", "") is None:
            del kept["default"]
        if "properties" in part:
            return kept | of_object(part)
        return Named(part["title"], kept) if "title" in part and not is_request else kept

    def of_object(part: Mapping[str, Any]) -> dict[str, object]:
        """Return the schema for an object type. In a response, every field that cannot be UNSET is required,
        even one with a default.
        """
        properties = part["properties"]
        needed = part["required"]
        if not is_request:
            needed = [name for name, field in properties.items() if name in needed or "default" in field]
            properties = {
                name: {key: field[key] for key in field if key != "default"}
                for name, field in properties.items()
            }
        return {
            "properties": {name: written(field) for name, field in properties.items()},
            **({"required": needed} if needed else {}),
            "additionalProperties": part.get("additionalProperties", is_request),
        }

    whole: dict[str, object] = written(schema)
    return whole
