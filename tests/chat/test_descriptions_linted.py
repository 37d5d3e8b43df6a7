"""The OpenAPI documents pass Redocly's linter with its recommended rules."""

import asyncio
import json
import os
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from svc.chat.endpoints import FeatureDescription
from svc.chat.openapi.endpoints import feature_descriptions
from svc.chat.openapi.http_document import http_document, management_document
from svc.chat.openapi.webhook_document import webhook_document
from tests.kit.packages import NODE, npm_packages

LINTER = Path(__file__).parent.parent / "lint"
DEADLINE_S = 60.0
# This rule does not apply, because some endpoints never return a 4xx status.
NOT_OURS = "operation-4xx-response"
DOCUMENTS: Mapping[str, Callable[[Mapping[str, FeatureDescription], str], dict[str, object]]] = {
    "http": http_document,
    "management": management_document,
    "webhooks": webhook_document,
}


@pytest.mark.parametrize("name", DOCUMENTS)
async def test_the_linter_finds_no_problems(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps(DOCUMENTS[name](feature_descriptions(), "1.0.0")))
    programs = await npm_packages(LINTER) / "node_modules/.bin"
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    process = await asyncio.create_subprocess_exec(
        *(NODE, str(programs / "redocly"), "lint", str(path), "--format=json", f"--skip-rule={NOT_OURS}"),
        cwd=tmp_path,
        env={**os.environ, **quiet},
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
    )
    try:
        async with asyncio.timeout(DEADLINE_S):
            output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, errors.decode()
    problems = json.loads(output)
    assert [(problem["ruleId"], problem["message"]) for problem in problems["problems"]] == []
