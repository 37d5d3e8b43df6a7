"""Assigns cores: the first core to the measured processes, and the others to the measuring processes.

Several measured processes share the first core. On a machine with one core, all processes share it. Also sets
priorities between processes on the same core. Linux only.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

_NICER = 5


@contextmanager
def on_first_core() -> Iterator[None]:
    """Pin processes started inside the block, and all their threads, to the first core."""
    with on({min(_all_cores())}):
        yield


@contextmanager
def on_other_cores() -> Iterator[None]:
    cores = _all_cores()
    with on(cores - {min(cores)} or cores):
        yield


def honest() -> set[int]:
    """Return the second core, which the honest members of `svc bench attack` use. The server has the first
    core, and the attackers have the others.
    """
    others = sorted(_all_cores())[1:] or sorted(_all_cores())
    return {others[0]}


def attackers() -> set[int]:
    """Return the remaining cores, or the honest members' core if there are at most two."""
    return set(sorted(_all_cores())[2:]) or honest()


def copy_niceness(pid: int) -> None:
    """Give a process in another session our own niceness, so that `nice -n -20 svc bench` applies to it
    too.
    """
    _set_group(pid, os.getpriority(os.PRIO_PROCESS, 0))


def lower_priority() -> None:
    """Lower this process's priority, so that the parent process gets three times as much time on a shared
    core.
    """
    _set_group(os.getpid(), os.nice(_NICER))


def _set_group(pid: int, niceness: int) -> None:
    """Set the niceness of a process's session. Many kernels first divide CPU time between sessions
    (sched(7)).
    """
    # Some systems have no such groups, or the group belongs to another user.
    with suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text(str(niceness))


@contextmanager
def on(cores: set[int]) -> Iterator[None]:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@cache
def _all_cores() -> set[int]:
    """Return the cores that this process started with. Inside an `on_first_core` block, it has fewer."""
    return os.sched_getaffinity(0)
