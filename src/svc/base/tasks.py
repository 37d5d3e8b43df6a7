"""Running coroutines side by side that end together.

Structured waiting only; starts nothing that outlives the call.
"""

import asyncio
from collections.abc import Coroutine


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
