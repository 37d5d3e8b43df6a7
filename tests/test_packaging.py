"""Checks that distributions contain all source files, shell completions, the manual page and metadata for
extras.
"""

import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import metadata
from pathlib import Path

import pytest

from svc.tools.admin.arguments import SUBJECTS, WHOLE

REPOSITORY = Path(__file__).parent.parent
# These files are useful only in a checkout of the repository.
LEFT_OUT = {".ci/run", ".gitignore"}


IN_A_CHECKOUT = (REPOSITORY / ".git").exists() and shutil.which("git") is not None


@pytest.mark.skipif(not IN_A_CHECKOUT, reason="this is not a checkout")
def test_the_source_distribution_contains_every_file_in_the_checkout(tmp_path: Path) -> None:
    making = (sys.executable, "setup.py", "--quiet", "sdist", "--formats=tar", "--dist-dir", str(tmp_path))
    subprocess.run(making, cwd=REPOSITORY, check=True, capture_output=True, timeout=100)
    (made,) = tmp_path.iterdir()
    with tarfile.open(made) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    listing = subprocess.run(
        ("git", "-c", "safe.directory=*", "ls-files"),
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert set(listing.stdout.splitlines()) - held == LEFT_OUT


def test_heavy_dependencies_are_extras() -> None:
    declared = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    provided = set(metadata("svc-server").get_all("Provides-Extra") or ())
    assert provided == set(declared) == {"cluster", "plot", "s3"}


@pytest.fixture(scope="module")
def share(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the `share` folder of a wheel. Building this wheel does not compile anything."""
    folder = tmp_path_factory.mktemp("packed")
    making = (sys.executable, "setup.py", "--quiet", "bdist_wheel", "--skip-build")
    where = ("--bdist-dir", str(folder / "gathered"), "--dist-dir", str(folder / "dist"))
    subprocess.run((*making, *where), cwd=REPOSITORY, check=True, capture_output=True, timeout=100)
    (wheel,) = (folder / "dist").iterdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "wheel")
    (data,) = (folder / "wheel").glob("*.data/data")
    return data / "share"


def _output(*command: str) -> list[str]:
    ran = subprocess.run(command, check=True, capture_output=True, text=True, timeout=30)
    return ran.stdout.split()


def _needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


@_needs("bash")
def test_bash_completes_subjects_and_actions(share: Path) -> None:
    script = share / "bash-completion" / "completions" / "svc"
    completed = '_shtab_svc; echo "${COMPREPLY[@]}"'
    subject = "COMP_WORDS=(svc admin chan) COMP_CWORD=2"
    assert _output("bash", "-c", f"source {script}; {subject}; {completed}") == ["channel"]
    action = "COMP_WORDS=(svc admin channel '') COMP_CWORD=3"
    actions = _output("bash", "-c", f"source {script}; {action}; {completed}")
    assert {"list", "create", "edit", "delete"} <= set(actions)


@_needs("fish")
def test_fish_completes_subjects(share: Path) -> None:
    script = share / "fish" / "vendor_completions.d" / "svc.fish"
    assert _output("fish", "-c", f"source {script}; complete -C 'svc admin cha'")[0] == "channel"


@_needs("zsh")
def test_zsh_can_load_its_completion_script(share: Path) -> None:
    script = share / "zsh" / "site-functions" / "_svc"
    assert _output("zsh", "-n", str(script)) == []
    assert script.read_text().startswith("#compdef svc\n")


def test_the_manual_page_names_every_subject(share: Path) -> None:
    page = (share / "man" / "man1" / "svc.1").read_text()
    for subject in (*SUBJECTS, *WHOLE):
        assert f"'svc admin {subject}'" in page
