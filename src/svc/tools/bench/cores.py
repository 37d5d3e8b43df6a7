"""Which cores run what: whatever is measured has the first to itself, whatever measures has the others.

Several may be measured at once: they share the first. Where there is one core, all share it. Linux only.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache


@contextmanager
def on_first_core() -> Iterator[None]:
    """What is started meanwhile has that core from its first moment, all its threads included."""
    with _on({min(_all_cores())}):
        yield


@contextmanager
def on_other_cores() -> Iterator[None]:
    cores = _all_cores()
    with _on(cores - {min(cores)} or cores):
        yield


@contextmanager
def _on(cores: set[int]) -> Iterator[None]:
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
