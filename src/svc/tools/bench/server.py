"""Runs a temporary service to measure: `svc sfu` or another program, on free ports and its own core.

Starts it, waits until it is ready, and stops it.
"""

import asyncio
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from svc.tools.bench.cores import copy_niceness, on_first_core, on_other_cores
from svc.tools.bench.errors import BenchError

START_DEADLINE_S = 30.0
STOP_DEADLINE_S = 10.0

_LISTENING = re.compile(rb" listening http=(\d+) udp=\d+$")


@dataclass(frozen=True, slots=True)
class Server:
    url: str
    pid: int


def pass_on(line: bytes) -> None:
    """Copy a log line to standard error, unless it is at level INFO."""
    if b" INFO " not in line:
        sys.stderr.buffer.write(line)


@asynccontextmanager
async def own_server(
    seats: int, *flags: str, hear: Callable[[bytes], None] = pass_on
) -> AsyncIterator[Server]:
    """Run `svc sfu` with these flags while the block runs. `hear` is called with each log line."""
    variables = {
        "SFU_PORT": "0",
        "ICE_UDP_MUX_PORT": "0",
        "DISABLE_STUN": "true",
        "ICE_ADVERTISE_IP": "127.0.0.1",
        "MAX_PEERS": str(seats),
        "DEBUG": "false",
        "VERBOSE_LOG": "false",
    }
    command = ("sfu", "--host", "127.0.0.1", "--udp-address", "127.0.0.1", *flags)
    async with own_program(command, variables, _LISTENING, hear) as (port, pid):
        yield Server(f"ws://127.0.0.1:{port}", pid)


@asynccontextmanager
async def own_program(
    command: Sequence[str],
    variables: Mapping[str, str],
    listening: re.Pattern[bytes],
    hear: Callable[[bytes], None] = pass_on,
) -> AsyncIterator[tuple[str, int]]:
    """Run `svc COMMAND` while the block runs, on the first core alone if there are at least two.

    Yield the address that `listening` finds in the log, and the process id. From then on, `hear` is called
    with each log line.
    """
    with on_first_core():
        process = await _start(command, variables)
        copy_niceness(process.pid)
    try:
        with on_other_cores():
            address, reading = await _ready(process, command[0], listening, hear)
            try:
                yield address, process.pid
            finally:
                reading.cancel()
    finally:
        await stop(process)


async def _start(command: Sequence[str], variables: Mapping[str, str]) -> Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "svc.cli", *command, "--end-with-parent"),
        env={**os.environ, **variables},
        stdin=PIPE,
        stderr=PIPE,
        start_new_session=True,
    )


async def _ready(
    process: Process, name: str, listening: re.Pattern[bytes], hear: Callable[[bytes], None]
) -> tuple[str, asyncio.Task[None]]:
    """Return the listening address, and the task that continues to read the log."""
    assert process.stderr is not None
    try:
        async with asyncio.timeout(START_DEADLINE_S):
            async for line in process.stderr:
                if match := listening.search(line.rstrip()):
                    return match[1].decode(), asyncio.create_task(_hear_all(process.stderr, hear))
    except TimeoutError:
        raise BenchError(f"svc {name} is not ready after 30 s") from None
    raise BenchError(f"svc {name} ended before it was ready")


async def _hear_all(output: asyncio.StreamReader, hear: Callable[[bytes], None]) -> None:
    async for line in output:
        hear(line)


async def stop(process: Process) -> None:
    if process.returncode is None:
        # Do not use `process.terminate()`, which would reap a process that has already exited. asyncio's
        # thread would then warn about an unknown process.
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGTERM)
    try:
        async with asyncio.timeout(STOP_DEADLINE_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
