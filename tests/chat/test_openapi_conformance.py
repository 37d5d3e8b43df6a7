"""The responses to valid and invalid requests match the OpenAPI document. schemathesis generates the requests
from a fixed seed.
"""

import asyncio
from functools import cache
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.specs.openapi.schemas import OpenApiSchema

from svc.chat.openapi.endpoints import feature_descriptions
from svc.chat.openapi.http_document import http_document
from tests.chat.chat_server import ChatServer

# The server, which runs in this process, uses random numbers for retry delays. Hypothesis would report them
# as a flaw in its strategies.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Do not use the `random` module:hypothesis.errors.HypothesisDeprecationWarning"
)

DOCUMENT = http_document(feature_descriptions(), "1.0.0")
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
# These endpoints remove the member who sends the requests, open a WebSocket, or use tus. Other tests cover
# them.
LEFT_OUT = {"POST /api/me/leave", "GET /sfu/client", "PATCH /api/uploads/{upload_id}"}
EXAMPLES, MANY_EXAMPLES = 2, 100
DEADLINE_S = 60.0

# Invalid requests come first, because they change nothing. A valid request may end the session.
MODES = (GenerationMode.NEGATIVE, GenerationMode.POSITIVE)


def operations() -> list[str]:
    paths: dict[str, dict[str, Any]] = DOCUMENT["paths"]  # type: ignore[assignment]
    routes = [f"{method.upper()} {path}" for path, methods in paths.items() for method in methods]
    return [route for route in routes if route not in LEFT_OUT]


@pytest.mark.parametrize("route", operations())
async def test_responses_match_their_descriptions(chat: ChatServer, route: str) -> None:
    await responses_match(chat, route, EXAMPLES)


@pytest.mark.nightly("a hundred requests to each operation; some run daily")
@pytest.mark.timeout(2 * DEADLINE_S + 60)
@pytest.mark.parametrize("route", operations())
async def test_responses_to_many_requests_match_their_descriptions(chat: ChatServer, route: str) -> None:
    await responses_match(chat, route, MANY_EXAMPLES)


async def responses_match(chat: ChatServer, route: str, examples: int) -> None:
    """Send requests as the owner, who has all permissions. Check the responses."""
    token = await chat.join("Owner")
    for mode in MODES:
        if mode is GenerationMode.POSITIVE or accepts_input(route):
            async with asyncio.timeout(DEADLINE_S):
                await asyncio.to_thread(force, chat.address, token, route, mode, examples)


def accepts_input(route: str) -> bool:
    """Return whether requests to this operation can be invalid."""
    method, path = route.split(" ")
    operation = DOCUMENT["paths"][path][method.lower()]  # type: ignore[index]
    return bool(operation["parameters"] or "requestBody" in operation)


@cache
def schema() -> OpenApiSchema:
    """Return the parsed document. It is cached, because parsing takes as long as a test's requests."""
    return schemathesis.openapi.from_dict(DOCUMENT)


def force(address: str, token: str, route: str, mode: GenerationMode, examples: int) -> None:
    """Send the requests. Call this in a thread, because it blocks until each response arrives."""
    method, path = route.split(" ")
    cases = schema()[path][method].as_strategy(generation_mode=mode)

    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def call(case: Case[Any]) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        case.call_and_validate(base_url=address, headers=headers, checks=CHECKS, timeout=DEADLINE_S)

    call()
