"""Runs every example in docs/http.md against a server and compares the response with the guide."""

import asyncio
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from svc.chat.access import rate_limits
from tests.chat.internal_server import server_with_insight
from tests.chat.members_by_role import members_by_role
from tests.chat.uploads.upload_helpers import PNG, UploadServer

GUIDE = (Path(__file__).parents[2] / "docs" / "http.md").read_text(encoding="utf-8")
# A command, its output, and optionally a variable for part of the output.
EXAMPLE = re.compile(
    r"^```(sh|python)\n(.+?)\n```\n\n```(json|text)\n(.+?)\n```\n(?:\n<!-- (\w+)=([\w.]+) -->\n)?",
    re.DOTALL | re.MULTILINE,
)
# Placeholders for a string and a number that differ on each run.
ANY_TEXT, ANY_NUMBER = "…", 0
DEADLINE_S = 30.0


@dataclass(frozen=True)
class Example:
    language: str
    code: str
    output_kind: str
    output: str
    kept_as: str
    kept: str


EXAMPLES = [Example(*groups) for groups in EXAMPLE.findall(GUIDE)]


def test_every_command_in_the_guide_is_run_as_an_example() -> None:
    assert len(EXAMPLES) == len(re.findall(r"^```(?:sh|python)$", GUIDE, re.MULTILINE)) > 15


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
async def test_the_examples_get_the_responses_in_the_guide(
    variables: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Use the rate limit in the guide instead of the limit for tests.
    monkeypatch.setattr(rate_limits, "REQUEST_BURST", 30)
    async with server_with_insight(variables) as (chat, community):
        members = await members_by_role(chat)
        bot = await members.owner.done("POST", "/api/bots", {"nickname": "Example"})
        await members.owner.done("PUT", f"/api/members/{bot['member']['id']}/roles/admin")
        server = UploadServer(chat, community, members, variables)
        (tmp_path / "cat.png").write_bytes(PNG)
        environment = {"SERVER": chat.address, "TOKEN": bot["token"], "INVITE": chat.invite}
        for example in EXAMPLES:
            output = await run(example, tmp_path, environment)
            assert list(differences(example, output)) == [], f"{example.code}\n{output}"
            if example.kept_as:
                environment[example.kept_as] = part(output, example.kept)
            if community.files.queue.waiting:
                await server.work()


async def run(example: Example, folder: Path, environment: dict[str, str]) -> str:
    """Run an example. Return its output."""
    command = ("bash", "-c") if example.language == "sh" else (sys.executable, "-c")
    process = await asyncio.create_subprocess_exec(
        *(*command, example.code),
        cwd=folder,
        env={**os.environ, **environment},
        stdout=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(DEADLINE_S):
        output, _ = await process.communicate()
    return output.decode()


def part(output: str, path: str) -> str:
    """Return the field at a path in a JSON document, or the word at an index in plain text."""
    if path.isdecimal():
        return output.split()[int(path)]
    value = json.loads(output)
    for name in path.split("."):
        value = value[int(name)] if name.isdecimal() else value[name]
    return str(value)


def differences(example: Example, output: str) -> Iterator[str]:
    if example.output_kind == "json":
        yield from missing(json.loads(output), json.loads(example.output), "response")
    elif not re.fullmatch(re.escape(example.output).replace(ANY_TEXT, r"\S+"), output.strip()):
        yield f"not {example.output}"


def missing(value: Any, shown: Any, path: str) -> Iterator[str]:
    """Yield the differences between a response and the documentation, which may omit fields."""
    if isinstance(shown, dict) and isinstance(value, dict):
        for name, field in shown.items():
            if name in value:
                yield from missing(value[name], field, f"{path}.{name}")
            else:
                yield f"{path}.{name} is missing"
    elif isinstance(shown, list) and isinstance(value, list) and len(shown) == len(value):
        for number, entry in enumerate(shown):
            yield from missing(value[number], entry, f"{path}.{number}")
    elif shown == ANY_TEXT or (shown == ANY_NUMBER and not isinstance(shown, bool)):
        if type(value) is not type(shown):
            yield f"{path} is {value!r}"
    elif value != shown:
        yield f"{path} is {value!r}"
