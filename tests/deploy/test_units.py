"""The systemd units: systemd accepts them, finds little exposed, and they start commands that exist."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from svc.cli import parser
from tests.kit.installed import required

UNITS = sorted((Path(__file__).parents[2] / "deploy" / "systemd").glob("*.service"))
# systemd's own measure, from 0 (nothing) to 100: an ordinary service has 96.
MOST_EXPOSED = 22
INSTALLED = "/opt/svc/bin/svc"


@pytest.fixture(params=UNITS, ids=lambda unit: unit.name)
def unit(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """As it would be installed here."""
    installed: Path = request.param
    copy = tmp_path / installed.name
    here = str(Path(sys.executable).with_name("svc"))
    copy.write_text(installed.read_text().replace(INSTALLED, here))
    return copy


def analysed(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = (required("systemd-analyze"), "--man=no", *arguments)
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_systemd_has_nothing_to_say_against_it(unit: Path) -> None:
    verdict = analysed("verify", str(unit))
    assert (verdict.returncode, verdict.stdout + verdict.stderr) == (0, "")


def test_little_of_the_system_is_exposed_to_it(unit: Path) -> None:
    verdict = analysed("security", "--offline=true", f"--threshold={MOST_EXPOSED}", str(unit))
    assert verdict.returncode == 0, verdict.stdout


def test_it_starts_a_command_that_exists(unit: Path) -> None:
    lines = [line for line in unit.read_text().splitlines() if line.startswith("ExecStart=")]
    assert len(lines) == 1
    _, *arguments = shlex.split(lines[0].removeprefix("ExecStart="))
    parser().parse_args(arguments)
