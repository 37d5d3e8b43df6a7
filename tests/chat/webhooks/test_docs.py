"""The commands in docs/webhooks.md work, and its tables match the code."""

import asyncio
import json
import os
import re
import shutil
from pathlib import Path

import pytest

from svc.chat.webhooks import limits
from svc.chat.webhooks.endpoints import BARE
from svc.chat.webhooks.json_reader import PROBLEM_CODES
from tests.chat.webhooks.webhook_client import Hook
from tests.kit.markdown import rows

DOCUMENT = Path(__file__).parents[3] / "docs/webhooks.md"
EXAMPLE = re.compile(r"```sh\n(.+?)\n```\n\n```json\n(.+?)\n```", re.DOTALL)
EXAMPLES: list[tuple[str, str]] = EXAMPLE.findall(DOCUMENT.read_text(encoding="utf-8"))
# A placeholder for text that differs each time.
ANYTHING = "…"
DEADLINE_S = 30.0


def test_the_document_has_examples() -> None:
    assert len(EXAMPLES) == 5


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize(("command", "answer"), EXAMPLES)
async def test_the_examples_get_the_documented_responses(hook: Hook, command: str, answer: str) -> None:
    variables = {**os.environ, "WEBHOOK_URL": hook.url}
    shell = await asyncio.create_subprocess_shell(command, env=variables, stdout=asyncio.subprocess.PIPE)
    async with asyncio.timeout(DEADLINE_S):
        output, _ = await shell.communicate()
    assert fits(json.loads(output), json.loads(answer)), output


def fits(value: object, pattern: object) -> bool:
    """Return whether a value matches the documented value, ignoring placeholders."""
    if pattern == ANYTHING:
        return isinstance(value, str)
    if isinstance(pattern, dict):
        return (
            isinstance(value, dict)
            and value.keys() == pattern.keys()
            and all(fits(value[name], part) for name, part in pattern.items())
        )
    if isinstance(pattern, list):
        return (
            isinstance(value, list)
            and len(value) == len(pattern)
            and all(fits(*pair) for pair in zip(value, pattern, strict=True))
        )
    return value == pattern


def test_the_document_explains_exactly_the_problems_that_can_occur() -> None:
    explained = [row.code(0)[0] for row in rows(DOCUMENT, "When nothing is posted") if len(row.cells) == 2]
    assert set(explained) == set(PROBLEM_CODES)


def test_the_document_lists_every_error_without_details() -> None:
    listed = {
        match.group(1)
        for row in rows(DOCUMENT, "When nothing is posted")
        if len(row.cells) == 3 and (match := re.search(r'"error":"(\w+)"', row.cells[1]))
    }
    assert listed >= BARE


@pytest.mark.parametrize(
    "number",
    [
        *(limits.MAX_BODY_BYTES, limits.MAX_TEXT, limits.MAX_CARD_TEXTS, limits.MAX_URL, limits.MAX_FOOTER),
        *(limits.MAX_FIELD_VALUE, limits.MAX_TITLE, limits.MAX_CARDS, limits.MAX_FIELDS, limits.BURST),
        *(limits.MAX_DISPLAY_NAME, limits.MAX_PROBLEMS, limits.MAX_UNKNOWN_KEYS),
        *(int(limits.BODY_DEADLINE_S), limits.BLOCK_MS // 1000),
    ],
)
def test_the_document_states_the_limits(number: int) -> None:
    assert re.search(rf"\b{number:,}\b", DOCUMENT.read_text(encoding="utf-8"))
