"""What is handed out: the source distribution holds all that there is, and the metadata its extras."""

import shutil
import subprocess
import sys
import tarfile
import tomllib
from importlib.metadata import metadata
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent
# Of use in a checkout only.
LEFT_OUT = {".ci/run", ".gitignore"}


IN_A_CHECKOUT = (REPOSITORY / ".git").exists() and shutil.which("git") is not None


@pytest.mark.skipif(not IN_A_CHECKOUT, reason="this is no checkout")
def test_the_source_distribution_holds_every_file_of_the_checkout(tmp_path: Path) -> None:
    making = (sys.executable, "setup.py", "--quiet", "sdist", "--dist-dir", str(tmp_path))
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


def test_what_is_heavy_is_an_extra() -> None:
    declared = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(metadata("svc-server").get_all("Provides-Extra") or ()) == set(declared) == {"plot", "s3"}
