"""Waiting for something to become true, with a deadline and words for what did not happen.

Where a whole scenario is to be judged that no condition sums up, it may be given another chance.
"""

import asyncio
from collections.abc import Awaitable, Callable

POLL_S = 0.1
# Deadlines are those of an idle machine. A busy one takes longer, and is not at fault.
PATIENCE = 4


async def wait_until(what: str, condition: Callable[[], Awaitable[bool]], *, within_s: float) -> None:
    """Return once `condition` holds; AssertionError saying `what` if it never does."""
    clock = asyncio.get_running_loop().time
    start = clock()
    while not await condition():
        if clock() - start > PATIENCE * within_s:
            raise AssertionError(f"not within {PATIENCE} x {within_s} s: {what}")
        await asyncio.sleep(POLL_S)


async def becomes(ask: Callable[[], Awaitable[object]], wanted: object, *, within_s: float = 15) -> None:
    """Return once `ask` answers this; AssertionError with its last answer if it never does."""
    answer: object = None

    async def is_so() -> bool:
        nonlocal answer
        answer = await ask()
        return answer == wanted

    try:
        await wait_until("", is_so, within_s=within_s)
    except AssertionError:
        assert answer == wanted, f"not within {PATIENCE} x {within_s} s: {wanted!r}, but {answer!r}"


async def in_one_go_of(most: int, scenario: Callable[[], Awaitable[None]]) -> None:
    """Run a scenario until it holds, at most so many times; AssertionErrors of all of them if it never does.

    For what a machine that stands still for a moment spoils, pictures that a browser shows in time for one:
    a fault of ours is there every time.
    """
    failures: list[AssertionError] = []
    while len(failures) < most:
        try:
            await scenario()
        except AssertionError as failure:
            failures.append(failure)
        else:
            return
    raise ExceptionGroup(f"not in {most} goes", failures)


async def eventually(what: str, condition: Callable[[], object], *, within_s: float) -> None:
    """Wait for a condition that need not be awaited."""

    async def holds() -> bool:
        return bool(condition())

    await wait_until(what, holds, within_s=within_s)
