"""Packages that tests need and the product does not: fetched by npm or pip, pinned, once for each list.

They lie in the virtual environment in folders of their own, so that nobody's dependencies mix.
"""

import asyncio
import hashlib
import shutil
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from pathlib import Path

import pytest

INSTALL_DEADLINE_S = 90.0


async def npm_packages(source: Path) -> Path:
    """The folder with the packages of the lock file beside `source/package.json`, and no others."""
    folder = _folder("npm", source / "package-lock.json")
    if not (folder / "complete").exists():
        npm = shutil.which("npm")
        if npm is None:
            pytest.fail("npm is missing; ci/setup installs it")
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(source / name, folder)
        await _done(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=folder)
        (folder / "complete").touch()
    return folder


async def python_packages(requirements: Path) -> Path:
    """The programs of an environment with the packages of a list, and no others."""
    folder = _folder("pip", requirements)
    if not (folder / "complete").exists():
        await _done(sys.executable, "-m", "venv", "--clear", str(folder), cwd=requirements.parent)
        pip = (str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check")
        await _done(*pip, "install", "--quiet", "--no-deps", "-r", str(requirements), cwd=folder)
        (folder / "complete").touch()
    return folder / "bin"


def _folder(kind: str, pinned: Path) -> Path:
    digest = hashlib.sha256(pinned.read_bytes()).hexdigest()
    return Path(sys.prefix) / kind / f"{pinned.parent.name}-{digest[:16]}"


async def _done(*command: str, cwd: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *command, cwd=cwd, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT
    )
    try:
        async with asyncio.timeout(INSTALL_DEADLINE_S):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, output.decode(errors="replace")
