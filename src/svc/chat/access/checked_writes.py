"""Ensures that nothing changes between a permission check and the write that it allows.

A write method is a plain function that checks the state in memory and returns a `Write`. A decorator makes it
awaitable. `exclusive_write` is for writes that change the state on which checks depend: members, roles,
channels, settings, webhooks and sanctions. Exclusive writes run one at a time, from the check until the
change has been applied. `shared_write` is for all other writes, which run concurrently but never during an
exclusive write. Both decorators check the requesting member again when the write begins, because a request
may take a long time to arrive.
"""

import functools
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from svc.base.database import Database, Write

P = ParamSpec("P")
Result = TypeVar("Result")


class Writer(Protocol):
    @property
    def _database(self) -> Database: ...


W = TypeVar("W", bound=Writer)
Decision = Callable[Concatenate[W, P], Write[Any, Result]]
WriteMethod = Callable[Concatenate[W, P], Coroutine[Any, Any, Result]]
Execute = Callable[[Database, Callable[[], Write[Any, Result]]], Coroutine[Any, Any, Result]]


def _allow() -> None:
    """Allow everything. Used when the operator, a webhook, or the server itself is acting."""


_authority: ContextVar[Callable[[], None]] = ContextVar("authority", default=_allow)


@contextmanager
def on_authority_of(check: Callable[[], None]) -> Iterator[None]:
    """Run the block for a member's request. `check` raises ChatError once the member may no longer make the
    request.
    """
    token = _authority.set(check)
    try:
        yield
    finally:
        _authority.reset(token)


def exclusive_write(decide: Decision[W, P, Result]) -> WriteMethod[W, P, Result]:
    """Make a write method run only while no other write is running. See the module docstring."""
    return _decorate(decide, Database.write_exclusive)


def shared_write(decide: Decision[W, P, Result]) -> WriteMethod[W, P, Result]:
    """Make a write method run only while no exclusive write is running. See the module docstring."""
    return _decorate(decide, Database.write_shared)


def _decorate(decide: Decision[W, P, Result], write: Execute[Result]) -> WriteMethod[W, P, Result]:
    @functools.wraps(decide)
    async def run(self: W, /, *args: P.args, **kwargs: P.kwargs) -> Result:
        # Quoted, because Python would otherwise evaluate the annotation in each call.
        def checked() -> "Write[Any, Result]":
            _authority.get()()
            return decide(self, *args, **kwargs)

        return await write(self._database, checked)

    return run
