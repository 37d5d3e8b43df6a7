"""The process from which sandboxed jobs are forked: it has loaded a decoder once, and runs nothing itself.

    python -I -m svc.base.zygote FD MODULE

On the socket FD arrives one byte for each job, with descriptors: the job's socket, its leash,
and its files. A child is forked that gives up everything but these, reads the request, and calls
a function of MODULE. When the leash is let go the child is killed, with all of its process group;
when the child ends, its status is written to the leash. Our end is the end of FD. Is never
imported by a program; what it promises is in `svc.base.sandbox`.
"""

import ctypes
import importlib
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from svc.base.confined import LENGTH, MAX_DESCRIPTORS, STATUS, Rejected, Task

# Below everything that answers people: they wait for us, the machine does not.
NICENESS = 15

_CLONE_NEWUSER, _CLONE_NEWNET, _CLONE_NEWPID, _CLONE_NEWIPC = 0x10000000, 0x40000000, 0x20000000, 0x08000000
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_LINUX_CAPABILITY_VERSION_3 = 0x20080522


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _leave_the_world()
    os.nice(NICENESS)
    module = importlib.import_module(sys.argv[2])
    # A child opens no file: what a library loads at its first use has to be here before.
    module.prepare()
    _Zygote(control, module).run()


class _Zygote:
    def __init__(self, control: socket.socket, module: ModuleType) -> None:
        self._control = control
        self._module = module
        self._children: dict[int, socket.socket] = {}
        self._poll = select.poll()

    def run(self) -> None:
        """Until the control socket ends, and with it every job."""
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
            self._kill_those_let_go(ready)
            self._reap()
            if self._control.fileno() in ready and not self._begin():
                break
        # Those that end now find nobody who would wait for it, and the sockets closed.
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
        job, leash, *files = descriptors
        pid = os.fork()
        if pid == 0:
            _be_a_job(self._module, job, files)
        for descriptor in (job, *files):
            os.close(descriptor)
        self._children[pid] = socket.socket(fileno=leash)
        self._poll.register(leash, select.POLLIN)
        return True

    def _kill_those_let_go(self, ready: set[int]) -> None:
        for pid, leash in self._children.items():
            if leash.fileno() in ready:
                _kill_with_group(pid)
                # Once is enough; it is closed when the child has been buried.
                self._poll.unregister(leash)

    def _reap(self) -> None:
        """Bury who has died, and what is left of its group."""
        with suppress(ChildProcessError):
            while (dead := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = dead
                leash = self._children.pop(pid, None)
                if leash is not None:
                    # At once: its number is nobody else's yet.
                    _kill_group(pid)
                    self._say_how_it_ended(leash, status)

    def _say_how_it_ended(self, leash: socket.socket, status: int) -> None:
        with suppress(KeyError):
            self._poll.unregister(leash)
        with leash, suppress(OSError):
            leash.send(STATUS.pack(os.waitstatus_to_exitcode(status)), socket.MSG_DONTWAIT)


def _be_a_job(module: ModuleType, job: int, files: Sequence[int]) -> NoReturn:
    """The whole life of a child. Nothing here may return into the zygote's loop."""
    try:
        os.setsid()
        _die_with_parent()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _close_all_but(job, *files)
        with socket.socket(fileno=job) as wire:
            _work(module, wire, files)
    except BaseException:
        os._exit(1)
    os._exit(0)


def _work(module: ModuleType, wire: socket.socket, files: Sequence[int]) -> None:
    request = json.loads(_read(wire, LENGTH.unpack(_read(wire, LENGTH.size))[0]))
    task: Task = getattr(module, request["function"])
    _give_up(request["limits"])
    _say(wire, {"started": True})

    def progress(fraction: float) -> None:
        _say(wire, {"progress": fraction})

    blobs: Sequence[bytes] = ()
    message: Mapping[str, object]
    try:
        facts, blobs = task(files, request["arguments"], progress)
        message = {"facts": facts, "blobs": [len(blob) for blob in blobs], "used": _used()}
    except Rejected as rejected:
        message = {"rejected": rejected.code, "message": str(rejected)}
    except MemoryError:
        message = {"rejected": "too_large", "message": "It needs too much memory"}
    except Exception as fault:
        # Decoders raise all there is at hostile input.
        message = {"rejected": "", "message": f"{type(fault).__name__}: {fault}"[:500]}
    _say(wire, message)
    for blob in blobs:
        wire.sendall(blob)


def _used() -> dict[str, float]:
    """What it took; the memory includes what is shared with the zygote. ru_maxrss is in KiB on Linux."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {"cpu_s": usage.ru_utime + usage.ru_stime, "peak_bytes": usage.ru_maxrss * 1024}


def _read(wire: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = wire.recv(size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


def _say(wire: socket.socket, message: Mapping[str, object]) -> None:
    text = json.dumps(message).encode()
    wire.sendall(LENGTH.pack(len(text)) + text)


def _give_up(limits: Mapping[str, int]) -> None:
    """Everything that a decoder does not need."""
    # When the machine runs out of memory, this is what it can do without.
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, limits["file_bytes"])
    # A full file is an error to report, not a signal to die of.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _limit(resource.RLIMIT_CPU, limits["cpu_s"], grace=1)
    _limit(resource.RLIMIT_AS, _address_space() + limits["memory_bytes"])
    if not limits["threads"]:
        _limit(resource.RLIMIT_NPROC, 0)
    # No descriptor gets a number any more: no file, no socket, no pipe.
    _limit(resource.RLIMIT_NOFILE, 0)


def _limit(what: int, value: int, grace: int = 0) -> None:
    """The hard limit is `grace` above the soft one, at which a signal says what it was."""
    _, hard = resource.getrlimit(what)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard - grace)
    # What this system cannot limit (macOS: address space) is left to the other limits.
    with suppress(ValueError, OSError):
        resource.setrlimit(what, (value, value + grace))


def _address_space() -> int:
    """What this process has mapped already, in bytes."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def _close_all_but(*kept: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    last = 2
    for descriptor in sorted(kept):
        os.closerange(last + 1, descriptor)
        last = descriptor
    os.closerange(last + 1, max(last, nothing, resource.getrlimit(resource.RLIMIT_NOFILE)[0]) + 1)


def _kill_with_group(pid: int) -> None:
    # A child that is killed before it had a group of its own.
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
    _kill_group(pid)


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _leave_the_world() -> None:
    """Where the system allows it: no network, no processes to see, and never more rights than now."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(256, hard), min(256, hard)))
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET | _CLONE_NEWPID | _CLONE_NEWIPC) == 0:
        # The new process numbers begin with the next child: it is the zygote, we hold its place.
        if (pid := os.fork()) != 0:
            os.closerange(3, 256)
            os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 0xFF)
        _die_with_parent()
        _drop_capabilities(libc)


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    """Who enters a new user namespace has all rights in it."""
    header = struct.pack("=Ii", _LINUX_CAPABILITY_VERSION_3, 0)
    libc.capset(header, struct.pack("=6I", 0, 0, 0, 0, 0, 0))


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


if __name__ == "__main__":
    main()
