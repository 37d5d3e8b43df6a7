"""Runs the process from which sandboxed jobs are forked. This process loads a decoder once and runs no jobs
itself.

    python -I -m svc.base.zygote FD MODULE

For each job, one byte arrives on the socket FD, with descriptors: the job's socket, its lifeline (a second
socket), and its files. The zygote forks a child that gives up everything except these, reads the request, and
calls a function in MODULE. When the parent closes its end of the lifeline, the zygote kills the child and its
process group. When the child exits, the zygote writes its status to the lifeline. The zygote exits when FD is
closed. Programs never import this module. `svc.base.sandbox` documents the guarantees.
"""

import gc
import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from svc.base.sandbox_layers import DESCRIPTORS, Layers, die_with_parent
from svc.base.sandbox_protocol import LENGTH, MAX_DESCRIPTORS, STATUS, Rejected, Task


def main(layers: Layers | None = None) -> None:
    """Run the zygote. `layers` is only for testing single layers."""
    control = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit(resource.RLIMIT_NOFILE, DESCRIPTORS)
    layers = layers or Layers()
    layers.enter_namespaces()
    os.nice(int(sys.argv[3]))
    module = importlib.import_module(sys.argv[2])
    # No file can be opened later, so libraries must now load everything that they load on first use.
    module.prepare()
    # A child has none of the zygote's threads. If it freed an object whose destructor waits for a thread, it
    # would hang.
    gc.collect()
    # When the machine runs out of memory, the kernel should kill a decoder first.
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    loaded_bytes = _address_space()
    layers.settle()
    _Zygote(control, _Work(module, layers, loaded_bytes)).run()


@dataclass(frozen=True, slots=True)
class _Work:
    """State of the zygote that each child inherits."""

    module: ModuleType
    layers: Layers
    loaded_bytes: int


