"""Forks the first SFU and chat server of `svc up` from a template process that has imported their shared
modules.

Forks share the memory of these modules, which is a quarter of an idle server's memory. They also share an
address layout, so only a program's first start is a fork. A restart executes a new interpreter, because an
attacker who can crash a program must not get a second attempt at the same layout.

A fork inherits its parent's memory, so no secret may be in memory before the fork
(`svc.tools.hidden_environment`). Each fork receives its own program's variables over a socket. No thread and
no event loop may exist before the fork. This module does not decide which variables a program gets.
"""

import asyncio
import ctypes
import gc
import importlib
import json
import os
import signal
import socket
import struct
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NoReturn

# The media service, and the libraries that it loads along with its certificate. The chat server needs most of
# these libraries, and the rest cost nothing while their memory is shared.
SHARED = (
    "cryptography.hazmat.backends.openssl.backend",
    "cryptography.hazmat.primitives.serialization",
    "svc.sfu.app",
    "svc.sfu.config",
)
_PR_SET_CHILD_SUBREAPER = 36
_LENGTH = struct.Struct("!I")
# The maximum number of sockets. A program has one for each address of its host name.
_MAX_DESCRIPTORS = 64


class ForkedProcess:
    """A forked program, with the methods of `asyncio.subprocess.Process` that the supervisor uses."""

    def __init__(self, pid: int, stdin: socket.socket | IO[bytes]) -> None:
        self.pid = pid
        self._stdin = stdin  # This pipe is kept open, because the program exits when the pipe closes.
        self._loop = asyncio.get_running_loop()
        self._status: asyncio.Future[int] = self._loop.create_future()
        self._pidfd = os.pidfd_open(pid)
        self._loop.add_reader(self._pidfd, self._reap)

    def terminate(self) -> None:
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    async def wait(self) -> int:
        return await asyncio.shield(self._status)

    def _send(self, number: int) -> None:
        if self._status.done():
            raise ProcessLookupError
        os.kill(self.pid, number)

    def _reap(self) -> None:
        self._loop.remove_reader(self._pidfd)
        self._status.set_result(os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]))
        os.close(self._pidfd)
        self._stdin.close()


class WaitingProcess:
    """A forked process that waits for its program's arguments. It exits when this process exits."""

    def __init__(self, pid: int, control: socket.socket) -> None:
        self._pid = pid
        self._control = control

    def begin(
        self, arguments: Sequence[str], environment: Mapping[str, str], descriptors: Sequence[int]
    ) -> ForkedProcess:
        """Start the program with these listening sockets. Their descriptor numbers may differ in the
        program.
        """
        message = json.dumps([list(arguments), dict(environment)]).encode()
        process = ForkedProcess(self._pid, self._control)
        # If the fork has died, its exit status shows that.
        with suppress(OSError):
            socket.send_fds(self._control, [_LENGTH.pack(len(message))], descriptors)
            self._control.sendall(message)
        return process


def fork(
    names: Sequence[str], hidden: int, run: Callable[[Sequence[str]], int]
) -> Mapping[str, WaitingProcess]:
    """Fork a process for each program. In each, `run` gets the arguments and returns the exit status.

    Omits programs that could not be forked.
    """
    assert threading.active_count() == 1, "a fork keeps only the thread that forks"
    sys.stdout.flush()
    sys.stderr.flush()
    # The forks become children of this process when the template exits.
    if not _adopts_orphans(True):
        return {}
    sockets = {name: socket.socketpair() for name in names}
    reader, writer = os.pipe()
    template = os.fork()
    if template == 0:
        os.close(hidden)
        for ours, _ in sockets.values():
            ours.close()
        _be_template({name: its for name, (_, its) in sockets.items()}, writer, run)
    os.close(writer)
    for _, its in sockets.values():
        its.close()
    with os.fdopen(reader) as report:
        pids = dict(line.split() for line in report)
    os.waitpid(template, 0)
    _adopts_orphans(False)
    return {name: WaitingProcess(int(pid), sockets[name][0]) for name, pid in pids.items()}


def _be_template(
    controls: Mapping[str, socket.socket], report: int, run: Callable[[Sequence[str]], int]
) -> NoReturn:
    """Import the shared modules, fork the programs, report their process ids, and exit."""
    gc.disable()
    for module in SHARED:
        importlib.import_module(module)
    # A garbage collection in a fork would write to each object, and its memory would then not be shared.
    gc.collect()
    gc.freeze()
    gc.enable()
    for name, control in controls.items():
        pid = os.fork()
        if pid == 0:
            os.close(report)
            for other in controls.values():
                if other is not control:
                    other.close()
            raise SystemExit(run(_wait_for_arguments(control)))
        os.write(report, f"{name} {pid}\n".encode())
    os._exit(0)


def _adopts_orphans(adopts: bool) -> bool:
    """Set whether this process adopts descendants whose parent exits. Return False on failure."""
    # Without these types, ctypes would pass numbers as 32 bits, but the kernel reads 64.
    prctl = ctypes.CDLL(None).prctl
    prctl.argtypes = (ctypes.c_int, *(ctypes.c_ulong,) * 4)
    return bool(prctl(_PR_SET_CHILD_SUBREAPER, adopts, 0, 0, 0) == 0)


def _wait_for_arguments(control: socket.socket) -> Sequence[str]:
    """Detach this fork from its parent and wait for the program's arguments and environment."""
    # Leave the terminal's session, because after Ctrl-C the supervisor stops the programs in order.
    os.setsid()
    # The program exits when its standard input closes.
    os.dup2(control.fileno(), 0)
    control.close()
    os.closerange(3, max(int(path.name) for path in Path("/proc/self/fd").iterdir()) + 1)
    with socket.socket(fileno=os.dup(0)) as inherited:
        header, descriptors, _, _ = socket.recv_fds(inherited, _LENGTH.size, _MAX_DESCRIPTORS)
        message = _read(inherited, _LENGTH.unpack(header)[0]) if header else b""
    if not message:
        # The supervisor has exited without starting the program and has reported the reason.
        os._exit(0)
    arguments, environment = json.loads(message)
    os.environ.clear()
    os.environ.update(environment)
    arguments = [*arguments, *(f"--listen-fd={number}" for number in descriptors), "--end-with-parent"]
    _show_as(["svc", *arguments])
    return arguments


def _read(stream: socket.socket, length: int) -> bytes:
    """Return the given number of bytes, or no bytes if the stream ends first."""
    with stream.makefile("rb") as file:
        message = file.read(length)
    return message if len(message) == length else b""


def _show_as(words: Sequence[str]) -> None:
    """Replace the command line and the name that `ps` shows, because a fork inherits them from its parent.
    Text that is too long is truncated.
    """
    with suppress(OSError):
        Path("/proc/self/comm").write_text(" ".join(words[:2]))
        # Fields 48 and 49 in proc_pid_stat(5) are the addresses of the arguments. The first field after the
        # name is number 3.
        start, end = map(int, Path("/proc/self/stat").read_text().rpartition(")")[2].split()[45:47])
        if start:
            line = "\0".join(words).encode()[: end - start - 1]
            with Path("/proc/self/mem").open("r+b", buffering=0) as memory:
                memory.seek(start)
                memory.write(line.ljust(end - start, b"\0"))
