"""The compatible endpoints respond to all valid requests as described in the OpenAPI document."""

import asyncio
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

from svc.chat.openapi.webhook_document import webhook_document
from svc.chat.webhooks.compatible.endpoints import DISCORD, GITHUB, SLACK
from svc.chat.webhooks.compatible.github import EVENTS
from svc.chat.webhooks.publisher import Limiter
from tests.chat.webhooks.webhook_client import Hook

# The server, which runs in this process, uses random numbers, for example for retry delays. Hypothesis would
# report them as a flaw in its strategies.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Do not use the `random` module:hypothesis.errors.HypothesisDeprecationWarning"
)

DOCUMENT = webhook_document({}, "1.0.0")
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


def test_the_description_names_every_github_event() -> None:
    header = DOCUMENT["paths"][GITHUB]["post"]["parameters"][-1]  # type: ignore[index]
    assert header["description"].split(", ") == sorted(EVENTS)


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["good", "bad"])
@pytest.mark.parametrize("path", [DISCORD, SLACK, GITHUB])
async def test_responses_match_the_description(
    hook: Hook, monkeypatch: pytest.MonkeyPatch, path: str, mode: GenerationMode
) -> None:
    # Lift the rate limit, because this test sends many requests.
    monkeypatch.setattr(Limiter, "take", lambda *_: 0)
    async with asyncio.timeout(100):
        await asyncio.to_thread(force, hook, path, mode)


def force(hook: Hook, path: str, mode: GenerationMode) -> None:
    """Send the requests. Call this in a thread, because it blocks until each response arrives."""
    _, _, _, webhook_id, token = hook.path.split("/")
    cases = schemathesis.openapi.from_dict(DOCUMENT)[path]["post"].as_strategy(generation_mode=mode)

    @settings(
        max_examples=12,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def call(case: Case[Any]) -> None:
        case.path_parameters.update({"webhook_id": webhook_id, "token": token})
        case.call_and_validate(base_url=hook.chat.address, checks=CHECKS, timeout=60)

    call()
