"""How far long work has come, told to whoever waits for it.

The work says so as it goes, and need not know whether anybody listens: nothing happens where
nobody does. Shows nothing, and knows no work.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """`what` is being done, in a word or two; `done` of `total` bytes, files or messages."""

    what: str
    done: int
    total: int


Listener = Callable[[Progress], None]
# Tasks and threads that the work starts tell the same listener.
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def report(what: str, done: int, total: int) -> None:
    """Also from another thread; the listener sees to itself."""
    if (listener := _listener.get()) is not None:
        listener(Progress(what, done, total))


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """What is reported in this block, and by what it starts, is told to `listener`."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)
