"""The client's types match the server's descriptions, and the client uses only described endpoints."""

import re
import types
from collections.abc import Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from msgspec import convert

from svc.chat.access.endpoint_permissions import ENDPOINTS
from svc.chat.openapi.endpoints import feature_descriptions
from svc.chat.openapi.live_document import live_document
from svc.client import state
from svc.client.models import Author, Channel, Member, Message, Upload, VoiceMember

DOCUMENT: dict[str, Any] = live_document(feature_descriptions(), "1.0.0")
SCHEMAS: Mapping[str, Any] = DOCUMENT["components"]["schemas"]
SOURCES = [path.read_text() for path in Path(state.__file__).parent.glob("*.py")]
JSON_TYPES = {str: "string", int: "integer", bool: "boolean"}


def differences(shape: Any, schema: Mapping[str, Any], where: str) -> list[str]:
    """List the places where a value that fits the schema could not be parsed as the given type."""
    if "$ref" in schema:
        schema = SCHEMAS[schema["$ref"].rpartition("/")[2]]
    if get_origin(shape) in (Union, types.UnionType):
        inner = next(kind for kind in get_args(shape) if kind is not types.NoneType)
        return [
            problem
            for alternative in schema.get("anyOf", [schema])
            if alternative != {"type": "null"}
            for problem in differences(inner, alternative, where)
        ]
    if get_origin(shape) is tuple:
        if schema.get("type") != "array":
            return [f"{where} is no array"]
        return differences(get_args(shape)[0], schema["items"], f"{where}[]")
    if isinstance(shape, type) and is_dataclass(shape):
        missing = sorted(set(get_type_hints(shape)) - set(schema.get("required", ())))
        if missing:
            return [f"{where} need not have {missing}"]
        return [
            problem
            for name, hint in get_type_hints(shape).items()
            for problem in differences(hint, schema["properties"][name], f"{where}.{name}")
        ]
    return [] if schema.get("type") == JSON_TYPES[shape] else [f"{where} is {schema}, not {shape}"]


@pytest.mark.parametrize("shape", [Message, Channel, Member, Upload, VoiceMember])
def test_every_field_matches_the_servers_description(shape: type) -> None:
    assert differences(shape, SCHEMAS[shape.__name__], shape.__name__) == []


def test_a_difference_between_a_type_and_a_description_is_found() -> None:
    assert differences(Author, SCHEMAS["Channel"], "Author")
    assert differences(str, {"type": "integer"}, "n")
    assert differences(str, {"anyOf": [{"type": "string"}, {"type": "null"}]}, "n")
    assert differences(tuple[str, ...], {"type": "string"}, "n")


def test_the_client_uses_only_paths_and_events_that_the_server_describes() -> None:
    requested = {path for source in SOURCES for path in re.findall(r'f"(/api/[^"]+)"', source)}
    paths = {re.sub(r"\{.*?\}", "{}", key.partition(" ")[2]) for key in ENDPOINTS}
    assert len(requested) >= 4
    assert {re.sub(r"\{[^/]*\}", "{}", path) for path in requested} <= paths
    events = {
        event
        for source in SOURCES
        for event in re.findall(r'"((?:channel|member|voice|message)_\w+)"', source)
    }
    assert events - {"channel_id", "member_id"} <= set(DOCUMENT["channels"]["live"]["messages"])


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"id": 1, "nickname": "Ada", "roles": [], "bot": False},
        {"id": "1", "nickname": "Ada", "roles": "owner", "bot": False},
        {"id": "1", "nickname": "Ada", "roles": [None], "bot": False},
        {"id": "1", "nickname": None, "roles": [], "bot": False},
        {"id": "1", "nickname": "Ada", "roles": [], "bot": 1},
    ],
)
def test_values_that_do_not_match_are_rejected(data: object) -> None:
    with pytest.raises(ValueError):
        convert(data, Member)


def test_additional_fields_from_a_newer_server_are_ignored() -> None:
    data = {"id": "1", "nickname": "Ada", "roles": ["owner"], "bot": False, "mood": "good"}
    assert convert(data, Member) == Member("1", "Ada", ("owner",), bot=False)
