"""How what is allowed is decided and then done: nothing comes between the check and the write.

A method that writes is a plain function that checks by what is in memory and returns the write
(`Act`); one of the two decorators makes it awaitable. `changes_rules` is for whatever changes
what others are checked by: members, roles, channels, settings, webhooks, sanctions. Those run
one at a time, from check to applied. `follows_rules` is for all else: many at once, but never
while one of the former is under way. Either way the one who asks is checked again at that
moment, for a request may take long to arrive. Decides nothing itself.
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
    """The operator, a webhook, or the server itself is asking."""


_authority: ContextVar[Callable[[], None]] = ContextVar("authority", default=_nobody)


@contextmanager
def on_authority_of(check: Callable[[], None]) -> Iterator[None]:
    """Around a request: `check` raises ChatError once its asker may not ask this any more."""
    token = _authority.set(check)
    try:
        yield
    finally:
        _authority.reset(token)


def changes_rules(decide: Decision[W, P, Answer]) -> Deed[W, P, Answer]:
    """Do what is decided on while nothing else is decided: see above."""
    return _deed(decide, Database.write_alone)


def follows_rules(decide: Decision[W, P, Answer]) -> Deed[W, P, Answer]:
    """Do what is decided on while the rules stay as they are: see above."""
    return _deed(decide, Database.write_beside)


def _deed(decide: Decision[W, P, Answer], write: Write[Answer]) -> Deed[W, P, Answer]:
    @functools.wraps(decide)
    async def deed(self: W, /, *args: P.args, **named: P.kwargs) -> Answer:
        def checked() -> Act[Any, Answer]:
            _authority.get()()
            return decide(self, *args, **named)

        return await write(self._database, checked)

    return deed
