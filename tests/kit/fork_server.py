"""Starts `svc` programs by forking a process that has already imported them.

Most of a program's startup time is spent on imports. This server imports all programs once and forks for each
start. Every forked program is a process with its own session, environment, descriptors and exit status, and
`svc up` forks its programs in the same way. tests/tools/test_up.py and tests/test_readme.py start programs
from the command line.
"""

import asyncio
import ctypes
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
from asyncio import StreamReader
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from svc.tools import hidden_environment
from svc.tools.prefork import ForkedProcess

ROOT = Path(__file__).parents[2]
# The size limit for an environment, which is usually a few kilobytes.
MAX_REQUEST_BYTES = 1 << 17
# Programs that outlive their parent, such as those started by a killed `svc up`, keep the output open.
OUTPUT_END_S = 5.0
# The buffer size for output: large enough that the end of the stream is noticed even if output is unread.
MAX_OUTPUT_BYTES = 1 << 24
_CLONE_NEWNET = 0x40000000
SVC = (
    sys.executable,
    "-P",
    "-m",
    "svc.cli",
)  # The command that `svc up` uses to start its programs.


class ServedProcess:
    """A program that the server forked, with the subset of `asyncio.subprocess.Process` that tests use."""

    def __init__(self, pid: int, output: "_Pipe", status: "_Pipe") -> None:
        self.pid = pid
        self.stdout = self.stderr = output.reader
        self.returncode: int | None = None
        self._ended = asyncio.ensure_future(self._read_status(output, status))

    async def wait(self) -> int:
        return await asyncio.shield(self._ended)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    async def _read_status(self, output: "_Pipe", status: "_Pipe") -> int:
        self.returncode = int(await status.reader.readline())
        # A pipe that is still open when the test's loop closes would be reported as an error in a later test.
        await asyncio.wait([output.ended], timeout=OUTPUT_END_S)
        output.close()
        status.close()
        return self.returncode


class ForkServer:
    """The test's side of the server."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    async def start(
        self, arguments: Sequence[str], environment: Mapping[str, str], *, network: str = ""
    ) -> ServedProcess:
        """Start `svc` with these arguments, in the network namespace at the path `network` if it is given.

        Its standard output and error are one pipe.
        """
        output, status = os.pipe(), os.pipe()
        request = json.dumps([list(arguments), dict(environment), network]).encode()
        socket.send_fds(self._sock, [request], [output[1], status[1]])
        os.close(output[1])
        os.close(status[1])
        ended = await _connected(status[0])
        return ServedProcess(int(await ended.reader.readline()), await _connected(output[0]), ended)


class _Shared:
    """The server that this process uses within `forking`. It is started on first use."""

    def __init__(self) -> None:
        self.is_allowed = False
        self._open = ExitStack()
        self._server: ForkServer | None = None

    def server(self) -> ForkServer | None:
        if threading.current_thread() is not threading.main_thread():
            # Other threads of the test may be in other namespaces, where the server cannot be reached.
            return None
        if self.is_allowed and self._server is None:
            self._server = self._open.enter_context(fork_server())
        return self._server

    def close(self) -> None:
        self.is_allowed, self._server = False, None
        self._open.close()


_shared = _Shared()


@contextmanager
def forking() -> Iterator[None]:
    """Make `shared` return a server during the block."""
    # Only on Linux can an event loop wait for a forked process.
    _shared.is_allowed = hasattr(os, "pidfd_open")
    try:
        yield
    finally:
        _shared.close()


def shared() -> ForkServer | None:
    """Return this process's server, or None if programs are started from the command line."""
    return _shared.server()


