"""Runs `svc chat` in a process that a test can kill."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from tests.kit.fork_server import ServedProcess, shared

START_DEADLINE_S = 60.0
_LISTENING = re.compile(r" listening address=(\S+)")


@dataclass
class ChatProcess:
    process: asyncio.subprocess.Process | ServedProcess
    address: str

    def kill(self) -> None:
        self.process.kill()

    async def ended(self) -> int:
        async with asyncio.timeout(START_DEADLINE_S):
            return await self.process.wait()


class NotStarted(Exception):
    """Raised if the server exits before it is listening. The message contains its output."""


@asynccontextmanager
async def chat_process(
    variables: Mapping[str, str], wrapper: Sequence[str] = ()
) -> AsyncIterator[ChatProcess]:
    """Run `svc chat`, using the command prefix `wrapper` if given. Raises NotStarted."""
    environment = {**os.environ, "SVC_LINK_PREVIEWS": "false", **variables}
    process: asyncio.subprocess.Process | ServedProcess
    if not wrapper and (server := shared()):
        process = await server.start(["chat"], environment)
    else:
        process = await asyncio.create_subprocess_exec(
            *(*wrapper, sys.executable, "-m", "svc.cli", "chat"),
            env=environment,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    assert process.stderr is not None
    draining = None
    try:
        address = await _address(process.stderr)
        draining = asyncio.create_task(process.stderr.read())
        yield ChatProcess(process, address)
    finally:
        if process.returncode is None:
            # The group includes the wrapper's own children, which share the session.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        if draining is not None:
            await draining


async def _address(errors: asyncio.StreamReader) -> str:
    lines = []
    async with asyncio.timeout(START_DEADLINE_S):
        while line := (await errors.readline()).decode():
            if match := _LISTENING.search(line):
                return match[1]
            lines.append(line)
    raise NotStarted("".join(lines))
