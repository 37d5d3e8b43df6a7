"""Every endpoint is called with valid and invalid requests, and its responses match its description.
schemathesis generates the requests from a fixed seed.
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

from svc.chat.openapi.http_document import http_document
from svc.chat.openapi.requests import described
from tests.chat.member import ChatServer

# The server in this process draws random numbers for retry delays while Hypothesis checks that its strategies
# do not.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Do not use the `random` module:hypothesis.errors.HypothesisDeprecationWarning"
)

DOCUMENT = http_document(described(), "1.0.0")
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
# These endpoints would remove the requesting member, are a WebSocket, or speak tus. Other tests cover them.
LEFT_OUT = {"POST /api/me/leave", "GET /sfu/client", "PATCH /api/uploads/{upload_id}"}
EXAMPLES = 12
DEADLINE_S = 60.0

GOOD, BAD = GenerationMode.POSITIVE, GenerationMode.NEGATIVE


def operations() -> list[tuple[str, GenerationMode]]:
    """Return every operation, also with invalid requests where possible."""
    paths: dict[str, dict[str, Any]] = DOCUMENT["paths"]  # type: ignore[assignment]
    requests = []
    for path, operations in paths.items():
        for method, operation in operations.items():
            takes_something = operation["parameters"] or "requestBody" in operation
            requests += [
                (f"{method.upper()} {path}", mode) for mode in (GOOD, *([BAD] * bool(takes_something)))
            ]
    return [(route, mode) for route, mode in requests if route not in LEFT_OUT]


@pytest.mark.parametrize(("route", "mode"), operations())
async def test_responses_match_their_descriptions(chat: ChatServer, route: str, mode: GenerationMode) -> None:
    """The owner sends the requests, because the owner may do everything."""
    token = await chat.join("Owner")
    async with asyncio.timeout(DEADLINE_S):
        await asyncio.to_thread(force, chat.address, token, route, mode)


@cache
def schema() -> OpenApiSchema:
    """Return the parsed description, which takes as long as a test's requests."""
    return schemathesis.openapi.from_dict(DOCUMENT)


def force(address: str, token: str, route: str, mode: GenerationMode) -> None:
    """Run in a thread, because it waits for each response."""
    method, path = route.split(" ")
    cases = schema()[path][method].as_strategy(generation_mode=mode)

    @settings(
        max_examples=EXAMPLES,
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
