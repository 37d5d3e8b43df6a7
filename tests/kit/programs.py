"""Runs third-party programs that must exit on their own."""

import asyncio
import os
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import Mapping
from pathlib import Path

DEADLINE_S = 60.0


async def output_of(*command: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """Run a program, which must succeed. Return its output and errors."""
    process = await asyncio.create_subprocess_exec(
        *map(str, command),
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=STDOUT,
    )
    try:
        async with asyncio.timeout(DEADLINE_S):
            printed, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    text = printed.decode(errors="replace")
    assert process.returncode == 0, text
    return text
