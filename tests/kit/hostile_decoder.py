"""Acts as a decoder under an attacker's control. Each job attempts something that a decoder must not be able
to do.

The sandbox's zygote loads this module; tests do not. An attempt that is blocked raises OSError, and an
attempt that returns has succeeded. Attempts do not harm the machine: the test that starts them creates their
targets.
"""

# The attempts make system calls directly.
# ruff: noqa: PTH101, PTH102, PTH104, PTH106, PTH108, PTH115, PTH116, PTH208, PTH211
import ctypes
import errno
import fcntl
import mmap
import os
import platform
import socket
import stat
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from svc.base import system_calls
from svc.base.sandbox_protocol import Outcome, Progress

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_OPENAT2, _PIDFD_OPEN = 437, 434
_PTRACE_SEIZE = 0x4206
_CLONE_NEWUSER = 0x10000000
# System calls on x86-64 and aarch64 have numbers below this limit. Higher numbers give ENOSYS.
_MAX_CALLS = 480
_X32 = 0x40000000
# uretprobe and uprobe on x86-64 are reserved for the kernel and bypass every filter. The kernel kills any
# other caller.
_KILLING = {335, 336} if platform.machine() == "x86_64" else set()


@dataclass(frozen=True, slots=True)
class Target:
    """The targets of the attempts: a server's folder, and sockets and processes outside the sandbox."""

    secret: str  # a file that the decoder must not read
    media: str  # a folder from which files are handed to decoders
    listening: str  # a UNIX socket
    tcp_port: int
    abstract: str  # the name of an abstract UNIX socket
    victim: int  # another process of the same user

    @property
    def new(self) -> str:
        return f"{self.media}/taken"


def prepare() -> None:
    """Prepare machine code that makes a system call through the 32-bit entry point.

    The call is getpid, which is number 20 for that entry point.
    """
    global _by_the_old_entry
    if platform.machine() == "x86_64":
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
        address = ctypes.addressof(ctypes.c_char.from_buffer(page))
        _by_the_old_entry = ctypes.CFUNCTYPE(ctypes.c_int)(address)


_by_the_old_entry: Callable[[], int] = os.getpid


def attempt(_: Sequence[int], arguments: Mapping[str, Any], __: Progress) -> Outcome:
    """Run one of ATTEMPTS. Return the name of the error, or "done"."""
    try:
        ATTEMPTS[arguments["name"]](Target(**arguments["target"]))
    except OSError as fault:
        return {"outcome": errno.errorcode[fault.errno or 0]}, []
    return {"outcome": "done"}, []


def sweep(_: Sequence[int], arguments: Mapping[str, Any], __: Progress) -> Outcome:
    """Try every forbidden system call with meaningless arguments. Return the calls that were not blocked."""
    calls = [*system_calls.CALLS.values(), system_calls.CLONE]
    allowed = {getattr(call, platform.machine()) for call in calls}
    reached = {}
    for number in set(range(_MAX_CALLS)) - allowed - _KILLING:
        ctypes.set_errno(0)
        result = _libc.syscall(ctypes.c_long(number), *(ctypes.c_long(-1),) * 6)
        if (result, ctypes.get_errno()) != (-1, errno.ENOSYS):
            reached[number] = errno.errorcode.get(ctypes.get_errno(), "done")
    return {"reached": reached}, []


def call_as_32_bit(*_: object) -> Outcome:
    return {"result": _by_the_old_entry()}, []


def call_as_x32(*_: object) -> Outcome:
    return {"result": _libc.syscall(ctypes.c_long(_X32 | 39))}, []


def sleep(_: Sequence[int], __: Mapping[str, object], progress: Progress) -> Outcome:
    progress(0.5)
    time.sleep(60)
    return {}, []


def make_a_thread(*_: object) -> Outcome:
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
    return {}, []


def _checked(result: int, *, but: Sequence[int] = ()) -> int:
    """Raise OSError if a call failed. An error in `but` means that the kernel permitted the call."""
    fault = ctypes.get_errno()
    if result == -1 and fault not in but:
        raise OSError(fault, os.strerror(fault))
    return result


def _openat2(target: Target) -> None:
    how = (ctypes.c_uint64 * 3)(os.O_RDONLY, 0, 0)
    path = target.secret.encode()
    _checked(_libc.syscall(ctypes.c_long(_OPENAT2), -100, path, ctypes.byref(how), ctypes.c_size_t(24)))


def _watch(target: Target) -> None:
    watch = _checked(_libc.inotify_init1(0))
    _checked(_libc.inotify_add_watch(watch, target.secret.encode(), 2))


def _connected(family: int, address: Any) -> None:
    socket.socket(family, socket.SOCK_STREAM).connect(address)


def _bound(family: int, kind: int, address: Any) -> None:
    socket.socket(family, kind).bind(address)


def _shared(_: Target) -> None:
    segment = _checked(_libc.shmget(0, 4096, 0o600))
    _checked(_libc.shmctl(segment, 0, None))


def _mounted(target: Target) -> None:
    path = target.media.encode()
    _checked(_libc.mount(b"none", path, b"tmpfs", ctypes.c_ulong(1), None))
    _checked(_libc.umount2(path, 0))


def _duplicated(_: Target) -> None:
    fcntl.fcntl(0, fcntl.F_DUPFD, 0)


def _forked(_: Target) -> None:
    if (pid := os.fork()) == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def _executable(_: Target) -> None:
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC).close()


def _made_executable(_: Target) -> None:
    page = mmap.mmap(-1, 4096)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    _checked(_libc.mprotect(ctypes.c_void_p(address), 4096, mmap.PROT_READ | mmap.PROT_EXEC))


