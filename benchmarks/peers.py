"""Runs another SFU's program on the first core only: starts it, waits until it is ready, and stops it.

This module does not depend on the program's protocol.
"""

import asyncio
import shlex
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from svc.tools.bench.cores import on_first_core, on_other_cores
from svc.tools.bench.errors import BenchError
from svc.tools.bench.server import stop
from svc.tools.cluster_demo import free_ports

START_DEADLINE_S = 10.0
_POLL_S = 0.05


@asynccontextmanager
async def peer(command: str) -> AsyncIterator[tuple[str, int]]:
    """Run a command in which {http} and {udp} stand for the ports. Yield the program's address and its
    process id.
    """
    http, udp = free_ports(2)
    words = [word.format(http=http, udp=udp) for word in shlex.split(command)]
    async with program(words, http) as pid:
        yield f"ws://127.0.0.1:{http}", pid


@asynccontextmanager
async def program(words: Sequence[str], port: int) -> AsyncIterator[int]:
    """Run a program while the block runs. Yield its process id once it is listening on the given TCP port."""
    with on_first_core():
        process = await asyncio.create_subprocess_exec(*words, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
    try:
        with on_other_cores():
            await _listening(process, port)
            yield process.pid
    finally:
        await stop(process)


async def _listening(process: Process, port: int) -> None:
    try:
        async with asyncio.timeout(START_DEADLINE_S):
            while process.returncode is None:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    await asyncio.sleep(_POLL_S)
                    continue
                writer.close()
                return
    except TimeoutError:
        raise BenchError("does not listen after 10 s") from None
    raise BenchError("ended before it listened")