@contextmanager
def fork_server() -> Iterator[ForkServer]:
    """Run a server while the block runs, and kill its remaining programs at the end."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, its:
        process = subprocess.Popen(
            (sys.executable, "-m", "tests.kit.fork_server", str(its.fileno())),
            cwd=ROOT,
            pass_fds=[its.fileno()],
            stdin=subprocess.DEVNULL,
        )
        its.close()
        try:
            yield ForkServer(ours)
        finally:
            ours.close()
            process.wait()


class _Pipe(asyncio.StreamReaderProtocol):
    """The reading end of a pipe. The future `ended` is done once all writers have closed the pipe."""

    def __init__(self) -> None:
        self.reader = StreamReader(MAX_OUTPUT_BYTES)
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        super().__init__(self.reader)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.close = transport.close

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if not self.ended.done():
            self.ended.set_result(None)


async def _connected(descriptor: int) -> _Pipe:
    _, pipe = await asyncio.get_running_loop().connect_read_pipe(_Pipe, os.fdopen(descriptor, "rb", 0))
    return pipe


def serve(sock: socket.socket) -> None:
    """Fork a program for each request, and report each exit, until the test closes its side."""
    _import_programs()
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: dict[int, int] = {}  # For each process id, the connection to which the exit status is reported.
    while True:
        ready, _, _ = select.select([sock.fileno(), woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            _report_exits(running)
        if sock.fileno() in ready:
            request, descriptors, _, _ = socket.recv_fds(sock, MAX_REQUEST_BYTES, 2)
            if not request:
                break
            output, status = descriptors
            arguments, environment, network = json.loads(request)
            pid = _forked(arguments, environment, {1: output, 2: output}, network=network)
            os.write(status, b"%d\n" % pid)
            os.close(output)
            running[pid] = status
    for pid in running:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def _import_programs() -> None:
    gc.disable()
    from svc import cli
    from svc.base import sandbox
    from svc.chat import app, config, http_port
    from svc.sfu import app as sfu
    from svc.tools import certificate, parent_watch, up
    from svc.worker import app as worker
    from tests.kit import new_databases, page_files

    for files in (new_databases, page_files):
        files.reuse()
        files.prepared()

    # Without this, tests would wait minutes for a decoder while other tests keep the processors busy.
    sandbox.NICENESS = 0
    del sandbox, cli, app, config, files, http_port, sfu, certificate, parent_watch, up, worker
    gc.collect()
    gc.freeze()
    gc.enable()
    assert threading.active_count() == 1, "only the forking thread survives a fork"


def _report_exits(running: dict[int, int]) -> None:
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            with suppress(BrokenPipeError), os.fdopen(running.pop(pid), "wb", 0) as report:
                report.write(b"%d\n" % os.waitstatus_to_exitcode(status))


def _forked(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    standard: Mapping[int, int],
    kept: Sequence[int] = (),
    network: str = "",
) -> int:
    """Fork, and run `svc` in the child with only these descriptors. Return the child's process id."""
    # The child must not write a signal to the parent's wakeup descriptor.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    pid = os.fork()
    if pid == 0:
        try:
            if network:
                enter_network(network)
            _become(arguments, environment, standard, kept)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    return pid


def enter_network(path: str) -> None:
    """Move the calling thread to the network namespace at this path. Raises OSError if the kernel refuses."""
    with Path(path).open() as network:
        if ctypes.CDLL(None, use_errno=True).setns(network.fileno(), _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"cannot enter {path}")


def _become(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    standard: Mapping[int, int],
    kept: Sequence[int],
) -> NoReturn:
    signal.set_wakeup_fd(-1)
    for default in (signal.SIGCHLD, signal.SIGHUP, signal.SIGTERM):
        signal.signal(default, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    asyncio.set_event_loop(None)
    asyncio._set_running_loop(None)
    os.setsid()
    for number, descriptor in standard.items():
        os.dup2(descriptor, number)
    free = 3
    for descriptor in sorted(kept):
        os.closerange(free, descriptor)
        free = descriptor + 1
    os.closerange(free, max(int(path.name) for path in Path("/proc/self/fd").iterdir()) + 1)
    # The kernel truncates this name to 15 bytes. The command line remains the server's.
    Path("/proc/self/comm").write_text(f"svc {arguments[0]}")
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = arguments
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    asyncio.create_subprocess_exec = _create_subprocess_exec  # type: ignore[assignment]
    # The child's own zygote would import everything again.
    hidden_environment.can_fork = lambda: False
    status = 1
    try:
        from svc.cli import main

        status = main()
    except SystemExit as exit:
        status = exit.code if isinstance(exit.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # Objects in the parent's stack frames must not be finalised, because their descriptor numbers may
        # refer to other files in this process.
        os._exit(status)


_create_subprocess_exec_itself = asyncio.create_subprocess_exec


async def _create_subprocess_exec(*command: str, **options: Any) -> Any:
    """Fork the programs that `svc up` starts, and start every other program as usual."""
    if command[: len(SVC)] != SVC:
        return await _create_subprocess_exec_itself(*command, **options)
    read, write = os.pipe()
    pid = _forked(command[len(SVC) :], options["env"], {0: read}, options["pass_fds"])
    os.close(read)
    return ForkedProcess(pid, os.fdopen(write, "wb", 0))


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