def _read_memory(target: Target) -> None:
    piece = (ctypes.c_size_t * 2)(ctypes.addressof(ctypes.c_char()), 1)
    nowhere = (ctypes.c_size_t * 2)(0, 1)
    read = _libc.process_vm_readv(target.victim, ctypes.byref(piece), 1, ctypes.byref(nowhere), 1, 0)
    _checked(read, but=(errno.EFAULT,))


# Attempts to open or change something by path.
BY_PATH: Mapping[str, Callable[[Target], object]] = {
    "read the secret": lambda t: Path(t.secret).read_bytes(),
    "read it by openat2": _openat2,
    "write into it": lambda t: os.open(t.secret, os.O_WRONLY),
    "make a file": lambda t: os.open(t.new, os.O_WRONLY | os.O_CREAT, 0o600),
    "link the secret into the media": lambda t: os.link(t.secret, t.new),
    "rename the secret into the media": lambda t: os.rename(t.secret, t.new),
    "make a symbolic link to it": lambda t: os.symlink(t.secret, t.new),
    "remove it": lambda t: os.unlink(t.secret),
    "make a folder": lambda t: os.mkdir(t.new),
    "remove a folder": lambda t: os.rmdir(f"{t.media}/empty"),
    "make a pipe with a name": lambda t: os.mkfifo(t.new),
    "cut it off": lambda t: os.truncate(t.secret, 1),
    "list a folder": lambda t: os.listdir(t.media),
    "run a program": lambda t: os.execv("/bin/true", ["true"]),
    "bind a socket to a path": lambda t: _bound(socket.AF_UNIX, socket.SOCK_STREAM, t.new),
    "change its mode": lambda t: os.chmod(t.secret, 0o644),
    "change its owner": lambda t: os.chown(t.secret, -1, os.getegid()),
    "change its times": lambda t: os.utime(t.secret, (1, 1)),
    "look at it": lambda t: os.stat(t.secret),
    "ask whether it is there": lambda t: _checked(_libc.access(t.secret.encode(), 0)),
    "follow a symbolic link": lambda t: os.readlink(f"{t.media}/link"),
    "go into a folder": lambda t: os.chdir(t.media),
    "watch it": _watch,
    "connect to a socket by its path": lambda t: _connected(socket.AF_UNIX, t.listening),
}
# Landlock does not cover these attempts.
ONLY_LOOKED_AT = {
    *("change its mode", "change its owner", "change its times", "look at it", "ask whether it is there"),
    *("follow a symbolic link", "go into a folder", "watch it", "connect to a socket by its path"),
}
NETWORK: Mapping[str, Callable[[Target], object]] = {
    "connect to a TCP port": lambda t: _connected(socket.AF_INET, ("127.0.0.1", t.tcp_port)),
    "connect to an abstract socket": lambda t: _connected(socket.AF_UNIX, f"\0{t.abstract}"),
}
PROCESSES: Mapping[str, Callable[[Target], object]] = {
    "signal a process": lambda t: os.kill(t.victim, 0),
    "attach to a process": lambda t: _checked(_libc.ptrace(_PTRACE_SEIZE, t.victim, 0, 0)),
    "read a process's memory": _read_memory,
}
# Attempts to get a descriptor for an object that has no path.
DESCRIPTORS: Mapping[str, Callable[[Target], object]] = {
    "make a UDP socket": lambda t: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    "make a netlink socket": lambda t: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "make a pair of sockets": lambda t: socket.socketpair(),
    "make a pipe": lambda t: os.pipe(),
    "make a file in memory": lambda t: os.memfd_create("x"),
    "make an epoll": lambda t: _checked(_libc.epoll_create1(0)),
    "make an eventfd": lambda t: _checked(_libc.eventfd(0, 0)),
    "make a timerfd": lambda t: _checked(_libc.timerfd_create(1, 0)),
    "open a process": lambda t: _checked(_libc.syscall(ctypes.c_long(_PIDFD_OPEN), os.getpid(), 0)),
    "duplicate a descriptor": _duplicated,
}
OTHERS: Mapping[str, Callable[[Target], object]] = {
    "signal the zygote": lambda t: os.kill(os.getppid(), 0),
    "start a process": _forked,
    "enter a user namespace": lambda t: _checked(_libc.unshare(_CLONE_NEWUSER)),
    "allow its memory to be run": _executable,
    "turn its memory into code": _made_executable,
    "share memory": _shared,
    "change its limits": lambda t: _checked(_libc.prlimit(0, 4, (ctypes.c_uint64 * 2)(0, 0), None)),
    "be traced": lambda t: _checked(_libc.prctl(4, 1, 0, 0, 0)),
}
# Only root can make these attempts.
AS_ROOT: Mapping[str, Callable[[Target], object]] = {
    "make a device": lambda t: os.mknod(t.new, stat.S_IFCHR | 0o600, os.makedev(1, 3)),
    "change the root": lambda t: os.chroot(t.media),
    "mount a file system": _mounted,
    "become another user": lambda t: os.setresuid(1, 1, 1),
    "give a file away": lambda t: os.chown(t.secret, 1, 1),
    "enter the namespaces of another process": lambda t: _checked(
        _libc.setns(os.open(f"/proc/{t.victim}/ns/uts", os.O_RDONLY), 0)
    ),
}
ATTEMPTS = {**BY_PATH, **NETWORK, **PROCESSES, **DESCRIPTORS, **OTHERS, **AS_ROOT}
