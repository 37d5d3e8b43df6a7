"""Waits for a condition, with a deadline and an error message.

A scenario that no single condition describes can be retried.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

POLL_S = 0.1
# Deadlines are extended by this factor. They are set for an idle machine, and everything takes longer on a
# busy machine.
PATIENCE = 4


async def wait_until(what: str, condition: Callable[[], Awaitable[bool]], *, within_s: float) -> None:
    """Return once `condition` holds. Raises AssertionError with `what` at the deadline."""
    clock = asyncio.get_running_loop().time
    start = clock()
    while not await condition():
        if clock() - start > PATIENCE * within_s:
            raise AssertionError(f"not within {PATIENCE} x {within_s} s: {what}")
        await asyncio.sleep(POLL_S)


async def wait_for_value(
    ask: Callable[[], Awaitable[object]], wanted: object, *, within_s: float = 15
) -> None:
    """Wait until `ask` returns this value. At the deadline, raises AssertionError with the last value."""
    answer: object = None

    async def is_so() -> bool:
        nonlocal answer
        answer = await ask()
        return answer == wanted

    try:
        await wait_until("", is_so, within_s=within_s)
    except AssertionError:
        assert answer == wanted, f"not within {PATIENCE} x {within_s} s: {wanted!r}, but {answer!r}"


async def retry_scenario(attempts: int, scenario: Callable[[], Awaitable[None]]) -> None:
    """Run a scenario until it passes, at most `attempts` times.

    Raises the AssertionErrors from all runs if none passes. This is for scenarios that a stalled machine can
    spoil, such as a browser that must show a frame within a deadline. Faults in the product would appear in
    every run.
    """
    failures: list[AssertionError] = []
    while len(failures) < attempts:
        try:
            await scenario()
        except AssertionError as failure:
            failures.append(failure)
        else:
            return
    raise ExceptionGroup(f"failed {attempts} times", failures)


async def eventually(what: str, condition: Callable[[], object], *, within_s: float) -> None:
    """Wait for a condition that is not awaitable."""

    async def holds() -> bool:
        return bool(condition())

    await wait_until(what, holds, within_s=within_s)


@asynccontextmanager
async def counted_turns() -> AsyncIterator[list[None]]:
    """Yield a list that grows by one with each iteration of the event loop, while the block runs."""
    turns: list[None] = []

    async def count() -> None:
        while True:
            turns.append(None)
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    try:
        yield turns
    finally:
        counting.cancel()
