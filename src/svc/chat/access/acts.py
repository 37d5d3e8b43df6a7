"""Check-and-write: nothing happens between the check of a permission and the write.

A method that writes is a plain function that checks the state in memory and returns the write (`Act`). A
decorator makes it awaitable. `changes_rules` is for writes that change what others are checked against:
members, roles, channels, settings, webhooks, sanctions. They run one at a time, from the check until the
change is applied. `follows_rules` is for all others: many at once, but never during one of the former. Both
check the asking member again at that moment, because a request may take long to arrive. Makes no decision
itself.
"""

import functools
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from svc.base.database import Act, Database

P = ParamSpec("P")
Answer = TypeVar("Answer")


class Writer(Protocol):
    @property
    def _database(self) -> Database: ...


W = TypeVar("W", bound=Writer)
Decision = Callable[Concatenate[W, P], Act[Any, Answer]]
Deed = Callable[Concatenate[W, P], Coroutine[Any, Any, Answer]]
Write = Callable[[Database, Callable[[], Act[Any, Answer]]], Coroutine[Any, Any, Answer]]


def _nobody() -> None:
    """Allow everything: the operator, a webhook, or the server itself is acting."""


_authority: ContextVar[Callable[[], None]] = ContextVar("authority", default=_nobody)


@contextmanager
def on_authority_of(check: Callable[[], None]) -> Iterator[None]:
    """Run a request. `check` raises ChatError once its member may no longer make it."""
    token = _authority.set(check)
    try:
        yield
    finally:
        _authority.reset(token)


def changes_rules(decide: Decision[W, P, Answer]) -> Deed[W, P, Answer]:
    """Run a decision exclusively: see the module's docstring."""
    return _deed(decide, Database.write_alone)


def follows_rules(decide: Decision[W, P, Answer]) -> Deed[W, P, Answer]:
    """Run a decision while the rules stay as they are: see the module's docstring."""
    return _deed(decide, Database.write_beside)


def _deed(decide: Decision[W, P, Answer], write: Write[Answer]) -> Deed[W, P, Answer]:
    @functools.wraps(decide)
    async def deed(self: W, /, *args: P.args, **named: P.kwargs) -> Answer:
        def checked() -> Act[Any, Answer]:
            _authority.get()()
            return decide(self, *args, **named)

        return await write(self._database, checked)

    return deed
