"""An endpoint's declaration determines its parsing, errors, response and documentation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from aiohttp import web
from msgspec import UNSET, Meta, Struct, UnsetType

from svc.chat.access import endpoint_permissions
from svc.chat.access.endpoint_permissions import ANYONE, MEMBER
from svc.chat.endpoints import (
    Endpoints,
    Request,
    convert,
    describe_feature,
    endpoint,
    parse_json,
    schema_of,
)
from svc.chat.errors import ChatError
from svc.chat.http import answer
from svc.chat.live.frames import parse
from svc.chat.schemas import Id
from tests.kit.time_complexity import grows_with_its_size


class Example(Request):
    text: Annotated[str, Meta(min_length=1, max_length=10)]
    number: Annotated[int, Meta(ge=1, le=5)] = 1
    files: Annotated[Sequence[Id], Meta(max_length=2)] | None = None


class Sealed(Request):
    key: Annotated[bytes, Meta(min_length=2, max_length=3)]


class Part(Struct):
    size: Literal[1, 2]


class Choice(Request):
    colour: Literal["red", "green"] | None = None
    inside: Sequence[Part] = ()
    named: Mapping[str, Literal["red", "green"]] | None = None


@dataclass(frozen=True, slots=True)
class Thing:
    id: Id
    of: str | None
    more: str | UnsetType = UNSET


@dataclass(frozen=True, slots=True)
class Things:
    things: list[Thing]


def test_unknown_fields_are_ignored_and_null_means_absent() -> None:
    assert parse_json(b'{"text": "a", "files": null, "more": 1}', Example) == Example("a")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"{}", "text is missing"),
        (b'{"text": null}', "text is missing"),
        (b'{"text": 1}', "text must be a string"),
        (b'{"text": ""}', "text must not be empty"),
        (b'{"text": "12345678901"}', "text must have at most 10 characters"),
        (b'{"text": "a", "number": true}', "number must be a whole number"),
        (b'{"text": "a", "number": 6}', "number must be at most 5"),
        (b'{"text": "a", "number": 1e999}', "number is out of range"),
        (b'{"text": "a", "files": "b"}', "files must be a list"),
        (b'{"text": "a", "files": ["b", 1]}', "files[1] must be a string"),
        (b'{"text": "a", "files": ["b", "c", "d"]}', "files must have at most 2 entries"),
        (b'{"text": "\\u0000"}', "A text must not contain NUL"),
    ],
)
def test_an_error_names_the_field_and_its_expected_type(text: bytes, problem: str) -> None:
    with pytest.raises(ChatError) as refused:
        parse_json(text, Example)
    assert (refused.value.code, refused.value.message) == ("invalid_request", problem)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b'{"key": 1}', "key must be a string in base64"),
        (b'{"key": "?"}', "key must be in base64"),
        (b'{"key": "AA=="}', "key must have at least 2 bytes"),
        (b'{"key": "AAAAAA=="}', "key must have at most 3 bytes"),
    ],
)
def test_bytes_are_base64_text(text: bytes, problem: str) -> None:
    assert parse_json(b'{"key": "AAE="}', Sealed).key == b"\0\1"
    with pytest.raises(ChatError) as refused:
        parse_json(text, Sealed)
    assert refused.value.message == problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b'{"colour": "pink"}', "colour must be one of: green, red"),
        (b'{"inside": [{"size": 1}, {"size": 4}]}', "inside[1].size must be one of: 1, 2"),
        (b'{"named": {"b": "pink"}}', "named[...] must be one of: green, red"),
    ],
)
def test_an_error_lists_the_allowed_values(text: bytes, problem: str) -> None:
    with pytest.raises(ChatError) as refused:
        parse_json(text, Choice)
    assert refused.value.message == problem


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"[]", b"1", b"null", b'{"text": NaN}', b'{"text": "\xff"}', b'{"text": "\\ud800"}', b"["],
    ids=repr,
)
def test_a_body_that_is_not_a_json_object_is_rejected(text: bytes) -> None:
    for wrong in (text, text * 50_000 if text == b"[" else text):
        with pytest.raises(ChatError) as refused:
            parse_json(wrong, Example)
        assert refused.value.code == "invalid_json"


def test_an_escaped_backslash_before_u0000_is_not_a_nul_escape() -> None:
    assert parse_json(rb'{"text": "C:\\u0000"}', Example).text == r"C:\u0000"


@pytest.mark.parametrize(
    "data", [{"text": "\0"}, {"text": "a", "files": ["\0"]}, {"text": "a", "x": {"y": "\0"}}]
)
def test_a_string_with_nul_in_a_frame_or_url_is_rejected(data: dict[str, Any]) -> None:
    with pytest.raises(ChatError) as refused:
        convert(data, Example)
    assert refused.value.message == "A text must not contain NUL"


def test_deeply_nested_json_in_a_frame_is_parsed_in_linear_time() -> None:
    def read(depth: int) -> None:
        texts = ",".join(['"a"'] * 20 * depth)
        frame = parse(f'{{"event": "a", "id": 1, "data": {{"x": {"[" * depth}{texts}{"]" * depth}}}}}')
        convert(frame.data, Request)

    assert grows_with_its_size(read, 400)


def test_numbers_in_a_query_are_parsed_as_numbers() -> None:
    assert convert({"text": "1", "number": "2"}, Example, strict=False) == Example("1", 2)
    with pytest.raises(ChatError) as refused:
        convert({"text": "1", "number": "two"}, Example, strict=False)
    assert refused.value.message == "number must be a whole number"


def test_requests_are_described_with_their_bounds_and_accept_additional_fields() -> None:
    assert schema_of(Example) == {
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 1, "maxLength": 10},
            "number": {"type": "integer", "minimum": 1, "maximum": 5, "default": 1},
            "files": {
                "anyOf": [
                    {
                        "type": "array",
                        "items": {"type": "string", "minLength": 1, "maxLength": 128},
                        "maxItems": 2,
                    },
                    {"type": "null"},
                ]
            },
        },
        "required": ["text"],
        "additionalProperties": True,
    }


def test_responses_and_their_parts_are_described_by_name_without_additional_fields() -> None:
    things = schema_of(Things)
    [thing] = [things["properties"]["things"]["items"]]  # type: ignore[index]
    assert (things.name, thing.name) == ("Things", "Thing")  # type: ignore[attr-defined]
    assert thing["required"] == ["id", "of"]
    assert things["additionalProperties"] is thing["additionalProperties"] is False


def test_a_list_in_a_response_is_described_by_its_title() -> None:
    colours = schema_of(Annotated[Sequence[str], Meta(title="Colours")])
    assert (colours.name, colours) == ("Colours", {"type": "array", "items": {"type": "string"}})  # type: ignore[attr-defined]


def test_unset_fields_are_left_out_of_responses() -> None:
    assert answer(Things([Thing("1", None)])).body == b'{"things":[{"id":"1","of":null}]}'


def test_nested_request_types_accept_additional_fields() -> None:
    class NestedExample(Request):
        first: Example

    assert schema_of(NestedExample)["properties"] == {"first": schema_of(Example)}


def test_fields_with_default_values_are_included_in_every_response() -> None:
    @dataclass(frozen=True, slots=True)
    class Book:
        title: str = ""
        note: str | None = None
        more: str | UnsetType = UNSET

    book = schema_of(Book)
    assert book["required"] == ["title", "note"]
    assert book["properties"] == {
        "title": {"type": "string"},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "more": {"type": "string"},
    }


@pytest.fixture
def declaring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the declarations of a test out of the shared tables."""
    for table in ("ENDPOINTS", "EVENTS", "_COSTS"):
        monkeypatch.setattr(endpoint_permissions, table, dict(getattr(endpoint_permissions, table)))


