"""Checks the container files with linters and against the existing commands and variables."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from svc.cli import parser
from tests.kit.markdown import rows

REPOSITORY = Path(__file__).parents[2]
CONTAINER = REPOSITORY / "deploy" / "container"
COMPOSE = [CONTAINER / "compose.yaml", REPOSITORY / "deploy" / "compose" / "cluster.yml"]
CHART = REPOSITORY / "deploy" / "helm"
# Variables that only third-party programs read.
OF_OTHERS = {"PATH", "PYTHONUNBUFFERED"}


def output_of(name: str, *arguments: str) -> str:
    """Return the output of a linter that is installed with pip."""
    tool = Path(sys.executable).with_name(name)
    if not tool.exists():
        pytest.skip(f"{name} is not available for this machine")
    verdict = subprocess.run((tool, *arguments), capture_output=True, text=True, check=False, timeout=60)
    return "" if verdict.returncode == 0 else verdict.stdout + verdict.stderr


def test_hadolint_accepts_the_dockerfile() -> None:
    assert output_of("hadolint", "--no-color", str(CONTAINER / "Dockerfile")) == ""


@pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.name)
def test_a_compose_file_is_valid(path: Path) -> None:
    schema = ("--builtin-schema", "vendor.compose-spec")
    assert output_of("check-jsonschema", *schema, str(path)) == ""


@cache
def chart() -> list[dict[str, Any]]:
    """Return the documents that `helm template` prints, or an empty list if helm is not installed."""
    helm = Path(sys.executable).with_name("helm")
    if not helm.exists():
        return []
    chosen = ("--set", "host=chat.example.org", "--set", "minio.enabled=true")
    rendered = subprocess.run(
        (helm, "template", "svc", str(CHART), *chosen), capture_output=True, text=True, check=True, timeout=60
    )
    return [document for document in YAML(typ="safe").load_all(rendered.stdout) if document]


def services() -> list[tuple[list[str], set[str]]]:
    """Return the command and the variables of each container that runs the project's image."""
    files = [YAML(typ="safe").load(path)["services"] for path in COMPOSE]
    ours = [service for file in files for service in file.values() if service["image"] == "svc"]
    commands = [(service["command"], set(service.get("environment", {}))) for service in ours]
    workloads = [document["spec"] for document in chart() if document["kind"] == "StatefulSet"]
    containers = [container for spec in workloads for container in spec["template"]["spec"]["containers"]]
    for container in containers:
        if container["image"].startswith("svc:"):
            # Kubernetes expands references such as $(NAME) itself.
            own = {variable["name"] for variable in container["env"]}
            values = " ".join(
                [*container["args"], *(variable.get("value", "") for variable in container["env"])]
            )
            commands.append((container["args"], {name for name in own if f"$({name})" not in values}))
    return commands


def test_helm_accepts_the_chart() -> None:
    assert output_of("helm", "lint", "--strict", str(CHART), "--set", "host=chat.example.org") == ""
    assert "where do people open the page?" in output_of("helm", "template", "svc", str(CHART))


def commands() -> Iterator[list[str]]:
    """Yield the commands of the image and the services."""
    dockerfile = (CONTAINER / "Dockerfile").read_text()
    assert 'ENTRYPOINT ["svc"]' in dockerfile
    yield json.loads(re.findall(r"^CMD (.+)$", dockerfile, re.MULTILINE)[0])
    for command, _ in services():
        yield command


def test_each_command_in_the_container_files_exists() -> None:
    for command in commands():
        parser().parse_args(command)


def test_programs_read_every_variable_that_is_set() -> None:
    in_image = re.findall(r"^(?:ENV|   ) ([A-Z0-9_]+)=", (CONTAINER / "Dockerfile").read_text(), re.MULTILINE)
    in_services = {name for _, variables in services() for name in variables}
    documented = {
        name
        for section in ("SFU", "Chat server", "A node of a cluster", "Media worker")
        for row in rows(REPOSITORY / "docs" / "configuration.md", section)
        for name in row.code(0)
    }
    assert {*in_image, *in_services} - OF_OTHERS - documented == set()
    assert len(in_image) >= 5
    assert len(in_services) >= 20


def test_the_build_context_contains_everything_that_the_image_needs() -> None:
    sent = {line[1:] for line in (REPOSITORY / ".dockerignore").read_text().splitlines() if line[:1] == "!"}
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (CONTAINER / "Dockerfile").read_text(), re.MULTILINE)
    assert {name for line in copied for name in line.split()} == sent
    assert [name for name in sent if not (REPOSITORY / name).exists()] == []


@pytest.mark.timeout(900)
def test_the_image_can_be_built_and_responds_if_a_container_engine_is_running() -> None:
    tried = subprocess.run(
        (REPOSITORY / "ci" / "image",), capture_output=True, text=True, timeout=800, check=False
    )
    assert tried.returncode == 0, tried.stdout + tried.stderr
    if "nothing was built" in tried.stdout:
        pytest.skip(tried.stdout.strip())
    assert "ok: it answers" in tried.stdout
