"""Lists the system calls that a decoder may make, and installs a seccomp filter that blocks all others.

The table was made by tracing every format and codec that the worker handles (`strace -f`, glibc 2.36). It
also includes the calls that other versions of glibc and musl use for threads and memory. Other calls return
ENOSYS, as on a kernel that lacks them. Libraries handle that error, and a compromised decoder gains nothing.
No allowed call can name a path, create a descriptor, reach another process, or make memory executable. A call
through a different architecture's entry point, where the numbers have other meanings, kills the process.

`install` returns False if the table or seccomp is missing. See seccomp(2) and
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
# On x86-64, this call number and all above it belong to x32, another ABI that reports the same architecture.
_X32 = 0x40000000
_PROT_EXEC = 4
# The flags that glibc and musl use to start a thread, and a mask without CLONE_DETACHED, which only musl
# sets.
_THREAD, _BUT_DETACHED = 0x003D0F00, 0xFFBFFFFF


@dataclass(frozen=True, slots=True)
class ArgumentCondition:
    """The condition that `argument & mask` equals `value`. The kernel reads only 32 bits of these
    arguments.
    """

    argument: int
    mask: int
    value: int


@dataclass(frozen=True, slots=True)
class AllowedCall:
    """An allowed system call, and its number on each architecture."""

    x86_64: int
    aarch64: int
    only: ArgumentCondition | None = None


CALLS: Mapping[str, AllowedCall] = {
    # Calls on the inherited descriptors.
    "read": AllowedCall(0, 63),
    "write": AllowedCall(1, 64),
    "pread64": AllowedCall(17, 67),
    "pwrite64": AllowedCall(18, 68),
    "lseek": AllowedCall(8, 62),
    "fstat": AllowedCall(5, 80),
    "close": AllowedCall(3, 57),
    # Memory management, without executable memory.
    "brk": AllowedCall(12, 214),
    "mmap": AllowedCall(9, 222, ArgumentCondition(2, _PROT_EXEC, 0)),
    "mprotect": AllowedCall(10, 226, ArgumentCondition(2, _PROT_EXEC, 0)),
    "mremap": AllowedCall(25, 216),
    "munmap": AllowedCall(11, 215),
    "madvise": AllowedCall(28, 233),
    # Threads: their locks, start and end.
    "futex": AllowedCall(202, 98),
    "set_robust_list": AllowedCall(273, 99),
    "rseq": AllowedCall(334, 293),
    "rt_sigprocmask": AllowedCall(14, 135),
    "sched_yield": AllowedCall(24, 124),
    "sched_getaffinity": AllowedCall(204, 123, ArgumentCondition(0, 0xFFFFFFFF, 0)),
    "membarrier": AllowedCall(324, 283),
    "getpid": AllowedCall(39, 172),
    "gettid": AllowedCall(186, 178),
    "exit": AllowedCall(60, 93),
    "exit_group": AllowedCall(231, 94),
    "restart_syscall": AllowedCall(219, 128),
    # Waiting, and reading the time if that needs a system call.
    "clock_gettime": AllowedCall(228, 113),
    "gettimeofday": AllowedCall(96, 169),
    "clock_nanosleep": AllowedCall(230, 115),
    "nanosleep": AllowedCall(35, 101),
    "getrusage": AllowedCall(98, 165),
    "getrandom": AllowedCall(318, 278),
}
# Allowed only if the job's limits allow threads. clone3 keeps its flags in memory, which filters cannot see,
# so it is blocked and glibc falls back to clone.
CLONE = AllowedCall(56, 220, ArgumentCondition(0, _BUT_DETACHED, _THREAD))

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
    """Block all other calls permanently. Return False if this machine cannot do that.

    The process must have no_new_privs.
    """
    machine = platform.machine()
    # A 32-bit Python on a 64-bit kernel uses call numbers that do not match the machine's name.
    if machine not in _ARCHITECTURES or struct.calcsize("P") != 8:
        return False
    instructions = b"".join(struct.pack("=HBBI", *step) for step in program(machine, threads=threads))
    filter_ = _Program(len(instructions) // 8, instructions)
    return not libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(filter_), 0, 0)


def program(machine: str, *, threads: bool) -> list[_Instruction]:
    """Return the filter for one of `_ARCHITECTURES`, in classic BPF."""
    steps = [(_LOAD, 0, 0, _ARCHITECTURE), *_unless(_EQUAL, _ARCHITECTURES[machine], _KILL)]
    steps.append((_LOAD, 0, 0, _NUMBER))
    if machine == "x86_64":
        steps += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _KILL)]
    for call in [*CALLS.values(), *([CLONE] if threads else [])]:
        verdict = list(_verdict(call.only))
        steps += [(_EQUAL, 0, len(verdict), getattr(call, machine)), *verdict]
    steps.append((_RETURN, 0, 0, _REFUSE))
    return steps


def _verdict(only: ArgumentCondition | None) -> Iterator[_Instruction]:
    """Yield the instructions for a call that is in the table."""
    if only is not None:
        yield (_LOAD, 0, 0, _ARGUMENTS + 8 * only.argument)
        yield (_AND, 0, 0, only.mask)
        yield from _unless(_EQUAL, only.value, _REFUSE)
    yield (_RETURN, 0, 0, _ALLOW)


def _unless(test: int, operand: int, action: int) -> list[_Instruction]:
    return [(test, 1, 0, operand), (_RETURN, 0, 0, action)]