@pytest.mark.usefixtures("declaring")
def test_a_request_with_a_raw_body_takes_its_fields_from_the_query() -> None:
    class Form(Request):
        file: str

    class Sending(Endpoints):
        @endpoint(ANYONE, "Send", http="POST /sent", raw_body=("multipart/form-data", Form))
        async def send(self, query: Example) -> None: ...

    [described] = describe_feature(Sending).endpoints
    assert (described.body_type, described.body) == ("multipart/form-data", schema_of(Form))
    assert list(described.query) == ["text", "number", "files"]


@pytest.mark.usefixtures("declaring")
def test_a_feature_is_described_by_its_requests_and_undescribed_responses_are_left_out() -> None:
    class First(Endpoints):
        @endpoint(ANYONE, "One", http="GET /one")
        async def one(self) -> Thing:
            raise NotImplementedError

    class Second(Endpoints):
        @endpoint(ANYONE, "Two", http="GET /two")
        async def two(self, http_request: web.Request) -> web.StreamResponse:
            raise NotImplementedError

    one, two = describe_feature(First, Second).endpoints
    assert (one.answer, two.answer) == (schema_of(Thing), None)


@pytest.mark.usefixtures("declaring")
def test_a_request_has_its_declared_cost_over_http_and_on_the_live_socket() -> None:
    class Dear(Endpoints):
        @endpoint(MEMBER, "Look far", http="GET /far", live="far", cost=7.0)
        async def look(self) -> None: ...

    assert Dear.declared
    assert (
        endpoint_permissions.cost_of_endpoint("GET /far") == endpoint_permissions.cost_of_event("far") == 7.0
    )
