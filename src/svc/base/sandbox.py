"""Runs functions on untrusted input in child processes that can do nothing but compute.

Each call gets its own process, forked from one that has loaded the decoder (`svc.base.zygote`), with limits
on memory, CPU time, file size and wall time, and with an empty environment. `svc.base.sandbox_layers`
describes the other restrictions, and a zygote's first job logs which of them are in effect. The child and its
process group are killed at the deadline, or when the caller is cancelled. The parent limits how much it reads
from the child, and does not trust the child's output. This module is independent of image and video formats.
"""

import asyncio
import contextlib
import json
import logging
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from svc.base.sandbox_protocol import LENGTH, MAX_DESCRIPTORS, STATUS, Layer, Rejected

logger = logging.getLogger(__name__)

# The timeout for starting a job. Forking takes milliseconds, but before the first job, loading the decoder
# takes a second on a slow machine.
START_DEADLINE_S = 30.0
# Gives jobs a lower priority than any program that responds to users.
NICENESS = 15
# The timeout for a killed child to exit, because the kernel may still be freeing its memory.
KILL_DEADLINE_S = 10.0
MAX_HEADER_BYTES = 256 * 1024
_CHUNK_BYTES = 256 * 1024


class SandboxFailed(Exception):
    """The process from which jobs are forked has died or cannot start. The input is not at fault."""


