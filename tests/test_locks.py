"""Checks that releases, the image and the web client use only locked packages, and that workflows pin
actions.
"""

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPOSITORY = Path(__file__).parent.parent
LOCKS = REPOSITORY / "ci" / "locks"
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
WANTED = {
    "runtime.txt": [
        *PROJECT["project"]["dependencies"],
        *PROJECT["project"]["optional-dependencies"]["s3"],
        *PROJECT["project"]["optional-dependencies"]["cluster"],
    ],
    "build.txt": PROJECT["build-system"]["requires"],
}


def locked(name: str) -> dict[str, str]:
    """Return the versions in a lock file. Check that every version has a hash."""
    text = (LOCKS / name).read_text()
    entries = re.findall(r"^(\S+?)==(\S+)[^\n]*\\\n    --hash=sha256:[0-9a-f]{64}", text, re.MULTILINE)
    assert len(entries) == text.count("==") - text.count(" == ")
    return {canonicalize_name(package): version for package, version in entries}


@pytest.mark.parametrize("name", WANTED)
def test_a_lock_file_satisfies_the_package_requirements(name: str) -> None:
    versions = locked(name)
    for requirement in map(Requirement, WANTED[name]):
        version = versions.get(canonicalize_name(requirement.name))
        assert version is not None and version in requirement.specifier, f"{requirement}: run ci/lock"


@pytest.mark.parametrize("path", ["deploy/container/Dockerfile", ".github/workflows/release.yml"])
def test_releases_and_the_image_install_only_packages_with_a_recorded_hash(path: str) -> None:
    commands = re.findall(r".*pip install.*", (REPOSITORY / path).read_text())
    assert commands and all("--require-hashes" in command or "--no-index" in command for command in commands)


def test_the_web_clients_packages_are_locked_and_run_no_scripts() -> None:
    wanted = json.loads((REPOSITORY / "ci" / "vendor.json").read_text())
    packages = json.loads((REPOSITORY / "ci" / "vendor-lock.json").read_text())["packages"]
    for kind in ("dependencies", "devDependencies"):
        assert packages[""][kind] == wanted[kind], "run ci/lock"
    assert all("integrity" in package for path, package in packages.items() if path)
    assert (
        "npm ci --silent --no-audit --no-fund --ignore-scripts" in (REPOSITORY / "ci" / "vendor").read_text()
    )


@pytest.mark.parametrize(
    "path", sorted((REPOSITORY / ".github" / "workflows").glob("*.yml")), ids=lambda p: p.name
)
def test_actions_are_pinned_by_commit(path: Path) -> None:
    used = re.findall(r"uses: (.+)", path.read_text())
    assert used and all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", action) for action in used)
