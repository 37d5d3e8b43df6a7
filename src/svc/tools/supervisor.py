"""Supervises child processes: starts them, waits until they are healthy, and restarts and stops them.

Its only interface to a running program is the health check.
"""

import asyncio
import contextlib
import logging
import random
import ssl
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from svc.base.backoff import Backoff
from svc.base.tasks import until_first_ends
from svc.tools.prefork import ForkedProcess, WaitingProcess

FIRST_RESTART_S = 0.2
LAST_RESTART_S = 10.0
# A program that fails after running this long has not failed at startup.
STEADY_S = 30.0
# The time after which a stopping program is killed. It is longer than the programs' own timeouts for shutting
# down (15 s for requests, then 5 s).
STOP_DEADLINE_S = 25.0
START_DEADLINE_S = 60.0
# Even a working program may report for a while that it is still starting.
PATIENCE_S = 5.0
POLL_INTERVAL_S = 0.05
POLL_DEADLINE_S = 2.0

logger = logging.getLogger(__name__)


class StartError(Exception):
    """Raised if a program does not start. The program's own output, if any, gives the reason."""


@dataclass(frozen=True, slots=True)
class Program:
    """A subcommand of `svc`, with its complete environment.

    It responds to `GET /health` at `address` (host and port), over https if `secure`. If `on_demand`, it is
    started on the first connection to its socket, and again on the next connection after it has exited with
    status 0.
    """

    name: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    address: tuple[str, int]
    secure: bool = False
    on_demand: bool = False


class Child:
    """One supervised program. It listens on the sockets with the given descriptors, which stay open in this
    process. `fork`, if given, is used for its first start.
    """

    def __init__(
        self, program: Program, listen_fds: Sequence[int] = (), fork: WaitingProcess | None = None
    ) -> None:
        self.program = program
        self._listen_fds = listen_fds
        self._fork = fork
        self._process: asyncio.subprocess.Process | ForkedProcess | None = None
        self._backoff = Backoff(FIRST_RESTART_S, LAST_RESTART_S, jitter=random.random)

    @property
    def is_started(self) -> bool:
        """Whether the program has been started and has not exited for lack of demand."""
        return self._process is not None

    async def start(self) -> None:
        if self._fork is not None:
            fork, self._fork = self._fork, None
            self._process = fork.begin(self.program.arguments, self.program.environment, self._listen_fds)
            return
        # A restart gets a new address layout, which no attacker has had a chance to learn.
        flags = [f"--listen-fd={number}" for number in self._listen_fds]
        self._process = await asyncio.create_subprocess_exec(
            # -P prevents modules in the working directory from being imported.
            *(sys.executable, "-P", "-m", "svc.cli", *self.program.arguments, *flags, "--end-with-parent"),
            pass_fds=self._listen_fds,
            env=dict(self.program.environment),
            # A child exits when this pipe closes, so that it never outlives this process.
            stdin=asyncio.subprocess.PIPE,
            # The children do not get Ctrl-C, because the supervisor stops them in order.
            start_new_session=True,
        )

    async def exits(self) -> None:
        """Wait for an exit during startup. Raises StartError."""
        raise StartError(f"svc {self.program.name} ended with status {await self._wait_ended()}")

    async def keep_running(self) -> None:
        """Restart the program whenever it exits."""
        loop = asyncio.get_running_loop()
        while True:
            if self._process is None:
                await self._demand()
                await self.start()
            since = loop.time()
            status = await self._wait_ended()
            if status == 0 and self.program.on_demand:
                self._process = None
                continue
            steady = loop.time() - since > STEADY_S
            if steady:
                self._backoff.reset()
            # If a program had been running steadily, restart it immediately, because members in a call are
            # waiting.
            delay_s = 0.0 if steady else self._backoff.next_delay()
            fields = {"program": self.program.name, "status": status, "delay_s": f"{delay_s:.1f}"}
            logger.warning("program ended; restarting it", extra=fields)
            await asyncio.sleep(delay_s)
            await self.start()

    async def stop(self) -> None:
        """Send SIGTERM to the program, and SIGKILL if it has not exited after a timeout."""
        process = self._process
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(STOP_DEADLINE_S):
                await process.wait()
        except TimeoutError:
            logger.warning("program does not stop; killing it", extra={"program": self.program.name})
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _demand(self) -> None:
        """Wait for a connection to the program's socket. The connection stays in the queue for the
        program.
        """
        loop = asyncio.get_running_loop()
        connected = asyncio.Event()
        for number in self._listen_fds:
            loop.add_reader(number, connected.set)
        try:
            await connected.wait()
        finally:
            for number in self._listen_fds:
                loop.remove_reader(number)

    async def _wait_ended(self) -> int:
        assert self._process is not None, "the program has been started"
        return await self._process.wait()


async def start_all(children: Sequence[Child]) -> list[str]:
    """Start all children except those started on demand and wait until each is healthy.

    Return the names of the children that respond but are still starting. Raises StartError if any child
    exits.
    """
    children = [child for child in children if not child.program.on_demand]
    for child in children:
        await child.start()
    starting: list[str] = []
    try:
        async with asyncio.timeout(START_DEADLINE_S):
            await until_first_ends(
                _wait_all_healthy(children, starting), *(child.exits() for child in children)
            )
    except TimeoutError:
        raise StartError(f"not healthy after {START_DEADLINE_S:.0f} s") from None
    return starting


async def stop_all(children: Sequence[Child]) -> None:
    """Stop all children in reverse order, because a child may still be using children that were started
    before it.
    """
    for child in reversed(children):
        await child.stop()


async def _wait_all_healthy(children: Sequence[Child], starting: list[str]) -> None:
    for child in children:
        if not await _wait_healthy(child.program):
            starting.append(child.program.name)


async def _wait_healthy(program: Program) -> bool:
    """Wait until the program is healthy. Return False if it keeps reporting that it is starting."""
    loop = asyncio.get_running_loop()
    first_answer: float | None = None
    while True:
        status = await _health_status(program)
        if status == 200:
            return True
        if status is not None:
            first_answer = first_answer or loop.time()
            if loop.time() - first_answer > PATIENCE_S:
                return False
        await asyncio.sleep(POLL_INTERVAL_S)


async def _health_status(program: Program) -> int | None:
    """Return the HTTP status of the health check, or None if there is no response."""
    host, port = program.address
    name = f"[{host}]" if ":" in host else host
    # The program is our own child on this machine, so the name in its certificate does not matter.
    context = ssl._create_unverified_context() if program.secure else None
    try:
        async with asyncio.timeout(POLL_DEADLINE_S):
            reader, writer = await asyncio.open_connection(host, port, ssl=context)
            try:
                request = f"GET /health HTTP/1.1\r\nHost: {name}:{port}\r\nConnection: close\r\n\r\n"
                writer.write(request.encode())
                status_line = await reader.readline()
            finally:
                writer.close()
        return int(status_line.split()[1])
    except (OSError, ValueError, IndexError):
        return None
