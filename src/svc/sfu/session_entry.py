"""A guarded way into a session: a fault inside ends that session, and nothing else.

Knows nothing of what sessions do.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

logger = logging.getLogger(__name__)


class Guarded(Protocol):
    """A session as its entries see it."""

    log_fields: dict[str, str]

    @property
    def closed(self) -> bool: ...
    def settle(self) -> None: ...
    def fail(self) -> None: ...


_P = ParamSpec("_P")
_S = TypeVar("_S", bound=Guarded)


def entry(method: Callable[Concatenate[_S, _P], None]) -> Callable[Concatenate[_S, _P], None]:
    """Guard a method: it does nothing once the session is closed, and the session settles after it."""

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
