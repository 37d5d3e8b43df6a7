"""The system calls that a decoder may make, and the seccomp filter that refuses all others.

The table was made by tracing every format and codec that the worker handles (`strace -f`, glibc 2.36). It
also has the calls that other versions of glibc and musl use for threads and memory. Other calls return
ENOSYS, as on a kernel that lacks them: libraries handle that, and a compromised decoder gains nothing. No
call can name a path, create a descriptor, reach another process, or make memory executable. A call through
another architecture's entry point, where numbers mean something else, kills the process.

`install` returns False where the table or seccomp is missing. See seccomp(2) and
Documentation/userspace-api/seccomp_filter.rst.
"""

import ctypes
import errno
import platform
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | errno.ENOSYS, 0x80000000
# On x86-64, numbers from this one on belong to x32, another architecture with the same name.
_X32 = 0x40000000
_PROT_EXEC = 4
# The flags with which glibc and musl start a thread, except CLONE_DETACHED, which only musl sets.
_THREAD, _BUT_DETACHED = 0x003D0F00, 0xFFBFFFFF


@dataclass(frozen=True, slots=True)
class Only:
    """A condition: `argument & mask` equals `value`. The kernel reads 32 bits of these arguments."""

    argument: int
    mask: int
    value: int


@dataclass(frozen=True, slots=True)
class Call:
    """An allowed system call, and its number on each architecture."""

    x86_64: int
    aarch64: int
    only: Only | None = None


CALLS: Mapping[str, Call] = {
    # Calls on the inherited descriptors.
    "read": Call(0, 63),
    "write": Call(1, 64),
    "pread64": Call(17, 67),
    "pwrite64": Call(18, 68),
    "lseek": Call(8, 62),
    "fstat": Call(5, 80),
    "close": Call(3, 57),
    # Memory management, without executable memory.
    "brk": Call(12, 214),
    "mmap": Call(9, 222, Only(2, _PROT_EXEC, 0)),
    "mprotect": Call(10, 226, Only(2, _PROT_EXEC, 0)),
    "mremap": Call(25, 216),
    "munmap": Call(11, 215),
    "madvise": Call(28, 233),
    # Threads: their locks, start and end.
    "futex": Call(202, 98),
    "set_robust_list": Call(273, 99),
    "rseq": Call(334, 293),
    "rt_sigprocmask": Call(14, 135),
    "sched_yield": Call(24, 124),
    "sched_getaffinity": Call(204, 123, Only(0, 0xFFFFFFFF, 0)),
    "membarrier": Call(324, 283),
    "getpid": Call(39, 172),
    "gettid": Call(186, 178),
    "exit": Call(60, 93),
    "exit_group": Call(231, 94),
    "restart_syscall": Call(219, 128),
    # Waiting, and reading the time if that needs the kernel.
    "clock_gettime": Call(228, 113),
    "gettimeofday": Call(96, 169),
    "clock_nanosleep": Call(230, 115),
    "nanosleep": Call(35, 101),
    "getrusage": Call(98, 165),
    "getrandom": Call(318, 278),
}
# Allowed only if the job's limits allow threads. clone3 keeps its flags in memory, which filters cannot see,
# so it is refused and glibc falls back to clone.
CLONE = Call(56, 220, Only(0, _BUT_DETACHED, _THREAD))

# AUDIT_ARCH_* from linux/audit.h.
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# struct seccomp_data: the number, the architecture, the instruction pointer, six arguments. Both
# architectures are little-endian, so an argument's lower half comes first.
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
# Opcodes of classic BPF: load a word of the data, compare, mask, return.
_LOAD, _EQUAL, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06

_Instruction = tuple[int, int, int, int]  # Code, jump if true, jump if false, operand.


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def install(libc: ctypes.CDLL, *, threads: bool) -> bool:
    """Refuse all other calls permanently. Return False if this machine cannot do that.

    The process must have no_new_privs.
    """
    machine = platform.machine()
    # A 32-bit Python on a 64-bit kernel uses other call numbers than the machine's name suggests.
    if machine not in _ARCHITECTURES or struct.calcsize("P") != 8:
        return False
    instructions = b"".join(struct.pack("=HBBI", *step) for step in program(machine, threads=threads))
    filter_ = _Program(len(instructions) // 8, instructions)
    return not libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(filter_), 0, 0)


def program(machine: str, *, threads: bool) -> list[_Instruction]:
    """Return the filter for a machine of `_ARCHITECTURES`, in classic BPF."""
    steps = [(_LOAD, 0, 0, _ARCHITECTURE), *_unless(_EQUAL, _ARCHITECTURES[machine], _KILL)]
    steps.append((_LOAD, 0, 0, _NUMBER))
    if machine == "x86_64":
        steps += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _KILL)]
    for call in [*CALLS.values(), *([CLONE] if threads else [])]:
        verdict = list(_verdict(call.only))
        steps += [(_EQUAL, 0, len(verdict), getattr(call, machine)), *verdict]
    steps.append((_RETURN, 0, 0, _REFUSE))
    return steps


def _verdict(only: Only | None) -> Iterator[_Instruction]:
    """Yield the instructions for a call that is in the table."""
    if only is not None:
        yield (_LOAD, 0, 0, _ARGUMENTS + 8 * only.argument)
        yield (_AND, 0, 0, only.mask)
        yield from _unless(_EQUAL, only.value, _REFUSE)
    yield (_RETURN, 0, 0, _ALLOW)


def _unless(test: int, operand: int, action: int) -> list[_Instruction]:
    return [(test, 1, 0, operand), (_RETURN, 0, 0, action)]
