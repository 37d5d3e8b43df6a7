"""The descriptions for programs are valid, and say what the catalogue and the code say."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

import svc.chat
from svc.chat.access.catalogue import ENDPOINTS
from svc.chat.described import ID, Named, array, asked, nullable, obj
from svc.chat.openapi.features import described
from svc.chat.openapi.http_document import http_document
from svc.chat.openapi.live_document import live_document
from svc.chat.openapi.schemas import Components
from tests.chat.member import ChatServer

DATA = Path(__file__).parent.parent / "data"
# The document of the AsyncAPI project, version 3.0.0, in one file.
ASYNCAPI_SCHEMA = DATA / "asyncapi-3.0.0.schema.json"


@pytest.fixture(scope="module")
def http() -> dict[str, Any]:
    return http_document(described(), "1.0.0")


@pytest.fixture(scope="module")
def live() -> dict[str, Any]:
    return live_document(described(), "1.0.0")


def test_the_description_of_http_is_openapi(http: dict[str, Any]) -> None:
    OpenAPIV31SpecValidator(http).validate()


def test_the_description_of_the_live_socket_is_asyncapi(live: dict[str, Any]) -> None:
    schema = json.loads(ASYNCAPI_SCHEMA.read_text())
    assert [error.message for error in jsonschema_rs.validator_for(schema).iter_errors(live)] == []


def test_every_payload_of_the_live_socket_is_a_schema(live: dict[str, Any]) -> None:
    for message in live["channels"]["live"]["messages"].values():
        jsonschema_rs.meta.validate({**message["payload"], "components": live["components"]})


def test_every_operation_has_a_name_of_its_own(http: dict[str, Any]) -> None:
    names = [operation["operationId"] for path in http["paths"].values() for operation in path.values()]
    assert len(names) == len(set(names))


def test_every_push_that_is_described_stands_in_the_code(live: dict[str, Any]) -> None:
    features = described().values()
    names = {push.name for feature in features for push in feature.pushes}
    assert names - pushed_in_the_code() - {"hello"} == set()


def pushed_in_the_code() -> set[str]:
    folder = Path(svc.chat.__file__).parent
    source = "".join(path.read_text() for path in folder.rglob("*.py"))
    return set(re.findall(r'hub\.push\(\s*"(\w+)"', source))


@pytest.mark.parametrize("path", ["/openapi.json", "/asyncapi.json"])
async def test_the_descriptions_are_served(chat: ChatServer, path: str) -> None:
    async with chat.http.get(path) as answer:
        assert (answer.status, answer.content_type) == (200, "application/json")
        assert (await answer.json())["info"]["version"]


def test_an_endpoint_that_needs_a_permission_says_so(http: dict[str, Any]) -> None:
    operation = http["paths"]["/openapi.json"]["get"]
    assert operation["security"] == []
    assert "GET /openapi.json" in ENDPOINTS


def test_a_schema_with_a_name_is_written_once() -> None:
    leaf = Named("Leaf", obj({"id": ID}))
    tree = Named("Tree", obj({"leaf": leaf, "leaves": array(leaf)}))
    components = Components()
    assert components.written(nullable(tree)) == {
        "anyOf": [{"$ref": "#/components/schemas/Tree"}, {"type": "null"}]
    }
    assert set(components.schemas) == {"Leaf", "Tree"}


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        (obj({"id": ID}), {"id": "a", "more": 1}, False),
        (asked({"id": ID}), {"id": "a", "more": 1}, True),
        (asked({"id": ID}), {"id": None}, False),
        (asked({}, {"id": ID}), {"id": None}, True),
    ],
)
def test_answers_are_exact_and_requests_are_not(schema: dict[str, Any], value: object, fits: bool) -> None:
    assert jsonschema_rs.is_valid(dict(schema), value) is fits