class _Zygote:
    def __init__(self, control: socket.socket, work: _Work) -> None:
        self._control = control
        self._work = work
        self._children: dict[int, socket.socket] = {}
        self._poll = select.poll()

    def run(self) -> None:
        """Fork jobs until the control socket is closed. Then kill every job."""
        woken, wake = socket.socketpair()
        for end in (woken, wake):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        for end in (woken, self._control):
            self._poll.register(end, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in self._poll.poll()}
            if woken.fileno() in ready:
                with suppress(BlockingIOError):
                    woken.recv(4096)
            self._kill_released(ready)
            self._reap()
            if self._control.fileno() in ready and not self._begin():
                break
        # From this point on, no caller waits for the children, and their sockets are closed.
        signal.set_wakeup_fd(-1)
        for pid in self._children:
            _kill_with_group(pid)

    def _begin(self) -> bool:
        try:
            byte, descriptors, _, _ = socket.recv_fds(self._control, 1, MAX_DESCRIPTORS)
        except ConnectionError:
            return False
        if not byte:
            return False
        job, lifeline, *files = descriptors
        pid = os.fork()
        if pid == 0:
            _run_child(self._work, job, files)
        for descriptor in (job, *files):
            os.close(descriptor)
        self._children[pid] = socket.socket(fileno=lifeline)
        self._poll.register(lifeline, select.POLLIN)
        return True

    def _kill_released(self, ready: set[int]) -> None:
        for pid, lifeline in self._children.items():
            if lifeline.fileno() in ready:
                _kill_with_group(pid)
                # One read is enough, because the lifeline is closed when the child has been reaped.
                self._poll.unregister(lifeline)

    def _reap(self) -> None:
        """Collect dead children and kill their process groups."""
        with suppress(ChildProcessError):
            while (dead := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = dead
                lifeline = self._children.pop(pid, None)
                if lifeline is not None:
                    # Kill the group immediately, before its number can be reused.
                    _kill_group(pid)
                    self._send_status(lifeline, status)

    def _send_status(self, lifeline: socket.socket, status: int) -> None:
        with suppress(KeyError):
            self._poll.unregister(lifeline)
        with lifeline, suppress(OSError):
            lifeline.send(STATUS.pack(os.waitstatus_to_exitcode(status)), socket.MSG_DONTWAIT)


def _run_child(work: _Work, job: int, files: Sequence[int]) -> NoReturn:
    """Run a child from start to finish. This function must not return to the zygote's loop."""
    try:
        os.setsid()
        die_with_parent()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _close_all_but(job, *files)
        _done(work, job, files)
    except BaseException:
        os._exit(1)
    os._exit(0)


def _done(work: _Work, wire: int, files: Sequence[int]) -> None:
    request = json.loads(_read(wire, LENGTH.unpack(_read(wire, LENGTH.size))[0]))
    task: Task = getattr(work.module, request["function"])
    _give_up(request["limits"], work)
    _send(wire, {"started": sorted(work.layers.held)})

    def progress(fraction: float) -> None:
        _send(wire, {"progress": fraction})

    blobs: Sequence[bytes] = ()
    message: Mapping[str, object]
    try:
        facts, blobs = task(files, request["arguments"], progress)
        message = {"facts": facts, "blobs": [len(blob) for blob in blobs], "used": _resource_usage()}
    except Rejected as rejected:
        message = {"rejected": rejected.code, "message": str(rejected)}
    except MemoryError:
        message = {"rejected": "too_large", "message": "It needs too much memory"}
    except Exception as fault:
        # Hostile input makes decoders raise arbitrary exceptions.
        message = {"rejected": "", "message": f"{type(fault).__name__}: {fault}"[:500]}
    _send(wire, message)
    for blob in blobs:
        _write(wire, blob)


def _resource_usage() -> dict[str, float]:
    """Return CPU time and peak memory, including memory shared with the zygote. ru_maxrss is KiB on Linux."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {"cpu_s": usage.ru_utime + usage.ru_stime, "peak_bytes": usage.ru_maxrss * 1024}


# Use only read and write, because a socket's methods use system calls for addresses and descriptors, which a
# decoder may not make.
def _read(wire: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = os.read(wire, size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


def _write(wire: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(wire, left) :]


def _send(wire: int, message: Mapping[str, object]) -> None:
    text = json.dumps(message).encode()
    _write(wire, LENGTH.pack(len(text)) + text)


def _give_up(limits: Mapping[str, int], work: _Work) -> None:
    """Give up everything that a decoder does not need."""
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, limits["file_bytes"])
    # Exceeding the file size limit must raise an error instead of killing the process with a signal.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _limit(resource.RLIMIT_CPU, limits["cpu_s"], grace=1)
    _limit(resource.RLIMIT_AS, work.loaded_bytes + limits["memory_bytes"])
    if not limits["threads"]:
        _limit(resource.RLIMIT_NPROC, 0)
    work.layers.confine(threads=bool(limits["threads"]))


def _limit(what: int, value: int, grace: int = 0) -> None:
    """Set a limit, with the hard limit `grace` above the soft limit. The signal sent at the soft limit
    reveals the cause.
    """
    _, hard = resource.getrlimit(what)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard - grace)
    # Some systems cannot set every limit (macOS cannot limit the address space). The other limits still
    # apply.
    with suppress(ValueError, OSError):
        resource.setrlimit(what, (value, value + grace))


def _address_space() -> int:
    """Return the number of bytes of address space that this process has already mapped."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def _close_all_but(*kept: int) -> None:
    # The zygote's stdin is /dev/null, which can no longer be opened.
    for output in (1, 2):
        os.dup2(0, output)
    last = 2
    for descriptor in sorted(kept):
        os.closerange(last + 1, descriptor)
        last = descriptor
    os.closerange(last + 1, DESCRIPTORS)


def _kill_with_group(pid: int) -> None:
    # The child may be killed before it has its own group.
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
    _kill_group(pid)


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
