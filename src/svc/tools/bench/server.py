"""A media service of our own to measure: `svc sfu` on free ports of this machine, on a core of its own.

Started, found ready, stopped. What it does is none of this file's business.
"""

import asyncio
import os
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from svc.tools.bench.errors import BenchError

START_DEADLINE_S = 30.0
STOP_DEADLINE_S = 10.0

_LISTENING = re.compile(rb" listening http=(\d+) udp=\d+$")


@dataclass(frozen=True, slots=True)
class Server:
    url: str
    pid: int


@asynccontextmanager
async def own_server(seats: int) -> AsyncIterator[Server]:
    """`svc sfu` for as long as the block runs, with the first core to itself where there are two."""
    cores = os.sched_getaffinity(0)
    first = {min(cores)} if len(cores) > 1 else cores
    # A child has its parent's cores from the start, all its threads included.
    os.sched_setaffinity(0, first)
    try:
        process = await _start(seats)
    finally:
        os.sched_setaffinity(0, cores - first or cores)
    try:
        port, rest = await _ready(process)
        try:
            yield Server(f"ws://127.0.0.1:{port}", process.pid)
        finally:
            rest.cancel()
    finally:
        os.sched_setaffinity(0, cores)
        await _stop(process)


async def _start(seats: int) -> Process:
    variables = {
        "SFU_PORT": "0",
        "ICE_UDP_MUX_PORT": "0",
        "DISABLE_STUN": "true",
        "ICE_ADVERTISE_IP": "127.0.0.1",
        "MAX_PEERS": str(seats),
        "DEBUG": "false",
        "VERBOSE_LOG": "false",
    }
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "svc.cli", "sfu", "--host", "127.0.0.1", "--udp-address", "127.0.0.1"),
        "--end-with-parent",
        env=os.environ | variables,
        stdin=PIPE,
        stderr=PIPE,
        start_new_session=True,
    )


async def _ready(process: Process) -> tuple[int, asyncio.Task[None]]:
    """The port that it says it listens on; and the task that goes on reading what it says."""
    assert process.stderr is not None
    try:
        async with asyncio.timeout(START_DEADLINE_S):
            async for line in process.stderr:
                if found := _LISTENING.search(line.rstrip()):
                    return int(found[1]), asyncio.create_task(_pass_on(process.stderr))
    except TimeoutError:
        raise BenchError("svc sfu is not ready after 30 s") from None
    raise BenchError("svc sfu ended before it was ready")


async def _pass_on(output: asyncio.StreamReader) -> None:
    """What goes wrong in the service is worth reading; the rest is not."""
    async for line in output:
        if b" INFO " not in line:
            sys.stderr.buffer.write(line)


async def _stop(process: Process) -> None:
    if process.returncode is None:
        process.terminate()
    try:
        async with asyncio.timeout(STOP_DEADLINE_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
