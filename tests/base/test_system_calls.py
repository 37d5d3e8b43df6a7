"""The system call filter allows only the listed calls, as interpreted here for two architectures.

`tests/attacks/test_decoder.py` tests the filter in the kernel.
"""

import errno
from collections.abc import Iterator, Sequence

import pytest

from svc.base.system_calls import CALLS, CLONE, program

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOWED, REFUSED, KILLED = 0x7FFF0000, 0x00050000 | errno.ENOSYS, 0x80000000
# CLONE_VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, SETTLS, PARENT_SETTID, CHILD_CLEARTID. See clone(2).
THREAD = 0x003D0F00
FORK = 17  # SIGCHLD alone


def verdict(
    machine: str, number: int, arguments: Sequence[int] = (), *, threads: bool = True, architecture: int = 0
) -> int:
    """Run the filter as the kernel does, reading a struct seccomp_data in 32-bit words."""
    words = [number, architecture or ARCHITECTURES[machine], 0, 0]
    for argument in (*arguments, *(0,) * (6 - len(arguments))):
        words += [argument & 0xFFFFFFFF, argument >> 32]
    steps = iter(program(machine, threads=threads))
    accumulator = 0
    for code, if_true, if_false, operand in steps:
        match code:
            case 0x20:
                accumulator = words[operand // 4]
            case 0x54:
                accumulator &= operand
            case 0x15:
                _skip(steps, if_true if accumulator == operand else if_false)
            case 0x35:
                _skip(steps, if_true if accumulator >= operand else if_false)
            case 0x06:
                return operand
            case _:
                raise AssertionError(f"no such instruction here: {code:#x}")
    raise AssertionError("it ends without a verdict")


def _skip(steps: Iterator[object], count: int) -> None:
    for _ in range(count):
        next(steps)


@pytest.fixture(params=ARCHITECTURES)
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_only_the_listed_system_calls_are_allowed(machine: str) -> None:
    allowed = {number for number in range(1000) if verdict(machine, number, threads=False) == ALLOWED}
    assert allowed == {getattr(call, machine) for call in CALLS.values()}
    assert {verdict(machine, number) for number in set(range(1000)) - allowed} == {REFUSED}


@pytest.mark.parametrize("name", ["mmap", "mprotect"])
def test_memory_cannot_be_made_executable(machine: str, name: str) -> None:
    number = getattr(CALLS[name], machine)
    verdicts = [verdict(machine, number, (0, 4096, protection)) for protection in range(8)]
    assert verdicts == [ALLOWED] * 4 + [REFUSED] * 4


def test_only_threads_may_be_cloned_and_only_where_allowed(machine: str) -> None:
    clone = getattr(CLONE, machine)
    assert verdict(machine, clone, (THREAD,)) == ALLOWED
    assert verdict(machine, clone, (THREAD | 0x400000,)) == ALLOWED, "as musl"
    assert verdict(machine, clone, (THREAD,), threads=False) == REFUSED
    for bit in set(range(32)) - {22}:
        assert verdict(machine, clone, (THREAD ^ 1 << bit,)) == REFUSED
    assert verdict(machine, clone, (FORK,)) == REFUSED


def test_affinity_can_be_read_only_for_the_process_itself(machine: str) -> None:
    number = CALLS["sched_getaffinity"]
    assert verdict(machine, getattr(number, machine), (0,)) == ALLOWED
    assert verdict(machine, getattr(number, machine), (1,)) == REFUSED


def test_a_system_call_for_another_architecture_kills_the_process(machine: str) -> None:
    (other,) = set(ARCHITECTURES) - {machine}
    i386 = 0x40000003
    for architecture in (ARCHITECTURES[other], i386):
        assert verdict(machine, getattr(CALLS["read"], machine), architecture=architecture) == KILLED


def test_an_x32_system_call_kills_the_process() -> None:
    assert verdict("x86_64", 0x40000000 | CALLS["read"].x86_64) == KILLED
