"""Passes progress reports from long-running work to its caller.

The work always reports its progress. Without a listener, the reports are dropped. This module displays
nothing and is independent of the kind of work.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """The amount `done` out of `total` bytes, files or messages. `what` is one or two words for the work."""

    what: str
    done: int
    total: int


Listener = Callable[[Progress], None]
# Tasks and threads that the work starts inherit the listener.
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def report(what: str, done: int, total: int) -> None:
    """Report progress, from any thread. The listener must be thread-safe."""
    if (listener := _listener.get()) is not None:
        listener(Progress(what, done, total))


@contextmanager
def reports_to(listener: Listener) -> Iterator[None]:
    """Send reports from this block, and from the tasks and threads that it starts, to `listener`."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)
