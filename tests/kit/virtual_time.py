"""Runs tests on event loops whose clock jumps, so that hours of timers take only milliseconds.

The tests are deterministic. When nothing is ready, the clock moves to the next timer. Loopback sockets within
the test work as usual, because written data can be read immediately. Work that is submitted to threads runs
inline, because the loop would not wait for a thread.
"""

import asyncio
import inspect
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from functools import wraps
from typing import Any, ParamSpec

P = ParamSpec("P")


class _JumpingSelector(selectors.DefaultSelector):
    """A selector that advances the clock instead of sleeping."""

    now = 1000.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise AssertionError("the test waits for something that no timer can trigger")
        if not ready and timeout:
            self.now += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future


def in_virtual_time(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run an asynchronous test on a new loop whose clock jumps."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(test(*args, **kwargs))

    # pytest reads the parameters from the signature, and must not see the coroutine function underneath.
    run.__signature__ = inspect.signature(test)  # type: ignore[attr-defined]
    del run.__wrapped__
    return run
