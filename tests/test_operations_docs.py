"""Runs every shell block in docs/operations.md against a real server in a temporary folder."""

import asyncio
import json
import os
import re
import shutil
import sys
import zipfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import ClientSession

from svc.base.data_folder import is_held
from tests.chat.chat_server import ChatServer
from tests.kit.chat_process import chat_process
from tests.kit.wait import eventually

DOCUMENT = Path(__file__).parent.parent / "docs" / "operations.md"
DEADLINE_S = 60.0
# The headings whose blocks require a stopped server.
STOPPED = {"From Discord and Slack"}
TOKEN = "a token of management"

DISCORD = {
    "channel": {"id": "2", "name": "old"},
    "messages": [
        {
            "id": "1",
            "timestamp": "2020-01-02T03:04:05+00:00",
            "content": "hello",
            "author": {"id": "1", "name": "ada"},
        }
    ],
}


def blocks() -> Iterator[tuple[str, str]]:
    """Yield the heading and the text of each shell block, in order."""
    heading = ""
    block: list[str] | None = None
    for line in DOCUMENT.read_text(encoding="utf-8").splitlines():
        if block is None and line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("```"):
            if block is not None:
                yield heading, "\n".join(block)
                block = None
            else:
                assert line == "```sh", f"an untested kind of block under {heading}"
                block = []
        elif block is not None:
            block.append(line)


@asynccontextmanager
async def server(folder: Path) -> AsyncIterator[dict[str, str]]:
    """Run a server that has an owner, in `folder`/data. Yield the environment for the shell."""
    log = folder / "log"
    variables = {
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "SVC_IDENTITY_TIERS": "local",
        "DATA_DIR": str(folder / "data"),
        "STORAGE_BACKEND": "filesystem",
        "SVC_ADMIN_TOKEN": TOKEN,
        "SVC_ADMIN_PORT": "0",
    }
    keeping_its_log = ("sh", "-c", f'exec "$@" 2>&1 >/dev/null | tee {log} >&2', "sh")
    async with chat_process(variables, keeping_its_log) as process:
        # The log file is written by `tee`, so a line appears there slightly after the server has printed it.
        listens = re.compile(r"management listens address=(\S+)")
        await eventually("its log is written", lambda: listens.search(log.read_text()), within_s=DEADLINE_S)
        match = listens.search(log.read_text())
        assert match is not None
        async with ClientSession(process.address) as http:
            invite = (folder / "data" / "invite-code").read_text().strip()
            await ChatServer(process.address, http, invite).join("Olga")
        yield {"SVC_ADMIN_TOKEN": TOKEN, "MANAGEMENT": match[1]}


def _foreign(folder: Path) -> None:
    """Create the third-party files that the document assumes."""
    (folder / "discord").mkdir()
    (folder / "discord" / "old.json").write_text(json.dumps(DISCORD))
    with zipfile.ZipFile(folder / "slack.zip", "w") as archive:
        archive.writestr("channels.json", json.dumps([{"id": "C1", "name": "older"}]))
        archive.writestr(
            "older/2020-01-02.json", json.dumps([{"user": "U1", "ts": "1577934245.000100", "text": "hi"}])
        )


async def _run(block: str, folder: Path, environment: dict[str, str]) -> None:
    script = block.replace("http://127.0.0.1:5099", environment.get("MANAGEMENT", ""))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    process = await asyncio.create_subprocess_exec(
        *("sh", "-eu", "-c", script),
        cwd=folder,
        env={**os.environ, **environment, "PATH": path},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(DEADLINE_S):
        output, _ = await process.communicate()
    assert process.returncode == 0, f"{script}\n{output.decode()}"


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
async def test_every_shell_block_works_as_written(tmp_path: Path) -> None:
    _foreign(tmp_path)
    running = [block for heading, block in blocks() if heading not in STOPPED]
    stopped = [block for heading, block in blocks() if heading in STOPPED]
    assert len(running) >= 7 and len(stopped) == 1
    async with server(tmp_path) as environment:
        for block in running:
            await _run(block, tmp_path, environment)
    await eventually("the data folder is unlocked", lambda: _free(tmp_path / "data"), within_s=10)
    for block in stopped:
        await _run(block, tmp_path, {})
    for made in ("restored", "new"):
        # The restored and the imported data directories can be used, and contain the same people.
        await _run(f"svc admin member list --data-dir {made} | grep Olga", tmp_path, {})


def _free(folder: Path) -> bool:
    return not is_held(folder)
