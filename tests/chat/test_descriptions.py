"""The published API descriptions are valid and match the permissions table and the code."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

import svc.chat
from svc.chat.access.endpoint_permissions import ENDPOINTS, EVENTS
from svc.chat.endpoints import Request, schema_of
from svc.chat.errors import CODES
from svc.chat.openapi.endpoints import feature_descriptions
from svc.chat.openapi.http_document import Components, http_document, management_document
from svc.chat.openapi.live_document import live_document
from svc.chat.openapi.webhook_document import webhook_document
from svc.chat.schemas import Id, Response
from tests.chat.chat_server import ChatServer

DATA = Path(__file__).parent.parent / "data"
# Endpoints for browsers and relays, which are not part of the API. `/live` has its own document.
PAGES = {
    "GET /",
    "GET /web/{path}",
    "GET /sw.js",
    "GET /manifest.webmanifest",
    "GET /counts-frame",
    "GET /live",
    "GET /cluster/relay",
    "GET /cluster/ready",
}
# The endpoints for posting through a webhook have their own document.
POSTS = {route for route in ENDPOINTS if "/api/webhooks/{webhook_id}/{token}" in route}
# The AsyncAPI project's JSON schema for version 3.0.0, in one file.
ASYNCAPI_SCHEMA = DATA / "asyncapi-3.0.0.schema.json"


def subclasses(of: type[Response]) -> Iterator[type[Response]]:
    for cls in of.__subclasses__():
        yield cls
        yield from subclasses(cls)


def test_response_types_are_defined_in_responses_or_next_to_their_endpoint_or_table() -> None:
    assert feature_descriptions()
    modules = {cls.__module__ for cls in subclasses(Response) if cls.__module__.startswith("svc.")}
    # Generating the live socket's document defines additional envelope types, and an earlier test may have
    # generated it.
    modules.discard(live_document.__module__)
    assert {name.rpartition(".")[2] for name in modules} == {"endpoints", "responses", "store"}


@pytest.fixture(scope="module")
def http() -> dict[str, Any]:
    return http_document(feature_descriptions(), "1.0.0")


@pytest.fixture(scope="module")
def live() -> dict[str, Any]:
    return live_document(feature_descriptions(), "1.0.0")


def test_the_description_of_the_management_listener_is_valid_openapi() -> None:
    document = management_document(feature_descriptions(), "1.0.0")
    OpenAPIV31SpecValidator(document).validate()
    operations = [operation for path in document["paths"].values() for operation in path.values()]  # type: ignore[attr-defined]
    assert len(operations) == 4
    for operation in operations:
        assert operation["security"] == [{"bearer": []}]
        assert "auth_required, token_invalid" in operation["responses"]["401"]["description"]


def test_the_description_of_the_http_api_is_valid_openapi(http: dict[str, Any]) -> None:
    OpenAPIV31SpecValidator(http).validate()


def test_the_description_of_webhooks_is_valid_openapi() -> None:
    OpenAPIV31SpecValidator(webhook_document({}, "1.0.0")).validate()


def test_the_description_of_the_live_socket_is_valid_asyncapi(live: dict[str, Any]) -> None:
    schema = json.loads(ASYNCAPI_SCHEMA.read_text())
    assert [error.message for error in jsonschema_rs.validator_for(schema).iter_errors(live)] == []


def test_every_payload_on_the_live_socket_has_a_valid_schema(live: dict[str, Any]) -> None:
    for message in live["channels"]["live"]["messages"].values():
        jsonschema_rs.meta.validate({**message["payload"], "components": live["components"]})


def test_every_operation_has_a_unique_id(http: dict[str, Any]) -> None:
    names = [operation["operationId"] for path in http["paths"].values() for operation in path.values()]
    assert len(names) == len(set(names))


def test_exactly_the_endpoints_in_the_catalogue_are_described() -> None:
    routes = [endpoint.route for feature in feature_descriptions().values() for endpoint in feature.endpoints]
    assert len(routes) == len(set(routes))
    assert set(routes) == set(ENDPOINTS) - PAGES - POSTS


def test_exactly_the_requests_in_the_catalogue_are_described() -> None:
    names = [event.name for feature in feature_descriptions().values() for event in feature.events]
    assert len(names) == len(set(names))
    assert set(names) == set(EVENTS)


def test_exactly_the_events_in_the_code_are_described() -> None:
    names = [push.name for feature in feature_descriptions().values() for push in feature.pushes]
    assert len(names) == len(set(names))
    assert set(names) == pushed_in_the_code() | {"hello"}


def test_events_that_are_not_stored_are_described_as_such() -> None:
    unkept = {
        push.name for feature in feature_descriptions().values() for push in feature.pushes if not push.kept
    }
    assert unkept == set(re.findall(r'(?:hub|self)\.push\(\s*"(\w+)"[^\n]*kept=False', source())) | {"hello"}


def test_every_error_in_the_descriptions_is_in_the_list_of_errors() -> None:
    for feature in feature_descriptions().values():
        refusals = [*(it.refusals for it in feature.endpoints), *(it.refusals for it in feature.events)]
        assert {code for codes in refusals for code in codes} <= set(CODES)


def pushed_in_the_code() -> set[str]:
    return set(re.findall(r'(?:hub|self)\.push\(\s*"(\w+)"', source()))


def source() -> str:
    return "".join(path.read_text() for path in Path(svc.chat.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize(
    "path", ["/openapi.json", "/openapi/management.json", "/openapi/webhooks.json", "/asyncapi.json"]
)
async def test_the_descriptions_are_served(chat: ChatServer, path: str) -> None:
    async with chat.http.get(path) as answer:
        assert (answer.status, answer.content_type) == (200, "application/json")
        assert (await answer.json())["info"]["version"]


@pytest.mark.parametrize(
    ("path", "security", "permission"),
    [
        ("/openapi.json", [], None),
        ("/api/me/devices", [{"bearer": []}], None),
        ("/api/settings", [{"bearer": []}], "owner"),
        ("/api/audit", [{"bearer": []}], "view_audit_log"),
    ],
)
def test_an_endpoint_describes_its_required_permission(
    http: dict[str, Any], path: str, security: list[object], permission: str | None
) -> None:
    operation = http["paths"][path]["get"]
    assert (operation["security"], operation.get("x-permission")) == (security, permission)


class Leaf(Response):
    id: Id


class Tree(Response):
    leaf: Leaf
    leaves: Sequence[Leaf]


def test_a_named_schema_occurs_only_once() -> None:
    components = Components()
    assert components.written(schema_of(Tree | None)) == {
        "anyOf": [{"$ref": "#/components/schemas/Tree"}, {"type": "null"}]
    }
    assert set(components.schemas) == {"Leaf", "Tree"}


class Needed(Request):
    id: Id


class LeftOut(Request):
    id: Id | None = None


class Strict(Request, forbid_unknown_fields=True):
    id: Id


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        (schema_of(Strict), {"id": "a", "more": 1}, False),
        (schema_of(Leaf), {"id": "a", "more": 1}, False),
        (schema_of(Needed), {"id": "a", "more": 1}, True),
        (schema_of(Needed), {"id": None}, False),
        (schema_of(LeftOut), {"id": None}, True),
    ],
)
def test_responses_have_exactly_the_described_fields_and_requests_may_have_more(
    schema: dict[str, Any], value: object, fits: bool
) -> None:
    assert jsonschema_rs.is_valid(dict(schema), value) is fits
