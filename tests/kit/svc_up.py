"""Runs `svc up` in its own process, as a user starts it, on free loopback ports.

It uses only the product's command line and output, and no browser.
"""

import asyncio
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE, STDOUT, Process
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from tests.kit.fork_server import ServedProcess, shared

COMMAND = (str(Path(sys.executable).with_name("svc")), "up")
START_DEADLINE_S = 60.0
STOP_DEADLINE_S = 30.0
# The number of log lines to keep: enough to diagnose a failure, but not so many that a runaway test fills the
# memory.
KEPT_LINES = 500


class SvcUp:
    """A running `svc up`. `url` opens the page with an invite."""

    def __init__(self, process: Process | ServedProcess) -> None:
        self._process = process
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self.url = ""

    @property
    def pid(self) -> int:
        """Return the process id of `svc up` itself."""
        return self._process.pid

    @property
    def output(self) -> str:
        """Return the last lines of the product's output."""
        return "\n".join(self._lines)

    def program(self, command: str) -> int:
        """Return the process id of `svc sfu` or `svc chat`. Raises LookupError if it is not running."""
        for pid in _children(self._process.pid):
            if command in _command_line(pid) or _name(pid) == f"svc {command}":
                return pid
        raise LookupError(f"svc {command} is not running")

    async def ready(self) -> None:
        """Wait until the product has printed its URL."""
        async for line in self._printed():
            if match := re.match(r"Open (http\S+)", line):
                self.url = match[1]
                return
        raise AssertionError(f"svc up ended before it was ready:\n{self.output}")

    async def listen(self) -> None:
        """Keep reading the product's output until it ends."""
        async for _ in self._printed():
            pass

    async def stop(self) -> None:
        """Stop the product as a service manager would, and kill its remaining processes."""
        if self._process.returncode is not None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(STOP_DEADLINE_S):
                await self._process.wait()
        except TimeoutError:
            # The product itself, or a child that outlived it and still holds its output open.
            os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()
            raise AssertionError(f"svc up did not stop within {STOP_DEADLINE_S} s:\n{self.output}") from None

    async def _printed(self) -> AsyncIterator[str]:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            self._lines.append(line.decode(errors="replace").rstrip())
            yield self._lines[-1]


@asynccontextmanager
async def running_svc_up(
    data_dir: Path,
    *flags: str,
    network: str = "",
    command: Sequence[str] = COMMAND,
    **variables: str,
) -> AsyncIterator[SvcUp]:
    """Run `svc up` while the block runs. It advertises only 127.0.0.1 and uses no STUN server.

    `network` is the path of the network namespace in which it runs. `command` may come from another checkout.
    """
    quiet = {"ICE_ADVERTISE_IP": "127.0.0.1", "DISABLE_STUN": "true", "PYTHONUNBUFFERED": "1"}
    ports = ("--port", "0", "--sfu-port", "0", "--udp-port", "0")
    arguments = ("--data-dir", str(data_dir), "--host", "127.0.0.1", *ports, *flags)
    environment = os.environ | quiet | variables
    process: Process | ServedProcess
    if command == COMMAND and (server := shared()):
        process = await server.start((*COMMAND[1:], *arguments), environment, network=network)
    else:
        inside = ("nsenter", f"--net={network}", "--") if network else ()
        process = await asyncio.create_subprocess_exec(
            *(*inside, *command, *arguments),
            env=environment,
            stdout=PIPE,
            stderr=STDOUT,
            start_new_session=True,
        )
    product = SvcUp(process)
    try:
        async with asyncio.timeout(START_DEADLINE_S):
            await product.ready()
        listening = asyncio.create_task(product.listen())
        try:
            yield product
        finally:
            await product.stop()
            await listening
    finally:
        await product.stop()


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _command_line(pid: int) -> list[str]:
    return _of_process(pid, "cmdline").split("\0")


def _name(pid: int) -> str:
    return _of_process(pid, "comm").rstrip("\n")


def _of_process(pid: int, file: str) -> str:
    """Read a file in a process's /proc folder. Return "" if the process has exited."""
    try:
        return Path(f"/proc/{pid}/{file}").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
