"""The container's files: what their linters say, and which commands and variables they use."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from svc.cli import parser
from tests.kit.markdown import rows

REPOSITORY = Path(__file__).parents[2]
CONTAINER = REPOSITORY / "deploy" / "container"
# Ours that no program of ours reads.
OF_OTHERS = {"PATH", "PYTHONUNBUFFERED"}


def output_of(name: str, *arguments: str) -> str:
    """Return the complaints of a linter that pip installs."""
    tool = Path(sys.executable).with_name(name)
    if not tool.exists():
        pytest.skip(f"{name} is not there for this machine")
    verdict = subprocess.run((tool, *arguments), capture_output=True, text=True, check=False, timeout=60)
    return "" if verdict.returncode == 0 else verdict.stdout + verdict.stderr


def test_hadolint_accepts_the_dockerfile() -> None:
    assert output_of("hadolint", "--no-color", str(CONTAINER / "Dockerfile")) == ""


def test_the_compose_file_is_valid() -> None:
    schema = ("--builtin-schema", "vendor.compose-spec")
    assert output_of("check-jsonschema", *schema, str(CONTAINER / "compose.yaml")) == ""


def commands() -> Iterator[list[str]]:
    """Yield the commands of the image and the services."""
    dockerfile = (CONTAINER / "Dockerfile").read_text()
    assert 'ENTRYPOINT ["svc"]' in dockerfile
    yield json.loads(re.findall(r"^CMD (.+)$", dockerfile, re.MULTILINE)[0])
    for command in re.findall(
        r"^    command: \[(.+)\]$", (CONTAINER / "compose.yaml").read_text(), re.MULTILINE
    ):
        yield [word.strip() for word in command.split(",")]


@pytest.mark.parametrize("command", list(commands()), ids=" ".join)
def test_each_command_exists(command: list[str]) -> None:
    parser().parse_args(command)


def test_each_variable_that_is_set_is_read_by_a_program() -> None:
    documented = {
        name
        for section in ("SFU", "Chat server")
        for row in rows(REPOSITORY / "docs" / "configuration.md", section)
        for name in row.code(0)
    }
    in_image = re.findall(r"^(?:ENV|   ) ([A-Z0-9_]+)=", (CONTAINER / "Dockerfile").read_text(), re.MULTILINE)
    in_services = re.findall(r"^      ([A-Z0-9_]+):", (CONTAINER / "compose.yaml").read_text(), re.MULTILINE)
    assert {*in_image, *in_services} - OF_OTHERS - documented == set()
    assert len(in_image) >= 5
    assert len(in_services) >= 10


def test_the_build_context_contains_everything_that_the_image_needs() -> None:
    sent = {line[1:] for line in (REPOSITORY / ".dockerignore").read_text().splitlines() if line[:1] == "!"}
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (CONTAINER / "Dockerfile").read_text(), re.MULTILINE)
    assert {name for line in copied for name in line.split()} == sent
    assert [name for name in sent if not (REPOSITORY / name).exists()] == []


@pytest.mark.timeout(900)
def test_the_image_is_built_and_responds_where_an_engine_runs() -> None:
    tried = subprocess.run(
        (REPOSITORY / "ci" / "image",), capture_output=True, text=True, timeout=800, check=False
    )
    assert tried.returncode == 0, tried.stdout + tried.stderr
    if "nothing was built" in tried.stdout:
        pytest.skip(tried.stdout.strip())
    assert "ok: it answers" in tried.stdout
