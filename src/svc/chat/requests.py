"""A request, described once: where it comes in, what it needs, takes, answers and refuses, and what runs.

A feature has a class of them. `request` declares a method; the types of its parameters and of what it returns
say the rest. Its routes, its handlers on the live socket, its lines in the catalogue and its part of OpenAPI
and AsyncAPI are made of that:

    class DraftRequests(Requests):
        @request(MEMBER, "Keep a draft", http="PUT /api/…/{channel_id}/draft", live="draft_put")
        async def put(self, asking: Asker, channel_id: Id, asked: NewDraft) -> Draft: ...

Parameters are variables of the path, and fields beside the others on the live socket. `asked` is the body, or
the query of a GET. The floor of chat, beside `http`; knows no feature.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Any, TypeVar, get_type_hints

import msgspec
from aiohttp import web
from msgspec import Struct

from svc.chat.access.catalogue import Needs, declare
from svc.chat.access.tokens import Asker
from svc.chat.described import NOTHING, Described, Endpoint, Event, Named, Pushed, Schema
from svc.chat.errors import ChatError
from svc.chat.http import answer, asker, content, nothing

Run = TypeVar("Run", bound=Callable[..., Awaitable[object]])
Handler = Callable[[Asker, Mapping[str, object]], Awaitable[object]]
T = TypeVar("T")

NUL = "A text must not contain NUL"
# Behind an even number of backslashes, which stand for themselves.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")

# What msgspec finds wrong, and how we say it; in place of its names for kinds of values, ours.
_PROBLEMS = [
    (re.compile(pattern), words)
    for pattern, words in (
        ("Object missing required field `(.+)`", "{} is missing"),
        ("Expected `(?:str|array)` of length >= 1", "must not be empty"),
        ("Expected `str` of length >= (.+)", "must have at least {} characters"),
        ("Expected `str` of length <= (.+)", "must have at most {} characters"),
        ("Expected `array` of length <= (.+)", "must have at most {} entries"),
        ("Expected `array` of length >= (.+)", "must have at least {} entries"),
        ("Expected `(?:int|float)` >= (.+)", "must be at least {}"),
        ("Expected `(?:int|float)` <= (.+)", "must be at most {}"),
        ("Expected `[^|`]+`, got `null`", "is missing"),
        (r"Expected `([^|`]+)(?: \| null)?`, got `.+`", "must be {}"),
        ("Expected `str` matching regex .+", "has characters that it may not have"),
    )
]
_KINDS = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}

_ROUTES = {"GET": web.get, "POST": web.post, "PUT": web.put, "PATCH": web.patch, "DELETE": web.delete}


class Asked(Struct):
    """What a request takes. What is unknown in it is ignored; where it may be None it may be left out."""


@dataclass(frozen=True, slots=True)
class Declared:
    """`http` as in the catalogue and `live`, the event, are empty where it does not come in there.

    `asks`: it is told who asks. `path` has the variables of the path, `data` those and what is asked.
    `answers` is None for nothing.
    """

    run: Callable[..., Awaitable[object]]
    needs: Needs
    summary: str
    http: str
    live: str
    refusals: Sequence[str]
    status: int
    asks: bool
    path: type[Struct]
    asked: type[Asked] | None
    data: type[Struct]
    answers: Any

    @property
    def is_read(self) -> bool:
        return self.http.startswith("GET ")


def request(
    needs: Needs,
    summary: str,
    *,
    http: str = "",
    live: str = "",
    refusals: Sequence[str] = (),
    status: int = 200,
) -> Callable[[Run], Run]:
    """Declare a method of `Requests`. `refusals` are codes beyond those of everything of its kind."""

    def declared(run: Run) -> Run:
        types = get_type_hints(run, include_extras=True)
        answers, asked = types.pop("return"), types.pop("asked", None)
        asks = types.pop("asking", None) is not None
        path = msgspec.defstruct("Path", list(types.items()), kw_only=True)
        data = msgspec.defstruct("Data", list(types.items()), bases=(asked or Asked,), kw_only=True)
        answers = None if answers is NoneType else answers
        said = Declared(run, needs, summary, http, live, refusals, status, asks, path, asked, data, answers)
        run.declared = said  # type: ignore[attr-defined]
        return run

    return declared


class Requests:
    """What a feature can be asked. What a subclass declares is in the catalogue from then on."""

    declared: Sequence[Declared] = ()

    def __init_subclass__(cls) -> None:
        cls.declared = [value.declared for value in vars(cls).values() if hasattr(value, "declared")]
        for one in cls.declared:
            declare(one.needs, endpoint=one.http, event=one.live)

    def table(self) -> list[web.RouteDef]:
        return [self._route(declared) for declared in self.declared if declared.http]

    def handlers(self) -> Mapping[str, Handler]:
        return {declared.live: self._handler(declared) for declared in self.declared if declared.live}

    def _route(self, declared: Declared) -> web.RouteDef:
        async def serve(request: web.Request) -> web.Response:
            path = converted(request.match_info, declared.path)
            asked: Struct | None = None
            if declared.asked is not None and declared.is_read:
                asked = converted(request.query, declared.asked, strict=False)
            elif declared.asked is not None:
                asked = decoded(await content(request), declared.asked)
            asking = asker(request) if declared.asks else None
            found = await self._run(declared, asking, path, asked)
            return nothing() if declared.answers is None else answer(found, declared.status)

        method, _, address = declared.http.partition(" ")
        return _ROUTES[method](address, serve)

    def _handler(self, declared: Declared) -> Handler:
        async def handle(asking: Asker, data: Mapping[str, object]) -> object:
            taken = converted(data, declared.data)
            found = await self._run(declared, asking, taken, taken)
            return {} if declared.answers is None else found

        return handle

    def _run(
        self, declared: Declared, asking: Asker | None, path: Struct, asked: Struct | None
    ) -> Awaitable[object]:
        named = {name: getattr(path, name) for name in declared.path.__struct_fields__}
        if declared.asks:
            named["asking"] = asking
        if declared.asked is not None:
            named["asked"] = asked
        return declared.run(self, **named)


def decoded(text: bytes, kind: type[T]) -> T:
    """A JSON object of a request. Raises ChatError."""
    if rb"\u0000" in text and _NUL.search(text):
        raise ChatError("invalid_request", NUL)
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError as error:
        raise _refusal(error) from None
    # The latter: nested without end.
    except (ValueError, RecursionError):
        raise ChatError("invalid_json") from None


def converted(data: Mapping[str, object], kind: type[T], *, strict: bool = True) -> T:
    """As `decoded`, of what is no JSON any more. Raises ChatError."""
    if any("\0" in text for text in _texts(data)):
        raise ChatError("invalid_request", NUL)
    try:
        return msgspec.convert(data, kind, strict=strict, from_attributes=False)
    except msgspec.ValidationError as error:
        raise _refusal(error) from None


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inside in value.values():
            yield from _texts(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from _texts(inside)


def _refusal(error: msgspec.ValidationError) -> ChatError:
    """What is wrong, and where, in our words."""
    problem, _, place = str(error).partition(" - at `$")
    name = place.removesuffix("`").removeprefix(".")
    if not name and problem.startswith("Expected `object`"):
        return ChatError("invalid_json")
    for pattern, words in _PROBLEMS:
        if found := pattern.fullmatch(problem):
            what = words.format(*(_KINDS.get(group, group) for group in found.groups()))
            return ChatError("invalid_request", f"{name} {what}".strip())
    return ChatError("invalid_request", f"{name} does not have one of its values")


def described_by(
    requests: type[Requests],
    *,
    pushes: Sequence[Pushed] = (),
    welcome: Mapping[str, Schema] | None = None,
    present: Mapping[str, Schema] | None = None,
) -> Described:
    """What the feature says of itself: its requests, and what else it says."""
    return Described(
        endpoints=[_endpoint(declared) for declared in requests.declared if declared.http],
        events=[_event(declared) for declared in requests.declared if declared.live],
        pushes=pushes,
        welcome=welcome or {},
        present=present or {},
    )


def _endpoint(declared: Declared) -> Endpoint:
    asked = None if declared.asked is None else schema_of(declared.asked)
    return Endpoint(
        declared.http,
        declared.summary,
        None if declared.answers is None else schema_of(declared.answers),
        declared.status,
        query=_properties(asked) if asked and declared.is_read else {},
        body=None if declared.is_read else asked,
        refusals=declared.refusals,
    )


def _event(declared: Declared) -> Event:
    reply = NOTHING if declared.answers is None else schema_of(declared.answers)
    return Event(declared.live, declared.summary, schema_of(declared.data), reply, declared.refusals)


def _properties(schema: Schema) -> Mapping[str, Schema]:
    found = schema["properties"]
    assert isinstance(found, Mapping)
    return found


@cache
def schema_of(kind: type[object]) -> Schema:
    """The schema of a type: what is asked as it is, an answer and what it holds under their names."""
    [schema], named = msgspec.json.schema_components([kind], ref_template="{name}")

    def written(part: object) -> Any:
        if isinstance(part, list):
            return [written(item) for item in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return Named(part["$ref"], written(named[part["$ref"]]))
        kept = {key: written(value) for key, value in part.items() if key != "title"}
        if kept.get("default", "") is None:
            del kept["default"]
        if not kept.get("required", "some"):
            del kept["required"]
        return kept | ({"additionalProperties": False} if "properties" in kept else {})

    whole: dict[str, object] = written(schema)
    if issubclass(kind, Struct):
        return {**whole, "additionalProperties": True}
    return whole
