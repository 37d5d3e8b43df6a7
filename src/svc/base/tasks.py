"""Running coroutines: until a signal, concurrently until the first ends, and repeatedly despite errors.

Structured waiting only: nothing that this module starts outlives the call.
"""

import asyncio
import signal
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from logging import Logger
from typing import Any

# A full disk or a broken connection rarely recovers sooner.
PAUSE_AFTER_FAULT_S = 5.0
# Cleaning up after a cancellation takes less, and a shutdown has some 10 s.
CANCEL_AGAIN_S = 3.0


def stop_event(*signals: int) -> asyncio.Event:
    """Return an event that SIGTERM, SIGINT, and these signals set. Call this in the main thread."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, *signals):
        loop.add_signal_handler(number, stop.set)
    return stop


async def until_first_ends(*coroutines: Coroutine[object, object, object]) -> None:
    """Run all of them until one returns or fails, stop the others, and raise what it raised."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in ended:
        task.result()


async def cancelled(task: asyncio.Future[Any], again_s: float = CANCEL_AGAIN_S) -> None:
    """Cancel a task and wait until it has ended. Raises what it raised.

    Cancels again after `again_s`: in Python 3.11, `asyncio.wait_for` swallows a cancellation that arrives
    together with its result (github.com/python/cpython/issues/86296). nats-py uses it for each request.
    """
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=again_s)
    if not task.cancelled():
        task.result()


@asynccontextmanager
async def continue_on_errors(
    logger: Logger, expected: type[Exception], delayed: str, failed: str
) -> AsyncIterator[None]:
    """Wrap one round of repeated work: log an exception, then pause.

    `delayed` is the message for exceptions that are `expected` now and then, `failed` for bugs of ours.
    """
    try:
        yield
    except expected as fault:
        logger.warning(delayed, extra={"fault": str(fault)})
        await asyncio.sleep(PAUSE_AFTER_FAULT_S)
    except Exception:
        logger.exception(failed)
        await asyncio.sleep(PAUSE_AFTER_FAULT_S)
