"""Expensive steps of synchronous work, run one at a time with pauses in between.

A step runs on the event loop, and its caller bounds it to about 10 ms. After a step everything else has the
loop for at least as long. So however many steps wait, they get half of the loop at most, and nobody waits for
more than one of them. Cannot interrupt a step.
"""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Shorter steps cost no more than the pause would.
SHORT_S = 0.001


class TimeSlices:
    """`clock` counts seconds of the event loop's work."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._turn = asyncio.Lock()

    async def run(self, step: Callable[[], T], deadline_s: float) -> T:
        """Run the step when its turn comes. Raises TimeoutError where that takes too long."""
        async with asyncio.timeout(deadline_s):
            await self._turn.acquire()
        began = self._clock()
        try:
            return step()
        finally:
            took_s = self._clock() - began
            if took_s < SHORT_S:
                self._turn.release()
            else:
                # The caller goes on at once; it is the next step that waits.
                asyncio.get_running_loop().call_later(took_s, self._turn.release)