class Refused(Exception):
    """The input was rejected. `code` is for programs, the message for users, and `detail` for the log."""

    def __init__(self, code: str, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one call."""

    memory_bytes: int  # The memory limit, in addition to the memory of the loaded decoder.
    deadline_s: float
    cpu_s: int
    result_bytes: int
    file_bytes: int = 0  # The limit for each file that the child writes.
    threads: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """The child's result, which a compromised child can forge."""

    facts: Mapping[str, object]
    blobs: Sequence[bytes]
    # CPU seconds and peak memory, for benchmarks.
    used: Mapping[str, Any] = field(default_factory=dict, compare=False)


class Sandbox:
    """A sandbox for calls of the functions in `module`, at most `at_once` at a time.

    `broken` is the code of the Refused that is raised if the child fails in an unknown way.
    """

    def __init__(self, module: str, *, at_once: int, broken: str) -> None:
        self._module = module
        self._broken = broken
        self._slots = asyncio.Semaphore(at_once)
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        # The layers that confine the jobs, known once a job has started.
        self.layers: frozenset[Layer] | None = None

    async def __aenter__(self) -> "Sandbox":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop the zygote and every running call."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if (process := self._process) is not None:
            self._process = None
            await asyncio.to_thread(_reap, process)

    async def call(
        self,
        function: str,
        arguments: Mapping[str, object],
        files: Sequence[int],
        limits: Limits,
        progress: Callable[[float], None] = lambda fraction: None,
    ) -> Result:
        """Run a function. Raises Refused or SandboxFailed. The caller still owns the descriptors `files`."""
        request = {"function": function, "arguments": dict(arguments), "limits": asdict(limits)}
        async with self._slots:
            job, lifeline = await self._begin(files)
            with job, lifeline:
                try:
                    conversation = _Conversation(job, limits)
                    self._note(await conversation.wait_started(request))
                    result = await conversation.wait_result(progress)
                    if limits.file_bytes:
                        # The caller will now read the written file, so the child must be dead.
                        await _kill(lifeline)
                    return result
                except TimeoutError:
                    await _kill(lifeline)
                    raise Refused("timeout", "Processing it takes too long") from None
                except Rejected as rejected:
                    raise self._refusal(rejected) from None
                except (OSError, EOFError, ValueError) as fault:
                    raise self._refusal(await _end_reason(lifeline, fault)) from None

    def _note(self, layers: frozenset[Layer]) -> None:
        """Log the layers that confine the decoder, once per zygote."""
        if self.layers is None:
            missing = " ".join(sorted(set(Layer) - layers))
            fields = {"decoder": self._module, "layers": " ".join(sorted(layers)), "missing": missing}
            logger.info("decoder confined", extra=fields)
        self.layers = layers

    def _refusal(self, rejected: Rejected) -> Refused:
        if rejected.code:
            return Refused(rejected.code, str(rejected))
        return Refused(self._broken, "It is damaged, or its content does not match its type", str(rejected))

    async def _begin(self, files: Sequence[int]) -> tuple[socket.socket, socket.socket]:
        """Start a job. Return its socket and its lifeline. Start the zygote first if it is not running."""
        if not hasattr(socket, "send_fds"):
            raise SandboxFailed("this system has no way to confine a decoder")
        assert len(files) + 2 <= MAX_DESCRIPTORS, "the zygote accepts this many descriptors"
        job, theirs = socket.socketpair()
        lifeline, their_lifeline = socket.socketpair()
        with theirs, their_lifeline:
            for _ in range(2):
                try:
                    control = self._running()
                    socket.send_fds(control, [b"j"], [theirs.fileno(), their_lifeline.fileno(), *files])
                    break
                except OSError:
                    await self.close()
            else:
                for end in (job, lifeline):
                    end.close()
                raise SandboxFailed("the decoder cannot be started")
        for end in (job, lifeline):
            end.setblocking(False)
        return job, lifeline

    def _running(self) -> socket.socket:
        if self._control is None:
            self._control, theirs = socket.socketpair()
            self._control.setblocking(False)
            with theirs:
                self._process = _start_zygote(theirs.fileno(), self._module)
            self.layers = None
        return self._control


class _Conversation:
    """An exchange with a child: one request, then the child's messages."""

    def __init__(self, job: socket.socket, limits: Limits) -> None:
        self._job = job
        self._limits = limits
        self._left_bytes = limits.result_bytes + MAX_HEADER_BYTES
        self._loop = asyncio.get_running_loop()

    async def wait_started(self, request: Mapping[str, object]) -> frozenset[Layer]:
        """Return the layers that confine the child, before it has read any input.

        Raises the same exceptions as `wait_result`.
        """
        text = json.dumps(request).encode()
        async with asyncio.timeout(START_DEADLINE_S):
            await self._loop.sock_sendall(self._job, LENGTH.pack(len(text)) + text)
            match await self._message():
                case {"started": list(names)}:
                    return frozenset(map(Layer, names))
        raise ValueError("sent an invalid message")

    async def wait_result(self, progress: Callable[[float], None]) -> Result:
        """Return the result.

        Raises Rejected, TimeoutError, and OSError, EOFError or ValueError for a malformed result.
        """
        async with asyncio.timeout(self._limits.deadline_s):
            while True:
                match await self._message():
                    case {"progress": int() | float() as fraction}:
                        progress(min(1.0, max(0.0, float(fraction))))
                    case {"rejected": str(code), "message": str(message)}:
                        raise Rejected(code, message)
                    case {"facts": dict(facts), "blobs": list(sizes), "used": dict(used)}:
                        return Result(facts, [await self._read(int(size)) for size in sizes], used)
                    case _:
                        raise ValueError("sent an invalid message")

    async def _message(self) -> object:
        size = LENGTH.unpack(await self._read(LENGTH.size))[0]
        return json.loads(await self._read(size))

    async def _read(self, size: int) -> bytes:
        if not 0 <= size <= self._left_bytes:
            raise ValueError("sent more data than allowed")
        self._left_bytes -= size
        data = bytearray()
        while len(data) < size:
            piece = await self._loop.sock_recv(self._job, min(size - len(data), _CHUNK_BYTES))
            if not piece:
                raise EOFError("exited before it had finished")
            data += piece
        return bytes(data)


async def _kill(lifeline: socket.socket) -> bytes:
    """Make the zygote kill the child. Return the child's exit status, or `b""` if the zygote has died."""
    loop = asyncio.get_running_loop()
    with suppress(OSError):
        lifeline.shutdown(socket.SHUT_WR)
        async with asyncio.timeout(KILL_DEADLINE_S):
            return await loop.sock_recv(lifeline, STATUS.size)
    return b""


async def _end_reason(lifeline: socket.socket, fault: Exception) -> Rejected:
    """Return the reason why a child sent no valid message. Raises SandboxFailed if the child was not at
    fault.
    """
    status = await _kill(lifeline)
    if len(status) < STATUS.size:
        raise SandboxFailed("the decoder's process has exited")
    ended = STATUS.unpack(status)[0]
    if ended == -signal.SIGXCPU:
        return Rejected("timeout", "Processing it takes too long")
    # The child was killed, but not by this program.
    if isinstance(fault, EOFError | ConnectionError) and ended == -signal.SIGKILL:
        raise SandboxFailed("the system killed the decoder, possibly because memory ran out")
    return Rejected("", f"{fault}; status {ended}")


@contextlib.asynccontextmanager
async def as_file(data: bytes | Path) -> AsyncIterator[int]:
    """Open a descriptor from which a child can read `data`. Raises OSError."""
    file = await asyncio.to_thread(_open_input, data)
    try:
        yield file.fileno()
    finally:
        await asyncio.to_thread(file.close)


def _open_input(data: bytes | Path) -> IO[bytes]:
    if isinstance(data, Path):
        return data.open("rb")
    file = tempfile.TemporaryFile()  # noqa: SIM115
    file.write(data)
    file.seek(0)
    return file


def _start_zygote(control: int, module: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        (sys.executable, "-I", "-m", "svc.base.zygote", str(control), module, str(NICENESS)),
        env={},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=(control,),
        start_new_session=True,
    )


def _reap(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(KILL_DEADLINE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
