"""Runs coroutines: until a signal arrives, concurrently until the first one ends, and repeatedly despite
errors.

Everything that a call starts has ended when the call returns.
"""

import asyncio
import signal
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from logging import Logger
from typing import Any

# The pause after an error. A full disk or a broken connection rarely recovers sooner.
PAUSE_AFTER_FAULT_S = 5.0
# The interval between cancellations. The media worker lets its jobs run for 5 s after a cancellation, and a
# supervisor waits 8 s before it kills a program.
CANCEL_AGAIN_S = 7.0


def stop_event(*signals: int) -> asyncio.Event:
    """Return an event that is set by SIGTERM, SIGINT or any of these signals. Call this in the main
    thread.
    """
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, *signals):
        loop.add_signal_handler(number, stop.set)
    return stop


async def until_first_ends(*coroutines: Coroutine[object, object, object]) -> None:
    """Run all coroutines until one of them returns or fails. Then stop the others, and raise the exception of
    the first coroutine, if any.
    """
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        with suppress(Exception):  # Only the error from the first coroutine to finish matters.
            await cancel_and_wait(*tasks)
    for task in ended:
        task.result()


async def cancel_and_wait(*tasks: asyncio.Future[Any], again_s: float = CANCEL_AGAIN_S) -> None:
    """Cancel tasks and wait until they have ended. Raises any exception that one of them raised.

    Cancels again after `again_s`: in Python 3.11, `asyncio.wait_for` swallows a cancellation that arrives
    together with its result (github.com/python/cpython/issues/86296). nats-py uses `wait_for` for each
    request.
    """
    ending = {task for task in tasks if not task.done()}
    while ending:
        for task in ending:
            task.cancel()
        _, ending = await asyncio.wait(ending, timeout=again_s)
    faults = [task.exception() for task in tasks if not task.cancelled()]
    for fault in filter(None, faults):
        raise fault


@asynccontextmanager
async def continue_on_errors(
    logger: Logger, expected: type[Exception], delayed: str, failed: str
) -> AsyncIterator[None]:
    """Wrap one round of repeated work: log an exception, then pause.

    `delayed` is the log message for exceptions in `expected`, which may occur now and then. `failed` is the
    log message for all others, which are bugs.
    """
    try:
        yield
    except expected as fault:
        logger.warning(delayed, extra={"fault": str(fault)})
        await asyncio.sleep(PAUSE_AFTER_FAULT_S)
    except Exception:
        logger.exception(failed)
        await asyncio.sleep(PAUSE_AFTER_FAULT_S)
