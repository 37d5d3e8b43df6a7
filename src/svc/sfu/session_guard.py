"""Guards a session's entry points, so that a failure inside one ends only that session.

Knows nothing else about sessions.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

logger = logging.getLogger(__name__)


class Guarded(Protocol):
    """The part of a session that its entry points use."""

    log_fields: dict[str, str]

    @property
    def closed(self) -> bool: ...
    def settle(self) -> None: ...
    def fail(self) -> None: ...


_P = ParamSpec("_P")
_S = TypeVar("_S", bound=Guarded)


def entry(method: Callable[Concatenate[_S, _P], None]) -> Callable[Concatenate[_S, _P], None]:
    """Guard a method: do nothing once the session is closed, and settle the session afterwards."""

    @wraps(method)
    def enter(self: _S, /, *args: _P.args, **kwargs: _P.kwargs) -> None:
        if self.closed:
            return
        try:
            method(self, *args, **kwargs)
            self.settle()
        except Exception:
            logger.exception("session failed", extra=self.log_fields)
            with suppress(Exception):
                self.fail()

    return enter
