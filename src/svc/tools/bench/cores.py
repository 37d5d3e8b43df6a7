"""Which cores run what: whatever is measured has the first to itself, whatever measures has the others.

Several may be measured at once: they share the first. Where there is one core, all share it. And who goes
first where others want the same core. Linux only.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

_NICER = 5


@contextmanager
def on_first_core() -> Iterator[None]:
    """What is started meanwhile has that core from its first moment, all its threads included."""
    with on({min(_all_cores())}):
        yield


@contextmanager
def on_other_cores() -> Iterator[None]:
    cores = _all_cores()
    with on(cores - {min(cores)} or cores):
        yield


def honest() -> set[int]:
    """For `svc bench attack`: the second core, since the server has the first and attackers the others."""
    others = sorted(_all_cores())[1:] or sorted(_all_cores())
    return {others[0]}


def attackers() -> set[int]:
    """Those that nobody else has; with two cores or one, those of the honest members."""
    return set(sorted(_all_cores())[2:]) or honest()


def as_nice_as_we(pid: int) -> None:
    """A process in a session of its own competes as we do: `nice -n -20 svc bench` counts for it too."""
    _set_group(pid, os.getpriority(os.PRIO_PROCESS, 0))


def give_way() -> None:
    """Compete for a core less than whoever has started us: they get three times as much of it."""
    _set_group(os.getpid(), os.nice(_NICER))


def _set_group(pid: int, niceness: int) -> None:
    """Many kernels share cores between sessions first: niceness counts inside one only (sched(7))."""
    # There are no such groups here, or they are not ours to change.
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
    """Those that this process was started with: inside a block it has fewer."""
    return os.sched_getaffinity(0)
