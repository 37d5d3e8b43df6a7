"""Runs the Node tests of web client modules that need no browser, in one process per file.

Browser tests cover the other modules. See docs/live.md.
"""

import asyncio
from pathlib import Path

import pytest

from tests.kit.packages import NODE

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*.test.mjs"))
TIMEOUT_S = 120


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
async def test_the_node_tests_pass(path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(NODE, "--test-reporter=spec", str(path)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(TIMEOUT_S):
        output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()
