"""Waiting for something to become true, with a deadline and words for what did not happen."""

import asyncio
from collections.abc import Awaitable, Callable

POLL_S = 0.1


async def wait_until(what: str, condition: Callable[[], Awaitable[bool]], *, within_s: float) -> None:
    """Return once `condition` holds; AssertionError saying `what` if it never does."""
    clock = asyncio.get_running_loop().time
    start = clock()
    while not await condition():
        if clock() - start > within_s:
            raise AssertionError(f"not within {within_s} s: {what}")
        await asyncio.sleep(POLL_S)


async def eventually(what: str, condition: Callable[[], object], *, within_s: float) -> None:
    """The same for a condition that need not be awaited."""

    async def holds() -> bool:
        return bool(condition())

    await wait_until(what, holds, within_s=within_s)
