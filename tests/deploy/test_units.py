"""Checks that systemd accepts our units, that their exposure scores are low and that their commands exist."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from svc.cli import parser
from tests.kit.external_programs import required

FOLDER = Path(__file__).parents[2] / "deploy" / "systemd"
UNITS = sorted(FOLDER.glob("*.service"))
SOCKETS = sorted(FOLDER.glob("*.socket"))
# The maximum exposure score, from 0 (best) to 100. An ordinary service has 96. Three units let the upload
# decoder create namespaces and an empty root. These permissions add a few points.
MAX_EXPOSED = 25
INSTALLED = "/opt/svc/bin/svc"


@pytest.fixture(params=UNITS, ids=lambda unit: unit.name)
def unit(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return the unit as installed on this machine."""
    installed: Path = request.param
    return as_installed(installed, tmp_path)


def as_installed(unit: Path, folder: Path) -> Path:
    copy = folder / unit.name
    executable = str(Path(sys.executable).with_name("svc"))
    copy.write_text(unit.read_text().replace(INSTALLED, executable))
    return copy


def analysed(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = (required("systemd-analyze"), "--man=no", *arguments)
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_systemd_accepts_the_unit(unit: Path) -> None:
    verdict = analysed("verify", str(unit))
    assert (verdict.returncode, verdict.stdout + verdict.stderr) == (0, "")


def test_the_unit_has_a_low_exposure_score(unit: Path) -> None:
    verdict = analysed("security", "--offline=true", f"--threshold={MAX_EXPOSED}", str(unit))
    assert verdict.returncode == 0, verdict.stdout


def test_the_unit_starts_an_existing_command(unit: Path) -> None:
    parser().parse_args(started_by(unit))


@pytest.fixture(params=SOCKETS, ids=lambda unit: unit.name)
def activated(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Install a socket unit, and the drop-in that makes its service inherit the ports. Return the socket
    unit.
    """
    socket: Path = request.param
    service = f"{socket.stem}.service"
    as_installed(FOLDER / service, tmp_path)
    (tmp_path / f"{service}.d").mkdir()
    as_installed(FOLDER / f"{service}.d" / "socket.conf", tmp_path / f"{service}.d")
    return as_installed(socket, tmp_path)


def test_systemd_accepts_the_socket_units(activated: Path) -> None:
    verdict = analysed("verify", str(activated), str(activated.with_suffix(".service")))
    assert (verdict.returncode, verdict.stdout + verdict.stderr) == (0, "")


def test_every_inherited_port_is_opened_by_systemd(activated: Path) -> None:
    """Check the numbers of the inherited descriptors. systemd numbers them from 3."""
    kept = re.findall("^Listen(?:Stream|Datagram)=", activated.read_text(), re.MULTILINE)
    taken = started_by(activated.parent / f"{activated.stem}.service.d" / "socket.conf")
    assert parser().parse_args(taken).listen_fd == [3 + number for number in range(len(kept))]


def started_by(unit: Path) -> list[str]:
    """Return the arguments of the unit's single command."""
    lines = re.findall("^ExecStart=(.+)$", unit.read_text(), re.MULTILINE)
    assert len(lines) == 1
    return shlex.split(lines[0])[1:]
