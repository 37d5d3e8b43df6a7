"""Builds a client for private conversations that uses OpenMLS, which shares no code with the web client's
ts-mls.

The program is in `tests/clients/openmls`. Cargo compiles it on first use, which takes about a minute.
"""

import asyncio
import shutil
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "clients" / "openmls"
TARGET = Path(__file__).parents[2] / "build" / "openmls"
BUILT = TARGET / "debug" / "openmls-client"
BUILD_DEADLINE_S = 600.0


def why_not() -> str:
    """Return the reason why this machine cannot compile the program, or "" if it can."""
    return "" if BUILT.exists() or shutil.which("cargo") else "Cargo is missing, 1.85 or later"


async def built() -> Path:
    """Build the program if necessary.

    Cargo fetches the crates and waits for other processes that build them.
    """
    sources = (SOURCE / name for name in ("src/main.rs", "Cargo.toml", "Cargo.lock"))
    if not BUILT.exists() or BUILT.stat().st_mtime < max(source.stat().st_mtime for source in sources):
        cargo = await asyncio.create_subprocess_exec(
            *("cargo", "build", "--quiet", "--locked", "--target-dir", str(TARGET)), cwd=SOURCE
        )
        async with asyncio.timeout(BUILD_DEADLINE_S):
            assert await cargo.wait() == 0, "the client on OpenMLS does not compile"
    return BUILT
